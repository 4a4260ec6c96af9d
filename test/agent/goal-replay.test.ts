import { expect, test } from "vitest";
import { replayLines } from "../../src/app/cli/replay-lines.ts";
import { KEY } from "../fakes/stage.ts";
import { looksOnce, planning, pursuing } from "./goal-stage.ts";

test("replay makes each request of a goal's runs again, and says what planning and judging came to and used", async () => {
  const stage = await pursuing({ plan: planning("look at web", "look at db"), task: looksOnce });
  await stage.pursue("look at everything");
  await stage.ask("what did you find?");
  const { terms } = stage.parts.run;
  if (terms === undefined) throw new TypeError("no model");
  const lines: string[] = [];
  for await (const line of replayLines(stage.journal, KEY, terms, undefined)) lines.push(line);
  const asked = lines.filter((line) => line.includes(" step "));
  // Two of the conversation, and two of each task's run.
  expect(asked).toHaveLength(6);
  for (const line of asked) expect(line).toContain("request identical");
  const thoughts = lines.flatMap((line) => /g1 {2}.*tokens/.exec(line)?.[0] ?? []);
  expect(thoughts).toEqual([
    "g1  planned: 2 tasks  test/goals  110 tokens",
    "g1  g1.k1 (r2) judged: done  test/goals  110 tokens",
    "g1  g1.k2 (r3) judged: done  test/goals  110 tokens",
    "g1  planned: done  test/goals  110 tokens",
  ]);
});
