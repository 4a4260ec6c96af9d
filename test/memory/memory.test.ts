import { describe, expect, onTestFinished, test } from "vitest";
import { withoutRemoved } from "../../src/core/removed.ts";
import type { Task } from "../../src/memory/item.ts";
import { createMemory, type Saying } from "../../src/memory/memory.ts";
import { casesOf, countFixes } from "../../src/memory/cases.ts";
import { fixText, itemText } from "../../src/memory/words.ts";
import type { BotEvent } from "../../src/events/event.ts";
import { FLOOR } from "../../src/memory/policy.ts";
import { openTestIndex } from "../fakes/memory.ts";
import { openMemoryJournal } from "../fakes/memory-journal.ts";

const START = Date.parse("2026-11-20T12:00:00Z");
const EVERYONE = { audience: undefined, tenants: ["slack:T1"] };
const PRIVATE = { audience: "slack:T1:C9", tenants: ["slack:T1"] };

function stage(encode = (text: string) => text) {
  const clock = { now: START };
  const journal = openMemoryJournal({ now: () => clock.now });
  onTestFinished(() => journal.close());
  const open = () => createMemory({ journal, index: openTestIndex(), encode });
  let calls = 0;
  const saying = (changes: Partial<Saying> = {}): Saying => ({
    actor: { account: "slack:T1:U1", name: "Ana" },
    thread: "slack:T1:C1:17.1",
    call: `r1.t${++calls}`,
    link: undefined,
    at: clock.now,
    ...EVERYONE,
    ...changes,
  });
  return { clock, journal, memory: open(), open, saying };
}

const task = (question: string, changes: Partial<Task> = {}): Task => ({
  kind: "task",
  question,
  begun: START,
  looked: ["http_check"],
  fixes: [],
  outcome: "explained",
  ...changes,
});

const notesOf = (found: readonly { item: { what: { kind: string; text?: string } } }[]) =>
  found.map(({ item }) => item.what.text);

