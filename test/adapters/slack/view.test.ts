import { pino } from "pino";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createApi } from "../../../src/adapters/slack/api.ts";
import { createStatus } from "../../../src/adapters/slack/status.ts";
import type { IncidentCard, Outgoing } from "../../../src/adapters/shown.ts";
import type { View } from "../../../src/adapters/view.ts";
import type { JournalKey } from "../../../src/core/journal-key.ts";
import { answer, type Bot, cardOf, holds, openBot, until } from "./harness.ts";

let bot: Bot;
let root: string;
let key: JournalKey;
let view: View;
beforeEach(async () => {
  bot = await openBot();
  root = bot.slack.say(bot.ana, bot.ops, "is web well?");
  key = bot.key(bot.ops, root);
  const found = bot.adapter.view(key);
  if (found === undefined) throw new Error("the thread is not shown");
  view = found;
});
afterEach(() => bot.close());

/** What the bot has in the thread now. */
function shown(): string[] {
  const { slack, ops } = bot;
  const ours = slack.messages(ops, root).filter(({ bot_id }) => bot_id !== undefined);
  return ours.map((message) => slack.textOf(message));
}

const called = (method: string) => bot.slack.calls.filter((call) => call.method === method);
const first = (id: string) => ({ id, isRetry: false });
const again = (id: string) => ({ id, isRetry: true });
const LONG = Array.from({ length: 900 }, (_, i) => `finding number ${i} is here`).join("\n");

test("nothing that is posted unfurls, is read as markup, or notifies anybody", async () => {
  await view.post(answer("r1", "<!channel> see http://evil.test/ & <@U1>"), first("e1"));
  await view.postCard(cardOf(key), first("a1"));
  for (const { args } of called("chat.postMessage")) {
    expect(args).toMatchObject({ thread_ts: root });
    // As a form's field each is text.
    for (const flag of ["unfurl_links", "unfurl_media", "mrkdwn"]) {
      expect(String(args[flag])).toBe("false");
    }
  }
  expect(bot.slack.pings).toEqual([]);
});

test("the channel shows the card of an incident that is broadcast, and of no other", async () => {
  const card: IncidentCard = {
    id: "inc-20261123-aaaa",
    title: "Checkout fails <!channel>",
    severity: "sev1",
    status: "open",
    services: [],
    impact: undefined,
    cause: undefined,
    startedAt: 0,
    resolvedAt: undefined,
    by: "ana",
    timeline: [],
  };
  const inChannel = () =>
    bot.slack.messages(bot.ops, root).filter(({ subtype }) => subtype === "thread_broadcast");
  await view.postLiving?.({ kind: "incident", card }, again("inc-1"));
  expect(inChannel()).toEqual([]);
  const ref = await view.postLiving?.(
    { kind: "incident", card },
    { ...again("inc-2"), isBroadcast: true },
  );
  expect(inChannel().map(({ ts }) => ts)).toEqual([ref]);
  // One whose response was lost is found, and not shown again.
  expect(
    await view.postLiving?.({ kind: "incident", card }, { ...again("inc-2"), isBroadcast: true }),
  ).toBe(ref);
  expect(inChannel()).toHaveLength(1);
  expect(bot.slack.pings).toEqual([]);
});

test("a card whose newer kinds of blocks Slack refuses is shown in plain ones, and so is its end", async () => {
  bot.slack.fail("chat.postMessage", { error: "invalid_blocks" });
  const ts = await view.postCard(cardOf(key), first("a1"));
  const card = bot.slack.messages(bot.ops, root).find((message) => message.ts === ts);
  const kinds = card?.blocks?.map(({ type }) => type);
  expect(kinds).not.toContain("alert");
  expect(kinds).not.toContain("container");
  expect(card && bot.slack.textOf(card)).toContain("Exactly what will run");
  expect(card && bot.slack.buttonsOf(card).map(({ label }) => label)).toContain("Approve");
  bot.slack.fail("chat.update", { error: "invalid_blocks" });
  await view.updateCard(ts, cardOf(key, { phase: "done", ending: "done in 3 ms" }));
  expect(shown().join("\n")).toContain("done in 3 ms");
  bot.slack.fail("chat.postMessage", { error: "channel_not_found" });
  await expect(view.postCard(cardOf(key), first("a2"))).rejects.toMatchObject({
    code: "PLATFORM_REFUSED",
  });
});

