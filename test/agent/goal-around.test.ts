import { expect, onTestFinished, test } from "vitest";
import { createMemory } from "../../src/memory/memory.ts";
import { openTestIndex } from "../fakes/memory.ts";
import { openMemoryJournal } from "../fakes/memory-journal.ts";
import { asksIn, looksOnce, planning, pursuing, taskIn } from "./goal-stage.ts";
import { ofKind, resultsIn, wordsIn } from "./talking.ts";

test("a goal that a schedule began only reads: nobody asked for it", async () => {
  const stage = await pursuing({
    plan: planning("act on web"),
    task: (_told, calls) =>
      calls === 0
        ? {
            calls: [
              ["act", { name: "web" }],
              ["look", { name: "web" }],
            ],
          }
        : { text: "CONFIRMED: it is as seen [T2]." },
  });
  await stage.pursue("look after web", { principals: [], schedule: "nightly" });
  expect(stage.act.runs).toEqual([]);
  expect(ofKind(await stage.entries(), "action_proposed")).toEqual([]);
  expect(stage.look.runs).toEqual(["web"]);
  const [refused] = resultsIn(asksIn(stage.requests, "task")[1]);
  expect(refused?.isError).toBe(true);
  const { status, by, schedule } = await stage.shown();
  expect({ status, by, schedule }).toEqual({ status: "done", by: undefined, schedule: "nightly" });
});

test("the run of a task is told what memory has of what is alike, each task's of its own", async () => {
  const journal = openMemoryJournal();
  onTestFinished(() => journal.close());
  const memory = createMemory({ journal, index: openTestIndex(), encode: (text) => text });
  const recall = { recent: 0, similar: 3, threshold: 0.3, nearness: 0.5 };
  const saying = {
    actor: { account: "test:ana", name: "ana" },
    thread: "test:other",
    call: "r1.t1",
    link: undefined,
    at: 1,
    audience: undefined,
    tenants: "all",
  } as const;
  await memory.note(saying, "checkout restarts when its certificate expires");
  const stage = await pursuing(
    { plan: planning("look why checkout restarts", "look at db"), task: looksOnce },
    { journal, memory: { memory, recall, keep: 2 } },
  );
  await stage.pursue("find out why checkout restarts");
  const told = asksIn(stage.requests, "task").map((request) => wordsIn(request).join("\n"));
  const of = (task: string) => told.filter((words) => taskIn(words) === task);
  for (const words of of("look why checkout restarts"))
    expect(words).toContain("its certificate expires");
  for (const words of of("look at db")) expect(words).not.toContain("certificate");
  expect(told).toHaveLength(4);
});
