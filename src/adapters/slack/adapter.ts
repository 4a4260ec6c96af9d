import type { Logger } from "pino";
import { BotError } from "../../core/errors.ts";
import type { JournalKey } from "../../core/journal-key.ts";
import type { ChatAdapter, ChatParts, Delivery, MessageRef, Notice, View } from "../adapter.ts";
import { createPace } from "../shared/pace.ts";
import { createBots } from "../shared/bots.ts";
import { createProgressBoard } from "../shared/progress-board.ts";
import { createSign } from "../shared/sign.ts";
import { renderProgress } from "../render/progress.ts";
import { renderOutgoing, renderText } from "../render/message.ts";
import { createQuietLog } from "../shared/quiet-log.ts";
import { answerWithin, type Api, createApi } from "./api.ts";
import { createBotTaker } from "./bots.ts";
import { slackMessages } from "./encode.ts";
import { isSilence } from "./errors.ts";
import { createSlackFiles } from "./files.ts";
import { createDoors } from "./doors.ts";
import { createDropped } from "./dropped.ts";
import { createEntrance } from "./entrance.ts";
import { createHttpSource } from "./http-source.ts";
import { appOf, checkApp, identify } from "./identity.ts";
import { createMessages } from "./messages.ts";
import { createPeople, type SlackPeople } from "./people.ts";
import { createPlanStreams } from "./plan-stream.ts";
import {
  channelOf,
  keyOf,
  linkOf,
  NO_THREAD,
  type Place,
  tryPlace,
  type Workspace,
} from "./place.ts";
import { createPosting } from "./posting.ts";
import { createInteractions, type InteractionParts } from "./interactions.ts";
import { createBackfill } from "./backfill.ts";
import type { EventSource, Take } from "./receiver.ts";
import { createSocketSource } from "./socket-source.ts";
import { createStatus, STATUS_MS } from "./status.ts";
import { createTitles } from "./titles.ts";
import { createView } from "./view.ts";

export interface SlackOptions {
  botToken: string;
  /** For Socket Mode; without it events come over HTTP. */
  appToken?: string | undefined;
  signingSecret?: string | undefined;
  /** With a slash at the end. Default: Slack's own. */
  apiUrl?: string | undefined;
  /** Ids of bots and apps that may begin an investigation. */
  bots?: readonly string[] | undefined;
  /** Done or not, a slash command is acknowledged by then. Default 2.4 s. */
  ackMs?: number | undefined;
  /** After so long without a connection it is read again what was written. Default 30 s. */
  awayMs?: number | undefined;
  /** For so long progress is a plan that grows, then an edited message. Default: as long as Slack lets it. */
  maxStreamMs?: number | undefined;
  log: Logger;
}

/** An event waits this long while a person is told something: it must be acknowledged within 3 s. */
const TELL_MS = 1_500;

interface Connected {
  workspace: Workspace;
  people: SlackPeople;
  viewOf(place: Place): View;
  /** Begins a thread with this text. */
  begin(channel: string, text: string): Promise<JournalKey>;
  /** Posts it in the channel itself. */
  announce(channel: string, notice: Notice, delivery: Delivery): Promise<MessageRef>;
  /** Reads what was written while nobody listened, beside all else. */
  readAgain(): void;
  source: EventSource;
  take: Take;
  stop(): Promise<void>;
}

/**
 * Slack, as one app in one workspace. Keys are `slack:<team>:<channel>:<root ts>`, accounts `slack:<team>:<user>`, groups
 * `slack:group:<id>`. An event is acknowledged when the inbox has it.
 * @throws BotError CONFIG_INVALID with neither an app token nor a signing secret
 */
