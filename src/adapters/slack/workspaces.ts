import { LRUCache } from "lru-cache";
import type { Logger } from "pino";
import { BotError, isBotError } from "../../core/errors.ts";
import type { ChatParts, Vault } from "../adapter.ts";
import { type Api, createApi } from "./api.ts";
import type { SharedEvent } from "./entrance.ts";
import { INSTALLATION, refusalCode } from "./errors.ts";
import { appOf, identify } from "./identity.ts";
import type { Installing } from "./install-routes.ts";
import {
  createInstallations,
  type Installation,
  type Installations,
  type InstallOptions,
} from "./installations.ts";
import type { EventSource } from "./receiver.ts";
import { keyOf } from "./place.ts";
import { INSTALL_PATH } from "./scopes.ts";
import { mentions } from "./text.ts";
import { serveWorkspace, type ServedWorkspace } from "./workspace.ts";

export interface SlackOptions {
  /** Of the one workspace that is set up by hand. */
  botToken?: string | undefined;
  /** For Socket Mode; without it events come over HTTP. */
  appToken?: string | undefined;
  signingSecret?: string | undefined;
  /** For workspaces that install the app by themselves. */
  install?: InstallOptions | undefined;
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
  now?: (() => number) | undefined;
}

/** How soon a process notices what another one installed or removed. */
const LOOK_MS = 60_000;
/** A workspace that nobody knows is looked for in the store so often. */
const UNKNOWN_MS = 10_000;

/** A token with which nothing can be asked any more. */
const DEAD: ReadonlySet<string> = new Set([
  "account_inactive",
  "invalid_auth",
  "token_expired",
  "token_revoked",
]);

type Parts = SlackOptions & ChatParts & { source: EventSource };

export type Workspaces = ReturnType<typeof createWorkspaces>;

/** `onRemoved`: Slack says that the app was taken out of it. */
async function connect(
  parts: Parts,
  api: Api,
  token: () => Promise<string>,
  onRemoved: (event: string) => Promise<void>,
): Promise<ServedWorkspace> {
  const { apiUrl, source } = parts;
  const { workspace } = await identify(api);
  const app = await appOf(api, workspace);
  const how = { token, apiUrl, onRemoved, app: () => app ?? source.app() };
  return serveWorkspace(api, workspace, { ...parts, ...how });
}

/** Those that are served, by their ids. `own`: the one that is set up by hand stays, whatever is installed there. */
function createPool() {
  const served = new Map<string, ServedWorkspace>();
  let own: ServedWorkspace | undefined;
  return {
    add: (made: ServedWorkspace) => void served.set(made.workspace.team, made),
    addOwn(made: ServedWorkspace) {
      own = made;
      this.add(made);
    },
    async drop(team: string): Promise<void> {
      const gone = served.get(team);
      if (gone === undefined || gone === own) return;
      served.delete(team);
      await gone.stop();
    },
    all: () => [...served.values()],
    of: (team: string) => served.get(team),
    /** Of this team or, where there is only one, that one. @throws BotError PLATFORM_UNREACHABLE where it is not served */
    home(team = ""): ServedWorkspace {
      const [only, ...others] = served.values();
      const found = served.get(team) ?? (others.length === 0 ? only : undefined);
      if (found !== undefined) return found;
      throw new BotError("PLATFORM_UNREACHABLE", `The workspace ${team} isn't connected to Slack.`);
    },
  };
}