test("only whom the program names is notified: by a card once, and by a reminder", async () => {
  const mentions = ["slack:group:S0SRE", `slack:T1:${bot.bob.id}`, "discord:1"];
  const ref = await view.postCard(cardOf(key, { mentions, reason: "<@U1> <!here>" }), first("a1"));
  await view.updateCard(ref, cardOf(key, { mentions, editing: "Bob" }));
  const named = ["<!subteam^S0SRE>", `<@${bot.bob.id}>`];
  expect(bot.slack.pings.map(({ what }) => what)).toEqual(named);
  const reminder = { ...NOTICE, text: "a1 expires in 9 minutes. <@U1>", mentions };
  await view.post(reminder, first("expiring:a1"));
  expect(bot.slack.pings.map(({ what }) => what)).toEqual([...named, ...named]);
  expect(shown()[1]).toBe(`${named.join(" ")}\na1 expires in 9 minutes. <@U1>`);
});

const NOTICE = { kind: "notice" as const, settles: undefined, asks: undefined, holds: [] };

const PNG = Buffer.from("89504e470d0a1a0a00000000", "hex");

/** An answer with an image of a result. */
function charted(): Outgoing {
  const artifact = { id: "a".repeat(64), bytes: PNG.length };
  const image = { name: "chart.png", mediaType: "image/png" as const, artifact, alt: "It fell." };
  const call = {
    call: "r1.t1",
    tool: "look",
    args: {},
    outcome: "ok" as const,
    text: "fell",
    ms: 1,
  };
  const results = [{ ...call, artifacts: [], images: [image], findings: [], gaps: [] }];
  return {
    kind: "answer",
    run: "r1",
    status: "completed",
    text: undefined,
    results,
    isModelRun: false,
  };
}

test("an image is posted once Slack knows it, with its words, and once only", async () => {
  const readArtifact = async () => PNG;
  bot.slack.fail("chat.postMessage", { cutAfterCarryingOut: true });
  await expect(view.post(charted(), { ...first("e1"), readArtifact })).rejects.toThrow("Slack");
  await view.post(charted(), { ...again("e1"), readArtifact });
  expect(shown()).toEqual([expect.stringContaining("fell"), "Image: It fell."]);
  expect(called("files.info").length).toBeGreaterThan(1);
});

test("an app that may not write files posts an image's words", async () => {
  bot.slack.scopes = ["chat:write", "channels:history"];
  await view.post(charted(), { ...first("e1"), readArtifact: async () => PNG });
  expect(shown()).toEqual([expect.stringContaining("fell"), "Image: It fell."]);
});

test("an answer whose response was lost is found again, not posted twice", async () => {
  bot.slack.fail("chat.postMessage", { cutAfterCarryingOut: true });
  await expect(view.post(answer("r1", "all is well"), first("e1"))).rejects.toMatchObject({
    code: "PLATFORM_UNREACHABLE",
  });
  const ref = await view.post(answer("r1", "all is well"), again("e1"));
  expect(shown()).toEqual([expect.stringContaining("all is well")]);
  expect(bot.slack.messages(bot.ops, root).at(-1)?.ts).toBe(ref);
  // Another delivery's message is not taken for it.
  await view.post(answer("r1", "all is well"), again("e2"));
  expect(shown()).toHaveLength(2);
});

test("of a long answer the parts that an earlier attempt posted stay, and the others are added", async () => {
  bot.slack.latencyMs = 40;
  const failed = view.post(answer("r1", LONG), first("e1")).catch((error: unknown) => error);
  await until(() => called("chat.postMessage").length === 2);
  bot.slack.fail("chat.postMessage", { status: 503 });
  expect(await failed).toMatchObject({ code: "PLATFORM_UNREACHABLE" });
  const [before] = bot.slack.messages(bot.ops, root).slice(1);
  expect(shown()).toHaveLength(1);
  const ref = await view.post(answer("r1", LONG), again("e1"));
  expect(ref.split(",").length).toBeGreaterThan(1);
  expect(ref.split(",")[0]).toBe(before?.ts);
  expect(shown()).toHaveLength(ref.split(",").length);
  for (const i of [0, 500, 899]) expect(shown().join("\n")).toContain(`finding number ${i} is`);
});