export function createSlack(options: SlackOptions): ChatAdapter {
  const { botToken, appToken, signingSecret, apiUrl, log } = options;
  const api = createApi({ apiUrl, log, token: botToken, variable: "SLACK_BOT_TOKEN" });
  const http =
    appToken === undefined && signingSecret !== undefined
      ? createHttpSource({ signingSecret, log })
      : undefined;
  const newSource = () => http ?? createSource(options);
  let connected: Connected | undefined;
  let isStopped = false;

  function here(): Connected {
    if (connected !== undefined) return connected;
    throw new BotError("PLATFORM_UNREACHABLE", "Slack is not connected yet.");
  }
  const placeOf = (key: JournalKey) => connected && tryPlace(key, connected.workspace.team);

  return {
    transport: "slack",
    routes: http === undefined ? [] : [http.route],
    singleOperator: false,
    people: {
      membership: async (account, key) => here().people.membership(account, key),
      members: async (group) => here().people.members(group),
      everyone: async (key) => here().people.everyone(key),
      timezone: async (account) => here().people.timezone(account),
    },
    view(key) {
      const place = placeOf(key);
      return place && connected?.viewOf(place);
    },
    async audience(key) {
      const { people, workspace } = here();
      const place = tryPlace(key, workspace.team);
      return place && (await people.isPublic(place.channel)) ? undefined : channelOf(key);
    },
    tenants: async () => [`slack:${here().workspace.team}`],
    async placeName(key) {
      const place = placeOf(key);
      return place && here().people.channelName(place.channel);
    },
    channel: async (key) => channelOf(key),
    link(key) {
      const place = placeOf(key);
      return place && connected && linkOf(connected.workspace, place);
    },
    announce: async (channel, notice, delivery) => here().announce(channel, notice, delivery),
    async start(parts) {
      const { workspace } = await identify(api);
      const app = await appOf(api, workspace);
      const source = newSource();
      // Set before the first event, whose thread needs its view.
      connected = connect(api, workspace, source, { ...options, ...parts, app });
      try {
        await source.start(connected.take, connected.readAgain);
        checkApp(source.app(), app);
        connected.readAgain();
        if (isStopped) throw new BotError("ABORTED", "Slack was stopped while it was connecting.");
      } catch (error) {
        await connected.stop();
        connected = undefined;
        throw error;
      }
      const bot = `@${workspace.botName}`;
      log.info(
        `Connected to ${workspace.name} as ${bot}. Try, in a channel: /invite ${bot}, then ${bot} help. ${source.describe()}`,
      );
    },
    async stop() {
      isStopped = true;
      await connected?.stop();
    },
    open: async (channel, text) => here().begin(channel, text),
    async examine() {
      const { examine } = await import("./examine.ts");
      return examine(api, { ...options, source: () => connected?.source ?? newSource() });
    },
  };
}

/** The id of a channel that is named with its workspace. @throws BotError PLATFORM_REFUSED for another workspace's */
function idIn({ team: ours }: Workspace, channel: string): string {
  const [, team, id = ""] = channel.split(":");
  if (team === ours) return id;
  const text = `${channel} is no channel of this Slack workspace.`;
  throw new BotError("PLATFORM_REFUSED", text, { refused: "place" });
}

function createSource({ appToken, apiUrl, awayMs, log }: SlackOptions): EventSource {
  if (appToken !== undefined) return createSocketSource({ appToken, apiUrl, awayMs, log });
  throw new BotError(
    "CONFIG_INVALID",
    "SLACK_BOT_TOKEN is set but neither SLACK_APP_TOKEN (Socket Mode) nor SLACK_SIGNING_SECRET (HTTP) is; set one of them.",
  );
}

/** Joins everything that needs to know the workspace. Nothing is listened to before the source is started. */
function connect(
  api: Api,
  workspace: Workspace,
  source: EventSource,
  parts: SlackOptions & ChatParts & { app: string | undefined },
): Connected {
  const { botToken, apiUrl, log, inbox, queries, app } = parts;
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
  const readFiles = createSlackFiles({ botToken, apiUrl, log });
  const dropped = createDropped({ posting, allowLink, log });
  const appId = () => app ?? source.app();
  const bots = createBots(parts.bots, log);
  const hearBot = createBotTaker({ ...shared, app: appId, bots, posting });
  const messages = createMessages({ ...shared, readFiles, onHeard: dropped.heard, hearBot });
  const missed = createBackfill({ ...shared, hear: messages.hear, posting });
  const take = createEntrance({
    messages,
    interactions: createInteractions({ ...shared, allowLink, show }),
    doors,
    teams: new Set([workspace.team]),
    app: appId,
    onDropped: dropped.tell,
    log,
    quietly: createQuietLog(log),
  });
  return {
    workspace,
    people,
    source,
    take,
    async begin(named, text) {
      const channel = idIn(workspace, named);
      return keyOf(workspace.team, { channel, root: await doors.begin(channel, text) });
    },
    announce: async (channel, notice, delivery) =>
      posting.put(
        { channel: idIn(workspace, channel), root: NO_THREAD },
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
      await Promise.all([source.stop(), missed.stop()]);
    },
  };
}

/** What shows a thread, and what it is doing. */
function createShowing(api: Api, workspace: Workspace, { maxStreamMs, log }: SlackOptions) {
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
