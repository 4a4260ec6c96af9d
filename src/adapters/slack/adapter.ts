import { BotError } from "../../core/errors.ts";
import type { JournalKey } from "../../core/journal-key.ts";
import type { People } from "../../core/people.ts";
import type { ChatAdapter } from "../adapter.ts";
import { createQuietLog } from "../shared/quiet-log.ts";
import { createEntrance } from "./entrance.ts";
import { createHttpSource } from "./http-source.ts";
import { checkApp } from "./identity.ts";
import { createInstallRoutes } from "./install-routes.ts";
import { channelOf, linkOf, locate, tryAccount, tryChannel, tryPlace } from "./place.ts";
import type { EventSource } from "./receiver.ts";
import { createSocketSource } from "./socket-source.ts";
import type { ServedWorkspace } from "./workspace.ts";
import { createWorkspaces, type SlackOptions, type Workspaces } from "./workspaces.ts";

export type { SlackOptions } from "./workspaces.ts";

/**
 * Slack, as one app in one workspace or several. Keys are `slack:<team>:<channel>:<root ts>`, accounts `slack:<team>:<user>`,
 * groups `slack:group:<id>`: a channel's id is one workspace's own. An event is acknowledged when the inbox has it.
 * @throws BotError CONFIG_INVALID with neither an app token nor a signing secret
 */
export function createSlack(options: SlackOptions): ChatAdapter {
  const { appToken, signingSecret, install, apiUrl, log } = options;
  const http =
    appToken === undefined && signingSecret !== undefined
      ? createHttpSource({ signingSecret, log })
      : undefined;
  const newSource = () => http ?? createSource(options);
  let source: EventSource | undefined;
  let workspaces: Workspaces | undefined;
  let isStopped = false;

  function here(): Workspaces {
    if (workspaces !== undefined) return workspaces;
    throw new BotError("PLATFORM_UNREACHABLE", "Slack is not connected yet.");
  }
  const servedIn = (key: JournalKey) => workspaces?.of(teamIn(key));
  const placeIn = (key: JournalKey) => tryPlace(key, teamIn(key));
  /** The thread's workspace or, of what is no thread of Slack's, the account's. */
  const asked = (key: JournalKey, account: string): ServedWorkspace =>
    here().of(teamIn(key)) ?? here().home(tryAccount(account)?.team);

  const installing = () => workspaces?.installing;
  const installRoutes =
    install && createInstallRoutes({ ...options, ...install, apiUrl }, installing);

  return {
    transport: "slack",
    routes: [...(http === undefined ? [] : [http.route]), ...(installRoutes ?? [])],
    singleOperator: false,
    people: peopleIn(here, asked),
    view(key) {
      const place = placeIn(key);
      return place && servedIn(key)?.viewOf(place);
    },
    ...channelsIn(here, asked),
    async placeName(key) {
      const channel = tryChannel(key, teamIn(key));
      return channel && servedIn(key)?.people.channelName(channel);
    },
    link(key) {
      const [place, served] = [placeIn(key), servedIn(key)];
      return place && served && linkOf(served.workspace, place);
    },
    locate: (key, post) => locate(servedIn(key)?.workspace, key, post),
    announce: async (channel, notice, delivery) =>
      named(here(), channel).announce(channel, notice, delivery),
    async start(parts) {
      source = newSource();
      const { receive = (take) => take() } = parts;
      const found = createWorkspaces({ ...options, ...parts, source });
      const own = await found.connectOwn();
      // Set before the first event, whose thread needs its view.
      workspaces = found;
      try {
        const quietly = createQuietLog(log);
        const enter = createEntrance({ ...found, quietly });
        await source.start((event) => receive(() => enter(event)), found.readAgain);
        checkApp(source.app(), own?.app());
        await found.begin();
        if (isStopped) throw new BotError("ABORTED", "Slack was stopped while it was connecting.");
      } catch (error) {
        await Promise.all([source.stop(), found.stop()]);
        workspaces = undefined;
        throw error;
      }
      for (const line of found.lines()) log.info(`${line} ${source.describe()}`);
    },
    async stop() {
      isStopped = true;
      await Promise.all([source?.stop(), workspaces?.stop()]);
    },
    isUp: () => workspaces !== undefined && source?.isUp() === true,
    channelAt: async (channel) => named(here(), channel).channelAt(channel),
    open: async (channel, text, delivery) => named(here(), channel).begin(channel, text, delivery),
    ...examining(options, () => source ?? newSource()),
  };
}

/** What `doctor` asks. */
function examining(
  options: SlackOptions,
  source: () => EventSource,
): Pick<ChatAdapter, "examine" | "examineChannel"> {
  return {
    async examine(_kept, vault) {
      const { examine } = await import("./examine.ts");
      return examine({ ...options, vault, source });
    },
    async examineChannel(channel, vault) {
      const { examineChannel } = await import("./examine.ts");
      return examineChannel({ ...options, vault }, channel);
    },
  };
}

/** Whom a group names may be in any of the workspaces. */
function peopleIn(
  here: () => Workspaces,
  asked: (key: JournalKey, account: string) => ServedWorkspace,
): People {
  return {
    membership: async (account, key) => asked(key, account).people.membership(account, key),
    async members(group) {
      const found = await Promise.all(
        here()
          .all()
          .map(({ people }) => people.members(group)),
      );
      const known = found.filter((accounts) => accounts !== undefined);
      return known.length === 0 ? undefined : known.flat();
    },
    everyone: async (key) => here().of(teamIn(key))?.people.everyone(key),
    label: async (reference, key) => asked(key, reference).people.label(reference),
    timezone: async (account) => here().home(tryAccount(account)?.team).people.timezone(account),
  };
}

/** A thread's channel, and who reads along in it. */
function channelsIn(
  here: () => Workspaces,
  asked: (key: JournalKey, account: string) => ServedWorkspace,
): Pick<ChatAdapter, "audience" | "tenants" | "hasOutsiders" | "channel"> {
  const at = (key: JournalKey) => {
    const team = teamIn(key);
    return { channel: tryChannel(key, team), people: here().of(team)?.people };
  };
  return {
    async audience(key) {
      const { channel, people } = at(key);
      const isOpen = channel && (await people?.isPublic(channel));
      return isOpen === true ? undefined : channelOf(key);
    },
    tenants: async (key, account) => [`slack:${asked(key, account).workspace.team}`],
    async hasOutsiders(key) {
      const { channel, people } = at(key);
      // Of a workspace that is not served nobody can be asked.
      return (
        channel !== undefined && (people === undefined || (await people.hasOutsiders(channel)))
      );
    },
    channel: async (key) => channelOf(key),
  };
}

/** The workspace of a channel that is named with it. @throws BotError PLATFORM_REFUSED where it is not served */
function named(workspaces: Workspaces, channel: string): ServedWorkspace {
  const found = workspaces.of(channel.split(":")[1] ?? "");
  if (found !== undefined) return found;
  const text = `${channel} is no channel of a Slack workspace that is served.`;
  throw new BotError("PLATFORM_REFUSED", text, { refused: "place" });
}

function teamIn(key: JournalKey): string {
  const [transport, team = ""] = key.split(":");
  return transport === "slack" ? team : "";
}

function createSource({ appToken, apiUrl, awayMs, log }: SlackOptions): EventSource {
  if (appToken !== undefined) return createSocketSource({ appToken, apiUrl, awayMs, log });
  throw new BotError(
    "CONFIG_INVALID",
    "Slack is set up but neither SLACK_APP_TOKEN (Socket Mode) nor SLACK_SIGNING_SECRET (HTTP) is; set one of them.",
  );
}
