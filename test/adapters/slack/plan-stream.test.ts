import { pino } from "pino";
import { afterEach, beforeEach, expect, onTestFinished, test } from "vitest";
import type { View } from "../../../src/adapters/view.ts";
import { createSlack } from "../../../src/adapters/slack/adapter.ts";
import { answer, type Bot, type BotOptions, holds, openBot, until } from "./harness.ts";

let bot: Bot;
let root: string;
let view: View;

async function open(options: BotOptions = {}): Promise<void> {
  bot = await openBot(options);
  root = bot.slack.say(bot.ana, bot.ops, "is web well?");
  const found = bot.adapter.view(bot.key(bot.ops, root));
  if (found === undefined) throw new Error("the thread is not shown");
  view = found;
}
beforeEach(() => open());
afterEach(() => bot.close());

/** Another bot than the one that each test has. */
async function openAnother(options: BotOptions): Promise<void> {
  await bot.close();
  await open(options);
}

/** What the bot has in the thread now. */
function shown(): string[] {
  const { slack, ops } = bot;
  const ours = slack.messages(ops, root).filter(({ bot_id }) => bot_id !== undefined);
  return ours.map((message) => slack.textOf(message));
}

const called = (method: string) => bot.slack.calls.filter((call) => call.method === method);
const first = (id: string) => ({ id, isRetry: false });

const mine = (id = "begun:r1") => ({ id, isRetry: false, run: "r1", asker: bot.account(bot.ana) });
const check = (call: string, doing: string) =>
  ({ kind: "tool_started", call, tool: "http_check", args: {}, doing }) as const;
const CHECKED = { kind: "tool_finished", call: "r1.t1", tool: "http_check" } as const;

/** Progress has begun as a plan, and something is new. */
async function beginPlan(): Promise<string> {
  const begun = await view.openProgress?.(mine(), [check("r1.t1", "Checking http://web/")]);
  if (begun === undefined) throw new Error("nothing was begun");
  expect(bot.slack.openStreams(bot.ops, root)).toHaveLength(1);
  view.progress(check("r1.t2", "Reading the logs of web-1"), begun);
  return begun;
}

/** The answer has come, and nothing else stands there or is open. */
async function answered(begun: string): Promise<void> {
  await view.delete(begun);
  await view.post(answer("r1", "all is well"), first("ended:r1"));
  expect(shown()).toEqual([expect.stringContaining("all is well")]);
  expect(bot.slack.openStreams(bot.ops, root)).toEqual([]);
}

test("progress is a plan with a task for each check in words and a Stop; it goes when the answer comes", async () => {
  const begun = await view.openProgress?.(mine(), []);
  const [message] = bot.slack.openStreams(bot.ops, root);
  expect(message && bot.slack.buttonsOf(message)).toMatchObject([{ actionId: "wk:stop:r1" }]);
  expect(shown()).toEqual(["Still looking into it\n[in_progress] Deciding what to check"]);
  view.progress({ kind: "thinking", run: "r1", step: 1 }, begun);
  view.progress(check("r1.t1", "Checking <!channel> & http://web/"), begun);
  view.progress({ ...CHECKED, outcome: "error", ms: 34 }, begun);
  view.progress(check("r1.t2", "Reading the logs of web-1"), begun);
  await until(() => shown()[0]?.includes("logs") === true);
  expect(shown()[0]?.split("\n")).toEqual([
    "Still looking into it: 2 checks so far",
    "[complete] Deciding what to check",
    "[error] Checking <!channel> & http://web/ · error · 34 ms",
    "[in_progress] Reading the logs of web-1",
  ]);
  expect(bot.slack.pings).toEqual([]);
  await answered(begun ?? "");
  expect(bot.slack.calls.map(({ method }) => method)).not.toContain("chat.update");
});

