import * as z from "zod";
import { GOAL_PROMPT } from "../../src/agent/goal-prompt.ts";
import { HELPER_PROMPT } from "../../src/agent/prompt.ts";
import { delegate } from "../../src/tools/delegate/delegate.ts";
import type { AppendKind, Draft } from "../../src/core/entry.ts";
import { GOAL_TOOLS, type GoalVerdict } from "../../src/core/goal.ts";
import type { Journal } from "../../src/journal/journal.ts";
import type { Model, ModelRequest } from "../../src/models/model.ts";
import { MAX_TASKS } from "../../src/thread/goals/rules.ts";
import { goalStartedDraft, goalStateDraft, shownGoal } from "../../src/thread/goals/goal.ts";
import { toolSpec } from "../../src/tools/input-schema.ts";
import { defineTool, type Tool } from "../../src/tools/tool.ts";
import { createStage, fakeTool, KEY, type StageOptions } from "../fakes/stage.ts";
import { HELPERS } from "./helping.ts";
import { responseOf, type Turn } from "./scripted-turn.ts";
import { wordsIn } from "./talking.ts";

interface Planned {
  tasks?: readonly (string | { text: string; requires: readonly string[] })[];
  deliverables?: readonly string[];
  done?: boolean;
  answer?: string;
}

interface Judged {
  verdict: GoalVerdict;
  reason?: string;
  tasks?: readonly string[];
}

/** What each says, given all that it is told; an error is thrown. The same always says the same. */
export interface GoalParts {
  plan(told: string, asked: number): Planned | Error | Promise<Planned>;
  /** `calls`: turns of calls so far in the run. */
  task(told: string, calls: number): Turn | Error;
  judge?(told: string, asked: number): Judged | Error;
  main?(told: string): Turn;
  helper?(told: string, calls: number): Turn;
}

const DONE: Judged = { verdict: "done", reason: "a call shows it" };

/** Plans what is left of these, and says that all is done once nothing is. */
export function planning(...tasks: string[]): GoalParts["plan"] {
  return (told) => {
    const [known = ""] = told.split("Waits from the last plan");
    const isFront = told.includes("Waits in front");
    const left = tasks.filter(
      (task) => !new RegExp(`- g1\\.k\\d+: ${task}( →|$)`, "m").test(known),
    );
    return left.length > 0 || isFront
      ? { tasks: left.slice(0, MAX_TASKS) }
      : { done: true, answer: "CONFIRMED: all is well [T1]." };
  };
}

