import type { Logger } from "pino";
import { BotError } from "../../core/errors.ts";
import type { JournalKey } from "../../core/journal-key.ts";
import type { ChatParts, OpenChannel } from "../adapter.ts";
import type { Delivery, MessageRef, View } from "../view.ts";
import type { Notice } from "../shown.ts";
import { createBots } from "../shared/bots.ts";
import { createPace, type Pace } from "../shared/pace.ts";
import { createProgressBoard } from "../shared/progress-board.ts";
import { createSign } from "../shared/sign.ts";
import { renderOutgoing, renderText } from "../render/message.ts";
import { renderProgress } from "../render/progress.ts";
import { answerWithin, type Api, pacedApi } from "./api.ts";
import { createBotTaker } from "./bots.ts";
import { slackMessages } from "./encode.ts";
import { isSilence } from "./errors.ts";
import { createSlackFiles } from "./files.ts";
import { createDoors } from "./doors.ts";
import { createDropped } from "./dropped.ts";
import type { Entered } from "./entrance.ts";
import { createReactions } from "./reactions.ts";
import { createMessages, isDirect, type MessageParts } from "./messages.ts";
import { createPeople, type SlackPeople } from "./people.ts";
import { keyOf, NO_THREAD, type Place, type Workspace } from "./place.ts";
import { createPlanStreams } from "./plan-stream.ts";
import { createPosting } from "./posting.ts";
import { createSay } from "./say.ts";
import { createInteractions, type InteractionParts } from "./interactions.ts";
import { createBackfill } from "./backfill.ts";
import { createRootLook } from "./root.ts";
import { createStatus, createThumbsUp, LOOK_MS } from "./status.ts";
import { createTitles } from "./titles.ts";
import { createViews } from "./view.ts";

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
  /** A channel of it, such as `slack:T1:C1`. */
  channelAt(channel: string): Promise<OpenChannel>;
  /** Begins a thread with this text in such a channel. */
  begin(channel: string, text: string, delivery: Delivery): Promise<JournalKey>;
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
  const pace = createPace({ platform: "Slack", isSilence, log });
  const paced = pacedApi(api, pace);
  const people = createPeople(paced, workspace);
  const showing = createShowing({ api, paced, pace }, workspace, parts);
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
  const shown = { api: paced, workspace, nameOf: people.nameOf, log };
  const onConclusion = createTitles(api, log);
  const doors = createDoors({ ...parts, ...shared, posting, allowLink });
  const readFiles = createSlackFiles({ token, apiUrl, log });
  const say = createSay(posting, log);
  const dropped = createDropped({ say, log });
  const bots = createBots(parts.bots, log);
  const others = createBotTaker({ ...shared, alerts: parts.alerts, app: parts.app, bots, say });
  const thumbsUp = createThumbsUp(api, log);
  const onHeard: MessageParts["onHeard"] = (place, { ts, text }) => {
    dropped.heard(place);
    if (isDirect(place.channel) && parts.isThanks(text))
      thumbsUp({ channel: place.channel, timestamp: ts });
  };
  const messages = createMessages({ ...shared, readFiles, onHeard, hearBot: others.hear });
  const missed = createBackfill({ ...shared, ...others, hear: messages.hear, say });
  return {
    workspace,
    people,
    messages,
    interactions: createInteractions({ ...shared, allowLink, show }),
    doors,
    reactions: createReactions(shared),
    app: parts.app,
    onDropped: dropped.tell,
    onRemoved: parts.onRemoved,
    channelAt: async (channel) => about(await openIdIn(people, channel), workspace, people),
    async begin(channel, text, delivery) {
      const id = await openIdIn(people, channel);
      const [message = { text, blocks: [] }] = slackMessages(await renderText(text, allowLink));
      const root = await posting.put({ channel: id, root: NO_THREAD }, [message], delivery);
      return keyOf(workspace.team, { channel: id, root });
    },
    announce: async (channel, notice, delivery) =>
      posting.put(
        { channel: idIn(channel), root: NO_THREAD },
        slackMessages(await renderOutgoing(notice, allowLink)),
        delivery,
      ),
    viewOf: createViews({ ...shown, ...showing, onConclusion }),
    readAgain: missed.begin,
    async stop() {
      board.stop();
      streams.stop();
      sign.stop();
      await missed.stop();
    },
  };
}

/** @throws BotError PLATFORM_REFUSED for what is no channel that the bot is in */
async function openIdIn(people: SlackPeople, channel: string): Promise<string> {
  const id = idIn(channel);
  // Slack would also take a person's id or a channel's name, and no event comes under those.
  if (/^[A-Z0-9]+$/.test(id) && (await people.isHere(id))) return id;
  throw new BotError("PLATFORM_REFUSED", `I'm not in ${channel}.`, { refused: "place" });
}

async function about(
  channel: string,
  { team }: Workspace,
  people: SlackPeople,
): Promise<OpenChannel> {
  // Who is in it is asked as of a thread in it.
  const key = keyOf(team, { channel, root: "0.0" });
  return {
    name: await people.channelName(channel),
    isPublic: await people.isPublic(channel),
    has: async (account) => (await people.membership(account, key)) === "member",
  };
}

/** The id of a channel that is named with its workspace. */
function idIn(channel: string): string {
  return channel.split(":")[2] ?? "";
}

/** What shows a thread, and what it is doing. */
function createShowing(
  { api, paced, pace }: { api: Api; paced: Api; pace: Pace },
  workspace: Workspace,
  { maxStreamMs, log }: WorkspaceParts,
) {
  const lookAtRoot = createRootLook(paced, workspace);
  const status = createStatus(api, lookAtRoot, log);
  const streams = createPlanStreams({
    api: paced,
    sessionOf: status.sessionOf,
    renew: (place, ref) => board.note(place, ref),
    maxStreamMs: maxStreamMs,
    log,
  });
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
    renewMs: LOOK_MS,
  });
  return { posting, streams, board, sign, allowLink, lookAtRoot };
}