test("near a limit the plan says what was used and gets an Extend beside its Stop, once for each offer and with no request of its own", async () => {
  const begun = await view.openProgress?.(mine(), []);
  const meter = (steps: number, number: number) => ({
    budget: { steps: 30, tokens: 400_000, minutes: 15 },
    steps,
    tokens: 9_000,
    money: { microdollars: 0, unpriced: 9_000 },
    workMs: 60_000,
    extendedBy: [],
    extension: { number, more: { steps: 15, tokens: 200_000, minutes: 7.5 } },
  });
  const buttons = () => {
    const [message] = bot.slack.openStreams(bot.ops, root);
    return message === undefined
      ? []
      : bot.slack.buttonsOf(message).map(({ actionId }) => actionId);
  };
  view.progress({ kind: "thinking", run: "r1", step: 25, meter: meter(24, 1) }, begun);
  await until(
    () => shown()[0]?.includes("24 of 30 steps · 9.0k of 400k tokens · 1 of 15 min") === true,
  );
  expect(buttons()).toEqual(["wk:stop:r1", "wk:extend:r1:1"]);
  view.progress({ kind: "thinking", run: "r1", step: 26, meter: meter(25, 1) }, begun);
  await until(() => shown()[0]?.includes("25 of 30 steps") === true);
  expect(buttons()).toEqual(["wk:stop:r1", "wk:extend:r1:1"]);
  expect(called("chat.appendStream")).toHaveLength(2);
  await answered(begun ?? "");
});

test("in direct messages nobody is named as the reader, and without an asker there is no plan", async () => {
  const { slack, ana, adapter } = bot;
  const dm = slack.openDm(ana);
  const asked = slack.say(ana, dm, "is web well?");
  const direct = adapter.view(bot.key(dm, asked));
  await direct?.openProgress?.(mine(), []);
  expect(slack.openStreams(dm, asked)).toHaveLength(1);
  await view.openProgress?.(first("begun:r1"), []);
  expect(slack.openStreams(bot.ops, root)).toEqual([]);
  expect(shown()).toHaveLength(1);
});

test.each([
  ["channel_type_not_supported", 2],
  ["missing_recipient_team_id", 2],
  ["missing_recipient_user_id", 2],
  ["msg_blocks_too_long", 2],
  ["unknown_method", 1],
  ["missing_scope", 1],
  ["ratelimited", 1],
])("where a plan is refused (%s) progress is an edited message", async (error, tried) => {
  bot.slack.fail("chat.startStream", { error, times: 9 });
  for (const run of ["r1", "r2"]) {
    const begun = await view.openProgress?.(mine(`begun:${run}`), []);
    expect(shown()).toEqual([expect.stringContaining("working")]);
    await view.delete(begun ?? "");
  }
  expect(called("chat.startStream")).toHaveLength(tried);
});

test.each([
  "streaming_mode_mismatch",
  "cannot_provide_both_markdown_text_and_chunks",
  "msg_blocks_too_long",
  "invalid_chunks",
])("a plan that breaks off (%s) goes on as an edited message in its place", async (error) => {
  bot.slack.fail("chat.appendStream", { error });
  const begun = await beginPlan();
  await until(() => called("chat.update").length > 0);
  await until(() => shown()[0]?.includes("⏳") === true);
  expect(shown()).toEqual(["⏳ Checking http://web/\n⏳ Reading the logs of web-1"]);
  expect(bot.slack.openStreams(bot.ops, root)).toEqual([]);
  await answered(begun);
});

test("a plan that a person stopped, or that is not the bot's, shows nothing more and is in nobody's way", async () => {
  bot.slack.fail("assistant.threads.setStatus", { error: "unknown_method" });
  const begun = await beginPlan();
  view.progress({ kind: "thinking", run: "r1", step: 1 });
  await until(() => bot.slack.session(bot.ops, root) === "processing");
  await bot.slack.stopSession(bot.ana, bot.ops, root);
  await until(() => called("chat.appendStream").length === 1);
  view.progress(check("r1.t3", "Looking elsewhere"), begun);
  await holds(() => called("chat.update").length === 0, 40);
  await answered(begun);
  bot.slack.fail("chat.appendStream", { error: "message_not_owned_by_app" });
  bot.slack.fail("chat.update", { error: "cant_update_message" });
  const next = await beginPlan();
  await until(() => called("chat.update").length === 1);
  await view.delete(next);
  expect(bot.slack.openStreams(bot.ops, root)).toEqual([]);
});

