import { type Entry, isPost } from "../../src/core/entry.ts";
import { isOpen } from "../../src/thread/action.ts";
import { openMemoryJournal } from "../fakes/memory-journal.ts";
import { fakeTool } from "../fakes/stage.ts";
import { journalOf } from "./cut.ts";
import { type GoalParts, looksOnce, planning, pursuing, taskIn } from "./goal-stage.ts";
import { expectPaired, ofKind } from "./talking.ts";

/** A goal of so many tasks, some of which write, report, are tried again or split, and what becomes of it when its worker dies. */

const WRITES = 5;
const REPORTS = 3;
const RETRIED = "look at w1";
const SPLIT = "look at w2";

function tasksOf(count: number): string[] {
  return Array.from({ length: count }, (_, i) => {
    if (i % 10 === WRITES) return `act on w${i}`;
    return i % 10 === REPORTS ? `report w${i}` : `look at w${i}`;
  });
}

function partsOf(count: number): GoalParts {
  return {
    plan: planning(...tasksOf(count)),
    task(told, calls) {
      const [verb = "", , name = ""] = taskIn(told).split(" ");
      if (calls > 0) return { text: `CONFIRMED: it is done [T1].` };
      if (verb === "act") return { text: "It is needed.", calls: [["act", { name }]] };
      const text = taskIn(told);
      return verb === "report"
        ? { calls: [["append_to_report", { heading: text, text: "All is well." }]] }
        : looksOnce(told, calls);
    },
    judge(told) {
      const task = taskIn(told);
      if (task === RETRIED && told.includes("tried for the first time"))
        return { verdict: "retry", reason: "look closer" };
      if (task === SPLIT) return { verdict: "split", tasks: ["look at w2a", "look at w2b"] };
      return { verdict: "done", reason: "a call shows it" };
    },
  };
}

/** What the writes changed outside, which outlives every process: how often each was done. */
type World = Map<string, number>;

function actOn(world: World) {
  return fakeTool({
    name: "act",
    effect: "write",
    run: async ({ name }) => {
      world.set(name, (world.get(name) ?? 0) + 1);
      return { text: `did ${name}` };
    },
    verify: async ({ name }) =>
      world.has(name)
        ? { verdict: "done", evidence: `${name} is done` }
        : { verdict: "unknown", evidence: "nothing is seen" },
  });
}

/** How a goal ended: what people see of it, and what it did outside. */
export interface TrialEnd {
  status: string;
  answer: string | undefined;
  tasks: readonly string[];
  report: readonly string[];
  writes: readonly string[];
}

type Stage = Awaited<ReturnType<typeof pursuing>>;

async function endOf(stage: Stage, world: World): Promise<TrialEnd> {
  const { status, answer, tasks, report } = await stage.shown();
  return {
    status,
    answer,
    tasks: tasks.map(({ task, text, status: how, tries }) => `${task} ${text}: ${how}, ${tries}`),
    report: report.map(({ heading, text }) => `${heading}: ${text}`),
    writes: [...world].map(([name, times]) => `${name} ×${times}`).toSorted(),
  };
}

/** The goal undisturbed; people approve each card as it comes. */
export async function wholeTrial(count: number): Promise<{ entries: Entry[]; end: TrialEnd }> {
  const world: World = new Map();
  const journal = openMemoryJournal();
  const stage = await pursuing(partsOf(count), { journal, act: actOn(world) });
  await stage.pursue("look after everything, and report");
  for (;;) {
    const open = [...(await stage.thread()).live].find(isOpen);
    if (open === undefined) break;
    await stage.ask(`approve ${open.action}`, "test:bob");
  }
  const whole = { entries: await stage.entries(), end: await endOf(stage, world) };
  await journal.close();
  return whole;
}

/**
 * The same, with its worker killed right after entry number `cut`, and another taking it up. A write that was begun by then was done.
 * Throws where a call has two ends, or a request a call without its result.
 */
export async function cutTrial(
  count: number,
  entries: readonly Entry[],
  cut: number,
): Promise<TrialEnd> {
  const past = entries.slice(0, cut);
  const world: World = new Map();
  for (const { action } of ofKind(past, "tool_started")) {
    const proposed = ofKind(past, "action_proposed").find((each) => each.action === action);
    const name = proposed?.args["name"];
    if (typeof name === "string") world.set(name, 1);
  }
  const journal = await journalOf(past);
  const stage = await pursuing(partsOf(count), { journal, act: actOn(world) });
  await stage.settle();
  for (const { seq: _seq, at: _at, head: _head, ...post } of entries.slice(cut).filter(isPost)) {
    await stage.post(post);
    await stage.settle();
  }
  const now = await stage.entries();
  const finished = ofKind(now, "tool_finished").map(({ call }) => call);
  if (new Set(finished).size !== finished.length) throw new Error("a call has two ends");
  for (const request of stage.requests) expectPaired(request);
  const end = await endOf(stage, world);
  await journal.close();
  return end;
}
