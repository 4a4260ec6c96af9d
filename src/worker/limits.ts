import { askerIn, type Call } from "../journal/thread.ts";
import type { Tool } from "../tools/tool.ts";
import { type Drive, persist, storeNow } from "./drive.ts";

/**
 * Why the call is one too many (`Tool.limits`), as a sentence, or undefined; then it counts. A call that is looked at again
 * after a crash counts twice.
 */
export async function whyTooMany(
  drive: Drive,
  { run: name, call }: Call,
  { name: tool, limits }: Tool,
): Promise<string | undefined> {
  if (limits === undefined) return undefined;
  const run = drive.thread.runs.get(name);
  const earlier = [...(run?.calls.values() ?? [])].filter((each) => each.tool === tool);
  if (earlier.findIndex((each) => each.call === call) >= limits.perRun) {
    return `Only ${limits.perRun} calls of ${tool} may be made in one run, so this one was not.`;
  }
  const { journal } = drive.parts;
  const hour = new Date(storeNow(drive)).toISOString().slice(0, 13);
  const counter = `calls:${tool}:${hour}:${(run && askerIn(run))?.account ?? ""}`;
  const set = await persist(drive, () => journal.reserve(counter, 1, limits.perPersonHour));
  if (set === undefined) {
    return `Only ${limits.perPersonHour} calls of ${tool} may be made for one person in an hour; try again in the next.`;
  }
  await persist(drive, () => journal.settle(set, 1));
  return undefined;
}