/** Keeps the pool as the store has it: what is installed is served, what is removed no longer. */
function createKeeper(
  parts: Parts,
  { workspaces, vault }: { workspaces: readonly string[]; vault: Vault },
  installations: Installations,
  pool: ReturnType<typeof createPool>,
) {
  const { apiUrl, log } = parts;
  const connecting = new Map<string, Promise<ServedWorkspace>>();
  const unknown = new LRUCache<string, true>({ max: 100, ttl: UNKNOWN_MS });

  /** Slack may say so late, after it was installed again: only a dead token is forgotten. */
  async function removed(team: string, api: Api, event: string): Promise<void> {
    try {
      await identify(api);
      return;
    } catch (error) {
      const isKept = (await installations.find(team)) !== undefined;
      if (isKept && !DEAD.has(refusalCode(error) ?? "")) throw error;
    }
    await installations.remove(team);
    await pool.drop(team);
    log.warn({ event, team }, "the app was taken out of a workspace, and its tokens are forgotten");
  }

  async function connectTo(team: string): Promise<ServedWorkspace> {
    const token = () => installations.tokenOf(team);
    const api = createApi({ apiUrl, log, token, variable: INSTALLATION });
    const made = await connect(parts, api, token, (event) => removed(team, api, event));
    if (made.workspace.team !== team) {
      await made.stop();
      const text = `The stored token isn't one of the workspace ${team}.`;
      throw new BotError("PLATFORM_REFUSED", text);
    }
    pool.add(made);
    made.readAgain();
    return made;
  }

  async function serve({ team }: Installation): Promise<ServedWorkspace | undefined> {
    if (!workspaces.includes(team)) return undefined;
    const known = pool.of(team);
    if (known !== undefined) return known;
    const made = connecting.get(team) ?? connectTo(team);
    connecting.set(team, made);
    return made.finally(() => connecting.delete(team));
  }

  return {
    installing: {
      vault,
      installations,
      async onInstalled(installation) {
        await pool.drop(installation.team);
        await serve(installation);
      },
    } satisfies Installing,
    async look(): Promise<void> {
      const all = await installations.all();
      const isKept = async (id: string) =>
        all.some(({ team }) => team === id) || (await installations.find(id)) !== undefined;
      for (const { workspace } of pool.all())
        if (!(await isKept(workspace.team))) await pool.drop(workspace.team);
      for (const each of all) {
        try {
          await serve(each);
        } catch (error) {
          if (!isBotError(error)) throw error;
          log.error({ err: error, team: each.team }, "an installed workspace is not connected");
        }
      }
    },
    /** One that another process may have installed a moment ago. What fails is sent again. */
    async discover(team: string): Promise<ServedWorkspace | undefined> {
      if (unknown.has(team)) return undefined;
      const found = await installations.find(team);
      if (found !== undefined) return serve(found);
      unknown.set(team, true);
      return undefined;
    },
  };
}

/** The workspaces that are served: the one whose token is set, and those that installed the app by themselves. */
export function createWorkspaces(parts: Parts) {
  const { botToken, install, vault, apiUrl, log } = parts;
  const pool = createPool();
  let looking: NodeJS.Timeout | undefined;
  const keeper =
    install === undefined || vault === undefined
      ? undefined
      : createKeeper(
          parts,
          { ...install, vault },
          createInstallations({ ...parts, ...install, vault, apiUrl }),
          pool,
        );

  const readAgain = () => {
    for (const each of pool.all()) each.readAgain();
  };

  return {
    installing: keeper?.installing,
    all: pool.all,
    of: pool.of,
    home: pool.home,
    async find(teams: readonly string[]): Promise<ServedWorkspace | undefined> {
      const known = teams.flatMap((team) => pool.of(team) ?? []);
      if (known[0] !== undefined) return known[0];
      for (const team of teams) {
        const found = await keeper?.discover(team);
        if (found !== undefined) return found;
      }
      return undefined;
    },
    /**
     * Slack sends what is said in a shared channel once, through whichever workspace. Theirs is the thread that it is in, else the
     * bot that is mentioned.
     */
    async sharing({ channel, root, text }: SharedEvent): Promise<ServedWorkspace | undefined> {
      const all = pool.all();
      if (all.length === 1) return undefined;
      for (const each of all)
        if (await parts.queries.isKnown(keyOf(each.workspace.team, { channel, root }))) return each;
      return all.find(({ workspace }) => mentions(text, workspace.botUser));
    },
    /** Connects the one whose token is set. @throws as `ChatAdapter.start` */
    async connectOwn(): Promise<ServedWorkspace | undefined> {
      if (botToken === undefined) return undefined;
      const api = createApi({ apiUrl, log, token: botToken, variable: "SLACK_BOT_TOKEN" });
      const onRemoved = async (event: string) =>
        log.error({ event }, "Slack says that the app was taken out of the workspace");
      const own = await connect(parts, api, async () => botToken, onRemoved);
      pool.addOwn(own);
      return own;
    },
    readAgain,
    /** Connects the others, and from then on what is installed or removed. */
    async begin(): Promise<void> {
      readAgain();
      if (keeper === undefined) return;
      await keeper.look();
      looking = setInterval(() => {
        keeper.look().catch((error: unknown) => {
          log.warn({ err: error }, "the installed workspaces could not be looked up");
        });
      }, LOOK_MS).unref();
    },
    /** Who is connected, a sentence each. */
    lines(): string[] {
      const all = pool.all();
      if (all.length === 0) return [`Slack: no workspace yet. Install the app at ${INSTALL_PATH}.`];
      return all.map(({ workspace: { name, botName: bot } }) => {
        return `Connected to ${name} as @${bot}. Try, in a channel: /invite @${bot}, then @${bot} help.`;
      });
    },
    async stop(): Promise<void> {
      clearInterval(looking);
      await Promise.all(pool.all().map((each) => each.stop()));
    },
  };
}
