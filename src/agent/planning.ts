import * as z from "zod";
import { addUsage, NO_USAGE, type Usage } from "../core/block.ts";
import type { Planning, PlanTask } from "../core/plan.ts";

/** What a model is asked for a value of a form: the question stands behind what it was told. */
interface PlanQuestion<T> {
  name: string;
  question: string;
  schema: z.ZodType<T>;
}

/** Asks it. @throws what the model throws, and where its value does not have the form */
export type AskForPlan = <T>(
  question: PlanQuestion<T>,
) => Promise<{ value: T; usage: Usage; requests: number }>;

export interface Planned {
  /** None: the task needs no plan. */
  tasks: PlanTask[];
  requests: number;
  usage: Usage;
}

/** Work of fewer steps is begun at once. */
const MIN_STEPS = 5;
const MAX_STEPS = 20;
/** Plans that a tree of thoughts compares. */
const CANDIDATES = 3;
/** Plans of which the majority is kept. */
const PLANS = 5;

const step = z.object({
  content: z.string().min(1).max(300).describe("What is done, in a few words"),
  criterion: z.string().max(300).describe("What shows that it is done"),
  tool: z.string().max(64).describe("The tool that it is done with; empty: none"),
  target: z
    .string()
    .max(200)
    .describe("What it is done to, such as a host or a service; empty: none"),
});
const steps = z.array(step).max(MAX_STEPS);
type Step = z.infer<typeof step>;

const RULES = `Do not answer yet: plan. Small steps, each after those it needs, each with what shows that it is done; reads before changes, and the last step checks the outcome. At most ${MAX_STEPS} steps.`;

/**
 * A plan for what a run was asked, made before its first turn. `plan_and_solve`: one request, and none is kept where fewer than 5
 * steps are needed. `tree_of_thoughts`: three plans in one request, judged in another, and the best is kept.
 * `self_consistency`: five plans in five requests, and the steps that most of them have are kept.
 * @throws what `ask` throws
 */
export async function planWith(strategy: Planning, ask: AskForPlan): Promise<Planned> {
  switch (strategy) {
    case "plan_and_solve":
      return planAndSolve(ask);
    case "tree_of_thoughts":
      return treeOfThoughts(ask);
    case "self_consistency":
      return selfConsistency(ask);
  }
}

async function planAndSolve(ask: AskForPlan): Promise<Planned> {
  const { value, usage, requests } = await ask({
    name: "plan",
    question: `${RULES} If fewer than ${MIN_STEPS} steps do, give their number and no steps.`,
    schema: z.object({ needed: z.int().min(0).describe("How many steps it takes"), steps }),
  });
  const isLong = value.needed >= MIN_STEPS && value.steps.length > 0;
  return { tasks: isLong ? tasksOf(value.steps) : [], usage, requests };
}

async function treeOfThoughts(ask: AskForPlan): Promise<Planned> {
  const made = await ask({
    name: "plans",
    question: `${RULES} Make ${CANDIDATES} plans that begin from different ideas of what is wrong.`,
    schema: z.object({
      plans: z
        .array(z.object({ idea: z.string(), steps }))
        .min(1)
        .max(CANDIDATES),
    }),
  });
  const { plans } = made.value;
  const listed = plans.map(
    (plan, i) =>
      `Plan ${i + 1} (${plan.idea}):\n${plan.steps.map(({ content }) => `- ${content}`).join("\n")}`,
  );
  const judged = await ask({
    name: "judgement",
    question: `Do not answer yet. Judge these plans: which of them settles the question soonest, with the least that can go wrong? 0 to 10 each.\n\n${listed.join("\n\n")}`,
    schema: z.object({
      scores: z.array(z.object({ plan: z.int().min(1), score: z.number().min(0).max(10) })),
    }),
  });
  const scoreOf = (i: number) => judged.value.scores.find(({ plan }) => plan === i + 1)?.score ?? 0;
  const best = plans
    .map((plan, i) => ({ plan, score: scoreOf(i) }))
    .reduce((one, other) => (other.score > one.score ? other : one));
  return {
    tasks: tasksOf(best.plan.steps),
    usage: addUsage(made.usage, judged.usage),
    requests: made.requests + judged.requests,
  };
}

async function selfConsistency(ask: AskForPlan): Promise<Planned> {
  const plans: Step[][] = [];
  let usage = NO_USAGE;
  let requests = 0;
  // One after the other: they share the run's part of the day's tokens.
  for (let n = 0; n < PLANS; n++) {
    const made = await ask({
      name: "plan",
      question: `${RULES} Name for each step its tool and its target.`,
      schema: z.object({ steps }),
    });
    plans.push(made.value.steps);
    usage = addUsage(usage, made.usage);
    requests += made.requests;
  }
  return { tasks: tasksOf(majorityOf(plans)), usage, requests };
}

/** The steps that more than half of the plans have, in the order of where they stand on average; each as it was written first. */
function majorityOf(plans: readonly Step[][]): Step[] {
  const found = new Map<string, { step: Step; places: number[] }>();
  for (const plan of plans) {
    const seen = new Set<string>();
    for (const [i, each] of plan.entries()) {
      const key = keyOf(each);
      if (seen.has(key)) continue;
      seen.add(key);
      const known = found.get(key) ?? { step: each, places: [] };
      known.places.push(i / plan.length);
      found.set(key, known);
    }
  }
  const mean = (places: readonly number[]) =>
    places.reduce((sum, at) => sum + at, 0) / places.length;
  return [...found.values()]
    .filter(({ places }) => places.length > plans.length / 2)
    .toSorted((a, b) => mean(a.places) - mean(b.places))
    .map((each) => each.step);
}

/** The same for steps that do the same: by tool and target, else by words. */
function keyOf({ content, tool, target }: Step): string {
  const plain = (text: string) =>
    text
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}]+/gu, " ")
      .trim();
  return tool === "" ? plain(content) : `${plain(tool)} ${plain(target)}`;
}

function tasksOf(all: readonly Step[]): PlanTask[] {
  return all.map(({ content, criterion }, i) => ({
    id: `${i + 1}`,
    content,
    status: "pending",
    ...(criterion !== "" && { criterion }),
  }));
}
