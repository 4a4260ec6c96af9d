import { askerIn, type Call } from "../../../thread/state.ts";
import type { Tool } from "../../../tools/tool.ts";
import { storeNow } from "../../context.ts";
import { retryUntilStored } from "../../store.ts";
import type { ThreadContext } from "../context.ts";

/** Why the call is one too many for its run (`Tool.limits`), as a sentence, or undefined. */
export function whyTooManyInRun(
  ctx: ThreadContext,
  { run: name, call }: Call,
  { name: tool, limits }: Tool,
): string | undefined {
  if (limits === undefined) return undefined;
  const calls = [...(ctx.thread.runs.get(name)?.calls.values() ?? [])];
  const position = calls
    .filter((each) => each.tool === tool)
    .findIndex((each) => each.call === call);
  if (position < limits.perRun) return undefined;
  return `Only ${limits.perRun} calls of ${tool} may be made in one run, so this one was not.`;
}

/**
 * Counts the call for whoever asked, or says in a sentence why it is one too many for them in this hour. It comes last: a
 * call that is looked at again, such as after a crash, counts twice.
 */
export async function countInHour(
  ctx: ThreadContext,
  { run: name }: Call,
  { name: tool, limits }: Tool,
): Promise<string | undefined> {
  if (limits === undefined) return undefined;
  const { journal, personOf } = ctx.parts;
  const run = ctx.thread.runs.get(name);
  const asker = run && askerIn(run);
  const person = asker === undefined ? "" : personOf(asker.account);
  const hour = new Date(storeNow(ctx)).toISOString().slice(0, 13);
  const counter = `calls:${tool}:${hour}:${person}`;
  const set = await retryUntilStored(ctx, () => journal.reserve(counter, 1, limits.perPersonHour));
  if (set === undefined) {
    return `Only ${limits.perPersonHour} calls of ${tool} may be made for one person in an hour; try again in the next.`;
  }
  await retryUntilStored(ctx, () => journal.commitReservation(set, 1));
  return undefined;
}