test("an earlier attempt is found in a long thread too", async () => {
  const { slack, ops, ana } = bot;
  for (let i = 0; i < 450; i += 1) slack.say(ana, ops, `line ${i}`, { thread: root });
  await slack.idle();
  bot.slack.fail("chat.postMessage", { cutAfterCarryingOut: true });
  await expect(view.post(answer("r1", "all is well"), first("e1"))).rejects.toThrow(
    "did not answer",
  );
  const [posted] = slack.messages(ops, root).slice(-1);
  expect(await view.post(answer("r1", "all is well"), again("e1"))).toBe(posted?.ts);
  expect(shown()).toHaveLength(1);
});

test("the run's message goes, the answer is a new one, and nothing of its progress comes after", async () => {
  const begun = await view.openProgress?.(first("begun:r1"), []);
  if (begun === undefined) throw new Error("nothing was begun");
  expect(shown()).toHaveLength(1);
  const [message] = bot.slack.messages(bot.ops, root).slice(1);
  expect(message && bot.slack.buttonsOf(message)).toMatchObject([{ label: "Stop" }]);
  view.progress({ kind: "tool_started", call: "r1.t1", tool: "http_check", args: {} }, begun);
  await until(() => shown()[0]?.includes("http_check") === true);
  expect(shown()).toEqual([expect.stringContaining("http_check")]);
  view.progress({ kind: "draft", run: "r1", text: "I think" }, begun);
  await view.delete(begun);
  expect(await view.post(answer("r1", "all is well"), first("e1"))).not.toBe(begun);
  view.progress({ kind: "draft", run: "r1", text: "I think that" }, begun);
  expect(shown()).toEqual([expect.stringContaining("all is well")]);
  await bot.adapter.stop();
  expect(shown()).toEqual([expect.stringContaining("all is well")]);
});

test("the run's message begins with what was done until then, and goes on from there", async () => {
  const look = { call: "r1.t1", tool: "http_check" };
  const soFar = [
    { kind: "tool_started", ...look, args: {} },
    { kind: "tool_finished", ...look, outcome: "ok", ms: 34 },
  ] as const;
  const begun = await view.openProgress?.(first("begun:r1"), soFar);
  expect(shown()).toEqual([expect.stringMatching(/http_check.*34 ms/)]);
  view.progress({ kind: "tool_started", call: "r1.t2", tool: "tcp_check", args: {} }, begun);
  await until(() => shown()[0]?.includes("tcp_check") === true);
  expect(shown()).toEqual([expect.stringMatching(/http_check[^]*tcp_check/)]);
});

test("an edit that is on its way when the answer comes does not come after it", async () => {
  const begun = await view.openProgress?.(first("begun:r1"), []);
  bot.slack.latencyMs = 150;
  view.progress({ kind: "draft", run: "r1", text: "I think" }, begun);
  await until(() => called("chat.update").length > 0);
  bot.slack.latencyMs = 0;
  await view.delete(begun ?? "");
  await view.post(answer("r1", "all is well"), first("e1"));
  await until(() => called("chat.update").every(({ status }) => status === 200));
  expect(called("chat.update")).toHaveLength(1);
  expect(shown()).toEqual([expect.stringContaining("all is well")]);
});

test("progress that comes after the answer is not shown", async () => {
  const begun = await view.openProgress?.(first("begun:r1"), []);
  await view.delete(begun ?? "");
  await view.post(answer("r1", "all is well"), first("e1"));
  view.progress({ kind: "draft", run: "r1", text: "I think" }, begun);
  await holds(() => called("chat.update").length === 0, 50);
  expect(called("chat.update")).toEqual([]);
});

test("progress is shown at most every 1.2 s, the newest state, and pauses when Slack asks to wait", async () => {
  const begun = await view.openProgress?.(first("begun:r1"), []);
  const draft = (text: string) => view.progress({ kind: "draft", run: "r1", text }, begun);
  for (let i = 0; i < 50; i += 1) draft(`draft ${i}.`);
  await until(() => called("chat.update").length > 0);
  for (let i = 50; i < 99; i += 1) draft(`draft ${i}.`);
  await until(() => shown()[0]?.includes("draft 98.") === true);
  expect(shown()[0]).toContain("draft 98.");
  const [one, two, ...more] = called("chat.update");
  expect(more).toEqual([]);
  // When they arrived; on a busy machine the first one is late.
  expect((two?.at ?? 0) - (one?.at ?? 0)).toBeGreaterThan(500);
  bot.slack.fail("chat.update", { status: 429, retryAfter: 30 });
  draft("draft 100.");
  await until(() => called("chat.update").length > 2);
  draft("draft 101.");
  await holds(() => called("chat.update").length === 3, 50);
  expect(called("chat.update")).toHaveLength(3);
});

