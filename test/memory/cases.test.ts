import { describe, expect, onTestFinished, test } from "vitest";
import { createReadIncident } from "../../src/app/episodes.ts";
import { FLOOR } from "../../src/memory/policy.ts";
import type { Change, Saying as LedgerSaying } from "../../src/incidents/incident.ts";
import { casesOf, countFixes } from "../../src/memory/cases.ts";
import type { Fix, Task } from "../../src/memory/item.ts";
import { createMemory, type NoteCaps, type Saying } from "../../src/memory/memory.ts";
import { withinBudget } from "../../src/memory/policy.ts";
import { caseText, fixText, itemText } from "../../src/memory/words.ts";
import { createStage } from "../incidents/stage.ts";
import { openTestIndex } from "../fakes/memory.ts";
import { openMemoryJournal } from "../fakes/memory-journal.ts";

const START = Date.parse("2026-11-20T12:00:00Z");
const VIEWER = { audience: undefined, tenants: ["test"] };

async function joined() {
  const stage = await createStage();
  const { journal } = stage;
  const index = openTestIndex();
  const readIncident = createReadIncident(journal);
  const memory = createMemory({ journal, index, encode: (text) => text, readIncident });
  const acted = (action: string, change: Partial<NonNullable<Change["acted"]>> = {}): Change => ({
    acted: {
      action,
      title: "Restart api",
      tool: "restart",
      endedAt: START,
      outcome: "ok",
      votes: [{ name: "Bo", at: START, approve: true }],
      ...change,
    },
  });
  /** As a thread's worker tells the record. */
  const happened = async (thread: string, id: string, fact: string, change: Change) =>
    stage.ledger.happened(
      { thread, link: undefined, audience: undefined, fact, at: stage.clock.now },
      id,
      () => change,
    );
  const record = async (thread: `test:${string}`, task: Partial<Task>) =>
    memory.record(
      { thread, link: `https://chat/${thread}`, audience: undefined, asOf: "ended:r1" },
      {
        kind: "task",
        question: "checkout answers 502",
        begun: START,
        looked: ["http_check"],
        fixes: [],
        outcome: "explained",
        ...task,
      },
    );
  const alike = async (text = "checkout gives a 502") => memory.alike(text, VIEWER, FLOOR);
  return { ...stage, memory, acted, happened, record, alike };
}

const fix = (action: string, changes: Partial<Fix> = {}): Fix => ({
  tool: "restart",
  title: "Restart api",
  action,
  approved: true,
  result: "done",
  ...changes,
});

describe("what is alike", () => {
  test("has incidents of the ledger that no thread's record knows, as they stand now", async () => {
    const { open, ledger, saying, alike } = await joined();
    const id = await open("Checkout answers 502", { services: ["checkout"] });
    expect((await alike()).map(caseText)).toEqual([
      `2026-11-20 ${id}: Checkout answers 502 → no cause was found; open`,
    ]);
    await ledger.resolve(saying(), id, { cause: "the pool was used up", certainty: "confirmed" });
    expect((await alike()).map(caseText)).toEqual([
      `2026-11-20 ${id}: Checkout answers 502 → the pool was used up (confirmed); resolved`,
    ]);
  });

  test("is one case where an incident and its thread's record are of the same trouble, and counts each action once", async () => {
    const { open, happened, acted, record, alike } = await joined();
    const id = await open("Checkout answers 502", {}, { thread: "test:one" });
    await happened("test:one", id, "acted:a1", acted("a1"));
    await happened(
      "test:one",
      id,
      "acted:a2",
      acted("a2", { verified: "fixed", verifiedAt: START }),
    );
    await record("test:one", {
      cause: "the pool was used up",
      certainty: "likely",
      fixes: [fix("a2", { helped: true }), fix("a3", { result: "undone" })],
    });
    await record("test:two", {
      fixes: [fix("a1", { helped: true }), fix("a2", { helped: false })],
    });
    const found = await alike();
    expect(found.map(({ item }) => item.thread).toSorted()).toEqual(["test:one", "test:two"]);
    expect(found.flatMap(({ ids }) => ids)).toHaveLength(3);
    const one = found.find(({ item }) => item.id === id);
    expect(one && caseText(one)).toContain("→ the pool was used up (likely)");
    // a1, a2, a3 of the one thread, a1, a2 of the other.
    expect(countFixes(found).map(fixText)).toEqual([
      'restart, such as "Restart api": approved 5, fixed 2, did not help 2',
    ]);
  });

  test("counts what the thread's record says also where only the incident has the words", async () => {
    const { open, record, alike } = await joined();
    await open("Payments are refused by the bank", {}, { thread: "test:bank" });
    await record("test:bank", {
      question: "why is everything red?",
      fixes: [fix("a1", { helped: true })],
    });
    const found = await alike("the bank refuses payments");
    expect(found).toHaveLength(1);
    expect(countFixes(found)).toMatchObject([{ approved: 1, helped: 1 }]);
  });

  test("has two incidents of one thread as two cases, whose thread's actions count once", async () => {
    const { open, record, alike } = await joined();
    const from = { thread: "test:one" } as const;
    const first = await open("Checkout answers 502", {}, from);
    const second = await open("Checkout answers 502 once more", {}, from);
    await record("test:one", {
      fixes: [fix("a1", { helped: true }), fix("a2", { helped: true, result: "undone" })],
    });
    const found = await alike();
    expect(found.map(({ item }) => item.id).toSorted()).toEqual([first, second].toSorted());
    for (const { fixes, ids } of found) {
      expect(fixes).toHaveLength(2);
      expect(ids).toHaveLength(2);
    }
    // What helped and was undone is counted as undone alone.
    expect(countFixes(found)).toMatchObject([{ approved: 2, helped: 1, failed: 1 }]);
  });

  test("tells to-dos of an incident as what is to be done", async () => {
    const { open, ledger, saying, alike } = await joined();
    const id = await open("Checkout answers 502");
    await ledger.update(saying(), id, { actions: ["raise the limit of the pool"] });
    const [told] = (await alike()).map(caseText);
    expect(told).toContain("to do: raise the limit of the pool");
    expect(told).not.toContain("did");
  });

  test("has no incident of a private place elsewhere, and forget leaves the ledger alone", async () => {
    const { open, alike, memory, journal } = await joined();
    const from: Partial<LedgerSaying> = { audience: "test:secret", thread: "test:secret:1" };
    const id = await open("Checkout answers 502 since the layoffs", {}, from);
    expect(await alike()).toEqual([]);
    const here = { audience: "test:secret", tenants: ["test"] };
    expect(await memory.alike("checkout 502", here, FLOOR)).toHaveLength(1);
    const forgetting = {
      actor: { account: "test:ana", name: "Ana" },
      thread: "test:secret:1",
      call: "r9.t1",
      link: undefined,
      at: START,
      ...here,
    } as const;
    await expect(memory.forget(forgetting, id)).rejects.toMatchObject({ code: "INPUT_INVALID" });
    expect(await journal.read(`incident:${id}`)).toHaveLength(1);
  });
});

