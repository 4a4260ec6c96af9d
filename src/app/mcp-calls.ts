import { randomUUID } from "node:crypto";
import type { ActionCard, CallResult } from "../adapters/shown.ts";
import type { Adapter } from "../adapters/adapter.ts";
import { createPlace } from "../adapters/terminal/people.ts";
import { BotError, isBotError, messageOf } from "../core/errors.ts";
import { type JournalKey, transportOf } from "../core/journal-key.ts";
import type { Bot } from "./assemble.ts";
import { UNSEEN } from "./unseen.ts";
import { commandLine } from "../core/installation.ts";

/**
 * Calls of agents, each a typed command in a thread of its own, under the same policy, limits and record. What people have to
 * approve waits for them there; no call approves anything.
 */

/** The caller's command. Nothing else in any thread has this id, so a thread with it is its author's call. */
const CALL = "mcp:call";

/** An agent that asks for more at once waits, as do its threads in a channel where people work: an hour has some 120 of them. */
const MAX_CALLS = 50;
const MAX_THREADS = 20;
const THREADS_MS = 10 * 60_000;

/** A write by another process is noticed within a second anyway. */
const LOOK_MS = 1_000;

export interface CallerOptions {
  account: string;
  /** How the keys of its own threads begin, which are the terminal's. */
  threads: `terminal:${string}`;
  /** As `Adapter.tenants`. */
  tenants: readonly string[] | "all";
  /** The chat channel where calls take place that change something or need approval. Without it they wait in a thread of the terminal. */
  channel?: Channel | undefined;
}

export interface Channel {
  /** As `Adapter.channel`. */
  name: JournalKey;
  /** Begins a thread there. */
  open(text: string): Promise<JournalKey>;
  /** The thread's address for people. */
  link(key: JournalKey): string | undefined;
}

interface AgentCall {
  name: string;
  tool: string;
  /** The command. */
  text: string;
}

/** Where a call stands. */
export interface Standing {
  thread: JournalKey;
  /** Undefined: it has not come to an end yet. */
  status: "completed" | "failed" | "cancelled" | "wrapped_up" | undefined;
  text: string | undefined;
  results: readonly CallResult[];
  /** Its actions that wait for people. */
  waiting: readonly ActionCard[];
  /** What people do to decide. */
  how: string;
}

export type Caller = ReturnType<typeof createCaller>;

export function createCaller(options: CallerOptions) {
  const { account, threads, tenants, channel } = options;
  /** Threads of the terminal in which calls are under way. */
  const own = new Set<JournalKey>();
  const begin = channel && createBeginning(channel);
  let underWay = 0;
  const adapter: Adapter = {
    ...createPlace(account),
    tenants: async () => tenants,
    // Whichever thread a call comes to have, the rules of the channel where agents work hold for it.
    channel: async (key) => channel?.name ?? key,
    view: (key) => (own.has(key) ? UNSEEN : undefined),
  };

  /** Once the call has ended or waits for people. In its own thread, which is served only until then, nothing is owed any more. */
  async function settled(bot: Bot, thread: JournalKey): Promise<Standing> {
    for (;;) {
      const { promise: changed, resolve } = Promise.withResolvers<void>();
      const watching = bot.journal.watch(thread, () => resolve());
      const timer = setTimeout(resolve, LOOK_MS);
      try {
        const isOpen = (await bot.queries.thread(thread))?.open !== false;
        const now = await standingIn(bot, thread, options);
        if (now === undefined) throw new BotError("THREAD_UNKNOWN", `${thread} holds no call.`);
        const hasCome = now.status !== undefined || now.waiting.length > 0;
        if (!isOpen || (hasCome && !own.has(thread))) return now;
        await changed;
      } finally {
        clearTimeout(timer);
        await watching.stop();
      }
    }
  }

  /** Makes the call in its thread. */
  async function make(
    bot: Bot,
    { name, tool, text }: AgentCall,
    signal: AbortSignal,
  ): Promise<Standing> {
    const actor = { account, name };
    const isOwn = !(await isForChannel(bot, text, options));
    if (signal.aborted) throw cancelled();
    const opening = isOwn ? undefined : begin?.(`The ${name} asks for ${tool}.`);
    const key: JournalKey = (await opening) ?? `${threads}${randomUUID()}`;
    if (signal.aborted) throw cancelled();
    if (isOwn) own.add(key);
    const stop = () =>
      void bot.inbox.post(key, randomUUID(), { kind: "stop", actor }).catch(() => {});
    try {
      await bot.inbox.post(key, CALL, { kind: "text", actor, text });
      // A Stop before the call would stop nothing.
      if (signal.aborted) stop();
      else signal.addEventListener("abort", stop, { once: true });
      return await settled(bot, key);
    } finally {
      signal.removeEventListener("abort", stop);
      // From now on whoever opens the thread works on it.
      own.delete(key);
    }
  }

  return {
    adapter,
    tenants,
    /** Undefined for a thread that is no call of this caller. */
    standing: (bot: Bot, thread: JournalKey) => standingIn(bot, thread, options),
    /**
     * Makes the call that the typed command is, for an agent of this name. Returns once it has ended or waits for people.
     * @throws BotError what the store throws, and the channel's platform: then nothing was done
     */
    async call(bot: Bot, call: AgentCall, signal: AbortSignal): Promise<Standing> {
      if (underWay >= MAX_CALLS) throw tooMany(`${MAX_CALLS} calls are under way`);
      underWay += 1;
      try {
        return await make(bot, call, signal);
      } finally {
        underWay -= 1;
      }
    },
    /** Its calls that wait for people. */
    async waiting(bot: Bot): Promise<Standing[]> {
      const transports = new Set([threads, ...(channel ? [channel.name] : [])].map(transportOf));
      const found: Standing[] = [];
      for (const transport of transports) {
        for (const key of await threadsThatWait(bot, transport)) {
          const call = await standingIn(bot, key, options);
          if (call !== undefined && call.waiting.length > 0) found.push(call);
        }
      }
      return found;
    },
  };
}

