import { LRUCache } from "lru-cache";
import type { Logger } from "pino";
import type { webApi } from "@slack/bolt";
import { isBotError } from "../../core/errors.ts";
import { createTurns } from "../../core/turns.ts";
import type { ThreadStatus } from "../shared/sign.ts";
import type { Api } from "./api.ts";
import { refusalCode } from "./errors.ts";
import { LOADING, LOOKING } from "./phrases.ts";
import type { Place } from "./place.ts";

/** Slack takes the words of a status away after two minutes, and with each message. */
export const STATUS_MS = 30_000;

const SESSION = "agents.sessions.setStatus";
const WORDS = "assistant.threads.setStatus";
/** Threads whose status is remembered; each is small. */
const MAX_THREADS = 1_000;

/** How Slack calls it: working (with a Stop of its own), waiting for a person, or nothing. */
const SESSIONS: Readonly<Record<ThreadStatus, string>> = {
  working: "processing",
  waiting: "suspended",
  idle: "active",
};

/** Refusals that concern one thread only. */
const LOCAL: ReadonlySet<string> = new Set([
  "channel_not_found",
  "channel_type_not_supported",
  "not_in_channel",
  "is_archived",
  "message_not_found",
  "thread_not_found",
  // Of a reaction.
  "already_reacted",
  "no_reaction",
  "too_many_reactions",
  "too_many_emoji",
]);

type Ask = (client: webApi.WebClient) => Promise<unknown>;

/**
 * Shows what a thread is doing, in order, without being waited for: nothing depends on it. A way that the workspace does not
 * have is tried once; where it has no status line at all, the thread's first message gets 👀, and ✅ once it is answered.
 */
export function createStatus(api: Api, log: Logger) {
  const inTurn = createTurns<string>();
  /** The methods that this workspace does not have. */
  const off = new Set<string>();
  const shown = new LRUCache<string, ThreadStatus>({ max: MAX_THREADS });

  async function attempt(method: string, ask: Ask): Promise<void> {
    if (off.has(method)) return;
    try {
      await api.ask(method, ask);
    } catch (error) {
      log.debug({ err: error }, "a thread's status could not be set");
      if (isBotError(error, "PLATFORM_REFUSED") && !LOCAL.has(refusalCode(error) ?? ""))
        off.add(method);
    }
  }

  async function react({ channel, root }: Place, status: ThreadStatus): Promise<void> {
    const reaction = (name: string) => ({ channel, timestamp: root, name });
    const add = (name: string) =>
      attempt("reactions.add", (client) => client.reactions.add(reaction(name)));
    if (status === "working") await add("eyes");
    if (status !== "idle") return;
    await attempt("reactions.remove", (client) => client.reactions.remove(reaction("eyes")));
    await add("white_check_mark");
  }

  async function set(place: Place, status: ThreadStatus): Promise<void> {
    const { channel, root } = place;
    const at = { channel_id: channel, thread_ts: root };
    const key = `${channel} ${root}`;
    const isRenewal = status === "working" && shown.get(key) === status;
    shown.set(key, status);
    if (!isRenewal) {
      await attempt(SESSION, (client) =>
        client.agents.sessions.setStatus({ ...at, status: SESSIONS[status] }),
      );
    }
    // What takes longer gets words too; Slack takes them away with the next message.
    if (status === "working" && (isRenewal || off.has(SESSION))) {
      await attempt(WORDS, (client) =>
        client.assistant.threads.setStatus({
          ...at,
          status: LOOKING,
          loading_messages: [...LOADING],
        }),
      );
    }
    if (!isRenewal && off.has(SESSION) && off.has(WORDS)) await react(place, status);
  }

  return {
    show: (place: Place, status: ThreadStatus) =>
      void inTurn(`${place.channel} ${place.root}`, () => set(place, status)),
    /** The session as it was shown last; undefined: by no one here, or there are none. */
    sessionOf({ channel, root }: Place): string | undefined {
      const status = off.has(SESSION) ? undefined : shown.get(`${channel} ${root}`);
      return status && SESSIONS[status];
    },
  };
}

/** Puts a 👍 on a message, or not: nothing depends on it. */
export function createThumbsUp(api: Api, log: Logger) {
  return (message: { channel: string; timestamp: string }): void => {
    const asked = api.ask("reactions.add", (client) =>
      client.reactions.add({ ...message, name: "+1" }),
    );
    asked.catch((error: unknown) => log.debug({ err: error }, "a reaction could not be added"));
  };
}
