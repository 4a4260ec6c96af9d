import { describe, expect, test } from "vitest";
import { UPDATE_PLAN, UPDATE_PLAN_SPEC } from "../../src/core/tool-spec.ts";
import type { ModelRun } from "../../src/thread/model-run.ts";
import { toolSpec } from "../../src/tools/input-schema.ts";
import type { Saying } from "../fakes/scripted-model.ts";
import { fakeTool, type StageOptions } from "../fakes/stage.ts";
import { ANSWER, call, expectPaired, ofKind, resultsIn, talking } from "./talking.ts";

const planned = (...tasks: ({ content: string } & Record<string, string>)[]) => ({
  name: UPDATE_PLAN,
  args: { tasks: tasks.map((task) => ({ status: "pending", ...task })) },
});

/** With a run whose model may keep a plan. */
function planning(script: readonly Saying[], options: StageOptions = {}) {
  const tools = [toolSpec(fakeTool({ name: "look" })), UPDATE_PLAN_SPEC];
  return talking(script, { talk: { tools }, ...options });
}

const modelRunIn = (runs: ReadonlyMap<string, { modelRun: ModelRun | undefined }>) =>
  runs.get("r1")?.modelRun;

describe("a model's plan", () => {
  test("is kept in each of its revisions, asks nobody, and is no evidence", async () => {
    const stage = await planning([
      {
        calls: [
          planned({ content: "Look at web", status: "in_progress" }, { content: "Conclude" }),
        ],
      },
      { calls: [call("look")] },
      {
        calls: [planned({ content: "Look at web", status: "completed" }, { content: "Conclude" })],
      },
      { text: "CONFIRMED: it is fine [T1]." },
      { text: "CONFIRMED: it is fine [T2]." },
    ]);
    await stage.ask("look into web");
    const entries = await stage.entries();
    const plans = ofKind(entries, "plan");
    expect(plans.map(({ id }) => id)).toEqual(["plan:r1.1", "plan:r1.2"]);
    expect(plans[1]?.tasks).toEqual([
      { id: "1", content: "Look at web", status: "completed" },
      { id: "2", content: "Conclude", status: "pending" },
    ]);
    expect(ofKind(entries, "action_proposed")).toEqual([]);
    expect(ofKind(entries, "tool_finished").map(({ gate }) => gate)).toEqual([
      "plan",
      undefined,
      "plan",
    ]);
    // The first call of the thread shows nothing of web.
    expect(ofKind(entries, "gate")).toMatchObject([
      { text: expect.stringContaining("[T1] names no call") },
    ]);
    expect(resultsIn(stage.model.requests[1])[0]?.text).toContain(
      "0 of 2 steps done. Next: 1. Look at web",
    );
    for (const request of stage.model.requests) expectPaired(request);
    expect(stage.model.left()).toBe(0);
  });

  test("survives a restart: what the journal holds is the plan", async () => {
    const stage = await planning([
      { calls: [planned({ content: "Look", status: "in_progress" })] },
      async () => {
        // As a worker that takes the thread over would fold it.
        const { runs } = await stage.thread();
        expect(modelRunIn(runs)?.plan).toMatchObject({ revision: 1 });
        return { calls: [call("look")] };
      },
      { text: "CONFIRMED [T2]" },
    ]);
    await stage.ask("look into web");
    expect(stage.model.left()).toBe(0);
  });

  test.each([
    [
      "two steps in progress",
      [planned({ content: "a", status: "in_progress" }, { content: "b", status: "in_progress" })],
      /Only one step may be in progress, not 1, 2/,
    ],
    [
      "one id twice",
      [planned({ id: "1", content: "a" }, { id: "1", content: "b" })],
      /several steps have the id 1/i,
    ],
    [
      "a parent below its part",
      [planned({ id: "1", content: "a", parent: "2" }, { id: "2", content: "b" })],
      /no step 2 stands before it/,
    ],
    ["no steps", [{ name: UPDATE_PLAN, args: { tasks: [] } }], /was not kept/],
    ["an unknown status", [planned({ content: "a", status: "doing" })], /status/],
  ])("with %s is sent back and not kept", async (_name, calls, why) => {
    const stage = await planning([
      { calls },
      { calls: [call("look")] },
      { text: "CONFIRMED [T2]" },
    ]);
    await stage.ask("look into web");
    const entries = await stage.entries();
    expect(ofKind(entries, "plan")).toEqual([]);
    expect(ofKind(entries, "tool_finished")[0]).toMatchObject({
      outcome: "blocked",
      gate: "plan",
      text: expect.stringMatching(why),
    });
    expect(stage.model.left()).toBe(0);
  });

  test("of ten steps is told to have parts, and a part may be in progress below its step", async () => {
    const many = Array.from({ length: 10 }, (_, i) => ({ content: `step ${i}` }));
    const stage = await planning([
      { calls: [planned(...many)] },
      {
        calls: [
          planned(
            { id: "1", content: "Find it", status: "in_progress" },
            { id: "1.1", content: "Logs", status: "in_progress", parent: "1" },
            ...many.map((each, i) => ({ ...each, id: `2.${i}`, parent: "1" })),
          ),
        ],
      },
      { text: "Done planning." },
    ]);
    await stage.ask("look into web");
    expect(resultsIn(stage.model.requests[1])[0]?.text).toContain("Put parts below a step");
    expect(resultsIn(stage.model.requests[2])[0]?.text).toContain("Kept: 0 of 11 steps done.");
    expect(resultsIn(stage.model.requests[2])[0]?.text).not.toContain("Put parts");
  });

  test("is no tool of a run that has none", async () => {
    const stage = await talking([
      { calls: [planned({ content: "a" })] },
      ANSWER,
      { text: "CONFIRMED" },
    ]);
    await stage.ask("look into web");
    expect(ofKind(await stage.entries(), "plan")).toEqual([]);
    expect(resultsIn(stage.model.requests[1])[0]?.text).toContain("There is no tool update_plan");
  });
});
