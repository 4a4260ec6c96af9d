import { addUsage } from "../../core/block.ts";
import { addBudget } from "../../core/budget.ts";
import type { Entry, Kind } from "../../core/entry.ts";
import { GOAL_TOOLS } from "../../core/goal.ts";
import { addMoney, moneyOf } from "../../core/money.ts";
import { headOf, oneLine, shortened } from "../../core/text.ts";
import { FIND_TOOLS, UPDATE_PLAN } from "../../core/tool-spec.ts";
import type { Call } from "../call.ts";
import { citationOf } from "../entry-ids.ts";
import { forgetRun, rootOf } from "../family.ts";
import { goalAtWork, goalRun, waitsForPeople } from "./goal.ts";
import { waitsInFront } from "./rules.ts";
import { type Goal, type GoalTask, newGoal } from "./state.ts";
import { stableHash } from "../model-run.ts";
import { spendAlone } from "../spending.ts";
import type { Thread } from "../state.ts";

/** The life of a goal: planned, its tasks done and judged one by one, to its end. */

/** Goals that are over and still known. */
const MAX_PAST_GOALS = 3;
/** What of each is kept, the newest. */
const MAX_NOTES = 300;
const MAX_WORDS = 20;
const MAX_RESULTS = 1_000;
/** A note is a line. */
const MAX_LINE = 240;
const MAX_ANSWER = 600;
const MAX_NOTE = 500;
const MAX_WORD = 1_000;
/** Of a whole report, in characters. */
export const MAX_REPORT = 256 * 1024;

export function applyGoalStarted(thread: Thread, started: Entry<"goal_started">): void {
  thread.counts.goals += 1;
  const past = [...thread.goals.values()].filter(({ status }) => status === "ended");
  for (const { started: old } of past.slice(0, Math.max(0, past.length - MAX_PAST_GOALS)))
    thread.goals.delete(old.goal);
  thread.goals.set(started.goal, newGoal(started));
}

/** What was thought is paid for, whatever became of the goal meanwhile. */
function spendThought(
  thread: Thread,
  goal: Goal | undefined,
  { thought }: Pick<Entry<"goal_planned">, "thought">,
): void {
  if (thought === undefined) return;
  spendAlone(thread, thought);
  if (goal !== undefined) spendOn(goal, thought);
}

/** Its requests count as one step each. */
function spendOn(
  { used }: Goal,
  {
    usage,
    requests = 1,
    ...paid
  }: Pick<Entry<"assistant">, "usage" | "microdollars"> & { requests?: number },
): void {
  used.steps += requests;
  used.usage = addUsage(used.usage, usage);
  used.money = addMoney(used.money, moneyOf({ usage, ...paid }));
}

export function applyGoalPlanned(thread: Thread, entry: Entry<"goal_planned">): void {
  const goal = thread.goals.get(entry.goal);
  spendThought(thread, goal, entry);
  if (goal === undefined || goal.status === "ended") return;
  goal.plans = entry.revision;
  if (entry.why !== undefined) {
    fail(goal, entry.why);
    return;
  }
  const isHeard = goal.words.every(({ seq }) => seq <= entry.seen);
  goal.failures = 0;
  goal.isPlanDue = !isHeard;
  goal.judged = 0;
  for (const tool of entry.requires ?? [])
    if (!goal.requires.includes(tool)) goal.requires.push(tool);
  // What somebody said meanwhile may be that it is not done.
  if (entry.done && !isHeard) return;
  const planned = new Set(entry.tasks.map(({ task }) => task));
  const isFirst = (name: string) => {
    const task = goal.tasks.get(name);
    return task !== undefined && waitsInFront(task);
  };
  const isKept = (task: string) => isFirst(task) || planned.has(task);
  for (const task of goal.queue) if (!isKept(task)) goal.tasks.delete(task);
  if (entry.done) {
    goal.answer = { text: entry.answer };
    return;
  }
  for (const each of entry.tasks) addTask(goal, each);
  const first = goal.queue.filter(isFirst);
  const rest = entry.tasks.flatMap(({ task }) => (first.includes(task) ? [] : task));
  goal.queue = [...first, ...rest];
  goal.empty = goal.queue.length === 0 ? goal.empty + 1 : 0;
}

function fail(goal: Goal, why: string): void {
  goal.failures += 1;
  goal.why = why;
}

type Planned = Entry<"goal_planned">["tasks"][number];

function addTask(goal: Goal, { task, text, requires = [] }: Planned, parent?: GoalTask): void {
  if (goal.tasks.has(task)) return;
  goal.named += 1;
  goal.tasks.set(task, {
    task,
    text,
    requires,
    parent: parent?.task,
    depth: parent === undefined ? 0 : parent.depth + 1,
    status: "pending",
    tries: 0,
    judgements: 0,
    reason: undefined,
    called: new Set(),
  });
}

