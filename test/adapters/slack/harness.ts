import { pino } from "pino";
import { createSlack, type SlackOptions } from "../../../src/adapters/slack/adapter.ts";
import { startHttpServer } from "../../../src/app/http.ts";
import type { ActionCard } from "../../../src/adapters/shown.ts";
import type { ChatAdapter, ChatParts } from "../../../src/adapters/adapter.ts";
import type { OpenIncident } from "../../../src/adapters/overview.ts";
import type { Entry } from "../../../src/core/entry.ts";
import type { BotError } from "../../../src/core/errors.ts";
import type { JournalKey } from "../../../src/core/journal-key.ts";
import type { Journal } from "../../../src/journal/journal.ts";
import { openMemoryJournal } from "../../fakes/memory-journal.ts";
import {
  FakeSlack,
  type FakeChannel,
  type FakeSlackOptions,
  type FakeUser,
} from "../../fakes/slack/slack.ts";
import { openParts } from "../parts.ts";

export { answer, cardOf } from "../parts.ts";
export { holds, skip, until } from "../../until.ts";

export interface BotOptions {
  slack?: FakeSlackOptions;
  adapter?: Partial<SlackOptions>;
  /** False: it is not started. */
  start?: boolean;
}

/** The Slack adapter, connected to a fake workspace, in front of a real inbox and store. No worker. */
export interface Bot {
  slack: FakeSlack;
  adapter: ChatAdapter;
  parts: ChatParts;
  journal: Journal;
  ana: FakeUser;
  bob: FakeUser;
  /** With Ana, Bob and the bot. */
  ops: FakeChannel;
  /** Cards that the queries know, by action. */
  cards: Map<string, ActionCard>;
  /** Those that are open. */
  incidents: OpenIncident[];
  /** What went to the log. */
  log: Record<string, unknown>[];
  /** Where its events are taken by HTTP; undefined with an app token. */
  port: number | undefined;
  /** The inbox throws this many times before it takes the next post. */
  breakStore(times: number, error?: BotError, delayMs?: number): void;
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
  const journal = openMemoryJournal();
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
  const { routes = [] } = adapter;
  const server =
    routes.length === 0
      ? undefined
      : await startHttpServer({ routes, port: 0, log: pino({ level: "silent" }) });
  const { parts, cards, incidents, breakStore } = openParts(journal);
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
    cards,
    incidents,
    log,
    port: server?.port,
    breakStore,
    key,
    account: (user) => `slack:${user.teamId}:${user.id}`,
    entries,
    texts: async (channel, root) =>
      (await entries(channel, root)).flatMap((entry) =>
        "text" in entry && entry.text !== undefined ? [entry.text] : [],
      ),
    async close() {
      await adapter.stop();
      await server?.stop();
      await slack.stop();
      await journal.close();
    },
  };
}

export const OVER_HTTP = { appToken: undefined, signingSecret: "fake-signing-secret" };

/** A bot that events reach by HTTP; one that is refused comes again at once. */
export async function openOverHttp(): Promise<Bot & { url: string }> {
  const bot = await openBot({ adapter: OVER_HTTP, slack: { retryDelaysMs: [10, 20, 50] } });
  const url = `http://127.0.0.1:${bot.port}/slack/events`;
  await bot.slack.deliverTo(url);
  return { ...bot, url };
}

/** Sends an event that the fake's people cannot cause: by HTTP, to a second adapter in front of the same inbox. */
export async function deliver(
  { slack, parts }: Bot,
  event: Record<string, unknown>,
): Promise<void> {
  const { botToken, signingSecret, apiUrl } = slack;
  const options = { botToken, appToken: undefined, signingSecret, apiUrl };
  const other = await openBot({ start: false, adapter: options });
  try {
    await other.adapter.start(parts);
    const body = JSON.stringify(slack.envelope(event));
    const response = await fetch(`http://127.0.0.1:${other.port}/slack/events`, {
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
