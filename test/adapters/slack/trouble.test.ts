import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { Unshown, View } from "../../../src/adapters/view.ts";
import {
  answer,
  type Bot,
  cardOf,
  deliver,
  IMPATIENT,
  openBot,
  openOverHttp,
  skip,
  until,
} from "./harness.ts";

let bot: Bot;
let root: string;
let view: View;
beforeEach(async () => {
  bot = await openBot({ slack: IMPATIENT });
  root = bot.slack.say(bot.ana, bot.ops, "is web well?");
  const found = bot.adapter.view(bot.key(bot.ops, root));
  if (found === undefined) throw new Error("the thread is not shown");
  view = found;
});
afterEach(() => {
  vi.restoreAllMocks();
  return bot.close();
});

const called = (method: string) => bot.slack.calls.filter((call) => call.method === method);
const say = (again: boolean) =>
  view.post(answer("r1", "all is well"), { id: "e1", isRetry: again });
const texts = () => bot.slack.messages(bot.ops).map((message) => bot.slack.textOf(message));

test("into the channel of a deleted thread a message is posted and taken back once, not at every attempt", async () => {
  bot.slack.remove(bot.ana, bot.ops, root);
  for (const again of [false, true, true]) await expect(say(again)).rejects.toThrow("was deleted");
  expect(called("chat.postMessage")).toHaveLength(1);
  expect(texts()).toEqual([]);
});

test("what came into the channel of a deleted thread goes again, though Slack asks to wait before", async () => {
  bot.slack.remove(bot.ana, bot.ops, root);
  bot.slack.fail("chat.delete", { status: 429, retryAfter: 30 });
  await expect(say(false)).rejects.toMatchObject({ retryAfterMs: 30_000 });
  expect(texts()).toHaveLength(1);
  skip(30_000);
  await expect(say(true)).rejects.toThrow("was deleted");
  expect(texts()).toEqual([]);
  expect(called("chat.postMessage")).toHaveLength(1);
});

test("a channel that Slack limits waits as long, in whichever thread, and another one does not", async () => {
  const viewOf = (channel: typeof bot.ops) => {
    const thread = bot.slack.say(bot.ana, channel, "and here?");
    return bot.adapter.view(bot.key(channel, thread));
  };
  bot.slack.fail("chat.postMessage", { status: 429, retryAfter: 30 });
  await expect(say(false)).rejects.toMatchObject({ retryAfterMs: 30_000 });
  const other = viewOf(bot.ops)?.post(answer("r1", "well"), { id: "e1", isRetry: false });
  await expect(other).rejects.toMatchObject({ code: "PLATFORM_RATE_LIMITED" });
  expect(called("chat.postMessage")).toHaveLength(1);
  const web = bot.slack.addChannel({ name: "web", members: [bot.ana] });
  await viewOf(web)?.post(answer("r1", "well"), { id: "e1", isRetry: false });
  skip(30_000);
  await say(true);
  expect(texts().at(-1)).toContain("all is well");
});

test("a Slack that does not answer is asked for no people, file or stream either, and a limit on these is kept", async () => {
  const { people } = bot.adapter;
  const key = bot.key(bot.ops, root);
  bot.slack.fail("users.info", { status: 429, retryAfter: 30 });
  for (const who of [bot.ana, bot.bob])
    await expect(people.membership(bot.account(who), key)).rejects.toThrow("wait");
  expect(called("users.info")).toHaveLength(1);
  for (let i = 0; i < 5; i += 1) {
    bot.slack.fail("chat.postMessage", { status: 503 });
    await expect(say(false)).rejects.toMatchObject({ code: "PLATFORM_UNREACHABLE" });
  }
  const asked = bot.slack.calls.length;
  await expect(bot.adapter.audience(key)).rejects.toMatchObject({ code: "PLATFORM_UNREACHABLE" });
  await expect(view.openProgress?.({ id: "b", isRetry: false }, [])).rejects.toThrow("Slack");
  expect(bot.slack.calls.slice(asked).map(({ method }) => method)).toEqual([]);
});

test("what Slack refuses is left alone for a minute", async () => {
  bot.slack.archive(bot.ops);
  await expect(say(false)).rejects.toMatchObject({
    code: "PLATFORM_REFUSED",
    retryAfterMs: 60_000,
  });
});

test.each(["invalid_blocks", "msg_blocks_too_long", "msg_too_long", "no_text"])(
  "what Slack refuses with %s goes as plain words, and then as a word that it could not be shown",
  async (error) => {
    bot.slack.fail("chat.postMessage", { error });
    await say(false);
    expect(texts().at(-1)).toContain("all is well");
    bot.slack.fail("chat.postMessage", { error, times: 3 });
    await view.post(answer("r2", "still well"), { id: "e2", isRetry: false });
    expect(texts().at(-1)).toContain("could not be shown");
    expect(bot.slack.sharedFiles.map(({ bytes }) => Buffer.from(bytes ?? []).toString())).toEqual([
      expect.stringContaining("still well"),
    ]);
  },
);

