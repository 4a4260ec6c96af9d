import { pino } from "pino";
import { createDiscord } from "../../../src/adapters/discord/discord.ts";
import type { JournalKey } from "../../../src/core/journal-key.ts";
import type { Platform, Who } from "../../contracts/transport.ts";
import { FakeDiscord } from "../../fakes/discord/discord.ts";

/** A fake guild in which the bot, Ana, Bob, Cy and Gus, who has yet to accept its rules, share a channel. */
export async function openGuild(): Promise<Platform & { discord: FakeDiscord }> {
  // Discord sends an event once to each client; more often it comes only through several clients and after a resume.
  const discord = await FakeDiscord.start({ copies: 3, seed: 7, delayMs: [0, 20] });
  const guild = discord.addGuild();
  const users = {
    ana: discord.addUser({ name: "ana" }),
    bob: discord.addUser({ name: "bob" }),
    cy: discord.addUser({ name: "cy" }),
    gus: discord.addUser({ name: "gus" }),
  };
  for (const [name, user] of Object.entries(users)) {
    discord.addMember(guild, user, { pending: name === "gus" });
  }
  const channel = discord.addChannel(guild, { name: "ops" });
  const threadOf = (key: JournalKey) => discord.channel(key.split(":").at(-1) ?? "");
  /** As people read it: without the backslashes that keep Markdown from being markup. */
  const textOf = (message: Parameters<FakeDiscord["textOf"]>[0]) =>
    discord.textOf(message).replaceAll(/\\([^a-z0-9\s])/gi, "$1");
  const messagesIn = (key: JournalKey) => discord.messages(threadOf(key));
  const shown = (key: JournalKey) => messagesIn(key).map(textOf).join("\n");

  async function find(key: JournalKey, label: string, on: string) {
    for (const end = Date.now() + 4_000; Date.now() < end; await pause()) {
      for (const message of messagesIn(key).toReversed()) {
        const button = discord.buttonsOf(message).find((each) => each.label === label);
        if (button !== undefined && textOf(message).includes(on)) return { message, button };
      }
    }
    throw new Error(`no button ${label} on ${on} in:\n${shown(key)}`);
  }
  const press = async (key: JournalKey, who: Who, label: string, on: string) => {
    const { message, button } = await find(key, label, on);
    await discord.press(users[who], message.id, button.customId);
  };

  return {
    discord,
    connect() {
      const adapter = createDiscord({
        token: discord.token,
        apiUrl: discord.apiUrl,
        log: pino({ level: "silent" }),
      });
      return { adapter, start: adapter.start, stop: adapter.stop };
    },
    async begin(who, text) {
      const id = discord.say(users[who], channel, text, { mention: true });
      for (const end = Date.now() + 4_000; Date.now() < end; await pause()) {
        if (discord.threadOf(id) !== undefined) break;
      }
      return `discord:${guild.id}:${id}`;
    },
    async write(key, who, text) {
      discord.say(users[who], threadOf(key), text);
    },
    press,
    async denyBecause(key, who, action, reason) {
      await press(key, who, "Deny because…", action);
      const modal = discord.modals(users[who]).at(-1);
      const [input] = modal?.inputs ?? [];
      if (modal === undefined || input === undefined) throw new Error("no form came up");
      await discord.submit(users[who], modal, { [input.customId]: reason });
    },
    async stop(key, who) {
      await press(key, who, "Stop", "");
    },
    shown,
    told: (who) =>
      [...discord.ephemerals(users[who]), ...discord.dms(users[who])].map(textOf).join("\n"),
    pings: () => discord.pings,
    // It does from the start.
    scramble() {},
    end: () => discord.stop(),
  };
}

const pause = () => new Promise((resolve) => setTimeout(resolve, 10));
