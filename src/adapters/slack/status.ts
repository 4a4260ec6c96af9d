import { LRUCache } from "lru-cache";
import type { Logger } from "pino";
import type { webApi } from "@slack/bolt";
import { isBotError } from "../../core/errors.ts";
import type { ThreadStatus } from "../shared/sign.ts";
import type { Api } from "./api.ts";
import { refusalCode } from "./errors.ts";
import { LOADING, LOOKING } from "./phrases.ts";
import type { Place } from "./place.ts";
import type { LookAtRoot } from "./root.ts";

/** How often a thread at work is looked at: from the first look on it has Slack's own Stop. */
export const LOOK_MS = 5_000;
/** Slack takes the words of a status away after two minutes, and with each message. */
const WORDS_MS = 30_000;

const SESSION = "agents.sessions.setStatus";
const WORDS = "assistant.threads.setStatus";
/** Threads whose status is remembered; each is small. */
const MAX_THREADS = 1_000;

/** Slack's states of a session: with a Stop of its own, waiting for a person, or nothing. */
type Session = "processing" | "suspended" | "active";

/** What this process showed of a thread. */
interface Shown {
  session?: Session;
  /** Its words, if they may still stand there. */
  wordsAt?: number;
}

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
 * Shows what a thread is doing; nothing depends on it. The first sign is words, which the answer takes away by itself. A session needs
 * two requests, of which Slack takes about fifty a minute: what takes longer has one, and what waits for a person. A way that the
 * workspace does not have is tried once; where it has none, the thread's first message gets 👀, and ✅ once it is answered. A bot's
 * message, such as an alert, gets neither: it asks nothing, and ✅ says there that the alert is over.
 */
export function createStatus(api: Api, lookAtRoot: LookAtRoot, log: Logger) {
  /** The methods that this workspace does not have. */
  const off = new Set<string>();
  const threads = new LRUCache<string, Shown>({ max: MAX_THREADS });

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

  async function setSession(place: Place, shown: Shown, session: Session): Promise<void> {
    shown.session = session;
    const at = { channel_id: place.channel, thread_ts: place.root };
    await attempt(SESSION, (client) =>
      client.agents.sessions.setStatus({ ...at, status: session }),
    );
  }

  async function setWords({ channel, root }: Place, status: string): Promise<void> {
    const words = { channel_id: channel, thread_ts: root, status };
    const loading = status === "" ? {} : { loading_messages: [...LOADING] };
    await attempt(WORDS, (client) => client.assistant.threads.setStatus({ ...words, ...loading }));
  }

  const reacts = () => off.has(SESSION) && off.has(WORDS);

  async function react(place: Place, isWork: boolean): Promise<void> {
    const { channel, root } = place;
    const first = await lookAtRoot(place).catch(() => undefined);
    if (first?.kind !== "person") return;
    const reaction = (name: string) => ({ channel, timestamp: root, name });
    const add = (name: string) =>
      attempt("reactions.add", (client) => client.reactions.add(reaction(name)));
    if (isWork) return add("eyes");
    await attempt("reactions.remove", (client) => client.reactions.remove(reaction("eyes")));
    await add("white_check_mark");
  }

  async function work(place: Place, shown: Shown): Promise<void> {
    const { session = "active", wordsAt } = shown;
    const isFirst = wordsAt === undefined;
    if (isFirst || performance.now() - wordsAt >= WORDS_MS) {
      shown.wordsAt = performance.now();
      // A session that waited says enough when it goes on.
      if (session !== "suspended") await setWords(place, LOOKING);
    }
    const hasSession = !isFirst || session === "suspended" || off.has(WORDS);
    if (hasSession && session !== "processing") await setSession(place, shown, "processing");
    if (isFirst && reacts()) await react(place, true);
  }

  async function end(place: Place, shown: Shown, isSure: boolean, isSaid: boolean): Promise<void> {
    const { session = "active", wordsAt } = shown;
    delete shown.wordsAt;
    if (!isSaid && wordsAt !== undefined) await setWords(place, "");
    if (session !== "active" || !isSure) await setSession(place, shown, "active");
    if (reacts()) await react(place, false);
  }

  return {
    /** As `SignParts.show`. */
    async show(place: Place, status: ThreadStatus, isSure: boolean): Promise<void> {
      const key = `${place.channel} ${place.root}`;
      const shown = threads.get(key) ?? {};
      threads.set(key, shown);
      if (status === "working") return work(place, shown);
      if (status !== "waiting") return end(place, shown, isSure, status === "answered");
      if (shown.wordsAt !== undefined) await setWords(place, "");
      delete shown.wordsAt;
      await setSession(place, shown, "suspended");
    },
    /** The session as it was shown last; undefined: by no one here, or there are none. */
    sessionOf: ({ channel, root }: Place): Session | undefined =>
      off.has(SESSION) ? undefined : threads.get(`${channel} ${root}`)?.session,
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