export function applyGoalJudged(thread: Thread, entry: Entry<"goal_judged">): void {
  const goal = thread.goals.get(entry.goal);
  spendThought(thread, goal, entry);
  const task = goal?.tasks.get(entry.task);
  if (goal === undefined || goal.status === "ended" || task === undefined) return;
  const { work } = goal;
  if (work?.run !== entry.run) return;
  const { verdict, reason } = entry;
  task.judgements += 1;
  if (verdict === undefined) {
    fail(goal, reason);
    return;
  }
  goal.work = undefined;
  task.reason = reason;
  const run = thread.runs.get(entry.run);
  if (run !== undefined) forgetRun(thread, run);
  if (entry.excused === true) {
    fail(goal, reason);
    task.tries -= 1;
    task.status = "pending";
    goal.queue.unshift(task.task);
    return;
  }
  goal.failures = 0;
  goal.judged += 1;
  switch (verdict) {
    case "done":
      task.status = "done";
      break;
    case "retry":
      task.status = "pending";
      goal.queue.unshift(task.task);
      break;
    case "split":
      task.status = "split";
      for (const part of entry.tasks ?? []) addTask(goal, part, task);
      goal.queue.unshift(...(entry.tasks ?? []).map((part) => part.task));
      break;
    case "abandon":
      task.status = work.ended?.status === "failed" ? "failed" : "abandoned";
      break;
  }
  if (verdict === "done" && work.isNew) goal.barren = 0;
  else if (verdict === "done" || verdict === "abandon") goal.barren += 1;
  if (isPlanDueAfter(goal, verdict)) goal.isPlanDue = true;
}

function isPlanDueAfter(
  { started: { replan }, judged, queue }: Goal,
  verdict: NonNullable<Entry<"goal_judged">["verdict"]>,
): boolean {
  if (queue.length === 0) return true;
  return replan === 0 ? verdict === "split" || verdict === "abandon" : judged >= replan;
}

export function applyGoalState(thread: Thread, entry: Entry<"goal_state">): void {
  const goal = thread.goals.get(entry.goal);
  if (entry.post !== undefined) {
    thread.clicks.delete(entry.post);
    thread.untold.delete(entry.post);
  }
  if (goal === undefined || goal.status === "ended") return;
  goal.states = entry.number;
  switch (entry.state) {
    case "paused": {
      const { pause: why = "person", by, text } = entry;
      goal.status = "paused";
      goal.pause = { why, by: by?.name, text };
      return;
    }
    case "resumed":
      resume(goal);
      return;
    case "extended": {
      goal.budget = addBudget(goal.budget, entry.budget ?? {});
      goal.extendedBy.push(entry.by?.name ?? "");
      // Somebody else's pause stays.
      if (goal.pause?.why === "budget") resume(goal);
      return;
    }
    case "ended": {
      goal.status = "ended";
      goal.end = entry;
      goal.pause = undefined;
      goal.queue = [];
      const run = thread.runs.get(goal.work?.run ?? "");
      if (run?.ended !== undefined) forgetRun(thread, run);
      const task = goal.tasks.get(goal.work?.task ?? "");
      if (task !== undefined) task.status = "abandoned";
      goal.work = undefined;
      // Nothing is planned or judged any more.
      goal.words = [];
      goal.results.clear();
    }
  }
}

function resume(goal: Goal): void {
  goal.status = "running";
  goal.pause = undefined;
  goal.failures = 0;
}

/** What else an entry says of the thread's goal; to be called once it is folded. */
export function noteGoal<K extends Kind>(
  thread: Thread,
  entry: Entry<K>,
  call: Call | undefined,
): void {
  const goal = goalAtWork(thread);
  if (goal === undefined) return;
  NOTED[entry.kind]?.(goal, entry, { thread, call });
  keepTime(thread, goal, entry);
}

interface Beside {
  readonly thread: Thread;
  /** The call of an entry that ends one. */
  readonly call: Call | undefined;
}

const NOTED: {
  readonly [K in Kind]?: (goal: Goal, entry: Entry<K>, beside: Beside) => void;
} = {
  message(goal, { id, seq, at, actor, text, app, address, tone }) {
    const { principals } = goal.started;
    const isToOthers = address?.others !== undefined && address.bot !== true;
    const isSmall = tone === "ack" || tone === "thanks" || tone === "chatter";
    if (app === true || isToOthers || isSmall || !principals.includes(actor.account)) return;
    goal.words = [...goal.words, { id, seq, at, by: actor, text: headOf(text, MAX_WORD) }];
    goal.words = goal.words.slice(-MAX_WORDS);
    goal.isPlanDue = true;
    goal.answer = undefined;
  },
  edited(goal, { of, seq, text, actor }) {
    const isIt = ({ id, by }: Goal["words"][number]) => id === of && by.account === actor.account;
    if (!goal.words.some(isIt)) return;
    const edited = headOf(text, MAX_WORD);
    goal.words = goal.words.map((each) => (isIt(each) ? { ...each, seq, text: edited } : each));
    goal.isPlanDue = true;
  },
  removed(goal, { of }) {
    if (!goal.words.some(({ id }) => id === of)) return;
    goal.words = goal.words.filter(({ id }) => id !== of);
    // What was planned may be what it said.
    goal.isPlanDue = true;
  },
  run_started(goal, { run, goal: of }) {
    const task = goal.tasks.get(of?.task ?? "");
    if (of?.goal !== goal.started.goal || task === undefined) return;
    task.status = "running";
    task.tries = of.tries;
    goal.queue = goal.queue.filter((each) => each !== task.task);
    goal.work = { task: task.task, run, calls: 0, isNew: false, ended: undefined };
  },
  assistant: noteSpent,
  plan: (goal, { run, thought }, beside) =>
    thought === undefined ? undefined : noteSpent(goal, { run, ...thought }, beside),
  condensed: noteSpent,
  tool_finished: noteResult,
  run_ended(goal, entry) {
    const { work } = goal;
    if (work?.run !== entry.run) return;
    work.ended = entry;
    const text = shortened(oneLine(entry.text ?? ""), MAX_ANSWER);
    if (text !== "") note(goal, { kind: "answer", task: work.task, text, seq: entry.seq });
  },
};

