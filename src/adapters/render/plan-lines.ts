import { PLAN_MARKS, type PlannedTask } from "../../core/plan.ts";
import { oneLine } from "../../core/text.ts";
import { clip } from "./clip.ts";
import type { Inline } from "./rich-text.ts";

/** A line of a plan: a step, or how many are left out there. */
export type PlanLine = PlannedTask | { more: number };

/** Around the step that is worked on; a message has room for calls besides. */
const MAX_LINES = 12;
const MAX_WEIGHT = 100;

/** Steps around the one that is worked on, and how many stand before and after them. */
export function planLines(tasks: readonly PlannedTask[], max = MAX_LINES): PlanLine[] {
  if (tasks.length <= max) return [...tasks];
  const room = max - 2;
  const doing = tasks.findIndex(({ status }) => status !== "completed");
  const at = doing < 0 ? tasks.length : doing;
  const from = Math.max(0, Math.min(at - 1, tasks.length - room));
  const after = tasks.length - from - room;
  return [
    ...(from > 0 ? [{ more: from }] : []),
    ...tasks.slice(from, from + room),
    ...(after > 0 ? [{ more: after }] : []),
  ];
}

/** `[ ] step`, `[>] **step**`, `[x] ~~step~~`. */
export function planInlines(line: PlanLine): Inline[] {
  if ("more" in line) return [{ text: `… ${line.more} more` }];
  const { text, status, depth } = line;
  const words: Inline = { text: clip(oneLine(text), MAX_WEIGHT) };
  if (status === "in_progress") words.strong = true;
  if (status === "completed") words.strike = true;
  return [{ text: `${"\u2003".repeat(depth)}${PLAN_MARKS[status]} ` }, words];
}

/** The same without marks of its own, for a terminal. */
export function planLineText(line: PlanLine): string {
  return planInlines(line)
    .map(({ text }) => text)
    .join("");
}