/** The task that a run or a judge is told of. */
export function taskIn(told: string): string {
  const after = /(?:a word of people's\.|tried for the \w+ time:)\n\s*([^\n]+)/.exec(told);
  return after?.[1]?.trim() ?? "";
}

function playing(parts: GoalParts, requests: ModelRequest[]): Model {
  const asked = { plan: 0, judge: 0 };
  const said = (value: object): Turn => ({ text: JSON.stringify(value) });
  const texts = (tasks: Planned["tasks"] = []) =>
    tasks.map((task) => (typeof task === "string" ? { text: task, requires: [] } : task));
  const answer = async (request: ModelRequest): Promise<Turn> => {
    const told = wordsIn(request).join("\n");
    if (request.output?.name === "goal_plan") {
      const plan = await parts.plan(told, (asked.plan += 1));
      if (plan instanceof Error) throw plan;
      const { tasks, deliverables = [], done = false, answer: text = "" } = plan;
      return said({ tasks: texts(tasks), deliverables, done, answer: text });
    }
    if (request.output?.name === "verdict") {
      const judged = parts.judge?.(told, (asked.judge += 1)) ?? DONE;
      if (judged instanceof Error) throw judged;
      const { verdict, reason = "so it is", tasks } = judged;
      return said({ verdict, reason, tasks: texts(tasks) });
    }
    const calls = request.turns.filter(({ role }) => role === "tool").length;
    if (request.system === HELPER_PROMPT)
      return parts.helper?.(told, calls) ?? { text: "Nothing." };
    if (request.system === GOAL_PROMPT) {
      const turn = parts.task(told, calls);
      if (turn instanceof Error) throw turn;
      return turn;
    }
    return parts.main?.(told) ?? { text: "Hello." };
  };
  return {
    id: "test/goals",
    contextWindow: 100_000,
    async generate(request) {
      requests.push(request);
      return responseOf(await answer(request));
    },
  };
}

/** The tools of goals, which only say that they were called. */
function goalTools(): Tool[] {
  const tool = (name: string, input: z.ZodObject) =>
    defineTool({
      name,
      description: `The fake ${name}.`,
      input,
      effect: "read" as const,
      timeoutMs: 5_000,
      run: async () => ({ text: "Done." }),
    }) as unknown as Tool;
  const text = z.string();
  return [
    tool(GOAL_TOOLS.note, z.strictObject({ text })),
    tool(GOAL_TOOLS.completed, z.strictObject({})),
    tool(GOAL_TOOLS.report, z.strictObject({ heading: text.optional(), text })),
  ];
}

const AT_ONCE = { steps: 1_000, minutes: 600, tokens: 10_000_000 };

/** Writes as the worker that holds the lease would. */
async function appendTo(journal: Journal, draft: Draft<AppendKind>): Promise<void> {
  const granted = await journal.lease(KEY, 60_000);
  if (granted === undefined) throw new Error("somebody has the lease");
  const { length } = await journal.read(KEY);
  const reply = await journal.append(granted.lease, length, [draft]);
  if (reply.kind !== "ok") throw new Error(`${draft.id}: ${reply.kind}`);
  await journal.release(granted.lease, length + 1, 0);
}

/** A stage with goals, a tool `look` that reads and a tool `act` that writes. */
export async function pursuing(
  parts: GoalParts,
  {
    act = fakeTool({ name: "act", effect: "write" }),
    ...options
  }: StageOptions & { journal?: Journal; act?: ReturnType<typeof fakeTool> } = {},
) {
  const requests: ModelRequest[] = [];
  const look = fakeTool({ name: "look" });
  const own = goalTools();
  const modes = { ...HELPERS, goal: { system: GOAL_PROMPT, tools: own.map(toolSpec) } };
  const stage = await createStage({
    tools: [look, act, delegate, ...own],
    model: playing(parts, requests),
    ...options,
    talk: { tools: [look, act, delegate].map(toolSpec), modes, ...options.talk },
  });
  const { journal } = stage;
  const ask = async (said: string, account?: string) => {
    await stage.say(said, account);
    await stage.settle();
  };
  const by = { account: "test:ana", name: "ana" };
  /** Begins a goal and works on it until nothing is owed. */
  const pursue = async (text: string, more: Partial<Draft<"goal_started">> = {}) => {
    const wanted = {
      text,
      principals: [by.account],
      // A schedule's goal is nobody's.
      ...(more.schedule === undefined && { by }),
      model: "test/goals",
      budget: AT_ONCE,
      replan: 0,
      ...more,
    };
    if ((await stage.entries()).length === 0) await ask("hello");
    await appendTo(journal, goalStartedDraft(await stage.thread(), wanted));
    await stage.settle();
  };
  const goal = async (name = "g1") => {
    const found = (await stage.thread()).goals.get(name);
    if (found === undefined) throw new Error(`there is no goal ${name}`);
    return found;
  };
  const change = async (state: Omit<Draft<"goal_state">, "id" | "kind" | "goal" | "number">) => {
    await appendTo(journal, goalStateDraft(await goal(), { by, ...state }));
    await stage.settle();
  };
  const shown = async (now = 0) => shownGoal(await stage.thread(), await goal(), now);
  return { ...stage, look, act, requests, ask, pursue, goal, change, shown };
}

/** A run that looks at its task's last word and says so. */
export function looksOnce(told: string, calls: number): Turn {
  const name = taskIn(told).split(" ").at(-1) ?? "";
  return calls === 0 ? { calls: [["look", { name }]] } : { text: `CONFIRMED: seen ${name} [T1].` };
}

/** Requests of the planner, the judge and the runs of tasks. */
export function asksIn(requests: readonly ModelRequest[], what: "plan" | "judge" | "task") {
  const form = { plan: "goal_plan", judge: "verdict" };
  return requests.filter((request) =>
    what === "task"
      ? request.output === undefined && request.system === GOAL_PROMPT
      : request.output?.name === form[what],
  );
}