test("what could not be shown is said though its file is refused", async () => {
  bot.slack.fail("chat.postMessage", { error: "invalid_blocks", times: 3 });
  bot.slack.scopes = ["chat:write"];
  const told: Unshown[] = [];
  const unshown = (each: Unshown) => void told.push(each);
  await view.postCard(cardOf(bot.key(bot.ops, root)), { id: "a1", isRetry: false, unshown });
  expect(texts().at(-1)).toContain("could not be shown");
  expect(bot.slack.sharedFiles).toEqual([]);
  expect(told).toMatchObject([{ to: "nobody", why: expect.stringContaining("invalid_blocks") }]);
});

test("a card whose edit Slack does not take, or whose message is gone, is told of as not shown", async () => {
  const card = cardOf(bot.key(bot.ops, root));
  const ref = await view.postCard(card, { id: "a1", isRetry: false });
  const told: string[] = [];
  const unshown = ({ to }: Unshown) => void told.push(to);
  await view.updateCard(ref, { ...card, editing: "Bob" }, { unshown });
  expect(told).toEqual([]);
  bot.slack.fail("chat.update", { error: "invalid_blocks", times: 3 });
  await view.updateCard(ref, { ...card, revision: 2 }, { unshown });
  expect(texts().at(-1)).toContain("could not be shown");
  expect(bot.slack.sharedFiles).toHaveLength(1);
  bot.slack.fail("chat.update", { error: "message_not_found" });
  await view.updateCard(ref, { ...card, revision: 3 }, { unshown });
  expect(told).toEqual(["file", "nobody"]);
});

