import { termsIn } from "../../core/terms.ts";
import type { Goal, GoalNote } from "./state.ts";

/** What of a goal's notes its planner, a task's run and the judge of that are told. The same notes always give the same. */

/** Of what a planner is told: the newest, and the most alike to the goal. */
const PLAN_RECENT = 10;
const PLAN_ALIKE = 8;
const TASK_ALIKE = 5;
const JUDGE_ALIKE = 8;
/** What earlier tries of the same task brought. */
const TASK_OWN = 10;
/** What the judged run brought. */
const JUDGE_OWN = 30;

/** In the order in which they were written. */
export function notesForPlan({ notes, started }: Goal): GoalNote[] {
  return inOrder([...notes.slice(-PLAN_RECENT), ...mostAlike(notes, started.text, PLAN_ALIKE)]);
}

export function notesForTask({ notes }: Goal, { task, text }: { task: string; text: string }) {
  const own = notes.filter((note) => note.task === task).slice(-TASK_OWN);
  return inOrder([...own, ...mostAlike(notes, text, TASK_ALIKE)]);
}

export function notesForJudge({ notes }: Goal, { task, text }: { task: string; text: string }) {
  const own = notes.filter((note) => note.task === task).slice(-JUDGE_OWN);
  const others = notes.filter((note) => note.task !== task);
  return { own, others: inOrder(mostAlike(others, text, JUDGE_ALIKE)) };
}

function inOrder(notes: readonly GoalNote[]): GoalNote[] {
  return [...new Set(notes)].toSorted((a, b) => a.seq - b.seq);
}

/** Of those that have a word in common with it; of equals the newer. */
function mostAlike(notes: readonly GoalNote[], text: string, most: number): GoalNote[] {
  const wanted = new Set(termsIn(text));
  const scored = notes.map((note) => ({
    note,
    score: likeness(wanted, new Set(termsIn(note.text))),
  }));
  return scored
    .filter(({ score }) => score > 0)
    .toSorted((a, b) => b.score - a.score || b.note.seq - a.note.seq)
    .slice(0, most)
    .map(({ note }) => note);
}

function likeness(a: ReadonlySet<string>, b: ReadonlySet<string>): number {
  const common = [...a].filter((term) => b.has(term)).length;
  return common === 0 ? 0 : common / Math.sqrt(a.size * b.size);
}
