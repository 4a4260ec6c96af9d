import { isoUtc } from "../../../core/instant.ts";
import { callsOf, rootOf } from "../../../thread/family.ts";
import { askerIn } from "../../../thread/state.ts";
import type { Call } from "../../../thread/call.ts";
import type { Tool } from "../../../tools/tool.ts";
import { retryUntilStored } from "../../store.ts";
import type { ThreadContext } from "../parts.ts";

/** Why the call exceeds what its tool allows one run (`Tool.limits`), as a sentence, or undefined. */
export function whyTooManyInRun(
  ctx: ThreadContext,
  { run: name, call }: Call,
  { name: tool, limits }: Tool,
): string | undefined {
  if (limits === undefined) return undefined;
  const run = ctx.thread.runs.get(name);
  // Its helpers' calls are the run's too.
  const calls = run === undefined ? [] : callsOf(rootOf(run));
  const position = calls
    .filter((each) => each.tool === tool)
    .findIndex((each) => each.call === call);
  if (position < limits.perRun) return undefined;
  return `One run may call ${tool} ${limits.perRun} times at most, so this call was not made.`;
}

/**
 * Counts the call for whoever asked, or says in a sentence why they have had too many this hour. Ask it last: a call that
 * is prepared again, such as after a crash, counts twice.
 */
export async function countInHour(
  ctx: ThreadContext,
  { run: name }: Call,
  { name: tool, limits }: Tool,
): Promise<string | undefined> {
  if (limits === undefined) return undefined;
  const { journal, parts } = ctx;
  const run = ctx.thread.runs.get(name);
  const asker = run && askerIn(run);
  const person = asker === undefined ? "" : parts.personOf(asker.account);
  const hour = isoUtc(ctx.now(), "hour");
  const counter = `calls:${tool}:${hour}:${person}`;
  const set = await retryUntilStored(ctx, () => journal.reserve(counter, 1, limits.perPersonHour));
  if (set === undefined) {
    return `One person may have ${tool} called ${limits.perPersonHour} times an hour. Try again in the next hour.`;
  }
  await retryUntilStored(ctx, () => journal.commitReservation(set, 1));
  return undefined;
}
