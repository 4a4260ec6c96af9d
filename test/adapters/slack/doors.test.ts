import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { BotError } from "../../../src/core/errors.ts";
import type { FakeUser } from "../../fakes/slack/slack.ts";
import { answer, type Bot, cardOf, OVER_HTTP, openBot, until } from "./harness.ts";

let bot: Bot;
beforeEach(async () => {
  bot = await openBot();
});
afterEach(() => bot.close());

const said = (who: FakeUser) => bot.slack.replies(who).map((each) => bot.slack.textOf(each));
const last = (who: FakeUser) => said(who).at(-1) ?? "";
const wk = (text: string, who = bot.ana, where = bot.ops) =>
  bot.slack.doors.command(who, where, text);
const roots = () => bot.slack.messages(bot.ops).filter(({ user }) => user === bot.slack.botUser.id);
const told = (who: FakeUser) =>
  bot.slack
    .ephemerals(who)
    .map((each) => bot.slack.textOf(each))
    .join("\n");
const INCIDENT = {
  title: "Checkout fails",
  severity: "sev1",
  startedAt: 0,
  thread: undefined,
  link: undefined,
};

/** A thread in which an action waits for approval. */
async function waiting(channel = bot.ops, action = "a1", changes = {}): Promise<void> {
  const root = bot.slack.say(bot.ana, channel, "restart web", { mention: true });
  await bot.slack.idle();
  const key = bot.key(channel, root);
  const thread = await bot.parts.queries.thread(key);
  if (thread === undefined) throw new Error("nothing was heard");
  const card = cardOf(key, { action, ...changes });
  bot.cards.set(action, card);
  bot.parts.queries.thread = async (asked) =>
    bot.key(channel, root) === asked ? { ...thread, key, openActions: [action] } : undefined;
}

