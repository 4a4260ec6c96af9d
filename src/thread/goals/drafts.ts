import type { AppendKind, Draft } from "../../core/entry.ts";
import type { GoalPause } from "../../core/goal.ts";
import type { GoalThought } from "../../core/goal-appends.ts";
import { notice } from "../drafts-notices.ts";
import { windowFor } from "../drafts-runs.ts";
import { entryId, noticeId, runName } from "../entry-ids.ts";
import { goalStateDraft, leftOf } from "./goal.ts";
import { heldToCalls } from "./evidence.ts";
import { notesForTask } from "./notes.ts";
import { nextMove } from "./next.ts";
import {
  deliverText,
  GOALS_OFF,
  ONLY_TALK,
  pausedItself,
  planProblems,
  taskWords,
} from "./phrases.ts";
import {
  heeded,
  MAX_TASKS,
  newTexts,
  type PlannedText,
  ruleVerdict,
  type Said,
  textKey,
  uncalled,
  type Verdict,
  waitsInFront,
} from "./rules.ts";
import type { Goal, GoalTask, GoalWork } from "./state.ts";
import { mentionable } from "../mentions.ts";
import { modeFor, termsFor } from "../modes.ts";
import type { Surroundings } from "../surroundings.ts";

/** Which entries follow where a goal is planned, its task begun and judged, and where it pauses or ends. */

type Thought = { thought: GoalThought };

/** What came of asking for a plan. */
export type GoalPlanFacts = Partial<Thought> &
  (
    | { why: string }
    | {
        /** The last entry that was folded when it was asked for. */
        seen: number;
        tasks: readonly PlannedText[];
        done: boolean;
        answer: string;
        deliverables: readonly string[];
      }
  );

/** What came of asking for a verdict. */
export type GoalJudgeFacts = Partial<Thought> & ({ why: string } | { said: Said });

/** Undefined where something else is to be done now than when the step was decided. */
export function goalMoveDrafts(around: Surroundings): Draft<AppendKind>[] | undefined {
  const move = nextMove(around.thread, around.now);
  switch (move?.kind) {
    case undefined:
    case "plan":
    case "judge":
      return undefined;
    case "verdict":
      return [judgedDraft(move.goal, move.task, move.work, move.verdict)];
    case "begin":
      return taskDrafts(move.goal, move.task, around);
    case "pause":
      return pauseDrafts(move);
    case "end": {
      const { status, text } = move;
      return [goalStateDraft(move.goal, { state: "ended", status, text })];
    }
  }
}

/** It pauses by itself, and who began it is told: it may be hours later. */
function pauseDrafts({
  goal,
  why: pause,
  text,
}: {
  goal: Goal;
  why: GoalPause;
  text: string;
}): Draft<AppendKind>[] {
  const state = goalStateDraft(goal, { state: "paused", pause, text });
  const { by } = goal.started;
  const mentions = by === undefined ? [] : mentionable([by.account]);
  const id = noticeId.goalPaused(state.goal, state.number);
  const more = mentions.length > 0 ? { mentions } : {};
  return [state, notice(id, pausedItself(goal, pause, text), more)];
}

/** The run that does the task. Where goals are off, it waits until they are on again. */
function taskDrafts(
  goal: Goal,
  task: GoalTask,
  { thread, run: parts, now, channels }: Surroundings,
): Draft<AppendKind>[] {
  const { terms: main } = parts;
  const terms = main && termsFor(main, { kind: "goal" });
  const isChat = main && modeFor(main, { isAsked: true, channels }).kind === "chat";
  if (terms === undefined || isChat === true)
    return pauseDrafts({ goal, why: "trouble", text: isChat === true ? ONLY_TALK : GOALS_OFF });
  const run = runName(thread.counts.runs + 1);
  const { goal: name, principals } = goal.started;
  const model = parts.model ?? goal.started.model;
  const left = leftOf(goal, now);
  const { cents = left.cents } = terms.budget;
  const budget = {
    steps: Math.max(1, Math.min(terms.budget.steps, left.steps)),
    tokens: Math.min(terms.budget.tokens, left.tokens),
    minutes: Math.min(terms.budget.minutes, left.minutes),
    ...(cents !== undefined && { cents: Math.min(cents, left.cents ?? cents) }),
  };
  const context = notesForTask(goal, task).map(({ text }) => `- ${text}`);
  const started: Draft<"run_started"> = {
    id: entryId.runStarted(run),
    kind: "run_started",
    run,
    answers: [],
    principals: [...principals],
    calls: [],
    talk: {
      model,
      prefix: terms.prefix,
      budget,
      ...(terms.gates && { gates: terms.gates }),
      window: windowFor(model, terms, parts),
      mode: "goal",
    },
    task: {
      text: taskText(task),
      ...(context.length > 0 && { context: context.join("\n") }),
    },
    goal: { goal: name, task: task.task, tries: task.tries + 1 },
  };
  return [started];
}