/** The goal pays for its runs and their helpers. */
function noteSpent(
  goal: Goal,
  entry: Pick<Entry<"assistant">, "run" | "usage" | "microdollars"> & { requests?: number },
  { thread }: Beside,
): void {
  const run = thread.runs.get(entry.run);
  const of = run && rootOf(run).started.goal?.goal;
  if (of === goal.started.goal) spendOn(goal, entry);
}

function noteResult(goal: Goal, entry: Entry<"tool_finished">, { thread, call }: Beside): void {
  const run = thread.runs.get(call?.run ?? "");
  const { work } = goal;
  if (call === undefined || run === undefined || rootOf(run).started.run !== work?.run) return;
  const { outcome, text, gate, seq } = entry;
  const { tool, args } = call;
  const { task } = work;
  const isOk = outcome === "ok" && gate === undefined;
  if (isOk) {
    goal.called.add(tool);
    goal.tasks.get(task)?.called.add(tool);
  }
  if (SHOWS_NOTHING.has(tool) && tool !== GOAL_TOOLS.note) return;
  if (isOk && tool === GOAL_TOOLS.note) {
    const said = shortened(oneLine(wordOf(args["text"])), MAX_NOTE);
    if (said !== "") note(goal, { kind: "note", task, text: said, seq });
    return;
  }
  const isMade = outcome === "ok" || outcome === "error" || outcome === "unknown";
  if (isMade && gate === undefined) work.calls += 1;
  if (isOk && tool === GOAL_TOOLS.report) writeSection(goal, call);
  // The program's own words are no observation.
  if (gate !== undefined) return;
  const isWrite = call.started !== undefined && call.started.effect !== "read";
  const brought = `${tool} ${stableHash(text)}`;
  if (isWrite || tool === GOAL_TOOLS.report || (isOk && !goal.results.has(brought)))
    work.isNew = true;
  keepNewest(goal.results, brought);
  const line = `[${citationOf(call.call)}] ${tool}: ${outcome}. ${oneLine(headOf(text, MAX_LINE))}`;
  note(goal, { kind: "result", task, text: shortened(line, MAX_LINE), seq });
}

function keepNewest(results: Goal["results"], brought: string): void {
  results.delete(brought);
  results.add(brought);
  const [oldest] = results;
  if (results.size > MAX_RESULTS && oldest !== undefined) results.delete(oldest);
}

/** Of these alone a task is not done: they look at nothing and do nothing. */
const SHOWS_NOTHING: ReadonlySet<string> = new Set([
  GOAL_TOOLS.note,
  GOAL_TOOLS.completed,
  FIND_TOOLS,
  UPDATE_PLAN,
]);

function wordOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

/** What it says is what the call was given: the same call is never written twice. */
function writeSection({ report }: Goal, { call, args }: Call): void {
  const text = wordOf(args["text"]);
  const heading = wordOf(args["heading"]).trim();
  const length = report.reduce((sum, section) => sum + section.text.length, 0);
  if (text === "" || length + text.length > MAX_REPORT) return;
  report.push({ call, heading: heading === "" ? undefined : heading, text });
}

/** What results said goes first, where there is no more room. */
function note(goal: Goal, added: Goal["notes"][number]): void {
  goal.notes.push(added);
  if (goal.notes.length <= MAX_NOTES) return;
  const oldest = goal.notes.findIndex(({ kind }) => kind === "result");
  goal.notes.splice(Math.max(0, oldest), 1);
}

/** Time counts while the goal can go on by itself: not while it is paused, nor while only people can go on. */
function keepTime(thread: Thread, goal: Goal, { at }: { at: number }): void {
  const { used, status } = goal;
  if (used.since !== undefined) used.ms += Math.max(0, at - used.since);
  const run = goalRun(thread, goal);
  const waits = run !== undefined && waitsForPeople(thread, run);
  const counts = status === "running" && !waits && !thread.parked;
  used.since = counts ? at : undefined;
}