test("while a card is open no progress stands above it", async () => {
  const begun = await view.openProgress?.(first("begun:r1"), []);
  await view.postCard(cardOf(key), first("a1"));
  view.progress({ kind: "waiting", run: "r1" }, begun);
  await until(() => shown().length === 1);
  expect(shown()).toEqual([expect.stringContaining('{"name":"web"}')]);
});

test("a card is brought up to date in its place; one that somebody deleted stays gone, and nothing fails", async () => {
  const ref = await view.postCard(cardOf(key), first("a1"));
  expect(shown()).toEqual([expect.stringContaining('{"name":"web"}')]);
  await view.updateCard(ref, cardOf(key, { phase: "denied", ending: "denied by bob" }));
  expect(shown()).toEqual([expect.stringContaining("denied by bob")]);
  await view.delete(ref);
  await view.updateCard(ref, cardOf(key, { phase: "denied", ending: "denied by bob" }));
  expect(shown()).toEqual([]);
});

test("a card that an earlier attempt posted is brought up to date, not only found", async () => {
  bot.slack.fail("chat.postMessage", { cutAfterCarryingOut: true });
  await expect(view.postCard(cardOf(key), first("a1"))).rejects.toThrow("did not answer");
  await view.postCard(cardOf(key, { phase: "expired", ending: "expired" }), again("a1"));
  expect(shown()).toEqual([expect.stringContaining("expired")]);
});

test("a private word reaches a person who is not in the channel as a direct message", async () => {
  const cy = bot.slack.addUser({ name: "cy" });
  await view.postPrivately(bot.account(bot.ana), "only for you");
  const [word] = bot.slack.ephemerals(bot.ana);
  expect([word?.thread_ts, word && bot.slack.textOf(word)]).toEqual([root, "only for you"]);
  await view.postPrivately(bot.account(cy), "only for cy");
  expect(bot.slack.ephemerals(cy)).toEqual([]);
  const direct = bot.slack.messages(bot.slack.openDm(cy));
  expect(direct.map((message) => bot.slack.textOf(message))).toEqual(["only for cy"]);
  expect(shown()).toEqual([]);
});

const thinking = (step: number) => view.progress({ kind: "thinking", run: "r1", step } as const);

test("Slack's own status says what a thread is doing, without a message", async () => {
  const { slack, ops } = bot;
  const status = () => slack.session(ops, root);
  thinking(1);
  await until(() => slack.statusLine(ops, root) !== "");
  expect(slack.statusLine(ops, root)).toBe("is looking into it…");
  expect(shown()).toEqual([]);
  await view.postCard(cardOf(key), first("a1"));
  await until(() => status() === "suspended");
  expect(slack.statusLine(ops, root)).toBe("");
  thinking(2);
  await until(() => status() === "processing");
  await view.post(answer("r1", "all is well"), first("e1"));
  await until(() => status() === "active");
  expect(status()).toBe("active");
  const asks: Outgoing = {
    kind: "notice",
    text: "Which host?",
    settles: undefined,
    asks: { call: "r2.t1", choices: ["web-1"] },
    holds: [],
  };
  await view.post(asks, first("n1"));
  await until(() => status() === "suspended");
  expect(status()).toBe("suspended");
});

test("an answer that comes at once costs one request and sets no status", async () => {
  const before = bot.slack.calls.length;
  thinking(1);
  await view.post(answer("r1", "all is well"), first("e1"));
  await holds(() => called("assistant.threads.setStatus").length === 0, 600);
  expect(bot.slack.calls.slice(before).map(({ method }) => method)).toEqual(["chat.postMessage"]);
});

test("the words of a run that ends without an answer are taken away", async () => {
  thinking(1);
  await until(() => bot.slack.statusLine(bot.ops, root) !== "");
  await view.post(Object.assign(answer("r1", ""), { isMoot: true }), first("e1"));
  await until(() => bot.slack.statusLine(bot.ops, root) === "");
  expect(shown()).toEqual([]);
});