describe("/wk", () => {
  test.each(["", "help", "  HELP "])(
    "%j shows what it takes, to that person alone",
    async (text) => {
      expect(await wk(text)).toMatchObject({ acknowledged: true });
      expect(last(bot.ana)).toContain("/wk ask <question>");
      expect(roots()).toEqual([]);
    },
  );

  test("a question opens a thread without the word ask too, once the journal has it", async () => {
    expect(await wk("why is web slow?")).toMatchObject({ acknowledged: true });
    expect(await bot.texts(bot.ops, roots()[0]?.ts ?? "")).toEqual(["why is web slow?"]);
  });

  test("a command that comes twice opens one thread, and nothing that is typed pings or is shown with a secret", async () => {
    bot.slack.shuffle = { copies: 2, seed: 3 };
    await wk("ask <!channel> is hunter2-held the password?");
    await bot.slack.idle();
    expect(roots().map((root) => bot.slack.textOf(root))).toEqual([
      "ana: <!channel> is [secret] the password?",
    ]);
    expect(bot.slack.pings).toEqual([]);
  });

  test("incident open … begins in a thread, as if it were typed there", async () => {
    await wk("incident open Checkout fails severity=sev1");
    const [entry] = await bot.entries(bot.ops, roots()[0]?.ts ?? "");
    expect(entry).toMatchObject({ kind: "command", command: { tool: "incident_open" } });
  });

  test("incident update and resolve are written in the incident's own thread by whoever is in its channel", async () => {
    const home = bot.slack.say(bot.ana, bot.ops, "checkout fails", { mention: true });
    await bot.slack.idle();
    const thread = bot.key(bot.ops, home);
    bot.incidents.push({ ...INCIDENT, id: "inc-20261123-aaaa", thread });
    const eve = bot.slack.addUser({ name: "eve" });
    const lobby = bot.slack.addChannel({ name: "lobby", members: [bot.ana, eve] });
    await wk("incident update inc-20261123-aaaa note='db is back'", bot.ana, lobby);
    expect(last(bot.ana)).toContain("I'm writing it into inc-20261123-aaaa. Its card shows it");
    expect(last(bot.ana)).toContain(`/p${home.replace(".", "")}`);
    const written = (await bot.entries(bot.ops, home)).at(-1);
    expect(written).toMatchObject({
      id: expect.stringMatching(/^door:/),
      command: { tool: "incident_update", args: { note: "db is back" } },
    });
    const inLobby = () => bot.slack.messages(lobby).map((each) => bot.slack.textOf(each));
    expect(inLobby()).toEqual([]);
    await wk("incident resolve inc-20261123-aaaa", eve, lobby);
    expect(inLobby()).toEqual(["eve: incident resolve inc-20261123-aaaa"]);
  });

  test("where the store or the channel refuses it, nothing stays and the person is told", async () => {
    bot.breakStore(1);
    await wk("ask why?");
    expect(last(bot.ana)).toContain("The store did not answer. Nothing was started.");
    expect(roots()).toEqual([]);
    const elsewhere = bot.slack.addChannel({ name: "other", members: [bot.ana], bot: false });
    expect(await wk("ask why?", bot.ana, elsewhere)).toMatchObject({ acknowledged: true });
    expect(last(bot.ana)).toContain("Invite the bot");
  });

  test("a store that is slower than Slack waits is said, and then how it went", async () => {
    await bot.close();
    bot = await openBot({ adapter: { ackMs: 200 } });
    bot.breakStore(1, new BotError("STORE_UNAVAILABLE", "The store did not answer."), 400);
    expect(await wk("ask why?")).toMatchObject({ acknowledged: true });
    expect(last(bot.ana)).toContain("takes longer than Slack waits");
    await until(() => said(bot.ana).length === 2);
    expect(last(bot.ana)).toContain("Nothing was started.");
  });

  test("status says what answers and what waits; approvals lists only what that person may see", async () => {
    const ops = bot.slack.addChannel({ name: "secret", isPrivate: true, members: [bot.ana] });
    await waiting(ops, "a1", { host: "web-1" });
    await wk("status");
    expect(last(bot.ana)).toContain(
      "Model: none\nTools: 1 tool\nHost: web-1\n\nWaiting for approval:",
    );
    await wk("approvals");
    expect(last(bot.ana)).toMatch(/restart_service on web-1 · #secret · .*left \(a1\) https:/);
    await wk("approvals", bot.bob);
    expect(last(bot.bob)).toBe("Nothing waits for approval.");
  });

  test("guests see what is in their channels, strangers and other workspaces' people less", async () => {
    const gus = bot.slack.addUser({ name: "gus", standing: "guest" });
    bot.slack.join(bot.ops, gus);
    bot.incidents.push({ ...INCIDENT, id: "inc-20261123-aaaa" });
    await waiting();
    await wk("approvals", gus);
    expect(last(gus)).toContain("restart_service");
    const other = bot.slack.addChannel({ name: "guests", members: [gus] });
    bot.slack.leave(bot.ops, gus);
    await wk("incident", gus, other);
    expect(last(gus)).toBe("No incident is open.");
  });

  test("over HTTP it is the form itself, signed", async () => {
    const other = await openBot({ adapter: OVER_HTTP });
    try {
      await other.slack.deliverTo(`http://127.0.0.1:${other.port}/slack/events`);
      expect(await other.slack.doors.command(other.ana, other.ops, "halp")).toMatchObject({
        acknowledged: true,
      });
      const [reply] = other.slack.replies(other.ana);
      expect(reply && other.slack.textOf(reply)).toContain("Did you mean /wk help?");
    } finally {
      await other.close();
    }
  });
});

describe("a message's shortcuts", () => {
  test("in a channel without the bot they say so", async () => {
    const other = bot.slack.addChannel({ name: "other", members: [bot.ana], bot: false });
    const ts = bot.slack.say(bot.ana, other, "slow");
    await bot.slack.doors.shortcut(bot.ana, other, ts, "investigate");
    expect(await bot.entries(other, ts)).toEqual([]);
  });
});

describe("Home", () => {
  const texts = (who: FakeUser) => JSON.stringify(bot.slack.home(who) ?? {});

  test("shows what waits for that person, incidents, what it can reach and what today cost", async () => {
    bot.incidents.push({ ...INCIDENT, id: "inc-20261123-aaaa" });
    await waiting();
    expect(await bot.slack.doors.openHome(bot.bob)).toMatchObject({ acknowledged: true });
    await until(() => bot.slack.home(bot.bob) !== undefined);
    for (const part of [
      "Waiting for you · 1",
      "restart_service",
      "sev1 · Checkout fails",
      "Kubernetes · Prometheus",
      "120,000 of 5,000,000 tokens",
    ])
      expect(texts(bot.bob)).toContain(part);
  });

  test("stays within Slack's blocks, whatever is open, and shows a guest only their own", async () => {
    for (let i = 0; i < 60; i += 1)
      bot.incidents.push({ ...INCIDENT, id: `inc-20261123-a${i}`, title: "x".repeat(2_000) });
    await bot.slack.doors.openHome(bot.ana);
    await until(() => bot.slack.home(bot.ana) !== undefined);
    expect(texts(bot.ana)).toContain("… and 40 more");
    const gus = bot.slack.addUser({ name: "gus", standing: "guest" });
    await bot.slack.doors.openHome(gus);
    await until(() => bot.slack.home(gus) !== undefined);
    expect(texts(gus)).not.toContain("kubernetes");
  });

  test.each(["not_enabled", "user_not_found", "ratelimited", "internal_error"])(
    "is an ornament: %s is logged and the event acknowledged",
    async (error) => {
      bot.slack.fail("views.publish", { error });
      expect(await bot.slack.doors.openHome(bot.ana)).toMatchObject({ acknowledged: true });
      await until(() => bot.log.some(({ msg }) => msg === "Home could not be shown"));
    },
  );
});

test("a conversation is begun only in a channel that the bot is in, by its id and not by a person's", async () => {
  const { adapter, slack, ana, ops } = bot;
  const named = (id: string) => `slack:${slack.team.id}:${id}`;
  const other = slack.addChannel({ name: "other", members: [ana], bot: false });
  const refused = { code: "PLATFORM_REFUSED", refused: "place" };
  const once = { id: "mirror:1", isRetry: false };
  for (const id of [ana.id, ops.name, other.id]) {
    await expect(adapter.channelAt(named(id))).rejects.toMatchObject(refused);
    await expect(adapter.open(named(id), "Mirror of a thread", once)).rejects.toMatchObject(
      refused,
    );
  }
  expect(roots()).toEqual([]);
  const begun = await adapter.open(named(ops.id), "Mirror of a thread", once);
  expect(begun).toMatch(`${named(ops.id)}:`);
  // Begun again after a crash it is the same one.
  const again = { ...once, isRetry: true };
  expect(await adapter.open(named(ops.id), "Mirror of a thread", again)).toBe(begun);
  expect(roots()).toHaveLength(1);
  const { has, ...there } = await adapter.channelAt(named(ops.id));
  expect(there).toEqual({ name: "#ops", isPublic: true });
  const { id: gone } = slack.addUser({ name: "gone" });
  const inIt = [ana.id, gone].map((id) => has(`slack:${slack.team.id}:${id}`));
  expect(await Promise.all(inIt)).toEqual([true, false]);
});

test("who invites the bot is told once, alone, what it does there", async () => {
  const other = bot.slack.addChannel({ name: "other", members: [bot.ana, bot.bob], bot: false });
  bot.slack.shuffle = { copies: 3, seed: 5 };
  expect(await bot.slack.doors.invite(bot.ana, other)).toMatchObject({ acknowledged: true });
  await bot.slack.idle();
  await until(() => bot.slack.ephemerals(bot.ana).length > 0);
  expect(bot.slack.ephemerals(bot.ana)).toHaveLength(1);
  expect(bot.slack.ephemerals(bot.bob)).toEqual([]);
  expect(told(bot.ana)).toContain("Mention @");
});

describe("a direct conversation's title", () => {
  const conclude = async (run: string, text: string, channel = bot.slack.openDm(bot.ana)) => {
    const root = bot.slack.say(bot.ana, channel, "why?");
    const view = bot.adapter.view(bot.key(channel, root));
    const concluded = { ...answer(run, text), isModelRun: true };
    await view?.post(concluded, { id: run, isRetry: false });
    return { title: () => bot.slack.title(channel, root) };
  };

  test("is the first sentence of its first answer, at most 200 characters", async () => {
    const { title } = await conclude("r1", `${"The disk of web-1 is full ".repeat(20)}\n\nMore.`);
    await until(() => title() !== undefined);
    expect(title()).toMatch(/^The disk of web-1 is full/);
    expect(title()?.length).toBeLessThanOrEqual(200);
  });

  test("costs nothing in a channel, and is tried once where the workspace has no agents", async () => {
    await conclude("r1", "The disk is full.", bot.ops);
    bot.slack.fail("agents.sessions.rename", { error: "not_allowed", times: 9 });
    await conclude("r2", "The disk is full.");
    const tried = () =>
      bot.slack.calls.filter(
        ({ method, status }) => method === "agents.sessions.rename" && status !== 0,
      );
    await until(() => tried().length === 1);
    await conclude("r3", "The disk is full.");
    expect(tried()).toHaveLength(1);
  });
});
