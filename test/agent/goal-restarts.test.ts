import { expect, test } from "vitest";
import { isOpen } from "../../src/thread/action.ts";
import { journalOf } from "./cut.ts";
import { cutTrial, wholeTrial } from "./goal-trial.ts";
import { planning, pursuing } from "./goal-stage.ts";
import { ofKind } from "./talking.ts";

/** After how many entries a worker is killed, in turn: no multiple of what a task writes. */
const EVERY = 17;

test("a goal whose worker is killed comes to the same end: each task as often tried, each write done once, each section of the report there once", async () => {
  const { entries, end } = await wholeTrial(7);
  expect(end).toMatchObject({
    status: "done",
    report: ["report w3: All is well."],
    writes: ["w5 ×1"],
  });
  expect(end.tasks).toContain("g1.k2 look at w1: done, 2");
  expect(end.tasks).toContain("g1.k3 look at w2: split, 1");
  // The first six entries are the conversation's before it.
  for (let cut = 7; cut < entries.length; cut += EVERY)
    expect(await cutTrial(7, entries, cut), `cut after ${cut}, ${entries[cut - 1]?.id}`).toEqual(
      end,
    );
});

test("a card of a goal's task that was open when its worker died is approved after the restart: it is done once, and the goal goes on", async () => {
  const parts = {
    plan: planning("act on web"),
    task: (_told: string, calls: number) =>
      calls === 0
        ? { text: "It hangs.", calls: [["act", { name: "web" }] as const] }
        : { text: "CONFIRMED: mended [T1]." },
  };
  const before = await pursuing(parts);
  await before.pursue("mend web");
  const entries = await before.entries();
  const card = ofKind(entries, "action_proposed")[0];
  expect(card).toMatchObject({ action: "a1", run: "r2" });
  const stage = await pursuing(parts, { journal: await journalOf(entries) });
  await stage.settle();
  expect([...(await stage.thread()).live].filter(isOpen)).toHaveLength(1);
  expect((await stage.shown()).waits).toBe(true);
  await stage.click("a1", { kind: "approve" }, "test:bob");
  await stage.settle();
  expect(stage.act.runs).toEqual(["web"]);
  expect(await stage.shown()).toMatchObject({
    status: "done",
    tasks: [{ status: "done", tries: 1 }],
  });
  await stage.journal.close();
});

test("a write of a task whose end nobody knows is not done again, by no retry either", async () => {
  const parts = {
    plan: planning("act on web"),
    task: (told: string, calls: number) =>
      calls > 0 || told.includes("act: unknown")
        ? { text: "LIKELY: it may have been done [T1]." }
        : { text: "It hangs.", calls: [["act", { name: "web" }] as const] },
    judge: (_told: string, asked: number) =>
      asked === 1 ? { verdict: "retry" as const, reason: "unknown" } : { verdict: "done" as const },
  };
  const before = await pursuing(parts);
  await before.pursue("mend web");
  await before.ask("approve a1", "test:bob");
  const entries = await before.entries();
  const started = entries.findIndex(({ kind }) => kind === "tool_started") + 1;
  const stage = await pursuing(parts, { journal: await journalOf(entries.slice(0, started)) });
  await stage.settle();
  expect(stage.act.runs).toEqual([]);
  const finished = ofKind(await stage.entries(), "tool_finished");
  expect(finished.filter(({ outcome }) => outcome === "unknown")).toHaveLength(1);
  expect(ofKind(await stage.entries(), "action_proposed")).toHaveLength(1);
  await stage.journal.close();
});
