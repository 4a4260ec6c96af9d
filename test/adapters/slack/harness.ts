import { setTimeout as sleep } from "node:timers/promises";
import { pino } from "pino";
import { createSlack, type SlackOptions } from "../../../src/adapters/slack/slack.ts";
import type {
  ActionCard,
  ChatAdapter,
  Inbox,
  Outgoing,
  Queries,
} from "../../../src/adapters/adapter.ts";
import { readText } from "../../../src/commands/grammar.ts";
import type { Entry } from "../../../src/core/entry.ts";
import { BotError } from "../../../src/core/errors.ts";
import type { JournalKey } from "../../../src/core/journal-key.ts";
import type { Journal } from "../../../src/journal/journal.ts";
import { openSqliteJournal } from "../../../src/journal/sqlite.ts";
import { createInbox } from "../../../src/worker/inbox.ts";
import { createQueries } from "../../../src/worker/queries.ts";
import {
  FakeSlack,
  type FakeChannel,
  type FakeSlackOptions,
  type FakeUser,
} from "../../fakes/slack/slack.ts";

export interface BotOptions {
  slack?: FakeSlackOptions;
  adapter?: Partial<SlackOptions>;
  /** Cards that the queries know, by action. */
  cards?: Record<string, ActionCard>;
  /** False: it is not started. */
  start?: boolean;
}

/** The Slack adapter, connected to a fake workspace, in front of a real inbox and store. No worker. */
export interface Bot {
  slack: FakeSlack;
  adapter: ChatAdapter;
  parts: { inbox: Inbox; queries: Queries };
  journal: Journal;
  ana: FakeUser;
  bob: FakeUser;
  /** With Ana, Bob and the bot. */
  ops: FakeChannel;
  /** What went to the log. */
  log: Record<string, unknown>[];
  /** The inbox throws this many times before it takes the next post. */
  breakStore(times: number, error?: BotError): void;
  key(channel: FakeChannel, root: string): JournalKey;
  account(user: FakeUser): string;
  /** What the thread's journal holds. */
  entries(channel: FakeChannel, root: string): Promise<Entry[]>;
  /** What was said in the thread, in order. */
  texts(channel: FakeChannel, root: string): Promise<string[]>;
  close(): Promise<void>;
}

export async function openBot(options: BotOptions = {}): Promise<Bot> {
  const slack = await FakeSlack.start(options.slack);
  const journal = await openSqliteJournal({ path: ":memory:" });
  const ana = slack.addUser({ name: "ana", tz: "Europe/Madrid" });
  const bob = slack.addUser({ name: "bob" });
  const ops = slack.addChannel({ name: "ops", members: [ana, bob] });
  const log: Record<string, unknown>[] = [];
  const adapter = createSlack({
    botToken: slack.botToken,
    appToken: slack.appToken,
    apiUrl: slack.apiUrl,
    log: pino({ level: "debug" }, { write: (line) => void log.push(JSON.parse(line)) }),
    ...options.adapter,
  });
  let broken = 0;
  let breakage: BotError;
  const inbox = createInbox({ journal, read: readText, hide: (text) => text, wake: () => {} });
  const queries = createQueries(journal, [], (text) => text);
  const parts = {
    inbox: {
      async post(...args: Parameters<Inbox["post"]>) {
        if (broken > 0) {
          broken -= 1;
          throw breakage;
        }
        await inbox.post(...args);
      },
    },
    queries: {
      ...queries,
      action: async (key: JournalKey, action: string) =>
        options.cards?.[action] ?? queries.action(key, action),
    },
  };
  if (options.start !== false) await adapter.start(parts);
  const key = (channel: FakeChannel, root: string): JournalKey =>
    `slack:${slack.team.id}:${channel.id}:${root}`;
  const entries = async (channel: FakeChannel, root: string) =>
    (await journal.read(key(channel, root))) as Entry[];
  return {
    slack,
    adapter,
    parts,
    journal,
    ana,
    bob,
    ops,
    log,
    breakStore(times, error = new BotError("STORE_UNAVAILABLE", "The store did not answer.")) {
      broken = times;
      breakage = error;
    },
    key,
    account: (user) => `slack:${user.teamId}:${user.id}`,
    entries,
    texts: async (channel, root) =>
      (await entries(channel, root)).flatMap((entry) =>
        "text" in entry && entry.text !== undefined ? [entry.text] : [],
      ),
    async close() {
      await adapter.stop();
      await slack.stop();
      await journal.close();
    },
  };
}

/** Sends an event that the fake's people cannot cause: by HTTP, to a second adapter in front of the same inbox. */
export async function deliver(
  { slack, parts }: Bot,
  event: Record<string, unknown>,
): Promise<void> {
  const { botToken, signingSecret, apiUrl } = slack;
  const options = { botToken, appToken: undefined, signingSecret, port: 0, apiUrl };
  const other = await openBot({ start: false, adapter: options });
  try {
    await other.adapter.start(parts);
    const [, , where] = await other.adapter.examine();
    const port = /port (\d+)/.exec(where?.text ?? "")?.[1] ?? "";
    const body = JSON.stringify(slack.envelope(event));
    const response = await fetch(`http://127.0.0.1:${port}/slack/events`, {
      method: "POST",
      headers: { "content-type": "application/json", ...slack.sign(body) },
      body,
    });
    if (response.status !== 200) throw new Error(`the event was answered with ${response.status}`);
  } finally {
    await other.close();
  }
}

/** A Slack that gives up soon, for what is not to be acknowledged; long enough for a busy machine. */
export const IMPATIENT: FakeSlackOptions = { ackWithinMs: 800, retryDelaysMs: [10, 20] };

/** Waits until it holds, for at most a second; then the expectation that follows says what is missing. */
export async function until(what: () => boolean | Promise<boolean>, ms = 1_000): Promise<void> {
  for (const end = Date.now() + ms; !(await what()) && Date.now() < end;) await sleep(5);
}

export function answer(run: string, text: string): Outgoing {
  return { kind: "answer", run, status: "completed", text, results: [], talk: false };
}

export function cardOf(key: JournalKey, changes: Partial<ActionCard> = {}): ActionCard {
  const args = { name: "web" };
  return {
    key,
    action: "a1",
    revision: 1,
    tool: "restart_service",
    effect: "write",
    args,
    canonical: JSON.stringify(args),
    digest: "ab".repeat(32),
    reason: undefined,
    preview: {
      lines: [{ label: "Unit", value: "web" }],
      blastRadius: "Web is away.",
      undo: "None.",
    },
    phase: "open",
    approvers: "any full member of this thread",
    quorum: 1,
    votes: [],
    expiresAt: Date.now() + 3_600_000,
    ending: undefined,
    ...changes,
  };
}