test("of an incident's card that is refused nobody is told to decide it", async () => {
  bot.slack.fail("chat.postMessage", { error: "invalid_blocks", times: 3 });
  const card = {
    id: "inc-20261123-aaaa",
    title: "Checkout fails",
    severity: undefined,
    status: "open" as const,
    services: [],
    impact: undefined,
    cause: undefined,
    startedAt: 0,
    resolvedAt: undefined,
    by: "ana",
    timeline: [],
  };
  await view.postLiving?.({ kind: "incident", card }, { id: "i1", isRetry: false });
  expect(texts().at(-1)).toMatch(/^An incident's card could not be shown/);
});

test("a card in plain words mentions who is asked, unless that is what Slack refuses", async () => {
  const mentions = [bot.account(bot.bob)];
  const card = cardOf(bot.key(bot.ops, root), { mentions });
  for (const times of [2, 3]) {
    bot.slack.fail("chat.postMessage", { error: "msg_blocks_too_long", times });
    await view.postCard(card, { id: `a${times}`, isRetry: false });
    expect(texts().at(-1)).toContain(card.canonical);
  }
  expect(bot.slack.pings).toHaveLength(1);
});

test("a card that Slack refuses goes as plain words with its buttons, and is edited as such", async () => {
  bot.slack.fail("chat.postMessage", { error: "msg_blocks_too_long" });
  const card = cardOf(bot.key(bot.ops, root));
  const ref = await view.postCard(card, { id: "c1", isRetry: false });
  const buttons = () => {
    const shown = bot.slack.messages(bot.ops, root).filter(({ ts }) => ts === ref);
    return shown.flatMap((message) => bot.slack.buttonsOf(message)).map(({ label }) => label);
  };
  expect(texts().at(-1)).toContain(card.canonical);
  expect(buttons()).toContain("Approve");
  bot.slack.fail("chat.update", { error: "msg_blocks_too_long" });
  await view.updateCard(ref, { ...card, phase: "denied" });
  expect(buttons()).not.toContain("Approve");
});

test.each(["is_archived", "not_in_channel", "channel_not_found", "restricted_action"])(
  "a place that refuses with %s is named as one, and who asked is reached in a direct message",
  async (error) => {
    bot.slack.fail("chat.postMessage", { error });
    await expect(say(false)).rejects.toMatchObject({ refused: "place" });
    bot.slack.fail("chat.postEphemeral", { error });
    await view.postPrivately(bot.account(bot.ana), "all is well");
    const direct = bot.slack.messages(bot.slack.openDm(bot.ana));
    expect(direct.map((message) => bot.slack.textOf(message))).toEqual(["all is well"]);
  },
);

test("from an archived channel who asked is reached too", async () => {
  bot.slack.archive(bot.ops);
  await view.postPrivately(bot.account(bot.ana), "all is well");
  expect(bot.slack.messages(bot.slack.openDm(bot.ana))).toHaveLength(1);
});

test("words for one person whom Slack lets it not write to are said in the thread, so that what follows is said too", async () => {
  const cy = bot.slack.addUser({ name: "cy" });
  bot.slack.fail("chat.postMessage", { error: "messages_tab_disabled" });
  await view.postPrivately(bot.account(cy), "You may not decide on a1.");
  expect(texts().at(-1)).toContain("cy: You may not decide on a1.");
  expect(bot.slack.pings).toEqual([]);
});

test("a message that a workspace does not let be deleted is emptied instead", async () => {
  const begun = (await view.openProgress?.({ id: "b", isRetry: false }, [])) ?? "";
  bot.slack.fail("chat.delete", { error: "compliance_exports_prevent_deletion" });
  await view.delete(begun);
  const left = bot.slack.messages(bot.ops, root).find(({ ts }) => ts === begun);
  expect(left && bot.slack.buttonsOf(left)).toEqual([]);
  expect(texts().at(-1)).toBe("(deleted)");
});

test("an attempt that is given up on and the next one do not post the same part twice", async () => {
  const long = Array.from({ length: 900 }, (_, i) => `finding number ${i} is here`).join("\n");
  bot.slack.latencyMs = 40;
  const both = [false, true].map((again) =>
    view.post(answer("r1", long), { id: "e1", isRetry: again }),
  );
  const [first, second] = await Promise.all(both);
  expect(second).toBe(first);
  expect(bot.slack.messages(bot.ops, root)).toHaveLength(1 + (first?.split(",").length ?? 0));
});

test("a channel that cannot be looked up now is neither public nor private: nothing is said of it", async () => {
  bot.slack.fail("conversations.info", { status: 503 });
  const asked = bot.adapter.audience(bot.key(bot.ops, root));
  await expect(asked).rejects.toMatchObject({ code: "PLATFORM_UNREACHABLE" });
  expect(await bot.adapter.audience(bot.key(bot.ops, root))).toBeUndefined();
});

test("while Slack asks to wait, threads of other people's are not looked at again", async () => {
  const { slack, ops, ana, bob, ...other } = await openOverHttp();
  try {
    slack.fail("conversations.replies", { status: 429, retryAfter: 30 });
    for (const text of ["is web well?", "lunch?"]) {
      const thread = slack.say(ana, ops, text);
      const reply = slack.say(bob, ops, "since when?", { thread });
      expect(await slack.acknowledged(reply)).toMatchObject([{ acknowledged: false }]);
    }
    const asked = slack.calls.filter(({ method }) => method === "conversations.replies");
    expect(asked).toHaveLength(1);
  } finally {
    await other.close();
  }
});

test("who comes from elsewhere has one account or is not heard: nobody is two people because Slack is slow", async () => {
  const event = {
    type: "message",
    channel: bot.slack.openDm(bot.ana).id,
    user: bot.ana.id,
    user_team: "T0ELSEWHERE",
    ts: "1795000000.000100",
    text: "tools",
  };
  bot.slack.fail("users.info", { status: 503 });
  await expect(deliver(bot, event)).rejects.toThrow("500");
  await deliver(bot, event);
  const key = `slack:${bot.slack.team.id}:${event.channel}:${event.ts}` as const;
  expect(await bot.journal.read(key)).toMatchObject([{ actor: { account: bot.account(bot.ana) } }]);
});

test("the oftener Slack ends fresh connections the longer it waits before the next", async () => {
  for (let i = 0; i < 3; i += 1) {
    await until(() => bot.slack.connections === 1);
    bot.slack.disconnect();
    await until(() => bot.slack.connections === 0);
  }
  await until(() => bot.slack.connections === 1);
  const at = called("apps.connections.open").map((call) => call.at);
  expect((at[3] ?? 0) - (at[2] ?? 0)).toBeGreaterThan(950);
});

test("of a Slack that cannot be reached it is said what cannot: a name, a port", async () => {
  const away = await openBot({ start: false, adapter: { apiUrl: "http://127.0.0.1:9/api/" } });
  try {
    await expect(away.adapter.examine()).rejects.toThrow(/auth\.test: (?!.*fetch failed)/);
  } finally {
    await away.close();
  }
});

test("over HTTP it is said once that requests are refused, and that it may be the secret or the clock", async () => {
  const other = await openBot({
    adapter: { appToken: undefined, signingSecret: "another secret" },
  });
  try {
    const url = `http://127.0.0.1:${other.port}/slack/events`;
    for (const body of ["{}", '{"type":"event_callback"}']) {
      const headers = { "content-type": "application/json", ...bot.slack.sign(body) };
      expect((await fetch(url, { method: "POST", headers, body })).status).toBe(401);
    }
    const complaints = other.log.filter(({ level }) => Number(level) >= 40);
    expect(complaints).toMatchObject([{ msg: expect.stringMatching(/SIGNING_SECRET.*clock/) }]);
  } finally {
    await other.close();
  }
});
