import { expect, test } from "vitest";
import { BotError } from "../../src/core/errors.ts";
import { createChat } from "../fakes/chat.ts";
import { createStage, fakeTool, KEY, workerOf } from "../fakes/stage.ts";
import { until } from "../until.ts";

/** A chat that asks to wait, and what the worker then asks of its wake-ups: for how long, by this process's clock. */
async function refused(retryAfterMs: number, storeAheadMs: number) {
  const chat = createChat({
    refuse: () => {
      throw new BotError("PLATFORM_RATE_LIMITED", "429", { retryAfterMs });
    },
  });
  const now = () => Date.now() + storeAheadMs;
  const stage = await createStage({ chat, now, tools: [fakeTool({ name: "look" })] });
  const wakes: number[] = [];
  const wakeAt = (_key: string, at: number) => void wakes.push(at);
  const worker = workerOf({ ...stage.parts, wakeAt }, chat.adapter);
  await stage.say("run look name=web");
  const from = Date.now();
  await worker.work(KEY);
  const to = Date.now();
  expect(wakes).toHaveLength(1);
  return { at: wakes[0] ?? 0, from, to, stage };
}

test.each([0, -10_000, 3_600_000])(
  "a journal is woken when it is due by the store's clock, which is %d ms ahead of this process's",
  async (aheadMs) => {
    const { at, from, to } = await refused(8_000, aheadMs);
    expect(at).toBeGreaterThanOrEqual(from + 7_990);
    expect(at).toBeLessThanOrEqual(to + 8_010);
  },
);

test("a journal to which nobody has posted is not taken up again within 250 ms", async () => {
  const { at, from, stage } = await refused(1, 0);
  expect(at).toBeGreaterThanOrEqual(from + 240);
  for await (const { dueAt } of stage.journal.list({ prefix: KEY })) {
    expect(dueAt).toBeGreaterThanOrEqual(from + 240);
  }
  await stage.say("tools");
  for await (const { dueAt } of stage.journal.list({ prefix: KEY })) {
    expect(dueAt).toBeLessThanOrEqual(Date.now());
  }
});

test("a platform that asks for a fraction of a millisecond is waited for: the store keeps whole ones", async () => {
  const { at, to, stage } = await refused(1_500.25, 0);
  expect(at).toBeLessThanOrEqual(to + 1_511);
  for await (const { dueAt, leased } of stage.journal.list({ prefix: KEY })) {
    expect({ isWhole: Number.isInteger(dueAt), leased }).toEqual({ isWhole: true, leased: false });
  }
});

test("an action is left to its people also where half of its time is no whole millisecond", async () => {
  let ms = 1_000_000;
  let half = 0;
  const act = fakeTool({ name: "act", effect: "write" });
  const brief = [{ match: { tool: "act" }, decide: "ask" as const, expiresInMinutes: 1 }];
  const stage = await createStage({ tools: [act], now: () => ms, approvals: { rules: brief } });
  const { append } = stage.journal;
  stage.journal.append = async (...asked) => {
    const [draft] = asked[2];
    if (draft?.kind === "action_proposed") {
      ms += (draft.expiresAt - ms) % 2 === 0 ? 1 : 0;
      half = (draft.expiresAt - ms) / 2;
    }
    return append(...asked);
  };
  await stage.say("run act name=web");
  await stage.settle();
  for await (const { dueAt, leased } of stage.journal.list({ prefix: KEY })) {
    expect({ dueAt, leased }).toEqual({ dueAt: Math.ceil(ms + half), leased: false });
    expect(Number.isInteger(half)).toBe(false);
  }
});

test("while something runs, the store's clock is heard with each renewal: what expires by it expires", async () => {
  const clock = { aheadMs: 0 };
  const gate = Promise.withResolvers<{ text: string }>();
  const act = fakeTool({ name: "act", effect: "write" });
  const look = fakeTool({ name: "look", timeoutMs: 600_000, run: () => gate.promise });
  const now = () => Date.now() + clock.aheadMs;
  // A message that shows progress would bring the clock too.
  const showAfterMs = 86_400_000;
  const stage = await createStage({ tools: [act, look], now, leaseMs: 300, showAfterMs });
  await stage.say("run act name=web");
  await stage.settle();
  await stage.say("run look name=web");
  const working = stage.settle();
  await until(() => look.runs.length === 1);
  clock.aheadMs = 2 * 3_600_000;
  await until(async () => (await stage.kinds()).includes("action_closed"));
  expect((await stage.entries()).map(({ id }) => id)).not.toContain("finished:r2.t1");
  gate.resolve({ text: "seen" });
  await working;
  expect((await stage.entries()).find(({ kind }) => kind === "action_closed")).toMatchObject({
    outcome: "expired",
  });
});
