import type { Entry } from "../core/entry.ts";
import { counted, oneLine, shortened } from "../core/text.ts";

/** What people and models read of helpers. */

/** What a helper does. */
export function helperWords(task: Entry<"run_started">["task"]): string {
  return `Helper: ${shortened(oneLine(task?.text ?? ""), 80)}`;
}

/** Why there is no helper, for the model that asked for it. */
export const noHelper = {
  onlyModels: "A helper works for a model's run; run the tools yourself.",
  off: "Helpers are off here. Do it yourself.",
  nothingLeft: "What this run may still use is too little for a helper. Do the rest yourself.",
  tooDeep: "Helpers have no helpers of their own at this depth. Do it yourself.",
  tooMany: (perRun: number) =>
    `${perRun} helpers have worked for this run, which is the limit. Do the rest yourself.`,
  unknownTools: (unknown: readonly string[], known: readonly string[]) =>
    `You have no tool ${unknown.join(", ")} to give. There are: ${known.join(", ")}.`,
} as const;

const ENDS: Readonly<Record<Entry<"run_ended">["status"], string>> = {
  completed: "its report.",
  wrapped_up: "it could not finish; its report so far.",
  failed: "it failed.",
  cancelled: "it was stopped.",
  silent: "it said nothing.",
};

/** A report as the result of the call that asked for it. `calls`: the numbers of those that it rests on. `limit`: the one that it reached. */
export function report(
  { run, status, text = "" }: Pick<Entry<"run_ended">, "run" | "status" | "text">,
  { steps, calls, limit }: { steps: number; calls: readonly number[]; limit: string | undefined },
): string {
  const which = calls.length === 0 ? "no call" : `calls ${rangesOf(calls)}`;
  const how =
    limit === undefined ? ENDS[status] : `it reached its limit (${limit}); its report so far.`;
  return `Helper ${run}, ${counted(steps, "step")}, ${which}: ${how}\n${text}`;
}

/** `T4–T6, T9`. */
function rangesOf(numbers: readonly number[]): string {
  const ranges: [number, number][] = [];
  for (const number of numbers.toSorted((a, b) => a - b)) {
    const last = ranges.at(-1);
    if (last !== undefined && number === last[1] + 1) last[1] = number;
    else ranges.push([number, number]);
  }
  return ranges.map(([a, b]) => (a === b ? `T${a}` : `T${a}–T${b}`)).join(", ");
}
