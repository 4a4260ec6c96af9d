import { pino } from "pino";
import { onTestFinished } from "vitest";
import type { ChatAdapter } from "../../src/adapters/adapter.ts";
import { createDiscord } from "../../src/adapters/discord/adapter.ts";
import { createSlack } from "../../src/adapters/slack/adapter.ts";
import type { JournalKey } from "../../src/core/journal-key.ts";
import { FakeDiscord } from "../fakes/discord/discord.ts";
import { FakeSlack } from "../fakes/slack/slack.ts";
import * as posts from "./bot-posts.ts";

type State = "firing" | "acknowledged" | "resolved";

/** A chat with a channel in which a listed bot posts. */
export interface AlertChat {
  /** Such as `slack:T1:C1`. */
  channel: string;
  /** What names the listed bot in the configuration. */
  bot: string;
  env: Record<string, string>;
  /** An adapter, not connected yet. */
  connect(): ChatAdapter;
  /** The bot says that a site is down, or up again; the message. */
  say(state: State, site: string, thread?: string): string;
  /** It posts what it changes later. */
  post(state: State): string;
  change(id: string, state: State): void;
  chat(text: string): string;
  /** Ana asks ours in the thread; she writes there without a mention. */
  ask(thread: string, text: string): void;
  write(thread: string, text: string): void;
  /** The thread of a message. */
  threadOf(id: string): JournalKey;
  /** Threads that people see. */
  threads(): number;
  remove(id: string): void;
  shown(id: string): string[];
  /** The message that a thread begins with, as the channel shows it, and our reactions to it. */
  root(thread: JournalKey): { text: string; reactions: string[] };
  /** A person writes what begins a thread. */
  said(text: string): string;
  pings(): readonly unknown[];
}

const log = pino({ level: "silent" });

export async function inSlack(): Promise<AlertChat> {
  const slack = await FakeSlack.start();
  onTestFinished(() => slack.stop());
  const ana = slack.addUser({ name: "ana" });
  const pager = slack.addUser({ name: "pager", standing: "bot" });
  const ops = slack.addChannel({ name: "ops", members: [ana] });
  slack.join(ops, pager);
  const bot = `B${pager.id}`;
  const say = ({ text = "", attachments = [] }: posts.SlackPost, thread?: string) =>
    slack.say(pager, ops, text, { attachments, ...(thread !== undefined && { thread }) });
  return {
    channel: `slack:${slack.team.id}:${ops.id}`,
    bot,
    env: {
      SLACK_BOT_TOKEN: slack.botToken,
      SLACK_APP_TOKEN: slack.appToken,
      SLACK_API_URL: slack.apiUrl,
    },
    connect: () =>
      createSlack({
        botToken: slack.botToken,
        appToken: slack.appToken,
        signingSecret: undefined,
        apiUrl: slack.apiUrl,
        bots: [bot],
        log,
      }),
    say: (state, site, thread) => say(posts.checkerInSlack(state, site), thread),
    post: (state) => say(posts.pagerdutyInSlack(state)),
    change(ts, state) {
      const { text = "", attachments = [] } = posts.pagerdutyInSlack(state);
      slack.edit(pager, ops, ts, text, attachments);
    },
    chat: (text) => slack.say(pager, ops, text),
    ask: (thread, text) => void slack.say(ana, ops, text, { thread, mention: true }),
    write: (thread, text) => void slack.say(ana, ops, text, { thread }),
    threadOf: (ts) => `slack:${slack.team.id}:${ops.id}:${ts}`,
    threads: () => new Set(slack.messages(ops).flatMap((each) => each.thread_ts ?? [])).size,
    remove: (ts) => slack.remove(pager, ops, ts),
    shown: (ts) =>
      slack
        .messages(ops)
        .filter((each) => each.thread_ts === ts)
        .map((each) => slack.textOf(each)),
    root(thread) {
      const ts = thread.split(":")[3] ?? "";
      const first = slack.messages(ops).find((each) => each.ts === ts);
      const names: Record<string, string> = { white_check_mark: "✅", no_bell: "🔕", repeat: "🔁" };
      const reactions = slack.reactions(ops, ts).map((name) => names[name] ?? name);
      return { text: first === undefined ? "" : slack.textOf(first), reactions };
    },
    said: (text) => slack.say(ana, ops, text),
    pings: () => slack.pings,
  };
}

export async function inDiscord(): Promise<AlertChat> {
  const discord = await FakeDiscord.start();
  onTestFinished(() => discord.stop());
  const guild = discord.addGuild({ name: "corp" });
  const ana = discord.addUser({ name: "ana" });
  const pager = discord.addUser({ name: "pager", bot: true });
  for (const user of [ana, pager]) discord.addMember(guild, user);
  const ops = discord.addChannel(guild, { name: "ops" });
  const say = ({ content = "", ...more }: posts.DiscordPost, at = ops) =>
    discord.say(pager, at, content, more);
  const threadOf = (id: string) => {
    const thread = discord.threadOf(id);
    if (thread === undefined) throw new Error(`no thread of ${id}`);
    return thread;
  };
  return {
    channel: `discord:${guild.id}:${ops.id}`,
    bot: pager.id,
    env: {
      DISCORD_TOKEN: discord.token,
      DISCORD_API_URL: discord.apiUrl,
      DISCORD_GUILDS: guild.id,
    },
    connect: () =>
      createDiscord({
        token: discord.token,
        apiUrl: discord.apiUrl,
        guilds: [guild.id],
        bots: [pager.id],
        log,
      }),
    say: (state, site, thread) =>
      say(posts.checkerInDiscord(state, site), thread === undefined ? ops : threadOf(thread)),
    post: (state) => say(posts.sentryInDiscord(state)),
    change(id, state) {
      const { embeds: [embed = {}] = [], components = [] } = posts.sentryInDiscord(state);
      const message = discord.message(id);
      if (message === undefined) throw new Error(`no message ${id}`);
      Object.assign(message, { components });
      discord.embed(id, embed);
      discord.edit(id, "");
    },
    chat: (text) => discord.say(pager, ops, text),
    ask: (thread, text) => void discord.say(ana, threadOf(thread), text, { mention: true }),
    write: (thread, text) => void discord.say(ana, threadOf(thread), text),
    threadOf: (id) => `discord:${guild.id}:${id}`,
    threads: () =>
      discord.messages(ops).filter(({ id }) => discord.threadOf(id) !== undefined).length,
    remove: (id) => discord.remove(id),
    shown: (id) => discord.messages(threadOf(id)).map((each) => discord.textOf(each)),
    root(thread) {
      const id = thread.split(":")[2] ?? "";
      const first = discord.message(id);
      const own = discord.reactions.filter(({ messageId }) => messageId === id);
      const text = first === undefined ? "" : discord.textOf(first);
      return { text, reactions: own.map(({ emoji }) => emoji) };
    },
    said: (text) => discord.say(ana, ops, text),
    pings: () => discord.pings,
  };
}
