import { expect, test } from "vitest";
import { looksOnce, pursuing } from "./goal-stage.ts";

test("a goal is planned, its tasks are done one by one and judged, and it ends with the planner's answer", async () => {
  const stage = await pursuing({
    plan: (_told, asked) =>
      asked === 1
        ? { tasks: ["look at web", "look at db"] }
        : { done: true, answer: "CONFIRMED: both are well [T1] [T2]." },
    task: looksOnce,
  });
  await stage.pursue("look at everything");
  expect(stage.look.runs).toEqual(["web", "db"]);
  expect((await stage.shown()).status).toBe("done");
});
