import { expect, onTestFinished, test } from "vitest";
import { countFixes } from "../../src/memory/cases.ts";
import type { Task } from "../../src/memory/item.ts";
import { createMemory } from "../../src/memory/memory.ts";
import { caseText, fixText, itemText } from "../../src/memory/words.ts";
import { openTestIndex } from "../fakes/memory.ts";
import { openMemoryJournal } from "../fakes/memory-journal.ts";

const START = Date.parse("2026-11-20T12:00:00Z");
const DAY = 86_400_000;
const PUBLIC = { audience: undefined, tenants: ["test"] };
const SECRET = { audience: "test:secret", tenants: ["test"] };
const ANY = { threshold: 0, nearness: 0 };

function stage() {
  const clock = { now: START };
  const journal = openMemoryJournal({ now: () => clock.now });
  onTestFinished(() => journal.close());
  const index = openTestIndex();
  const open = (with_ = openTestIndex()) =>
    createMemory({ journal, index: with_, encode: (text) => text });
  const memory = open(index);
  const record = async (
    thread: `test:${string}`,
    { audience, asOf = "ended:r1", ...task }: Partial<Task> & { audience?: string; asOf?: string },
  ) => {
    clock.now += DAY;
    return memory.record(
      { thread, link: `https://chat/${thread}`, audience, asOf },
      {
        kind: "task",
        question: "why does checkout answer 502?",
        begun: clock.now,
        cause: "the pool of connections of checkout is used up",
        certainty: "likely",
        looked: ["postgres_activity"],
        fixes: [],
        outcome: "explained",
        ...task,
      },
    );
  };
  const forget = async (id: string) =>
    memory.forget(
      {
        ...PUBLIC,
        actor: { account: "test:ana", name: "Ana" },
        thread: "test:x",
        call: "r1.t1",
        link: undefined,
        at: clock.now,
      },
      id,
    );
  const shown = async (viewer: typeof PUBLIC | typeof SECRET = PUBLIC, from = memory) =>
    (await from.newest(viewer, { limit: 9 })).map(itemText);
  return { memory, index, open, record, forget, shown };
}

const restart = (changes: Partial<Task["fixes"][number]> = {}) => ({
  tool: "restart",
  title: "Restart api",
  action: "a1",
  approved: true,
  result: "done" as const,
  ...changes,
});

test("the same fault in a second thread is counted on the record that is there, with the time and a link", async () => {
  const { memory, record, shown, open, index } = stage();
  const first = await record("test:one", { fixes: [restart({ helped: true })] });
  const again = { question: "checkout answers 502 since noon", fixes: [restart()] };
  expect(first.saved).toBe(true);
  expect(await record("test:two", again)).toEqual({ id: first.id, saved: false });
  const text = `2026-11-21 ${first.id}: why does checkout answer 502? → the pool of connections of checkout is used up (likely); Restart api: done, it helped; explained https://chat/test:one; seen 2×, last on 2026-11-22 https://chat/test:two`;
  expect(await shown()).toEqual([text]);
  // As the thread goes on it is counted once, and its first thread's newer record keeps the count.
  await record("test:two", { ...again, asOf: "ended:r2", begun: START + 2 * DAY });
  const newer = { fixes: [restart({ helped: true })], begun: START + DAY, asOf: "ended:r2" };
  expect(await record("test:one", newer)).toMatchObject({ id: first.id, saved: true });
  expect(await shown()).toEqual([text]);
  // Whoever reads the journals from their beginning, or goes on with the index, finds the same.
  expect(await shown(PUBLIC, open())).toEqual([text]);
  expect(await shown(PUBLIC, open(index))).toEqual([text]);
  const alike = await memory.alike("checkout 502", PUBLIC, ANY);
  expect(alike.map(caseText)).toEqual([text]);
  // Actions of two threads have the same names and are two.
  expect(countFixes(alike).map(fixText)).toEqual([
    'restart, such as "Restart api": approved 2, fixed 1',
  ]);
});

test("another fault, another service, another number and the contrary are records of their own", async () => {
  const { record, shown } = stage();
  const others: Partial<Task>[] = [
    {},
    { cause: "the certificate of checkout has expired" },
    { question: "why does billing answer 502?" },
    { cause: "the pool of connections of billing is used up" },
    { cause: "the pool of connections of checkout is not used up" },
    { cause: "the pool of connections of checkout is used up on db-2" },
    { question: "why does checkout answer 503?" },
    { question: "why is checkout slow?" },
  ];
  for (const [i, task] of others.entries())
    expect(await record(`test:${i}`, task), JSON.stringify(task)).toMatchObject({ saved: true });
  const { cause: _, ...none } = { cause: "", question: "why does search hang?" };
  for (const thread of ["test:a", "test:b"] as const)
    expect((await record(thread, { ...none, cause: undefined })).saved).toBe(true);
  expect(await shown()).toHaveLength(9);
});

test("the same action about the same cause names the same fault, whatever was asked", async () => {
  const { record } = stage();
  await record("test:one", { fixes: [restart()] });
  const other = { question: "the shop is slow", fixes: [restart({ action: "a7" })] };
  expect((await record("test:two", other)).saved).toBe(false);
});

test("what a private place found is never counted on a public record, nor the other way round", async () => {
  const { record, shown } = stage();
  await record("test:secret:1", { audience: "test:secret" });
  expect((await record("test:one", {})).saved).toBe(true);
  expect((await record("test:other:1", { audience: "test:other" })).saved).toBe(true);
  expect((await record("test:secret:2", { audience: "test:secret" })).saved).toBe(false);
  const [line, ...rest] = await shown();
  expect(rest).toEqual([]);
  expect(line).not.toContain("seen");
  expect((await shown(SECRET)).filter((text) => text.includes("seen 2×"))).toHaveLength(1);
  // A thread whose place became private is taken off the public record.
  expect((await record("test:two", {})).saved).toBe(false);
  await record("test:two", { audience: "test:two", asOf: "ended:r2" });
  expect((await shown()).join()).not.toMatch(/seen|test:two/);
});

test("a thread that turns out to be about something else is counted no more and has a record of its own", async () => {
  const { record, shown } = stage();
  await record("test:one", {});
  await record("test:two", {});
  const other = { cause: "a proxy cuts long requests", asOf: "ended:r2" };
  expect((await record("test:two", other)).saved).toBe(true);
  expect((await shown()).filter((text) => text.includes("seen"))).toEqual([]);
  expect(await shown()).toHaveLength(2);
});

test("what was forgotten stays so for all threads that were counted on it", async () => {
  const { record, shown, forget } = stage();
  const { id } = await record("test:one", {});
  const begun = START + 2 * DAY;
  await record("test:two", { begun });
  await forget(id);
  await record("test:two", { begun, asOf: "ended:r2" });
  await record("test:one", { asOf: "ended:r2", begun: START + DAY });
  expect(await shown()).toEqual([]);
  // A third one is new, and those two are not counted on it.
  expect((await record("test:three", {})).saved).toBe(true);
  await record("test:two", { begun, asOf: "ended:r3" });
  expect((await shown()).join()).not.toMatch(/seen|test:two/);
  expect(await shown()).toHaveLength(1);
});