test("an answer by a successor ends the status that its predecessor may have set", async () => {
  await view.post(answer("r1", "all is well"), { ...first("e1"), orphan: "begun:r1" });
  await until(() => bot.slack.session(bot.ops, root) === "active");
  expect(bot.slack.session(bot.ops, root)).toBe("active");
});

test("an answer that comes soon takes the words away by itself; what takes longer has Slack's own Stop", async () => {
  const { slack, ops } = bot;
  const log = pino({ level: "silent" });
  const { botToken: token, apiUrl } = slack;
  const api = createApi({ token, apiUrl, variable: "SLACK_BOT_TOKEN", log });
  const { show } = createStatus(api, async () => ({ kind: "person" }), log);
  const place = { channel: ops.id, root };
  await show(place, "working", true);
  expect([slack.statusLine(ops, root), slack.session(ops, root)]).toEqual([
    "is looking into it…",
    undefined,
  ]);
  await show(place, "answered", true);
  expect(called("agents.sessions.setStatus")).toEqual([]);
  for (let i = 0; i < 3; i++) await show(place, "working", true);
  expect(slack.session(ops, root)).toBe("processing");
  await show(place, "answered", true);
  expect(slack.session(ops, root)).toBe("active");
  expect(called("assistant.threads.setStatus")).toHaveLength(2);
  expect(called("agents.sessions.setStatus")).toHaveLength(2);
});

test("without a status line the session is the first sign", async () => {
  bot.slack.fail("assistant.threads.setStatus", { error: "unknown_method", times: 99 });
  thinking(1);
  await until(() => bot.slack.session(bot.ops, root) === "processing");
  expect(bot.slack.reactions(bot.ops, root)).toEqual([]);
});

/** What a workspace without a status line answers. */
test.each(["unknown_method", "not_allowed", "missing_scope"])(
  "where a status is refused (%s) it is tried once, and 👀 becomes ✅ with the answer",
  async (error) => {
    const { slack, ops } = bot;
    for (const method of ["agents.sessions.setStatus", "assistant.threads.setStatus"])
      slack.fail(method, { error, times: 99 });
    for (const run of ["r1", "r2"]) {
      view.progress({ kind: "thinking", run, step: 1 });
      await until(() => slack.reactions(ops, root).includes("eyes"));
      expect(slack.reactions(ops, root)).toContain("eyes");
      await view.post(answer(run, "all is well"), first(`e${run}`));
      await until(() => !slack.reactions(ops, root).includes("eyes"));
      await until(() => slack.reactions(ops, root).length === 1);
      expect(slack.reactions(ops, root)).toEqual(["white_check_mark"]);
    }
    expect(called("agents.sessions.setStatus")).toHaveLength(1);
    expect(called("assistant.threads.setStatus")).toHaveLength(1);
  },
);

test.each(["already_reacted", "too_many_emoji", "message_not_found", "missing_scope"])(
  "a reaction that is refused (%s) is in nobody's way",
  async (error) => {
    for (const method of ["agents.sessions.setStatus", "assistant.threads.setStatus"])
      bot.slack.fail(method, { error: "unknown_method", times: 99 });
    bot.slack.fail("reactions.add", { error, times: 1 });
    thinking(1);
    await until(() => called("reactions.add").length === 1);
    await view.post(answer("r1", "all is well"), first("e1"));
    expect(shown()).toEqual([expect.stringContaining("all is well")]);
  },
);

test("into a thread whose first message is gone nothing is posted: Slack would show it to the whole channel", async () => {
  bot.slack.remove(bot.ana, bot.ops, root);
  await expect(view.post(answer("r1", "for the thread"), first("e1"))).rejects.toMatchObject({
    code: "PLATFORM_REFUSED",
    message: expect.stringContaining("deleted"),
  });
  expect(bot.slack.messages(bot.ops)).toEqual([]);
});

test("progress that a process began and died with goes when the answer comes by another", async () => {
  await view.openProgress?.(first("begun:r1"), []);
  expect(shown()).toHaveLength(1);
  await view.post(answer("r1", "all is well"), { ...again("ended:r1"), orphan: "begun:r1" });
  expect(shown()).toEqual([expect.stringContaining("all is well")]);
});
