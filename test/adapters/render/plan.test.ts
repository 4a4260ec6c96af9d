import { expect, test } from "vitest";
import type { PlannedTask } from "../../../src/core/plan.ts";
import { planOf } from "../../../src/adapters/render/plan.ts";
import { planInlines, planLines, planLineText } from "../../../src/adapters/render/plan-lines.ts";
import { createRunProgress, renderProgress } from "../../../src/adapters/render/progress.ts";

const step = (text: string, status: PlannedTask["status"] = "pending", depth = 0) => ({
  text,
  status,
  depth,
});
const TASKS = [step("Logs", "completed"), step("Releases", "in_progress", 1), step("Fix")];

test("a step is shown by its mark: bold while it is worked on, struck through when it is done", () => {
  expect(planLines(TASKS).map((line) => planLineText(line).trim())).toEqual([
    "[x] Logs",
    "[>] Releases",
    "[ ] Fix",
  ]);
  expect(planInlines(step("a", "in_progress"))[1]).toEqual({ text: "a", strong: true });
  expect(planInlines(step("a", "completed"))[1]).toEqual({ text: "a", strike: true });
});

test("a long plan shows the steps around the one that is worked on, and counts the others", () => {
  const all = Array.from({ length: 30 }, (_, i) => step(`${i}`, i < 12 ? "completed" : "pending"));
  const lines = planLines(all, 8);
  expect(lines).toHaveLength(8);
  expect(lines[0]).toEqual({ more: 11 });
  expect(lines.at(-1)).toEqual({ more: 13 });
  expect(lines.slice(1, 3)).toEqual([all[11], all[12]]);
  const done = planLines(
    all.map(({ text }) => step(text, "completed")),
    8,
  );
  expect(done.at(-1)).toMatchObject({ text: "29" });
});

test("progress has the plan above its calls, each revision in place of the one before", async () => {
  const progress = createRunProgress(() => 0);
  expect(progress.note({ kind: "plan", run: "r1", tasks: [step("Old")] })).toBe(true);
  expect(progress.note({ kind: "plan", run: "r1", tasks: TASKS })).toBe(true);
  expect(progress.note({ kind: "plan", run: "r1", tasks: TASKS })).toBe(false);
  progress.note({ kind: "tool_started", call: "r1.t1", tool: "look", args: {}, doing: "Looking" });
  const { blocks } = await renderProgress(progress, () => false);
  const text = JSON.stringify(blocks);
  expect(text.indexOf("[x] ")).toBeLessThan(text.indexOf("Looking"));
  expect(text).not.toContain("Old");
  expect(planOf(progress).tasks).toMatchObject([
    { id: "plan-0", title: "[x] Logs", status: "complete" },
    { id: "plan-1", status: "in_progress" },
    { id: "plan-2", title: "[ ] Fix", status: "pending" },
    { id: "r1.t1", status: "in_progress" },
  ]);
  // Another run has no plan yet.
  progress.note({ kind: "thinking", run: "r2", step: 1 });
  expect(progress.plan).toEqual([]);
});