test("records of versions that named no actions count as they say", () => {
  const { action: _, ...old } = fix("a1", { helped: true });
  const item = {
    id: "m-old",
    journal: "memory:test:2026-11",
    at: START,
    thread: "test:old",
    link: undefined,
    what: {
      kind: "task" as const,
      question: "why?",
      begun: START,
      looked: [],
      fixes: [old, old],
      outcome: "solved" as const,
    },
  };
  expect(countFixes(casesOf([item]))).toMatchObject([{ approved: 2, helped: 2 }]);
});

describe("caps", () => {
  test("a long record keeps its link, and is told in some hundred words", () => {
    const long = "very long words ".repeat(200);
    const what = {
      kind: "task" as const,
      question: long,
      begun: START,
      cause: long,
      looked: [],
      fixes: Array.from({ length: 10 }, (_, i) => fix(`a${i}`, { title: long })),
      outcome: "open" as const,
    };
    const base = { id: "m-long", journal: "memory:test:2026-11", at: START, thread: "test:long" };
    const text = itemText({ ...base, link: "https://chat/long", what });
    expect(text.length).toBeLessThan(900);
    expect(text).toMatch(/ https:\/\/chat\/long$/);
  });

  test("what is told stays within its tokens and a sixteenth of the window; the least alike goes first", () => {
    const lines = ["a", "b", "c", "d"].map((letter) => letter.repeat(800));
    expect(withinBudget(lines, { tokens: 600 })).toEqual(lines.slice(0, 3));
    expect(withinBudget(lines, { tokens: 600 }, 8_192)).toEqual(lines.slice(0, 2));
    expect(withinBudget(lines, {}, 200_000)).toEqual(lines);
    // It stops at the first that does not fit, though a later one would.
    expect(withinBudget([lines[0] ?? "", "x".repeat(9_000), "short"], {})).toEqual([lines[0]]);
  });

  test("notes of a person and of a place are limited, and the error says what to do", async () => {
    const journal = openMemoryJournal();
    onTestFinished(() => journal.close());
    const caps: NoteCaps = { perPerson: 2, perPlace: 3 };
    const memory = createMemory({ journal, index: openTestIndex(), encode: (text) => text, caps });
    let calls = 0;
    const saying = (account: string, audience?: string): Saying => ({
      actor: { account, name: "Ana" },
      thread: "slack:T1:C1:1.1",
      call: `r1.t${++calls}`,
      link: undefined,
      at: START,
      audience,
      tenants: ["slack:T1"],
    });
    const last = saying("slack:T1:U1");
    await memory.note(saying("slack:T1:U1"), "web-1 is the canary");
    const { item } = await memory.note(last, "web-2 is drained on Sundays");
    await expect(memory.note(saying("slack:T1:U1"), "db-1 is the primary")).rejects.toThrow(
      /You have 2 notes here, and may have 2 \(memory\.notes\.perPerson\).*`forget m-…`/,
    );
    // What is known already, a repeated call and another place are no new notes here.
    expect(await memory.note(last, "web-2 is drained on Sundays")).toMatchObject({ item });
    await memory.note(saying("slack:T1:U1", "slack:T1:C9"), "db-1 is the primary");
    await memory.note(saying("slack:T1:U2"), "db-2 is a replica");
    await expect(memory.note(saying("slack:T1:U3"), "db-3 is a replica")).rejects.toMatchObject({
      code: "PRECHECK_FAILED",
      message: expect.stringContaining("memory.notes.perPlace"),
    });
    await memory.forget(saying("slack:T1:U1"), item.id);
    await memory.note(saying("slack:T1:U1"), "db-3 is a replica");
  });
});
