import { expect, onTestFinished, test } from "vitest";
import { BotError } from "../../src/core/errors.ts";
import type { BotEvent, MemoryEvent } from "../../src/events/event.ts";
import type { MemoryIndex } from "../../src/memory/index-port.ts";
import type { Task } from "../../src/memory/item.ts";
import { createMemory, type Saying } from "../../src/memory/memory.ts";
import { telling } from "../../src/memory/telling.ts";
import { openTestIndex } from "../fakes/memory.ts";
import { openMemoryJournal } from "../fakes/memory-journal.ts";

const START = Date.parse("2026-11-20T12:00:00Z");
const EVERYONE = { audience: undefined, tenants: ["slack:T1"] };
const THREAD = "slack:T1:C1:17.1";
const FLOOR = { threshold: 0.1, nearness: 0.1 };

function stage(index: MemoryIndex = openTestIndex()) {
  const told: BotEvent[] = [];
  const journal = openMemoryJournal({ now: () => START });
  onTestFinished(() => journal.close());
  const memory = telling(createMemory({ journal, index, encode: (text) => text }), {
    publish: (event) => told.push(event),
  });
  const saying: Saying = {
    ...EVERYONE,
    actor: { account: "slack:T1:U1", name: "Ana" },
    thread: THREAD,
    call: "r1.t1",
    link: undefined,
    at: START,
  };
  const drain = (): MemoryEvent[] =>
    told.splice(0).flatMap((event) => (event.kind === "memory" ? [event] : []));
  return { memory, saying, drain };
}

const task: Task = {
  kind: "task",
  question: "checkout answers 502 since noon",
  cause: "the pool of connections to orders-db was used up",
  begun: START,
  looked: ["http_check"],
  fixes: [],
  outcome: "explained",
};

test("a note is told when it is kept, not when it is said again, and when it is forgotten", async () => {
  const { memory, saying, drain } = stage();
  const { item } = await memory.note(saying, "web-2 is drained on Sundays");
  const of = { kind: "memory", id: item.id, thread: THREAD };
  expect(drain()).toEqual([{ ...of, did: "remembered", what: "note" }]);
  await memory.note({ ...saying, call: "r2.t1" }, "web-2 is drained on Sundays");
  expect(drain()).toEqual([]);
  await memory.forget(saying, item.id);
  expect(drain()).toEqual([{ ...of, did: "forgotten" }]);
});

test("a record is told as remembered, and the same fault of another thread as merged into it", async () => {
  const { memory, drain } = stage();
  const of = (thread: typeof THREAD | "slack:T1:C1:18.1") => ({
    thread,
    link: undefined,
    audience: undefined,
    asOf: "ended:r1",
  });
  const { id } = await memory.record(of(THREAD), task);
  await memory.record(of("slack:T1:C1:18.1"), task);
  expect(drain()).toEqual([
    { kind: "memory", did: "remembered", what: "task", id, thread: THREAD },
    { kind: "memory", did: "merged", id, thread: "slack:T1:C1:18.1" },
  ]);
});

test("each look is told once, with how many were found and without a word of them", async () => {
  const { memory, saying, drain } = stage();
  await memory.note(saying, "web-2 is drained on Sundays");
  drain();
  await memory.alike("is web-2 drained?", EVERYONE, FLOOR);
  await memory.search("the printer is jammed", EVERYONE, FLOOR);
  await memory.notesWith("drained", EVERYONE);
  await memory.newest(EVERYONE, { limit: 5 });
  const looks = drain();
  expect(looks).toMatchObject([1, 0, 1, 1].map((found) => ({ did: "recalled", found })));
  for (const look of looks) expect(Object.keys(look)).toEqual(["kind", "did", "found", "ms"]);
});

test("what fails is told, what is refused is not", async () => {
  const away = new BotError("STORE_UNAVAILABLE", "The index does not answer.");
  const index = { ...openTestIndex(), spaces: () => Promise.reject(away) };
  const { memory, saying, drain } = stage(index);
  await memory.note(saying, "web-2 is drained on Sundays");
  drain();
  await expect(memory.alike("web-2", EVERYONE, FLOOR)).rejects.toBe(away);
  expect(drain()).toEqual([{ kind: "memory", did: "failed", doing: "recall", error: away }]);
  const other = stage();
  await expect(other.memory.forget(other.saying, "m-nothing")).rejects.toMatchObject({
    code: "INPUT_INVALID",
  });
  expect(other.drain()).toEqual([]);
});
