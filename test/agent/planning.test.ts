import { describe, expect, test } from "vitest";
import type { GateTerms } from "../../src/core/gates.ts";
import type { Planning } from "../../src/core/plan.ts";
import { NO_USAGE } from "../../src/core/block.ts";
import { type AskForPlan, planWith } from "../../src/agent/planning.ts";
import type { Saying } from "../fakes/scripted-model.ts";
import { UPDATE_PLAN_SPEC } from "../../src/core/tool-spec.ts";
import { toolSpec } from "../../src/tools/input-schema.ts";
import { fakeTool, type StageOptions } from "../fakes/stage.ts";
import { ANSWER, call, lastAnswer, ofKind, talking, wordsIn } from "./talking.ts";

const step = (content: string, tool = "", target = "") => ({
  content,
  criterion: "seen",
  tool,
  target,
});
const five = ["a", "b", "c", "d", "e"].map((name) => step(name));
const contents = (tasks: readonly { content: string }[]) => tasks.map(({ content }) => content);

/** Answers with these values, one after the other. */
function scripted(values: unknown[]): { ask: AskForPlan; questions: string[] } {
  const questions: string[] = [];
  const ask: AskForPlan = async ({ question, schema }) => {
    questions.push(question);
    return {
      value: schema.parse(values[questions.length - 1]),
      usage: { ...NO_USAGE, input: 7 },
      requests: 1,
    };
  };
  return { ask, questions };
}

describe("a strategy", () => {
  test("plan_and_solve keeps a plan from five steps on, by one request", async () => {
    const long = await planWith("plan_and_solve", scripted([{ needed: 5, steps: five }]).ask);
    expect(long).toMatchObject({ requests: 1, usage: { input: 7 } });
    expect(long.tasks[0]).toEqual({ id: "1", content: "a", status: "pending", criterion: "seen" });
    const short = await planWith("plan_and_solve", scripted([{ needed: 2, steps: five }]).ask);
    expect(short.tasks).toEqual([]);
  });

  test("tree_of_thoughts keeps the plan that is judged best, the first of equals", async () => {
    const plans = ["x", "y", "z"].map((idea) => ({ idea, steps: [step(idea)] }));
    const judged = (scores: number[]) =>
      scripted([{ plans }, { scores: scores.map((score, i) => ({ plan: i + 1, score })) }]);
    const { ask, questions } = judged([3, 9, 9]);
    expect(await planWith("tree_of_thoughts", ask)).toMatchObject({
      tasks: [{ content: "y" }],
      requests: 2,
      usage: { input: 14 },
    });
    expect(questions[1]).toContain("Plan 2 (y):\n- y");
  });

  test("self_consistency keeps the steps of most of five plans, by what they do and not how they say it", async () => {
    const look = (words: string) => step(words, "logs", "Web-1");
    const plans = [
      [look("Read the logs"), step("Guess")],
      [step("Ping", "ping", "web-1"), look("Look at logs")],
      [look("logs first"), step("Ping it", "ping", "web-1")],
      [look("logs"), step("Ping the host", "ping", "web-1")],
      [step("Reboot", "reboot", "web-1")],
    ].map((steps) => ({ steps }));
    const made = await planWith("self_consistency", scripted(plans).ask);
    expect(contents(made.tasks)).toEqual(["Read the logs", "Ping"]);
    expect(made).toMatchObject({ requests: 5, usage: { input: 35 } });
  });
});

/** A run that begins by a strategy, and may keep its plan. */
function begun(strategy: Planning, script: readonly Saying[], options: StageOptions = {}) {
  const gates: GateTerms = { on: ["evidence", "stuck"], strategy };
  const tools = [toolSpec(fakeTool({ name: "look" })), UPDATE_PLAN_SPEC];
  return talking(script, { ...options, talk: { gates, tools, ...options.talk } });
}

const value = (given: object): Saying => ({ text: JSON.stringify(given) });

describe("a run with a strategy", () => {
  test("has its plan with its first message, kept in the journal with what it cost", async () => {
    const stage = await begun("plan_and_solve", [
      value({ needed: 5, steps: five }),
      { calls: [call("look")] },
      ANSWER,
    ]);
    await stage.ask("look into web");
    expect(stage.model.left()).toBe(0);
    const [planning, first, second] = stage.model.requests;
    expect(planning?.output?.name).toBe("plan");
    expect(wordsIn(planning).join("\n")).toContain("look into web");
    expect(wordsIn(first).join("\n")).toContain("[ ] 1. a (done when: seen)");
    // Told once, and the same bytes from then on.
    expect(
      JSON.stringify(second?.turns).startsWith(JSON.stringify(first?.turns).slice(0, -1)),
    ).toBe(true);
    const [plan] = ofKind(await stage.entries(), "plan");
    expect(plan).toMatchObject({
      id: "plan:r1.1",
      thought: { strategy: "plan_and_solve", requests: 1, usage: { input: 100, output: 10 } },
    });
    expect((await stage.thread()).counts.usage).toMatchObject({ input: 300, output: 30 });
  });

  test("goes on without a plan where none is needed or the model makes none", async () => {
    const short = await begun("plan_and_solve", [
      value({ needed: 1, steps: [] }),
      { calls: [call("look")] },
      ANSWER,
    ]);
    await short.ask("look into web");
    const broken = await begun("plan_and_solve", [
      { text: "No." },
      { text: "No!" },
      { calls: [call("look")] },
      ANSWER,
    ]);
    await broken.ask("look into web");
    for (const stage of [short, broken]) {
      expect(stage.model.left()).toBe(0);
      expect(lastAnswer(stage)).toBe(ANSWER.text);
      expect(wordsIn(stage.model.requests.at(-1)).join("\n")).not.toContain("A plan for this");
    }
    // What the failed attempts took is counted.
    expect(ofKind(await broken.entries(), "plan")).toMatchObject([
      { tasks: [], thought: { requests: 2 } },
    ]);
  });

  test("uses up its own tokens with it: too few are left, so it answers", async () => {
    const stage = await begun(
      "plan_and_solve",
      [
        { text: JSON.stringify({ needed: 5, steps: five }), usage: { input: 900 } },
        { text: "INCONCLUSIVE: no tokens." },
      ],
      { talk: { budget: { steps: 30, tokens: 1_000, minutes: 15 } } },
    );
    await stage.ask("look into web");
    expect(stage.model.left()).toBe(0);
  });
});