async function threadsThatWait(bot: Bot, transport: string): Promise<Set<JournalKey>> {
  const keys = new Set<JournalKey>();
  for await (const { key } of bot.queries.openActions(transport)) keys.add(key);
  return keys;
}

async function isForChannel(
  bot: Bot,
  text: string,
  { account, channel }: CallerOptions,
): Promise<boolean> {
  if (channel === undefined) return false;
  const { effect, decision } = (await bot.forecast(text, account, channel.name)) ?? {};
  return decision === "ask" || (decision === "allow" && effect !== "read");
}

/** Begins threads in the channel. What it throws is what the agent is told. */
function createBeginning({ name, open }: Channel) {
  let lately: number[] = [];
  return async (text: string): Promise<JournalKey> => {
    const now = performance.now();
    lately = lately.filter((at) => now - at < THREADS_MS);
    if (lately.length >= MAX_THREADS)
      throw tooMany(`agents began ${MAX_THREADS} threads in ${name} within 10 minutes`);
    lately.push(now);
    try {
      return await open(text);
    } catch (error) {
      const why = `Nothing was done: no thread could be opened in ${name}. ${messageOf(error)}`;
      const code = isBotError(error) ? error.code : "NOT_AVAILABLE";
      throw new BotError(code, why, { cause: error });
    }
  };
}

function tooMany(what: string): BotError {
  return new BotError("NOT_AVAILABLE", `Nothing was done: ${what}. Ask again later.`);
}

function cancelled(): BotError {
  return new BotError("ABORTED", "Nothing was done: the call was cancelled.");
}

async function standingIn(
  bot: Bot,
  thread: JournalKey,
  options: CallerOptions,
): Promise<Standing | undefined> {
  const { journal, queries } = bot;
  const { account, channel } = options;
  const entries = await journal.read(thread);
  const said = entries.find(({ id }) => id === CALL);
  if (said?.kind !== "command" || said.actor.account !== account) return undefined;
  const started = entries.find(
    (each) => each.kind === "run_started" && each.answers.includes(CALL),
  );
  // People may go on in the thread: what they ask there is not the caller's.
  const run = started?.kind === "run_started" ? started.run : undefined;
  const actions = new Set<string>();
  for (const each of entries)
    if (each.kind === "action_proposed" && each.run === run) actions.add(each.action);
  const items = await queries.history(thread, entries.length);
  // What an agent is told must last. Where the store was set back meanwhile, it is told what is there now.
  const told = { last: entries.length, head: entries.at(-1)?.head };
  if ((await journal.flush(thread, told)) === "lost") return standingIn(bot, thread, options);
  const waiting = items.flatMap((item) =>
    item.kind === "card" && actions.has(item.card.action) ? [item.card] : [],
  );
  const [answer] = items.flatMap((item) =>
    item.kind === "out" && item.message.kind === "answer" && item.message.run === run
      ? [item.message]
      : [],
  );
  const { status, text, results = [] } = answer ?? {};
  const action = waiting[0]?.action ?? "";
  const how = thread.startsWith("terminal:")
    ? `to open \`${commandLine(`--thread ${thread}`)}\` on the program's machine and to type \`approve ${action}\` or \`deny ${action}\``
    : `to press Approve or Deny in its thread (${channel?.link(thread) ?? thread})`;
  return { thread, status, text, results, waiting, how };
}
