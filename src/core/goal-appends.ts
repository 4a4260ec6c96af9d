import * as z from "zod";
import { usage } from "./block.ts";
import { budget, moreBudget } from "./budget.ts";
import { actor, count } from "./entry-fields.ts";
import { GOAL_ENDS, GOAL_PAUSES, GOAL_VERDICTS } from "./goal.ts";

/** What the holder of a lease writes down of goals. */

const text = z.string();

/** One task as it is planned. `requires`: tools that have to be called in it before it counts as done. */
const goalTask = z.strictObject({
  /** `g1.k3`: the third task of the goal g1. */
  task: text,
  text,
  requires: z.array(text).optional(),
});

/** What planning or judging used, which no run pays for. */
const goalThought = z.strictObject({
  model: text,
  requests: count,
  usage,
  ms: count,
  microdollars: count.optional(),
});

export type GoalThought = z.infer<typeof goalThought>;

export const goalAppends = {
  /** Long work begins: from here on the thread plans it, does its tasks one by one and judges each, without being asked. */
  goal_started: z.strictObject({
    goal: z.string(),
    text: z.string(),
    /** Accounts that want it: its runs work for them. None: no person does, and to its end it only reads. */
    principals: z.array(z.string()),
    /** The one that its requests begin with. */
    model: z.string(),
    budget,
    /** After so many judged tasks it is planned again; 0: only once one was split or given up, or none is left. */
    replan: count,
    /** The post that began it. */
    post: z.string().optional(),
    by: actor.optional(),
    /** The configuration's schedule that began it. */
    schedule: z.string().optional(),
    /** Tools that have to be called in it before it counts as done. */
    requires: z.array(z.string()).optional(),
  }),
  /** What is to be done next. It stands in place of what waits but for what is tried again and parts of a split task. */
  goal_planned: z.strictObject({
    goal: z.string(),
    revision: count,
    /** The last entry that was folded when it was asked for; what people said later is not in it. */
    seen: count,
    tasks: z.array(goalTask),
    /** Nothing is left to do. */
    done: z.boolean(),
    answer: z.string().optional(),
    thought: goalThought.optional(),
    /** Why there is no plan, in words for people: it is asked for again, a few times. */
    why: z.string().optional(),
    /** Tools that have to be called too before the goal counts as done. */
    requires: z.array(z.string()).optional(),
    /** The model said that all is done, and why it is not: the tasks are the program's. */
    unmet: z.string().optional(),
  }),
  /** How the run of a task was judged. */
  goal_judged: z.strictObject({
    goal: z.string(),
    task: z.string(),
    run: z.string(),
    /** Counts the judgements of this task from 1. */
    number: count,
    reason: z.string(),
    by: z.enum(["model", "rule"]),
    /** Absent: it could not be judged, and that is tried again. */
    verdict: z.enum(GOAL_VERDICTS).optional(),
    /** Of a split task: its parts. */
    tasks: z.array(goalTask).optional(),
    thought: goalThought.optional(),
    /** The run failed by no fault of the task's: it counts as no try. */
    excused: z.literal(true).optional(),
  }),
  goal_state: z.strictObject({
    goal: z.string(),
    /** Counts the goal's states from 1. */
    number: count,
    state: z.enum(["paused", "resumed", "extended", "ended"]),
    by: actor.optional(),
    /** The click or command that it answers. */
    post: z.string().optional(),
    pause: z.enum(GOAL_PAUSES).optional(),
    status: z.enum(GOAL_ENDS).optional(),
    /** Why it is paused, or the answer. */
    text: z.string().optional(),
    /** What it is extended by. */
    budget: moreBudget.optional(),
  }),
};
