import { describe, expect, onTestFinished, test, vi } from "vitest";
import { BotError } from "../../src/core/errors.ts";
import { openMemoryJournal } from "../fakes/memory-journal.ts";
import type { DoneAction, Tool, Verdict } from "../../src/tools/tool.ts";
import { createChat } from "../fakes/chat.ts";
import {
  createStage,
  fakeTool,
  KEY,
  type Stage,
  type StageOptions,
  workerOf,
} from "../fakes/stage.ts";

const AFTER_MS = 30_000;

/** A thread in which `act` ran, which is to be looked at again half a minute later; `looks` counts that. */
async function acted(
  verdict: Verdict | Error = { verdict: "done", evidence: "3 of 3 are ready." },
  options: StageOptions = {},
) {
  const clock = { now: 1_000_000 };
  const journal = openMemoryJournal({ now: () => clock.now });
  onTestFinished(() => journal.close());
  const looks: string[] = [];
  const check = async ({ name }: { name: string }) => {
    looks.push(name);
    if (verdict instanceof Error) throw verdict;
    return verdict;
  };
  const act = fakeTool({
    name: "act",
    effect: "write",
    verifyLater: { afterMs: AFTER_MS, check },
  });
  const approvals = { rules: [{ match: { tool: "act" }, decide: "allow" as const }] };
  const given = { tools: [act], approvals, journal, ...options };
  const stage = await createStage(given);
  await stage.say("run act name=web");
  await stage.settle();
  expect(stage.chat.answers()).toMatchObject([{ results: [{ outcome: "ok" }] }]);
  return { ...stage, act, given, clock, looks };
}

test.each([
  [
    { verdict: "done", evidence: "3 of 3 are ready." } as const,
    "r1.t1 (act): verified after 30 s: 3 of 3 are ready.",
  ],
  [
    { verdict: "not done", evidence: "1 of 3 is ready." } as const,
    "⚠ r1.t1 (act): not as expected after 30 s: 1 of 3 is ready.",
  ],
  [
    new Error("no route"),
    "⚠ r1.t1 (act): could not be verified after 30 s: the check failed: no route",
  ],
])(
  "a call is looked at again when its time has come, and the thread is told: %j",
  async (verdict, text) => {
    const { journal, clock, looks, settle, chat, kinds } = await acted(verdict);
    for await (const { dueAt } of journal.list({ prefix: KEY }))
      expect(dueAt).toBe(clock.now + AFTER_MS);
    clock.now += AFTER_MS - 10_000;
    await settle();
    expect([looks, chat.notices()]).toEqual([[], []]);
    clock.now += 10_000;
    await settle();
    await settle();
    expect(looks).toEqual(["web"]);
    expect(chat.notices()).toMatchObject([{ text }]);
    expect((await kinds()).filter((kind) => kind === "timer" || kind === "notice")).toEqual([
      "timer",
      "notice",
    ]);
  },
);

test("two workers and one that died on the way tell it once", async () => {
  const { journal, clock, given, parts, chat, looks, kinds } = await acted();
  clock.now += AFTER_MS;
  // The one that died had said that the time has come, and holds the lease until it runs out.
  await journal.post(KEY, { id: "verify:r1.t1", kind: "timer", call: "r1.t1" });
  await journal.lease(KEY, 2_000);
  const workers = [workerOf(parts, chat.adapter), (await createStage({ ...given, chat })).worker];
  await Promise.all(workers.map((worker) => worker.work(KEY)));
  expect(looks).toEqual([]);
  clock.now += 2_000;
  await Promise.all(workers.map((worker) => worker.work(KEY)));
  await Promise.all(workers.map((worker) => worker.work(KEY)));
  expect(looks).toEqual(["web"]);
  expect(chat.notices()).toHaveLength(1);
  expect((await kinds()).filter((kind) => kind === "timer")).toHaveLength(1);
});