function taskText(task: GoalTask): string {
  const { text, tries, reason } = task;
  const missing = uncalled(task);
  return [
    text,
    ...(tries > 0 && reason !== undefined ? [taskWords.again(reason)] : []),
    ...(missing.length > 0 ? [taskWords.needs(missing)] : []),
  ].join("\n");
}

/** It is written down all the same if the goal has ended meanwhile: it was paid for. */
export function goalPlanDrafts(
  name: string,
  facts: GoalPlanFacts,
  { thread }: Surroundings,
): Draft<AppendKind>[] | undefined {
  const goal = thread.goals.get(name);
  if (goal === undefined) return undefined;
  const { thought } = facts;
  const revision = goal.plans + 1;
  const planned = (more: Partial<Draft<"goal_planned">>): Draft<"goal_planned">[] => [
    {
      id: entryId.goalPlanned(name, revision),
      kind: "goal_planned",
      goal: name,
      revision,
      seen: thread.last,
      tasks: [],
      done: false,
      ...more,
      ...(thought && { thought }),
    },
  ];
  if ("why" in facts) return planned({ why: facts.why });
  const { seen, done, answer, deliverables } = facts;
  const added = deliverables.filter((tool) => !goal.requires.includes(tool));
  const more = { seen, ...(added.length > 0 && { requires: [...new Set(added)] }) };
  const missing = uncalled({ ...goal, requires: [...goal.requires, ...added] });
  if (done && missing.length === 0)
    return planned({
      ...more,
      done,
      ...(answer !== "" && { answer: heldToCalls(answer, thread.evidence) }),
    });
  // What it says is done is not before that was made: a task does it.
  const wanted = done
    ? missing.map((tool) => ({ text: deliverText(tool), requires: [tool] }))
    : facts.tasks;
  return planned({
    ...more,
    tasks: plannedIn(goal, wanted),
    ...(done && { unmet: planProblems.unmet(missing) }),
  });
}

type Planned = Draft<"goal_planned">["tasks"][number];

/** Without those that are done, given up or waiting in front; what waits from the last plan keeps its name. */
function plannedIn(goal: Goal, texts: readonly PlannedText[]): Planned[] {
  const waiting = [...goal.tasks.values()].filter(isReplaced);
  const isKnown = (task: GoalTask) => !isReplaced(task);
  let { named } = goal;
  return newTexts(goal, texts, isKnown)
    .slice(0, MAX_TASKS)
    .map(({ text, requires }) => {
      const same = waiting.find((each) => textKey(each.text) === textKey(text));
      if (same !== undefined) return plannedTask(same.task, same);
      named += 1;
      return plannedTask(taskName(goal, named), { text, requires });
    });
}

/** The next plan stands in its place. */
function isReplaced(task: GoalTask): boolean {
  return task.status === "pending" && !waitsInFront(task);
}

function plannedTask(task: string, { text, requires }: PlannedText): Planned {
  return { task, text, ...(requires.length > 0 && { requires: [...requires] }) };
}

function taskName({ started }: Goal, number: number): string {
  return `${started.goal}.k${number}`;
}

/** As of a plan. */
export function goalJudgeDrafts(
  { goal: name, task: of, run }: { goal: string; task: string; run: string },
  facts: GoalJudgeFacts,
  { thread }: Surroundings,
): Draft<AppendKind>[] | undefined {
  const goal = thread.goals.get(name);
  const task = goal?.tasks.get(of);
  if (goal === undefined || task === undefined) return undefined;
  const { work } = goal;
  const { thought } = facts;
  const isIts = work?.run === run;
  const verdict =
    "said" in facts && isIts
      ? (ruleVerdict(goal, task, work) ?? heeded(goal, task, work, facts.said))
      : undefined;
  if (verdict !== undefined && isIts) return [judgedDraft(goal, task, work, verdict, thought)];
  const number = task.judgements + 1;
  const reason = "why" in facts ? facts.why : facts.said.reason;
  return [
    {
      id: entryId.goalJudged(of, number),
      kind: "goal_judged",
      goal: name,
      task: of,
      run,
      number,
      reason,
      by: "rule",
      ...(thought && { thought }),
    },
  ];
}

function judgedDraft(
  goal: Goal,
  { task, judgements }: GoalTask,
  { run }: GoalWork,
  { verdict, reason, by, parts = [], excused }: Verdict,
  thought?: GoalThought,
): Draft<"goal_judged"> {
  const number = judgements + 1;
  const tasks = parts.map((part, i) => plannedTask(taskName(goal, goal.named + i + 1), part));
  return {
    id: entryId.goalJudged(task, number),
    kind: "goal_judged",
    goal: goal.started.goal,
    task,
    run,
    number,
    reason,
    by,
    verdict,
    ...(tasks.length > 0 && { tasks }),
    ...(excused && { excused }),
    ...(thought && { thought }),
  };
}
