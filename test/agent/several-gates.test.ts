import { describe, expect, test } from "vitest";
import type { GateTerms } from "../../src/core/gates.ts";
import { gatesWithin } from "../../src/core/gates-within.ts";
import { UPDATE_PLAN } from "../../src/core/tool-spec.ts";
import type { Saying } from "../fakes/scripted-model.ts";
import type { Stage } from "../fakes/stage.ts";
import { call, lastAnswer, ofKind, talking, wordsIn } from "./talking.ts";

/** With writes that nobody is asked about. */
function held(gates: GateTerms, script: readonly Saying[]) {
  const approvals = { rules: [{ match: { tool: "act" }, decide: "allow" as const }] };
  return talking(script, { approvals, talk: { gates } });
}

const words = async (stage: Stage) => ofKind(await stage.entries(), "gate");

test("what several gates say of one answer is told at once, in their order, and costs one request", async () => {
  const stage = await held(
    { on: ["evidence", "required", "verification"], requires: { "*": ["look"] } },
    [
      { calls: [call("act")] },
      { text: "It works now [T9]." },
      { calls: [call("look")] },
      { text: "CONFIRMED: it works [T2]." },
    ],
  );
  await stage.ask("restart web");
  const told = await words(stage);
  expect(told.map(({ gate, id }) => [gate, id])).toEqual([
    ["evidence", "gate:r1.1"],
    ["required", "gate:r1.2"],
    ["verification", "gate:r1.3"],
  ]);
  expect(stage.model.requests).toHaveLength(4);
  const notes = wordsIn(stage.model.requests[2]).slice(-3);
  const said = [
    "[T9] names no call",
    "needs calls that were not made",
    "Nothing was looked at after",
  ];
  expect(notes.map((note, i) => note.includes(said[i] ?? "?"))).toEqual([true, true, true]);
  expect(lastAnswer(stage)).toBe("CONFIRMED: it works [T2].");
});

test("an answer that was cut off is judged by no other gate", async () => {
  const stage = await held({ on: ["evidence", "verification"] }, [
    { calls: [call("act")] },
    { text: "It works", stop: "max_tokens" },
    { text: "INCONCLUSIVE: nothing was read back [T1]." },
  ]);
  await stage.ask("restart web");
  expect((await words(stage)).map(({ gate }) => gate)).toEqual(["cut"]);
  expect(stage.model.left()).toBe(0);
});

describe("a gate that waits for a call which the run cannot make", () => {
  const all: GateTerms = {
    on: ["planning", "required", "phases", "replan"],
    minRevisions: 2,
    strategy: "plan_and_solve",
    requires: { "*": ["pods"], web: ["look", "pods"] },
    phases: [
      { name: "far", tools: ["pods"] },
      { name: "near", tools: ["look"], after: ["pods"] },
      { name: "act", tools: ["*"], after: ["look", "pods"] },
    ],
  };

  test("is off: only what its tools can meet is left of it", () => {
    expect(gatesWithin(all, ["look", "act"])).toEqual({
      on: ["required", "phases", "replan"],
      minRevisions: 2,
      requires: { web: ["look"] },
      phases: [
        { name: "near", tools: ["look"], calls: 1 },
        { name: "act", tools: ["*"], after: ["look"] },
      ],
    });
    expect(gatesWithin(all, ["look", "pods", UPDATE_PLAN])).toEqual(all);
  });

  test("holds up no run that may keep no plan", async () => {
    const stage = await held({ on: ["planning"], minRevisions: 2 }, [
      { calls: [call("look")] },
      { text: "CONFIRMED [T1]" },
    ]);
    await stage.ask("look into it");
    expect(await words(stage)).toEqual([]);
    expect(lastAnswer(stage)).toBe("CONFIRMED [T1]");
  });
});