describe("notes", () => {
  test("are found by any process, in other forms of their words, until somebody forgets them", async () => {
    const { memory, open, saying } = stage();
    const { item, isNew } = await memory.note(
      saying(),
      "The payments database is read-only on Sundays",
    );
    expect(isNew).toBe(true);
    expect(item.id).toMatch(/^m-[a-z2-7]{10}$/);
    expect(itemText(item)).toBe(
      `2026-11-20 ${item.id}, note by Ana: The payments database is read-only on Sundays`,
    );
    const other = open();
    const found = await other.search(
      "why do writes to payment databases fail on sunday?",
      EVERYONE,
      { threshold: 0.3 },
    );
    expect(notesOf(found)).toEqual(["The payments database is read-only on Sundays"]);
    await other.forget(saying(), item.id);
    expect(await memory.search("payments database", EVERYONE)).toEqual([]);
    expect(await memory.newest(EVERYONE, { limit: 5 })).toEqual([]);
    await expect(memory.forget(saying(), item.id)).rejects.toMatchObject({ code: "INPUT_INVALID" });
  });

  test("are forgotten by their author or the operator, and by nobody else", async () => {
    const { memory, saying } = stage();
    const { item } = await memory.note(saying(), "web-2 is drained on Sundays");
    const bo = { actor: { account: "slack:T1:U2", name: "Bo" } };
    await expect(memory.forget(saying(bo), item.id)).rejects.toMatchObject({
      code: "PRECHECK_FAILED",
      message: `${item.id} is a note by Ana. Only they, or the operator in the terminal, can take it away.`,
    });
    const joined = saying({ principals: ["slack:T1:U1", "slack:T1:U2"] });
    await expect(memory.forget(joined, item.id)).rejects.toMatchObject({
      code: "PRECHECK_FAILED",
      message: `${item.id} is a note by Ana, and others asked for things in this run too. Only Ana can take it away: type \`forget ${item.id}\`.`,
    });
    expect(await memory.newest(EVERYONE, { limit: 5 })).toHaveLength(1);
    const operator = { actor: { account: "terminal:op", name: "op" }, tenants: "all" as const };
    await expect(
      memory.forget(saying({ ...operator, principals: ["terminal:op", "slack:T1:U2"] }), item.id),
    ).rejects.toMatchObject({ code: "PRECHECK_FAILED" });
    await memory.forget(saying(operator), item.id);
    expect(await memory.newest(EVERYONE, { limit: 5 })).toEqual([]);
  });

  test("a repeated call and the same words write nothing", async () => {
    const { memory, journal, saying } = stage();
    const call = saying();
    const first = await memory.note(call, "web-2 is drained on Sundays");
    const again = await memory.note(call, "web-2 is drained on Sundays");
    const same = await memory.note(
      saying({ thread: "slack:T1:C2:18.1" }),
      "Web-2 is drained on sundays!",
    );
    expect([again.item.id, same.item.id]).toEqual([first.item.id, first.item.id]);
    expect(same.isNew).toBe(false);
    const other = await memory.note(saying(), "web-3 is drained on Sundays");
    expect(other.isNew).toBe(true);
    expect(await journal.read("memory:slack:T1:2026-11")).toHaveLength(2);
    expect(await memory.noted(call)).toMatchObject({ text: "web-2 is drained on Sundays" });
    expect(await memory.noted(saying())).toBeUndefined();
  });

  test("of a private place are that place's, and other tenants' are nobody else's", async () => {
    const { memory, saying } = stage();
    await memory.note(saying(PRIVATE), "the layoffs host is web-9");
    await memory.note(saying(), "web-1 is the canary host");
    const texts = async (viewer: typeof EVERYONE | typeof PRIVATE) =>
      notesOf(await memory.search("host web", viewer)).length;
    expect(await texts(EVERYONE)).toBe(1);
    expect(await texts(PRIVATE)).toBe(2);
    expect(await texts({ audience: undefined, tenants: ["slack:T2"] })).toBe(0);
    const [hidden] = await memory.search("layoffs", PRIVATE);
    expect(await memory.get(hidden?.item.id ?? "", EVERYONE)).toBeUndefined();
  });

  test("hold no secrets", async () => {
    const { memory, saying } = stage((text) => text.replaceAll("hunter2", "[secret]"));
    const { item } = await memory.note(saying(), "the password is hunter2");
    expect(JSON.stringify(item)).not.toContain("hunter2");
  });
});

describe("records of tasks", () => {
  const of = (thread: `${string}:${string}`, asOf = "ended:r1") => ({
    thread,
    link: undefined,
    audience: undefined,
    asOf,
  });
  const restart = {
    tool: "restart",
    title: "Restart api",
    approved: true,
    result: "done",
  } as const;

  test("are one for each thread, as it was last", async () => {
    const { memory, journal } = stage();
    const thread = "slack:T1:C1:20.1";
    await memory.record(of(thread), task("checkout answers 502"));
    await memory.record(of(thread), task("checkout answers 502"));
    const fixed = {
      cause: "the pool of connections is used up",
      fixes: [{ ...restart, helped: true }],
    };
    await memory.record(
      of(thread, "verified:r1.t2"),
      task("checkout answers 502", { ...fixed, outcome: "solved" }),
    );
    expect(await journal.read("memory:slack:T1:2026-11")).toHaveLength(2);
    const found = await memory.search(
      "connection pool exhausted: 502 from the shop's checkouts",
      EVERYONE,
    );
    expect(found.map(({ item }) => item.what)).toMatchObject([{ outcome: "solved", ...fixed }]);
    const [{ item } = { item: undefined }] = found;
    await memory.forget(stage().saying(), item?.id ?? "");
    await memory.record(of(thread, "ended:r9"), task("checkout answers 502"));
    expect(await memory.search("checkout 502", EVERYONE)).toEqual([]);
  });

  test("say together how often what was done was approved, and helped", async () => {
    const { memory } = stage();
    const helped = [true, false, undefined];
    for (const [i, each] of helped.entries()) {
      const fix = { ...restart, ...(each !== undefined && { helped: each }) };
      await memory.record(of(`slack:T1:C1:30.${i}`), task("api is slow", { fixes: [fix] }));
    }
    const found = await memory.search("slow api", EVERYONE, { kind: "task" });
    expect(countFixes(casesOf(found.map(({ item }) => item))).map(fixText)).toEqual([
      'restart, such as "Restart api": approved 3, fixed 1, did not help 1',
    ]);
  });
});

