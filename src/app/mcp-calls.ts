import { randomUUID } from "node:crypto";
import type { ActionCard, Adapter, CallResult, View } from "../adapters/adapter.ts";
import { createPlace } from "../adapters/terminal/people.ts";
import { BotError } from "../core/errors.ts";
import { type JournalKey, transportOf } from "../core/journal-key.ts";
import type { Bot } from "./assemble.ts";

/**
 * Calls of agents, each a typed command in a thread of its own, under the same policy, limits and record. What people have to
 * approve waits for them there; no call approves anything.
 */

/** The caller's command. Nothing else in any thread has this id, so a thread with it is its author's call. */
const CALL = "mcp:call";

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

/** Nobody looks on: what is shown here is shown. */
const UNSEEN: View = {
  progress: () => {},
  post: async () => randomUUID(),
  postPrivately: async () => randomUUID(),
  updateNotice: async () => {},
  postCard: async () => randomUUID(),
  updateCard: async () => {},
  delete: async () => {},
};

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

export function createCaller({ account, threads, tenants, channel }: CallerOptions) {
  const own = new Set<JournalKey>();
  const adapter: Adapter = {
    ...createPlace(account),
    tenants: async () => tenants,
    view: (key) => (own.has(key) ? UNSEEN : undefined),
  };

  /** Undefined for a thread that is no call of this caller. */
  async function standing(bot: Bot, thread: JournalKey): Promise<Standing | undefined> {
    const entries = await bot.journal.read(thread);
    const said = entries.find(({ id }) => id === CALL);
    if (said?.kind !== "command" || said.actor.account !== account) return undefined;
    const run = entries.find((each) => each.kind === "run_started" && each.answers.includes(CALL));
    // People may go on in the thread: what they ask there is not the caller's.
    const name = run?.kind === "run_started" ? run.run : undefined;
    const actions = new Set(
      entries.flatMap((each) =>
        each.kind === "action_proposed" && each.run === name ? [each.action] : [],
      ),
    );
    const items = await bot.queries.history(thread, entries.length);
    const answer = items.flatMap((item) =>
      item.kind === "out" && item.message.kind === "answer" && item.message.run === name
        ? [item.message]
        : [],
    )[0];
    const waiting = items.flatMap((item) =>
      item.kind === "card" && actions.has(item.card.action) ? [item.card] : [],
    );
    const { status, text, results = [] } = answer ?? {};
    return { thread, status, text, results, waiting, how: howToDecide(thread, waiting) };
  }

  function howToDecide(thread: JournalKey, [first]: readonly ActionCard[]): string {
    const action = first?.action ?? "a1";
    return thread.startsWith("terminal:")
      ? `to open \`npm start -- --thread ${thread}\` on the program's machine and to type \`approve ${action}\` or \`deny ${action}\``
      : `to press Approve or Deny in its thread (${channel?.link(thread) ?? thread})`;
  }

  /** Waits until the call has ended or waits for people, or until something else was written. */
  async function look(bot: Bot, thread: JournalKey): Promise<Standing | undefined> {
    const { promise: changed, resolve } = Promise.withResolvers<void>();
    const watching = bot.journal.watch(thread, () => resolve());
    const timer = setTimeout(resolve, LOOK_MS);
    try {
      const isOpen = (await bot.queries.thread(thread))?.open !== false;
      const now = await standing(bot, thread);
      if (now === undefined) throw new BotError("THREAD_UNKNOWN", `${thread} holds no call.`);
      const hasCome = now.status !== undefined || now.waiting.length > 0;
      // Its own thread is served only while the call is under way: what is owed there comes first.
      if (!isOpen || (!own.has(thread) && hasCome)) return now;
      await changed;
      return undefined;
    } finally {
      clearTimeout(timer);
      await watching.stop();
    }
  }

  async function takesPlaceInChannel(bot: Bot, text: string): Promise<boolean> {
    if (channel === undefined) return false;
    const { effect, decision } = (await bot.forecast(text, account, channel.name)) ?? {};
    return decision === "ask" || (decision === "allow" && effect !== "read");
  }

  return {
    adapter,
    account,
    tenants,
    standing,
    /**
     * Makes the call that the typed command is, for an agent of this name. Returns once it has ended or waits for people.
     * @throws what the channel's platform and the store throw
     */
    async call(
      bot: Bot,
      { name, tool, text }: { name: string; tool: string; text: string },
      signal: AbortSignal,
    ): Promise<Standing> {
      const actor = { account, name };
      const isInChannel = channel !== undefined && (await takesPlaceInChannel(bot, text));
      const key: JournalKey = isInChannel
        ? await channel.open(`${name}, an agent, asks for ${tool}.`)
        : `${threads}${randomUUID()}`;
      if (!isInChannel) own.add(key);
      const stop = () =>
        void bot.inbox.post(key, randomUUID(), { kind: "stop", actor }).catch(() => {});
      signal.addEventListener("abort", stop, { once: true });
      try {
        await bot.inbox.post(key, CALL, { kind: "text", actor, text });
        let end: Standing | undefined;
        while (end === undefined) end = await look(bot, key);
        return end;
      } finally {
        signal.removeEventListener("abort", stop);
        // From now on whoever opens the thread works on it.
        own.delete(key);
      }
    },
    /** Its calls that wait for people. */
    async waiting(bot: Bot): Promise<Standing[]> {
      const found: Standing[] = [];
      const transports = new Set(["terminal", ...(channel ? [transportOf(channel.name)] : [])]);
      for (const transport of transports) {
        const keys = new Set((await bot.queries.openActions(transport)).map(({ key }) => key));
        for (const key of keys) {
          const call = await standing(bot, key);
          if (call !== undefined && call.waiting.length > 0) found.push(call);
        }
      }
      return found;
    },
  };
}
