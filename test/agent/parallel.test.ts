import { describe, expect, test } from "vitest";
import { until } from "../until.ts";
import { fakeTool } from "../fakes/stage.ts";
import { ANSWER, call, expectPaired, ofKind, resultsIn, rolesIn, talking } from "./talking.ts";

describe("several calls in one turn", () => {
  test("run side by side and come back together, in the order of the calls", async () => {
    const look = fakeTool({
      name: "look",
      run: async ({ name }) => {
        // Only if the second runs meanwhile can the first end.
        if (name === "first")
          await until(async () => (await stage.kinds()).includes("tool_finished"));
        return { text: `saw ${name}` };
      },
    });
    const stage = await talking(
      [{ calls: [call("look", "first"), call("look", "second")] }, ANSWER],
      { tools: [look] },
    );
    await stage.ask("look at both");
    const finished = ofKind(await stage.entries(), "tool_finished").map((entry) => entry.call);
    expect(finished).toEqual(["r1.t2", "r1.t1"]);
    expect(rolesIn(stage.model.requests[1])).toEqual(["user", "assistant", "tool"]);
    expect(resultsIn(stage.model.requests[1]).map(({ text }) => text)).toEqual([
      expect.stringContaining("saw first"),
      expect.stringContaining("saw second"),
    ]);
  });

  test("of which one fails, leave the others alone", async () => {
    const look = fakeTool({
      name: "look",
      run: async ({ name }) => {
        if (name === "bad") throw new Error("no such thing");
        return { text: "fine" };
      },
    });
    const stage = await talking(
      [{ calls: [call("look", "a"), call("look", "bad"), call("look", "c")] }, ANSWER],
      { tools: [look] },
    );
    await stage.ask("look at all");
    expect(resultsIn(stage.model.requests[1]).map(({ isError }) => isError)).toEqual([
      false,
      true,
      false,
    ]);
  });

  test("more than run at once are carried out up to sixteen; the rest is told that it was not", async () => {
    const calls = Array.from({ length: 20 }, (_, i) =>
      call("look", `host${String.fromCharCode(97 + i)}`),
    );
    const stage = await talking([{ calls }, ANSWER]);
    await stage.ask("look at all");
    expect(stage.look.runs).toHaveLength(16);
    const results = resultsIn(stage.model.requests[1]);
    // One result says it for all that were too many.
    expect(results).toHaveLength(17);
    expect(results[16]?.text).toContain("Only 16 calls");
    expect(results[16]?.text).toContain("nor any after it");
  });

  test.each([
    ["the same as an earlier turn's", ["call_0"], ["call_0"]],
    ["the same within a turn", ["call_0", "call_0"], ["call_1"]],
    ["empty", ["", ""], [""]],
  ])("whose ids by the provider are %s are told apart", async (_what, first, second) => {
    const stage = await talking([
      { calls: first.map((id, i) => call("look", `a${"b".repeat(i)}`, id)) },
      { calls: second.map((id) => call("look", "z", id)) },
      ANSWER,
    ]);
    await stage.ask("look");
    const { turns = [] } = stage.model.requests[2] ?? {};
    expectPaired({ turns });
    const ids = turns.flatMap((turn) =>
      turn.role === "tool" ? turn.results.map(({ id }) => id) : [],
    );
    expect(new Set(ids).size).toBe(first.length + second.length);
    for (const id of ids) expect(id).toMatch(/^[\w-]{1,64}$/);
  });
});
