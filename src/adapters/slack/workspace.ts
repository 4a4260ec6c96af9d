import type { Logger } from "pino";
import { BotError } from "../../core/errors.ts";
import type { JournalKey } from "../../core/journal-key.ts";
import type { ChatParts, Delivery, MessageRef, Notice, View } from "../adapter.ts";
import { createBots } from "../shared/bots.ts";
import { createPace } from "../shared/pace.ts";
import { createProgressBoard } from "../shared/progress-board.ts";
import { createSign } from "../shared/sign.ts";
import { renderOutgoing, renderText } from "../render/message.ts";
import { renderProgress } from "../render/progress.ts";
import { answerWithin, type Api } from "./api.ts";
import { createBotTaker } from "./bots.ts";
import { slackMessages } from "./encode.ts";
import { isSilence } from "./errors.ts";
import { createSlackFiles } from "./files.ts";
import { createDoors } from "./doors.ts";
import { createDropped } from "./dropped.ts";
import type { Entered } from "./entrance.ts";
import { createMessages, isDirect, type MessageParts } from "./messages.ts";
import { createPeople, type SlackPeople } from "./people.ts";
import { keyOf, NO_THREAD, type Place, type Workspace } from "./place.ts";
import { createPlanStreams } from "./plan-stream.ts";
import { createPosting } from "./posting.ts";
import { createSay } from "./say.ts";
import { createInteractions, type InteractionParts } from "./interactions.ts";
import { createBackfill } from "./backfill.ts";
import { createStatus, createThumbsUp, STATUS_MS } from "./status.ts";
import { createTitles } from "./titles.ts";
import { createView } from "./view.ts";

export interface WorkspaceParts {
  /** The bot's token as it is now. */
  token(): Promise<string>;
  apiUrl: string | undefined;
  bots?: readonly string[] | undefined;
  ackMs?: number | undefined;
  maxStreamMs?: number | undefined;
  /** The app that the bot is, where it is known. */
  app(): string | undefined;
  /** Slack says that the app was taken out of the workspace. */
  onRemoved(event: string): Promise<void>;
  log: Logger;
}

/** One workspace in which the bot is. */
export interface ServedWorkspace extends Entered {
  workspace: Workspace;
  people: SlackPeople;
  viewOf(place: Place): View;
  /** Begins a thread with this text in a channel of it, such as `slack:T1:C1`. */
  begin(channel: string, text: string): Promise<JournalKey>;
  /** Posts it in the channel itself. */
  announce(channel: string, notice: Notice, delivery: Delivery): Promise<MessageRef>;
  /** Reads what was written while nobody listened, beside all else. */
  readAgain(): void;
  stop(): Promise<void>;
}

/** An event waits this long while a person is told something: it must be acknowledged within 3 s. */
const TELL_MS = 1_500;

/** Joins everything that needs to know the workspace. */
export function serveWorkspace(
  api: Api,
  workspace: Workspace,
  parts: WorkspaceParts & ChatParts,
): ServedWorkspace {
  const { token, apiUrl, log, inbox, queries } = parts;
  const people = createPeople(api, workspace);
  const showing = createShowing(api, workspace, parts);
  const { posting, allowLink, board, streams, sign } = showing;

  const show: InteractionParts["show"] = async (place, user, messages) => {
    try {
      await answerWithin(TELL_MS, posting.postEphemeral(place, user, messages));
      return true;
    } catch (error) {
      log.debug({ err: error }, "a person could not be told");
      return false;
    }
  };
  const tell: InteractionParts["tell"] = async (place, user, text) => {
    await show(place, user, slackMessages(await renderText(text, allowLink)));
  };

  const shared = { workspace, api, people, inbox, queries, tell, log };
  const shown = { api, workspace, nameOf: people.nameOf, log };
  const onConclusion = createTitles(api, log);
  const doors = createDoors({ ...parts, ...shared, posting, allowLink });
  const readFiles = createSlackFiles({ token, apiUrl, log });
  const say = createSay(posting, log);
  const dropped = createDropped({ say, log });
  const bots = createBots(parts.bots, log);
  const hearBot = createBotTaker({ ...shared, app: parts.app, bots, say });
  const thumbsUp = createThumbsUp(api, log);
  const onHeard: MessageParts["onHeard"] = (place, { ts, text }) => {
    dropped.heard(place);
    if (isDirect(place.channel) && parts.isThanks(text))
      thumbsUp({ channel: place.channel, timestamp: ts });
  };
  const messages = createMessages({ ...shared, readFiles, onHeard, hearBot });
  const missed = createBackfill({ ...shared, hear: messages.hear, say });
  return {
    workspace,
    people,
    messages,
    interactions: createInteractions({ ...shared, allowLink, show }),
    doors,
    app: parts.app,
    onDropped: dropped.tell,
    onRemoved: parts.onRemoved,
    async begin(channel, text) {
      const id = idIn(channel);
      // Slack would also take a person's id or a channel's name, and no event comes under those.
      if (!/^[A-Z0-9]+$/.test(id) || !(await people.isHere(id)))
        throw new BotError("PLATFORM_REFUSED", `I'm not in ${channel}.`, { refused: "place" });
      return keyOf(workspace.team, { channel: id, root: await doors.begin(id, text) });
    },
    announce: async (channel, notice, delivery) =>
      posting.put(
        { channel: idIn(channel), root: NO_THREAD },
        slackMessages(await renderOutgoing(notice, allowLink)),
        delivery,
      ),
    viewOf: (place) =>
      createView(place, { ...shown, posting, streams, board, sign, onConclusion, allowLink }),
    readAgain: missed.begin,
    async stop() {
      board.stop();
      streams.stop();
      sign.stop();
      await missed.stop();
    },
  };
}

/** The id of a channel that is named with its workspace. */
function idIn(channel: string): string {
  return channel.split(":")[2] ?? "";
}

/** What shows a thread, and what it is doing. */
function createShowing(api: Api, workspace: Workspace, { maxStreamMs, log }: WorkspaceParts) {
  const status = createStatus(api, log);
  const streams = createPlanStreams({
    api,
    sessionOf: status.sessionOf,
    renew: (place, ref) => board.note(place, ref),
    maxStreamMs: maxStreamMs,
    log,
  });
  const pace = createPace({ platform: "Slack", isSilence, log });
  const posting = createPosting(api, workspace, pace, streams.end);
  const allowLink = (url: string) => url.startsWith(`${workspace.url}archives/`);
  const board = createProgressBoard<Place>({
    async show(place, ref, progress) {
      const planned = await streams.append(ref, progress);
      if (planned !== "plain") return planned === "shown";
      const [message] = slackMessages(await renderProgress(progress, allowLink));
      return message === undefined || posting.edit(place, ref, message);
    },
    threadOf: (place) => keyOf(workspace.team, place),
    postCounts: false,
    log,
  });
  const sign = createSign<Place>({
    keyOf: (place) => keyOf(workspace.team, place),
    show: status.show,
    renewMs: STATUS_MS,
  });
  return { posting, streams, board, sign, allowLink };
}