test("what the tool was is looked at, or nothing: another tool says nothing of it", async () => {
  const { clock, given, act, chat, looks } = await acted();
  clock.now += AFTER_MS;
  const changed = { ...act, version: "another" };
  const later = await createStage({ ...given, tools: [changed], chat: createChat() });
  await later.settle();
  expect(looks).toEqual([]);
  expect(later.chat.notices()).toMatchObject([
    { text: expect.stringContaining("the tool or its arguments changed") },
  ]);
  expect(chat.notices()).toEqual([]);
});

test("what was taken back is not looked at again", async () => {
  const back = fakeTool({ name: "back", effect: "write" });
  const check = async () => ({ verdict: "not done" as const, evidence: "gone" });
  const act = fakeTool({
    name: "act",
    effect: "write",
    verifyLater: { afterMs: AFTER_MS, check },
    run: async () => ({ text: "did", undo: { tool: "back", args: { name: "web" } } }),
  });
  const approvals = { singleOperator: true };
  const { say, settle, click, thread } = await createStage({ tools: [act, back], approvals });
  await say("run act name=web");
  await settle();
  await click("a1", { kind: "approve" });
  await settle();
  expect((await thread()).checks.size).toBe(1);
  await click("a1", { kind: "undo" });
  await settle();
  await click("a2", { kind: "approve" });
  await settle();
  expect(back.runs).toEqual(["web"]);
  expect((await thread()).checks.size).toBe(0);
});

describe("an action that is done", () => {
  const approvals = { singleOperator: true };
  const refusing = async () => {
    throw new BotError("PRECHECK_FAILED", "Grafana refused with 403.");
  };

  /** `act` was approved and done where `marker` is told of what is. */
  async function done(mark: NonNullable<Tool["mark"]>, options: StageOptions = {}) {
    const act = fakeTool({ name: "act", effect: "write", resource: () => "service web" });
    const marker = fakeTool({ name: "marker", effect: "write", mark });
    const given = { tools: [act, marker], approvals, ...options };
    const stage = await createStage(given);
    return { ...stage, given: { ...given, journal: stage.journal } };
  }

  async function approve({ say, settle, click }: Stage, text = "run act name=web") {
    await say(text);
    await settle();
    await click("a1", { kind: "approve" });
    await settle();
  }

  test("is marked once, with what it changed and who approved it; the marking itself is not", async () => {
    const marks: DoneAction[] = [];
    const stage = await done(async (each) => void marks.push(each));
    await approve(stage);
    await stage.settle();
    const again = await createStage({ ...stage.given, chat: createChat() });
    await again.settle();
    expect(marks).toMatchObject([
      { tool: "act", resource: "service web", isUndo: false, approvers: [expect.any(String)] },
    ]);
    const other = await done(async (each) => void marks.push(each));
    await approve(other, "run marker name=web");
    expect(marks).toHaveLength(1);
  });

  test("is not marked by name where others may not read along, and a refused mark harms nothing", async () => {
    const marks: DoneAction[] = [];
    const chat = createChat();
    const adapter = { ...chat.adapter, audience: async () => "test:private" };
    const hidden = await done(async (each) => void marks.push(each), {
      chat: { ...chat, adapter },
    });
    await approve(hidden);
    expect(marks).toEqual([]);
    const refused = await done(refusing);
    await approve(refused);
    expect(refused.chat.answers()).toMatchObject([{ results: [{ outcome: "ok" }] }]);
    expect((await refused.thread()).marks.size).toBe(0);
  });

  test("is marked by the next process where this one ended meanwhile", async () => {
    const ids: string[] = [];
    const stage = await done(async ({ id }, { signal }) => {
      ids.push(id);
      await new Promise((_, reject) => signal.addEventListener("abort", reject));
    });
    await stage.say("run act name=web");
    await stage.settle();
    await stage.click("a1", { kind: "approve" });
    const working = stage.worker.work(KEY);
    await vi.waitFor(() => expect(ids).toHaveLength(1));
    await stage.worker.stop(0);
    await working;
    expect((await stage.thread()).marks.size).toBe(1);
    const next = await done(async ({ id }) => void ids.push(id), { journal: stage.journal });
    await next.settle();
    expect(ids).toHaveLength(2);
    expect(ids[1]).toBe(ids[0]);
    expect((await next.thread()).marks.size).toBe(0);
  });
});
