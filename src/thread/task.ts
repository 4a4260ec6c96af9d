import type { Content, Entry } from "../core/entry.ts";
import { oneLine, shortened } from "../core/text.ts";
import type { Action } from "./action.ts";
import { HOUSEKEEPING } from "./housekeeping.ts";
import type { Thread } from "./state.ts";
import type { Call } from "./call.ts";

/** What a thread looked into, and what came of it: what memory keeps of it. */
type Task = Extract<Content<"memory">["what"], { kind: "task" }>;

const MAX_LOOKED = 12;
const MAX_FIXES = 10;
/**
 * Characters of the question, of what was wrong, and of what was done (CORE 004.18). The fourth of its caps, 600 for the way there, needs
 * no cut: it is at most so many tools' names.
 */
const [MAX_QUESTION, MAX_CAUSE, MAX_TITLE] = [240, 400, 240];

/** As a view's name: memory was told of it. */
export const MEMORY_VIEW = "memory";

/** To be called once the entry is folded; `call`: the one that it ends. */
export function noteTask(thread: Thread, entry: Entry, call: Call | undefined): void {
  const { task } = thread;
  if (task.begun === 0) task.begun = entry.at;
  if (isLook(entry) && call !== undefined && !HOUSEKEEPING.test(call.tool)) {
    if (task.looked.size < MAX_LOOKED) task.looked.add(call.tool);
  }
  if (task.looked.size > 0 && isChange(thread, entry, call)) task.owed = entry.id;
}

function isLook(entry: Entry): boolean {
  return entry.kind === "tool_finished" && entry.outcome === "ok";
}

/** A run of a model's ended, an action was looked at again, settled or taken back. */
function isChange({ digest }: Thread, entry: Entry, call: Call | undefined): boolean {
  if (entry.kind === "run_ended") return digest.seq === entry.seq || entry.verifies !== undefined;
  if (entry.kind === "notice") return entry.verifies !== undefined;
  if (entry.kind === "tool_finished") return call?.undoes !== undefined && isLook(entry);
  return entry.kind === "settled";
}

/** Undefined: there is no question that it could be found by. */
export function taskOf({ digest, task, actions }: Thread): Task | undefined {
  const question = oneLine(digest.question?.text ?? "");
  if (question === "") return undefined;
  const found = digest.answers
    .map(({ text }) => causeIn(text))
    .findLast((each) => each !== undefined);
  const fixes = [...actions.values()].flatMap((action) => fixOf(action) ?? []).slice(-MAX_FIXES);
  const isSolved = fixes.some(({ result, helped }) => result === "done" && helped === true);
  return {
    kind: "task",
    question: shortened(question, MAX_QUESTION),
    begun: task.begun,
    ...found,
    looked: [...task.looked],
    fixes,
    outcome: isSolved ? "solved" : found === undefined ? "open" : "explained",
  };
}

const GRADED = /^[*_#>\s]*(CONFIRMED|LIKELY)\b[*_]*\s*[:,–—-]?\s*/;
const REFERENCE = /\s*\[T\d+(?:\s*,\s*T?\d+)*\]/g;

/** What an answer says is wrong, where it says how sure that is. */
export function causeIn(answer: string): Pick<Task, "cause" | "certainty"> | undefined {
  const [first = ""] = answer.trim().split(/\n\s*\n/, 1);
  const [mark, grade] = GRADED.exec(first) ?? [];
  if (mark === undefined) return undefined;
  const cause = oneLine(first.slice(mark.length).replaceAll(REFERENCE, ""));
  if (cause === "") return undefined;
  const certainty = grade === "CONFIRMED" ? "confirmed" : "likely";
  return { cause: shortened(cause, MAX_CAUSE), certainty };
}

/** What an action did about it; undefined: it was not done, or did nothing outside. */
export function fixOf(action: Action): Task["fixes"][number] | undefined {
  const { proposal, votes, granted, verified } = action;
  const { tool, preview } = proposal;
  const result = resultOf(action);
  if (result === undefined || HOUSEKEEPING.test(tool) || action.undoes !== undefined)
    return undefined;
  return {
    tool,
    title: shortened(oneLine(preview.title ?? tool), MAX_TITLE),
    approved: granted !== undefined || votes.some(({ approve }) => approve),
    result,
    action: action.action,
    ...(verified === "done" && { helped: true }),
    ...(verified === "not done" && { helped: false }),
  };
}

/** Undefined: it was not done. */
function resultOf({
  finished,
  settled,
  undoing,
}: Action): Task["fixes"][number]["result"] | undefined {
  if (undoing?.call?.finished?.outcome === "ok") return "undone";
  if (settled !== undefined) return settled.happened ? "done" : "failed";
  const results = { ok: "done", error: "failed", unknown: "unknown" } as const;
  const outcome = finished?.outcome;
  return outcome === "ok" || outcome === "error" || outcome === "unknown"
    ? results[outcome]
    : undefined;
}