test("a store that was set back, and an index that died, are read again", async () => {
  const { memory, saying, journal } = stage();
  await memory.note(saying(), "one note");
  const index = openTestIndex();
  const fresh = createMemory({
    journal,
    index,
    encode: (text) => text,
  });
  expect(await fresh.newest(EVERYONE, { limit: 9 })).toHaveLength(1);
  await index.drop("memory:slack:T1:2026-11");
  expect(await fresh.newest(EVERYONE, { limit: 9 })).toHaveLength(1);
});

test("what is not alike is left out", async () => {
  const { memory, saying } = stage();
  await memory.note(saying(), "the certificate of shop.example.com ends in March");
  expect(await memory.search("rabbitmq queue grows in shop", EVERYONE, FLOOR)).toEqual([]);
  expect(await memory.search("the of and", EVERYONE)).toEqual([]);
});

test("what was forgotten is printed without its words", async () => {
  const { memory, saying, journal } = stage();
  const { item } = await memory.note(saying(), "a word too much");
  await memory.forget(saying(), item.id);
  const entries = withoutRemoved(await journal.read("memory:slack:T1:2026-11"));
  expect(JSON.stringify(entries)).not.toContain("too much");
  expect(entries).toHaveLength(2);
});

describe("with vectors", () => {
  /** Words for the same have the same direction; a third one for what is about neither. */
  const CONCEPTS = [/oom|memory|137/i, /disk|space|inode/i, /./];
  const vectorOf = (text: string) =>
    Float32Array.from(CONCEPTS, (each) => (each.test(text) ? 1 : 0));

  function withVectors(embed: (texts: readonly string[]) => Promise<readonly Float32Array[]>) {
    const { journal, saying } = stage();
    const told: BotEvent[] = [];
    const memory = createMemory({
      journal,
      index: openTestIndex({ model: "test/concepts" }),
      encode: (text) => text.replaceAll("hunter2", "[secret]"),
      embedder: { id: "test/concepts", embed },
      events: { publish: (event) => told.push(event) },
    });
    return { memory, saying, told };
  }

  test("other words for the same are found, each text is sent once, and without secrets", async () => {
    const sent: string[] = [];
    const { memory, saying } = withVectors(async (texts) => {
      sent.push(...texts);
      return texts.map(vectorOf);
    });
    await memory.note(saying(), "worker pods were OOMKilled after the release, password hunter2");
    await memory.note(saying(), "old images fill the disk of node-3");
    for (let i = 0; i < 2; i++) {
      const found = await memory.search("containers exit with 137 hunter2", EVERYONE, {
        threshold: 0.9,
        nearness: 0.9,
      });
      expect(notesOf(found)).toEqual([
        "worker pods were OOMKilled after the release, password [secret]",
      ]);
    }
    expect(sent.filter((text) => text.includes("OOMKilled"))).toHaveLength(1);
    expect(sent.join()).not.toContain("hunter2");
  });

  test("a provider that fails is told once a minute, and words are compared", async () => {
    let asked = 0;
    const { memory, saying, told } = withVectors(async () => {
      asked += 1;
      throw new Error("no route");
    });
    await memory.note(saying(), "old images fill the disk of node-3");
    for (let i = 0; i < 3; i++)
      expect(await memory.search("disk of node-3 is full", EVERYONE)).toHaveLength(1);
    const failed = told.filter((event) => event.kind === "memory" && event.did === "failed");
    expect(asked).toBe(1);
    expect(failed).toMatchObject([{ doing: "embed", model: "test/concepts" }]);
  });
});
