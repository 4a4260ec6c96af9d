import { pino } from "pino";
import * as z from "zod";
import { createSlack } from "../../../src/adapters/slack/adapter.ts";
import type { JournalKey } from "../../../src/core/journal-key.ts";
import type { EditingPlatform, Sent } from "../../contracts/edit-form.ts";
import type { Who } from "../../contracts/surface.ts";
import { FakeSlack, type FakeMessage, typed } from "../../fakes/slack/slack.ts";

/** A fake workspace in which the bot, Ana, Bob, Cy and the guest Gus share a channel. */
export async function openWorkspace(): Promise<EditingPlatform & { slack: FakeSlack }> {
  const slack = await FakeSlack.start();
  const users = {
    ana: slack.addUser({ name: "ana" }),
    bob: slack.addUser({ name: "bob" }),
    cy: slack.addUser({ name: "cy" }),
    gus: slack.addUser({ name: "gus", standing: "guest" }),
  };
  const channel = slack.addChannel({ name: "ops", members: Object.values(users) });
  const keyOf = (ts: string): JournalKey => `slack:${slack.team.id}:${channel.id}:${ts}`;
  const rootOf = (key: JournalKey) => key.split(":").at(-1) ?? "";
  const listed = slack.addUser({ name: "pager", standing: "bot" });
  const stranger = slack.addUser({ name: "stranger", standing: "bot" });
  for (const each of [listed, stranger]) slack.join(channel, each);
  const inThread = (key: JournalKey) => slack.messages(channel, rootOf(key));

  async function find(key: JournalKey, label: string, on: string): Promise<FakeMessage> {
    for (const end = Date.now() + 20_000; Date.now() < end; await pause()) {
      const found = inThread(key).findLast(
        (message) =>
          slack.textOf(message).includes(on) &&
          slack.buttonsOf(message).some((button) => button.label === label),
      );
      if (found !== undefined) return found;
    }
    throw new Error(`no button ${label} on ${on} in:\n${shown(key)}`);
  }
  const press = async (key: JournalKey, who: Who, label: string, on: string) => {
    const message = await find(key, label, on);
    const button = slack.buttonsOf(message).find((each) => each.label === label);
    await slack.press(users[who], channel, message.ts, button?.actionId ?? "");
  };
  const shown = (key: JournalKey) =>
    inThread(key)
      .map((message) => slack.textOf(message))
      .join("\n");

  /** Sends the form that is open before Bob. */
  async function send(changes: Record<string, string>): Promise<Sent> {
    const view = slack.views(users.bob).at(-1);
    if (view === undefined) throw new Error("no form came up");
    const fields = Object.fromEntries(inputsOf(view.view).map(({ name, value }) => [name, value]));
    const before = { ...fields, ...(view.id === written?.id && written.values) };
    const given = { ...before, ...changes };
    const filled = Object.entries(given).filter(([, text]) => text !== "");
    const values = filled.map(([name, text]) => [name, { input: text }]);
    await slack.submit(users.bob, view.id, Object.fromEntries(values));
    written = { id: view.id, values: given };
    const isOpen = slack.views(users.bob).some(({ id }) => id === view.id);
    const errors = isOpen ? Object.values(view.errors).join("\n") : "";
    return { fields: before, errors };
  }
  let written: { id: string; values: Record<string, string> } | undefined;

  return {
    slack,
    async edit(key, { on }, changes) {
      await press(key, "bob", "Edit…", on);
      return send(changes);
    },
    correct: (_key, changes) => send(changes),
    connect() {
      const adapter = createSlack({
        botToken: slack.botToken,
        appToken: slack.appToken,
        signingSecret: undefined,
        apiUrl: slack.apiUrl,
        bots: [`B${listed.id}`],
        log: pino({ level: "silent" }),
      });
      return { adapter, start: adapter.start, stop: adapter.stop };
    },
    async begin(who, text, sent = []) {
      const files = sent.map(({ name, type, bytes }) => ({
        name,
        mimetype: type,
        content: Buffer.from(bytes),
      }));
      const ts = slack.say(users[who], channel, typed(text), { mention: true, files });
      return keyOf(ts);
    },
    async beginUnder(alert, comment, who, text) {
      const pager = slack.addUser({ name: "alertmanager", standing: "bot" });
      slack.join(channel, pager);
      const attachments = [{ fallback: alert, title: alert, title_link: "https://alerts.test/1" }];
      const thread = slack.say(pager, channel, "", { attachments });
      slack.say(users.bob, channel, typed(comment), { thread });
      slack.say(users[who], channel, typed(text), { thread, mention: true });
      return keyOf(thread);
    },
    async alert(text, { listed: isListed, mention = false, thread }) {
      const attachments = [{ fallback: text, title: text }];
      const words = mention ? text : "";
      const more = { mention, ...(thread !== undefined && { thread: rootOf(thread) }) };
      const ts = slack.say(isListed ? listed : stranger, channel, words, { attachments, ...more });
      return thread ?? keyOf(ts);
    },
    async look(who, what) {
      await slack.doors.command(users[who], channel, what);
      const reply = slack.replies(users[who]).at(-1);
      return reply === undefined ? "" : slack.textOf(reply);
    },
    doors: {
      async ask(who, question) {
        await slack.doors.command(users[who], channel, `ask ${question}`);
        const asked = slack.messages(channel).findLast(({ user }) => user === slack.botUser.id);
        return {
          key: keyOf(asked?.ts ?? ""),
          said: asked === undefined ? "" : slack.textOf(asked),
        };
      },
      post: (text) => keyOf(slack.say(users.bob, channel, typed(text))),
      async pick(key, who, item) {
        const callback = item === "Investigate" ? "investigate" : "add_to_incident";
        await slack.doors.shortcut(users[who], channel, rootOf(key), callback);
      },
      async choose(who, incident) {
        const form = slack.views(users[who]).at(-1)?.id ?? "";
        await slack.submit(users[who], form, { incident: { input: incident } });
      },
    },
    async write(key, who, text) {
      slack.say(users[who], channel, typed(text), { thread: rootOf(key) });
    },
    async mark(key, who, text, isOn) {
      const found = inThread(key).findLast((message) => slack.textOf(message).includes(text));
      slack[isOn ? "mark" : "unmark"](users[who], channel, found?.ts ?? "", "round_pushpin");
    },
    press,
    async denyBecause(key, who, action, reason) {
      await press(key, who, "Deny…", action);
      const view = slack.views(users[who]).at(-1);
      await slack.submit(users[who], view?.id ?? "", reason);
    },
    async fill(key, who, { label, action }, filled) {
      await press(key, who, label, action);
      const view = slack.views(users[who]).at(-1);
      const values = Object.entries(filled).map(([name, input]) => [name, { input }]);
      await slack.submit(users[who], view?.id ?? "", Object.fromEntries(values));
    },
    async stop(key, who) {
      await press(key, who, "Stop", "");
    },
    shown,
    async read(key, who, label) {
      const found = inThread(key)
        .toReversed()
        .flatMap((message) => slack.buttonsOf(message).map((button) => ({ message, button })))
        .find(({ button }) => label.test(button.label));
      if (found === undefined) throw new Error(`nothing to press as ${label}`);
      await slack.press(users[who], channel, found.message.ts, found.button.actionId);
      const pages: Record<string, unknown>[] = [];
      for (;;) {
        const window = slack.views(users[who]).at(-1);
        if (window === undefined) throw new Error("no window came up");
        pages.push(window.view);
        const next = slack.buttonsIn(window).find((button) => button.label.startsWith("Next"));
        if (next === undefined) break;
        await slack.pressIn(users[who], window.id, next.actionId);
      }
      const languages = [...JSON.stringify(pages).matchAll(/"language":"(\w+)"/g)];
      return {
        text: pages.map((view) => slack.textIn(view)).join("\n"),
        languages: languages.map(([, name = ""]) => name),
      };
    },
    told: (who) =>
      [...slack.ephemerals(users[who]), ...slack.replies(users[who])]
        .map((message) => slack.textOf(message))
        .join("\n"),
    pings: () => slack.pings,
    scramble() {
      slack.shuffle = { copies: 3, seed: 7 };
    },
    end: () => slack.stop(),
  };
}

const inputSchema = z.object({
  block_id: z.string(),
  element: z.object({
    initial_value: z.string().optional(),
    initial_option: z.object({ value: z.string() }).optional(),
  }),
});

/** The form's fields as they stand when it comes up. */
function inputsOf(view: Record<string, unknown>): { name: string; value: string }[] {
  return z
    .array(inputSchema)
    .parse(view["blocks"])
    .map(({ block_id: name, element }) => ({
      name,
      value: element.initial_value ?? element.initial_option?.value ?? "",
    }));
}

const pause = () => new Promise((resolve) => setTimeout(resolve, 10));
