import { pino } from "pino";
import type { ActionCard } from "../../../src/adapters/shown.ts";
import type { ChatAdapter, ChatParts } from "../../../src/adapters/adapter.ts";
import type { View } from "../../../src/adapters/view.ts";
import type { OpenIncident } from "../../../src/adapters/overview.ts";
import { createDiscord } from "../../../src/adapters/discord/adapter.ts";
import type { Shards } from "../../../src/adapters/discord/shards.ts";
import type { Entry } from "../../../src/core/entry.ts";
import type { BotError } from "../../../src/core/errors.ts";
import type { JournalKey } from "../../../src/core/journal-key.ts";
import type { Journal } from "../../../src/journal/journal.ts";
import { openMemoryJournal } from "../../fakes/memory-journal.ts";
import {
  FakeDiscord,
  type FakeChannel,
  type FakeDiscordOptions,
  type FakeGuild,
  type FakeMessage,
  type FakeUser,
} from "../../fakes/discord/discord.ts";
import { until } from "../../until.ts";
import { openParts } from "../parts.ts";

export { answer, cardOf } from "../parts.ts";
export { holds, until } from "../../until.ts";

export interface BotOptions {
  discord?: FakeDiscordOptions;
  token?: string;
  /** Ids of the servers that are served, as configured. */
  guilds?: (discord: FakeDiscord, own: FakeGuild) => string[];
  /** The shards of the first process. */
  shards?: Shards;
  /** The id of its server. */
  guildId?: string;
  /** False: it is not started. */
  start?: boolean;
}

/** The Discord adapter, connected to a fake Discord, in front of a real inbox and store. No worker. */
export interface Bot {
  discord: FakeDiscord;
  adapter: ChatAdapter;
  parts: ChatParts;
  journal: Journal;
  guild: FakeGuild;
  ana: FakeUser;
  bob: FakeUser;
  /** Everyone sees it. */
  ops: FakeChannel;
  /** Cards that the queries know, by action. */
  cards: Map<string, ActionCard>;
  /** Those that are open. */
  incidents: OpenIncident[];
  /** What went to the log. */
  log: Record<string, unknown>[];
  /** The inbox throws this many times before it takes the next post, each time after `delayMs`. */
  breakStore(times: number, error?: BotError, delayMs?: number): void;
  /** Another process of the same bot, with the same store; stopped with this one. */
  replica(shards?: Shards): Promise<ChatAdapter>;
  /** Ana mentions the bot; resolves with the thread once it is there. */
  begin(text?: string): Promise<FakeChannel>;
  key(channel: FakeChannel): JournalKey;
  view(channel: FakeChannel): View;
  /** What stands in the thread that is ours. */
  shown(channel: FakeChannel): string[];
  /** What the thread's journal holds. */
  entries(channel: FakeChannel): Promise<Entry[]>;
  /** What was said in the thread, in order. */
  texts(channel: FakeChannel): Promise<string[]>;
  /** @throws Error when anybody was notified by anything of ours */
  close(): Promise<void>;
}

export async function openBot(options: BotOptions = {}): Promise<Bot> {
  const discord = await FakeDiscord.start(options.discord);
  const journal = openMemoryJournal();
  const guild = discord.addGuild(options.guildId === undefined ? {} : { id: options.guildId });
  const ana = discord.addUser({ name: "ana" });
  const bob = discord.addUser({ name: "bob" });
  for (const user of [ana, bob]) discord.addMember(guild, user);
  const ops = discord.addChannel(guild, { name: "ops" });
  const log: Record<string, unknown>[] = [];
  const logger = pino({ level: "debug" }, { write: (line) => void log.push(JSON.parse(line)) });
  const create = (shards = options.shards) =>
    createDiscord({
      shards,
      turnMs: 20,
      token: options.token ?? discord.token,
      apiUrl: discord.apiUrl,
      guilds: options.guilds?.(discord, guild),
      log: logger,
    });
  const adapters = [create()];
  const [adapter = create()] = adapters;
  const { parts, cards, incidents, breakStore } = openParts(journal);
  if (options.start !== false) {
    await adapter.start(parts);
    await discord.everyConnected();
  }
  const key = ({ id, guildId }: FakeChannel): JournalKey => `discord:${guildId ?? "dm"}:${id}`;
  const entries = async (channel: FakeChannel) => (await journal.read(key(channel))) as Entry[];
  const isOurs = ({ author }: FakeMessage) => author === discord.botUser;
  return {
    discord,
    adapter,
    parts,
    journal,
    guild,
    ana,
    bob,
    ops,
    cards,
    incidents,
    log,
    breakStore,
    key,
    entries,
    async replica(shards) {
      const other = create(shards);
      adapters.push(other);
      await other.start(parts);
      return other;
    },
    async begin(text = "is web well?") {
      const id = discord.say(ana, ops, text, { mention: true });
      await until(() => discord.threadOf(id) !== undefined);
      const thread = discord.threadOf(id);
      if (thread === undefined) throw new Error("no thread was opened");
      await until(async () => (await entries(thread)).length > 0);
      return thread;
    },
    view(channel) {
      const view = adapter.view(key(channel));
      if (view === undefined) throw new Error("the thread is not shown");
      return view;
    },
    shown: (channel) =>
      discord
        .messages(channel)
        .filter(isOurs)
        .map((message) => discord.textOf(message)),
    texts: async (channel) =>
      (await entries(channel)).flatMap((entry) =>
        "text" in entry && entry.text !== undefined ? [entry.text] : [],
      ),
    async close() {
      for (const each of adapters) await each.stop();
      await discord.stop();
      await journal.close();
      if (discord.pings.length > 0) throw new Error(`pinged ${JSON.stringify(discord.pings)}`);
    },
  };
}
