import { onTestFinished } from "vitest";
import { FakeDiscord } from "../fakes/discord/discord.ts";
import { FakeSlack } from "../fakes/slack/slack.ts";

/** A chat with a channel of ana and bob, and how they see and press what stands in the channel's threads. */
interface Chat {
  env: Record<string, string>;
  channel: string;
  /** Texts of the channel and of its one thread. */
  shown(): string[];
  press(who: "ana" | "bob", label: string): Promise<unknown>;
  /** Ana writes in the one thread. */
  write(text: string): void;
  /** The bot can write there no more. */
  lose(): void;
  pings(): readonly unknown[];
}

export async function onSlack(): Promise<Chat> {
  const slack = await FakeSlack.start();
  onTestFinished(() => slack.stop());
  const [ana, bob] = [slack.addUser({ name: "ana" }), slack.addUser({ name: "bob" })];
  const ops = slack.addChannel({ name: "ops", members: [ana, bob] });
  return {
    env: {
      SLACK_BOT_TOKEN: slack.botToken,
      SLACK_APP_TOKEN: slack.appToken,
      SLACK_API_URL: slack.apiUrl,
    },
    channel: `slack:${slack.team.id}:${ops.id}`,
    shown: () => slack.messages(ops).map((message) => slack.textOf(message)),
    async press(who, label) {
      for (const message of slack.messages(ops)) {
        const button = slack.buttonsOf(message).find((each) => each.label === label);
        if (button !== undefined)
          return slack.press(who === "ana" ? ana : bob, ops, message.ts, button.actionId);
      }
      throw new Error(`no button ${label}`);
    },
    write: (text) => void slack.say(ana, ops, text, { thread: slack.messages(ops)[0]?.ts ?? "" }),
    lose: () => slack.archive(ops),
    pings: () => slack.pings,
  };
}

export async function onDiscord(): Promise<Chat> {
  const discord = await FakeDiscord.start();
  onTestFinished(() => discord.stop());
  const guild = discord.addGuild({ name: "corp" });
  const [ana, bob] = [discord.addUser({ name: "ana" }), discord.addUser({ name: "bob" })];
  for (const user of [ana, bob]) discord.addMember(guild, user);
  const ops = discord.addChannel(guild, { name: "ops" });
  const all = () => {
    const roots = discord.messages(ops);
    const threads = roots.flatMap(({ id }) => discord.threadOf(id) ?? []);
    return [...roots, ...threads.flatMap((thread) => discord.messages(thread))];
  };
  return {
    env: {
      DISCORD_TOKEN: discord.token,
      DISCORD_API_URL: discord.apiUrl,
      DISCORD_GUILDS: guild.id,
    },
    channel: `discord:${guild.id}:${ops.id}`,
    shown: () => all().map((message) => discord.textOf(message)),
    async press(who, label) {
      for (const message of all()) {
        const button = discord.buttonsOf(message).find((each) => each.label === label);
        if (button !== undefined)
          return discord.press(who === "ana" ? ana : bob, message.id, button.customId);
      }
      throw new Error(`no button ${label}`);
    },
    write(text) {
      const [thread] = discord.messages(ops).flatMap(({ id }) => discord.threadOf(id) ?? []);
      if (thread !== undefined) discord.say(ana, thread, text);
    },
    lose: () => discord.removeChannel(ops),
    pings: () => discord.pings,
  };
}