test("a plan that Slack closed itself goes on as an edited message too", async () => {
  await openAnother({ slack: { streamMs: 1 } });
  const begun = await view.openProgress?.(mine(), [check("r1.t1", "Checking http://web/")]);
  await until(() => bot.slack.openStreams(bot.ops, root).length === 0);
  view.progress(check("r1.t2", "Reading the logs of web-1"), begun);
  await until(() => shown()[0]?.includes("⏳") === true);
  expect(shown()[0]).toContain("⏳ Reading the logs of web-1");
  await answered(begun ?? "");
  expect(called("chat.stopStream")).toEqual([]);
});

test("a plan ends before Slack breaks it off, goes on in its place, and the thread stays at work", async () => {
  await openAnother({ adapter: { maxStreamMs: 20 } });
  bot.slack.fail("assistant.threads.setStatus", { error: "unknown_method" });
  view.progress({ kind: "thinking", run: "r1", step: 1 });
  await until(() => bot.slack.session(bot.ops, root) === "processing");
  const begun = await view.openProgress?.(mine(), [check("r1.t1", "Checking http://web/")]);
  await until(() => called("chat.update").length > 0);
  await until(() => shown()[0]?.includes("⏳") === true);
  expect(bot.slack.stoppedStreams).toHaveLength(1);
  expect(bot.slack.session(bot.ops, root)).toBe("processing");
  await answered(begun ?? "");
  expect(called("chat.stopStream")).toHaveLength(1);
});

test("a plan that may not grow or end yet keeps no answer back", async () => {
  bot.slack.fail("chat.appendStream", { status: 429, retryAfter: 30 });
  bot.slack.fail("chat.stopStream", { status: 429, retryAfter: 0.01 });
  const begun = await beginPlan();
  await until(() => called("chat.appendStream").length === 1);
  await view.delete(begun);
  await view.post(answer("r1", "all is well"), first("ended:r1"));
  await until(() => shown().length === 1);
  expect(shown()).toEqual([expect.stringContaining("all is well")]);
  expect(called("chat.stopStream")).toHaveLength(2);
});

test("a plan that a process died with is ended by the next one, recorded or not", async () => {
  const { slack } = bot;
  slack.fail("chat.startStream", { cutAfterCarryingOut: true });
  await expect(view.openProgress?.(mine(), [])).rejects.toThrow("did not answer");
  expect(slack.openStreams(bot.ops, root)).toHaveLength(1);
  // Not recorded: the next attempt finds it, and so does the answer.
  const found = await view.openProgress?.({ ...mine(), isRetry: true }, []);
  expect(slack.openStreams(bot.ops, root)).toEqual([]);
  expect(shown()).toHaveLength(1);
  await view.delete(found ?? "");
  slack.fail("chat.startStream", { cutAfterCarryingOut: true });
  await expect(view.openProgress?.(mine("begun:r2"), [])).rejects.toThrow("did not answer");
  await view.post(answer("r2", "all is well"), { ...first("ended:r2"), orphan: "begun:r2" });
  expect(shown()).toEqual([expect.stringContaining("all is well")]);
  // Recorded: another process goes on with it as a message.
  const begun = await view.openProgress?.(mine("begun:r3"), [
    check("r3.t1", "Checking http://web/"),
  ]);
  const other = createSlack({
    botToken: slack.botToken,
    appToken: slack.appToken,
    apiUrl: slack.apiUrl,
    log: pino({ level: "silent" }),
  });
  onTestFinished(() => other.stop?.());
  await other.start(bot.parts);
  other.view(bot.key(bot.ops, root))?.progress(check("r3.t1", "Checking http://db/"), begun);
  await until(() => shown().some((text) => text.includes("http://db/")));
  expect(slack.openStreams(bot.ops, root)).toEqual([]);
});
