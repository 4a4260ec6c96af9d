import { pino } from "pino";
import { expect, onTestFinished, test } from "vitest";
import type { Adapter } from "../../src/adapters/adapter.ts";
import { goalDigest, loadGoalSchedules, nextGoals } from "../../src/app/goal-schedules.ts";
import type { Entry } from "../../src/core/entry.ts";
import type { JournalKey } from "../../src/core/journal-key.ts";
import { createDigestHandler } from "../../src/handoff/digest-handler.ts";
import { createWorker } from "../../src/worker/worker.ts";
import { createChat } from "../fakes/chat.ts";
import { openMemoryJournal } from "../fakes/memory-journal.ts";

const CHANNEL = "slack:T1:C1";
const WEEKLY = {
  "goals.enabled": true,
  "goals.schedules": [
    {
      cron: "0 6 * * 1",
      zone: "Europe/Madrid",
      channel: CHANNEL,
      goal: "Look for certificates that expire this month",
      budget: { minutes: 30 },
    },
  ],
};

/** A program with a weekly goal, and a clock of the test's. */
async function stage() {
  const clock = { now: Date.parse("2026-11-21T10:00Z") };
  const journal = openMemoryJournal({ now: () => clock.now });
  onTestFinished(() => journal.close());
  const opened = new Map<string, { key: JournalKey; text: string }>();
  const said: string[] = [];
  const adapter: Adapter = {
    ...createChat({ transport: "slack" }).adapter,
    link: (key: JournalKey) => `https://chat/${key}`,
  };
  const open = async (_channel: string, text: string, { id }: { id: string }) => {
    const key: JournalKey = `slack:T1:C1:${opened.size + 1}.1`;
    const found = opened.get(id) ?? { key, text };
    opened.set(id, found);
    return found.key;
  };
  const adapters = new Map([["slack", Object.assign(adapter, { open })]]);
  const [one] = await loadGoalSchedules({ values: WEEKLY, timezone: undefined });
  if (one === undefined) throw new Error("nothing is scheduled");
  const parts = { journal, adapters, encode: (text: string) => text, wake: () => {} };
  const workerOf = () => {
    const handler = createDigestHandler({
      digestOf: (key) => (key === one.key ? goalDigest(one, parts) : undefined),
      announcerOf: () => async (_channel, text) => `m${said.push(text)}`,
      tellOps: async () => undefined,
    });
    const log = pino({ level: "silent" });
    return createWorker({ journal, log, leaseMs: 2_000, wakeAt: () => {} }, () => handler);
  };
  await journal.post(one.key, { id: "begin", kind: "timer" });
  return {
    one,
    journal,
    said,
    opened: () => [...opened.values()],
    async at(time: string) {
      clock.now = Date.parse(time);
      const [first, other] = [workerOf(), workerOf()];
      await Promise.all([first.work(one.key), other.work(one.key)]);
      await other.work(one.key);
    },
    /** The worker of that thread writes it. */
    async append(key: JournalKey, ...drafts: Parameters<typeof journal.append>[2]) {
      const granted = await journal.lease(key, 60_000);
      if (granted === undefined) throw new Error("somebody has the lease");
      const entries = (await journal.read(key)) as Entry[];
      const end = { last: entries.length, head: entries.at(-1)?.head };
      await journal.append(granted.lease, end, drafts);
    },
  };
}

const began = (schedule: string) => ({
  id: "goal:g1",
  kind: "goal_started" as const,
  goal: "g1",
  text: "Look for certificates that expire this month",
  principals: [],
  model: "m",
  budget: { steps: 200, minutes: 30, tokens: 2_000_000 },
  replan: 1,
  schedule,
});

test("a scheduled goal begins once at its time, in a thread that says what it may use, and nobody's words ask for it", async () => {
  const { one, opened, at, journal } = await stage();
  expect(nextGoals([one], Date.parse("2026-11-21T10:00Z"))).toEqual([
    "Next goal: Mon 2026-11-23 06:00 Europe/Madrid in slack:T1:C1 (Look for certificates that expire this month)",
  ]);
  await at("2026-11-23T04:59Z");
  expect(opened()).toEqual([]);
  await at("2026-11-23T05:00Z");
  await at("2026-11-23T05:01Z");
  expect(opened()).toEqual([
    {
      key: "slack:T1:C1:1.1",
      text: "Goal: Look for certificates that expire this month\nBy schedule; it may use up to 200 steps, 30 min, 2,000,000 tokens.",
    },
  ]);
  const [command, ...more] = (await journal.read("slack:T1:C1:1.1")) as Entry[];
  expect(more).toEqual([]);
  expect(command).toMatchObject({
    kind: "command",
    command: { name: "goal", schedule: { name: one.key, budget: { minutes: 30 } } },
  });
});

test("the next one says what the last one used; while that is at work it is left out, and the channel is told", async () => {
  const { one, opened, said, at, append } = await stage();
  await at("2026-11-23T05:00Z");
  await append("slack:T1:C1:1.1", began(one.key));
  await at("2026-11-30T05:00Z");
  expect(opened()).toHaveLength(1);
  expect(said).toEqual([
    "A goal is left out, since the one before is still at work (https://chat/slack:T1:C1:1.1): Look for certificates that expire this month",
  ]);
});

test("an estimate is what the last one with the same schedule used", async () => {
  const { one, opened, at, append } = await stage();
  await at("2026-11-23T05:00Z");
  const thought = {
    model: "m",
    requests: 12,
    usage: { input: 4_000, output: 500, cacheRead: 0, cacheWrite: 0 },
    ms: 1,
  };
  const planned = { goal: "g1", revision: 1, seen: 2, tasks: [], done: true, thought };
  await append(
    "slack:T1:C1:1.1",
    began(one.key),
    { id: "goal-plan:g1.1", kind: "goal_planned", ...planned },
    {
      id: "goal-state:g1.1",
      kind: "goal_state",
      goal: "g1",
      number: 1,
      state: "ended",
      status: "done",
    },
  );
  await at("2026-11-30T05:00Z");
  expect(opened().at(-1)?.text).toMatch(
    /\nBy schedule; the last one used 12 steps, .*, 4,500 tokens, and this one may use up to 200 steps and 30 min\.$/,
  );
});
