import { pino } from "pino";
import { COMMANDS } from "../../../src/adapters/discord/command-definitions.ts";
import { createDiscord } from "../../../src/adapters/discord/adapter.ts";
import type { JournalKey } from "../../../src/core/journal-key.ts";
import { tryJson } from "../../../src/core/json.ts";
import type { EditingPlatform, Sent } from "../../contracts/edit-form.ts";
import type { Who } from "../../contracts/surface.ts";
import { FakeDiscord } from "../../fakes/discord/discord.ts";

/** A fake guild in which the bot, Ana, Bob, Cy and Gus, who has yet to accept its rules, share a channel. */
export async function openGuild(): Promise<EditingPlatform & { discord: FakeDiscord }> {
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
  const listed = discord.addUser({ name: "pager", bot: true });
  const stranger = discord.addUser({ name: "stranger", bot: true });
  for (const each of [listed, stranger]) discord.addMember(guild, each);
  const keyOf = (message: string): JournalKey => `discord:${guild.id}:${message}`;
  const registered = async () => {
    while (discord.commands.all.length < COMMANDS.length) await pause();
  };
  const threadOf = (key: JournalKey) => discord.channel(key.split(":").at(-1) ?? "");
  /** As people read it: without the backslashes that keep Markdown from being markup. */
  const textOf = (message: Parameters<FakeDiscord["textOf"]>[0]) =>
    discord.textOf(message).replaceAll(/\\([^a-z0-9\s])/gi, "$1");
  const messagesIn = (key: JournalKey) => discord.messages(threadOf(key));
  const shown = (key: JournalKey) => messagesIn(key).map(textOf).join("\n");

  async function find(key: JournalKey, label: string, on: string) {
    for (const end = Date.now() + 20_000; Date.now() < end; await pause()) {
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

  /** Sends the form that came up before Bob last. With a form of JSON, the changes go into the JSON. */
  async function send(changes: Record<string, string>): Promise<Sent> {
    const modal = discord.modals(users.bob).at(-1);
    if (modal === undefined) throw new Error("no form came up");
    const fields = Object.fromEntries(modal.inputs.map(({ customId, value }) => [customId, value]));
    const told = discord.ephemerals(users.bob).length;
    const outcome = await discord.submit(users.bob, modal, withChanges(fields, changes));
    const said = discord.ephemerals(users.bob).slice(told);
    return { fields, errors: outcome.kind === "failed" ? "failed" : said.map(textOf).join("\n") };
  }

  return {
    discord,
    async edit(key, { on }, changes) {
      await press(key, "bob", "Edit…", on);
      return send(changes);
    },
    async correct(_key, changes) {
      const message = discord.ephemerals(users.bob).at(-1);
      const button = message && discord.buttonsOf(message).find(({ label }) => /again/.test(label));
      if (message === undefined || button === undefined) throw new Error("no way to correct it");
      await discord.press(users.bob, message.id, button.customId);
      return send(changes);
    },
    connect() {
      const adapter = createDiscord({
        token: discord.token,
        apiUrl: discord.apiUrl,
        bots: [listed.id],
        log: pino({ level: "silent" }),
      });
      return { adapter, start: adapter.start, stop: adapter.stop };
    },
    async begin(who, whole, sent = []) {
      // Discord's own client makes a file of what is longer than a message may be.
      const isLong = whole.length > 2_000;
      const file = { name: "message.txt", type: "text/plain", bytes: Buffer.from(whole) };
      const attachments = isLong ? [file, ...sent] : sent;
      const text = isLong ? "" : whole;
      const id = discord.say(users[who], channel, text, { mention: true, attachments });
      for (const end = Date.now() + 20_000; Date.now() < end; await pause()) {
        if (discord.threadOf(id) !== undefined) break;
      }
      return keyOf(id);
    },
    async beginUnder(alert, comment, who, text) {
      const pager = discord.addUser({ name: "Alertmanager", bot: true });
      const embeds = [{ type: "rich", title: alert, fields: [{ name: "service", value: "shop" }] }];
      const root = discord.say(pager, channel, "", { webhook: true, embeds });
      discord.say(users.bob, channel, comment, { replyTo: root });
      const id = discord.say(users[who], channel, text, { mention: true });
      for (const end = Date.now() + 20_000; Date.now() < end; await pause()) {
        if (discord.threadOf(id) !== undefined) break;
      }
      return keyOf(id);
    },
    async alert(text, { listed: isListed, mention = false, thread }) {
      const author = isListed ? listed : stranger;
      const at = thread === undefined ? channel : threadOf(thread);
      const id = discord.say(author, at, mention ? text : "", {
        mention,
        embeds: [{ type: "rich", title: text }],
      });
      if (thread !== undefined) return thread;
      if (!isListed) return keyOf(channel.id);
      for (const end = Date.now() + 20_000; Date.now() < end; await pause()) {
        if (discord.threadOf(id) !== undefined) break;
      }
      return keyOf(id);
    },
    async look(who, what) {
      await registered();
      const from = discord.ephemerals(users[who]).length;
      await discord.give(users[who], channel, { words: what });
      while (discord.ephemerals(users[who]).length === from) await pause();
      return discord.ephemerals(users[who]).slice(from).map(textOf).join("\n");
    },
    doors: {
      async ask(who, question) {
        await registered();
        await discord.give(users[who], channel, { words: "ask", values: { question } });
        const asked = discord
          .messages(channel)
          .findLast(({ author }) => author === discord.botUser);
        return { key: keyOf(asked?.id ?? ""), said: asked === undefined ? "" : textOf(asked) };
      },
      post: (text) => keyOf(discord.say(users.bob, channel, text)),
      async pick(key, who, item) {
        await registered();
        await discord.pick(users[who], key.split(":").at(-1) ?? "", item);
      },
      async choose(who, incident) {
        const form = discord.modals(users[who]).at(-1);
        if (form === undefined) throw new Error("no form came up");
        await discord.submit(users[who], form, { incident });
      },
      async offered(who, text) {
        const values = { incident: text };
        const typing = { words: "incident update", focused: "incident", values };
        const choices = await discord.type(users[who], channel, typing);
        return choices?.map(({ value }) => value) ?? [];
      },
    },
    async write(key, who, text) {
      discord.say(users[who], threadOf(key), text);
    },
    async mark(key, who, text, isOn) {
      const found = messagesIn(key).findLast((message) => textOf(message).includes(text));
      discord[isOn ? "mark" : "unmark"](users[who], found?.id ?? "", "📌");
    },
    press,
    async denyBecause(key, who, action, reason) {
      await press(key, who, "Deny…", action);
      const modal = discord.modals(users[who]).at(-1);
      const [input] = modal?.inputs ?? [];
      if (modal === undefined || input === undefined) throw new Error("no form came up");
      await discord.submit(users[who], modal, { [input.customId]: reason });
    },
    async fill(key, who, { label, action }, written) {
      await press(key, who, label, action);
      const modal = discord.modals(users[who]).at(-1);
      if (modal === undefined) throw new Error("no form came up");
      await discord.submit(users[who], modal, written);
    },
    async stop(key, who) {
      await press(key, who, "Stop", "");
    },
    shown,
    async read(key, who, label) {
      const from = discord.ephemerals(users[who]).length;
      const found = discord
        .messages(threadOf(key))
        .toReversed()
        .flatMap((message) => discord.buttonsOf(message).map((button) => ({ message, button })))
        .find(({ button }) => label.test(button.label));
      if (found === undefined) throw new Error(`nothing to press as ${label}`);
      let at = found;
      const pages: string[] = [];
      for (;;) {
        const { kind } = await discord.press(users[who], at.message.id, at.button.customId);
        if (kind === "failed") throw new Error("the press was not answered in time");
        const [message, ...others] = discord.ephemerals(users[who]).slice(from);
        if (message === undefined) throw new Error("nothing came up");
        if (others.length > 0) throw new Error("a page came up beside the one that was turned");
        pages.push(textOf(message));
        const next = discord.buttonsOf(message).find((button) => button.label.startsWith("Next"));
        if (next === undefined) break;
        at = { message, button: next };
      }
      const text = pages.join("\n");
      const languages = [...text.matchAll(/^```(\w+)$/gm)].map(([, name = ""]) => name);
      return { text, languages };
    },
    told: (who) =>
      [...discord.ephemerals(users[who]), ...discord.dms(users[who])].map(textOf).join("\n"),
    pings: () => discord.pings,
    // It does from the start.
    scramble() {},
    end: () => discord.stop(),
  };
}

function withChanges(
  fields: Record<string, string>,
  changes: Record<string, string>,
): Record<string, string> {
  const whole = fields["{}"];
  if (whole === undefined) return changes;
  const values = Object.entries(changes).map(([name, text]) => [name, tryJson(text) ?? text]);
  return { "{}": JSON.stringify({ ...JSON.parse(whole), ...Object.fromEntries(values) }) };
}

const pause = () => new Promise((resolve) => setTimeout(resolve, 10));
