import { type Budget, extensionOf, type MoreBudget } from "../../core/budget.ts";
import type { AppendKind, Draft, Entry } from "../../core/entry.ts";
import { isGoal, THE_GOAL } from "../../core/goal.ts";
import { type Author, LIMIT_MINUTES } from "../click-rights.ts";
import { privateNotice } from "../drafts-notices.ts";
import { goalAnswers } from "./click-phrases.ts";
import { goalAtWork, goalStateDraft } from "./goal.ts";
import type { Goal } from "./state.ts";
import type { Thread } from "../state.ts";
import type { Surroundings } from "../surroundings.ts";

/** What people do with a goal that is there: pause it, have it go on, let it use more. */

/** What its next extension adds, and its number. */
export function nextGoalExtension({ started, extendedBy }: Pick<Goal, "started" | "extendedBy">) {
  return { number: extendedBy.length + 1, more: extensionOf(started.budget) };
}

/** The click is about a goal, and not about a run. */
export function isOfGoal({ choice, action }: Pick<Entry<"click">, "choice" | "action">): boolean {
  return choice.kind === "goal" || (choice.kind === "extend" && isGoal(action));
}

function meantGoal(thread: Thread, name: string): Goal | undefined {
  return name === THE_GOAL ? goalAtWork(thread) : thread.goals.get(name);
}

/** Undefined: the author has to be looked up first. Who began it needs no look-up to pause it or have it go on. */
export function goalClickDrafts(
  click: Entry<"click">,
  author: Author | "unknown" | undefined,
  { thread }: Surroundings,
): Draft<AppendKind>[] | undefined {
  const say = (text: string) => [privateNotice(click, text)];
  const goal = meantGoal(thread, click.action);
  if (goal === undefined) return say(goalAnswers.none);
  const why = whyNot(click, goal, thread);
  if (why !== undefined) return say(why);
  // A goal goes on for days: who may still spend is looked up each time.
  const { choice, actor } = click;
  if (choice.kind === "extend" || !goal.started.principals.includes(actor.account)) {
    if (author === "unknown") return say(goalAnswers.notLookedUp(LIMIT_MINUTES));
    if (author === undefined) return undefined;
    if (!author.eligible) return say(author.why);
  }
  const state = stateFor(click, goal);
  // A message far above changes: who typed it would see nothing.
  const heard = click.via === "typed" ? say(goalAnswers.heard(goal.started.goal, state.state)) : [];
  return [goalStateDraft(goal, state), ...heard];
}

function stateFor(
  { id: post, choice, actor }: Entry<"click">,
  goal: Goal,
): Parameters<typeof goalStateDraft>[1] {
  const by = { account: actor.account, name: actor.name };
  if (choice.kind === "extend")
    return { state: "extended", by, post, budget: choice.by ?? nextGoalExtension(goal).more };
  if (choice.kind === "goal" && choice.do === "resume") return { state: "resumed", by, post };
  return { state: "paused", by, post, pause: "person", text: goalAnswers.pausedBy(by.name) };
}

/** Why it changes nothing. An extension's number is what its button offered; 0: whichever is next. */
function whyNot(
  { choice, revision, seq }: Entry<"click">,
  { started: { goal: name, budget: first }, budget, status, pause, extendedBy, stoppedBy }: Goal,
  thread: Thread,
): string | undefined {
  if (status === "ended") return goalAnswers.over(name);
  if (stoppedBy !== undefined || seq < thread.stoppedAt) return goalAnswers.stopped(name);
  if (choice.kind === "extend") {
    const before = extendedBy[revision - 1];
    if (before !== undefined) return goalAnswers.extended(name, before);
    if (revision > extendedBy.length + 1) return goalAnswers.notOffered(name);
    const isMoney = choice.by !== undefined && Object.keys(choice.by).every((it) => it === "cents");
    if (isMoney && budget.cents === undefined) return goalAnswers.noCents(name);
    return isTooMuch(choice.by ?? {}, first) ? goalAnswers.tooMuch(name) : undefined;
  }
  if (choice.kind !== "goal") return undefined;
  if (choice.do === "pause")
    return status === "paused" ? goalAnswers.isPaused(name, pause?.by) : undefined;
  if (status === "running") return goalAnswers.isRunning(name);
  return pause?.why === "budget" ? goalAnswers.needsMore(name) : undefined;
}

/** At once a goal is given as much again as it began with, at most: otherwise a slip of a finger takes its limits away. */
function isTooMuch(more: MoreBudget, first: Budget): boolean {
  const most = ["steps", "tokens", "minutes", "cents"] as const;
  return most.some((each) => (more[each] ?? 0) > (first[each] ?? Infinity));
}
