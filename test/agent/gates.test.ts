import { describe, expect, test } from "vitest";
import { GATE_WORDS, STANDARD_GATES } from "../../src/core/gates.ts";
import { hashTerms } from "../../src/core/run-terms.ts";
import { GATES } from "../../src/thread/gates/gates.ts";
import { ANSWER, call, lastAnswer, ofKind, talking } from "./talking.ts";

test("every gate that has a name stands in the list once", () => {
  const names = GATES.map(({ name }) => name);
  expect(names.toSorted()).toEqual(GATE_WORDS.filter((word) => word !== "checks").toSorted());
});

describe("a run's gates", () => {
  test("are part of its terms: what is turned off says nothing", async () => {
    const script = [{ calls: [call("look")] }, { text: "It is fine." }];
    const without = await talking(script, { talk: { gates: { on: ["stuck"] } } });
    await without.ask("is web well?");
    expect(ofKind(await without.entries(), "gate")).toEqual([]);
    expect(lastAnswer(without)).toBe("It is fine.");
    expect(ofKind(await without.entries(), "run_started")).toMatchObject([
      { talk: { gates: { on: ["stuck"] } } },
    ]);
    const standard = await talking([...script, ANSWER]);
    await standard.ask("is web well?");
    expect(ofKind(await standard.entries(), "gate")).toMatchObject([{ gate: "evidence" }]);
    // The standard costs no bytes.
    expect(ofKind(await standard.entries(), "run_started")[0]?.talk?.gates).toBeUndefined();
  });

  test("are in the hash of its terms", async () => {
    const { parts } = await talking([]);
    const { terms } = parts.run;
    if (terms === undefined) throw new TypeError("no terms");
    const { prefix, ...rest } = terms;
    expect(hashTerms(rest).prefix).toBe(prefix);
    expect(hashTerms({ ...rest, gates: STANDARD_GATES }).prefix).not.toBe(prefix);
  });

  test("cannot be taken away where a run would have no end without", async () => {
    const stage = await talking(
      [{ calls: [call("look", "a")] }, { calls: [{ name: "nothing", args: {} }] }, ANSWER],
      { talk: { gates: { on: [] }, budget: { steps: 3, tokens: 400_000, minutes: 15 } } },
    );
    await stage.ask("is web well?");
    expect(ofKind(await stage.entries(), "gate")).toMatchObject([{ gate: "limit" }]);
    expect(ofKind(await stage.entries(), "tool_finished")).toMatchObject([
      { outcome: "ok" },
      { outcome: "blocked", text: expect.stringContaining("There is no tool nothing") },
    ]);
  });
});
