import { TOLD_TOKENS } from "../../agent/said.ts";
import { transcriptOf } from "../../agent/transcript-turns.ts";
import { isBotError } from "../../core/errors.ts";
import { atMost } from "../../core/time-limit.ts";
import { type Case, countFixes, type FixCount } from "../../memory/cases.ts";
import type { MemoryItem } from "../../memory/item.ts";
import { usefulness, withinBudget } from "../../memory/policy.ts";
import { caseText, fixText, itemText } from "../../memory/words.ts";
import type { Above } from "../../thread/drafts-runs.ts";
import { isChecking } from "../../thread/checking.ts";
import { askerIn, type Run } from "../../thread/state.ts";
import { taskOf } from "../../thread/task.ts";
import { conclude } from "./conclude.ts";
import type { Learn, ThreadContext } from "./parts.ts";
import { isAmongMembers } from "./permission/requesters.ts";
import { audienceOf, tenantsOf } from "./places.ts";

/** A run waits no longer for what is remembered. */
const RECALL_MS = 3_000;
/** Tools whose successes are counted. */
const MOST_FIXES = 3;

/**
 * What is remembered of what the run is asked, for its first request: once in a thread each. Everybody who reads the thread may know
 * it. Never fails the run.
 */
export async function recallFor(ctx: ThreadContext, run: Run): Promise<Above["remembered"]> {
  try {
    return await atMost(RECALL_MS, recall(ctx, run), () => undefined);
  } catch (error) {
    ctx.log.warn({ err: error, key: ctx.key }, "memory could not be looked at");
    return undefined;
  }
}

async function recall(ctx: ThreadContext, run: Run): Promise<Above["remembered"]> {
  const { memory } = ctx.parts;
  const text = isChecking(run)
    ? (ctx.thread.digest.question?.text ?? "")
    : (run.started.task?.text ??
      (run.modelRun?.told ?? []).map((message) => message.text).join("\n"));
  const asker = askerIn(run);
  // An alert nobody asked about: what everybody who reads the thread may know is told.
  const isAlert = run.started.checks?.why === "alert";
  if (memory === undefined || text.trim() === "") return undefined;
  if (!isAlert && (asker === undefined || !(await isAmongMembers(ctx, run.started.run))))
    return undefined;
  const { recent, similar, threshold, nearness } = memory.recall;
  const viewer = {
    thread: ctx.key,
    audience: await audienceOf(ctx),
    tenants: await tenantsOf(ctx, asker?.account ?? ""),
  };
  const known = transcriptOf(ctx.state.transcript, run.started.run).remembered;
  const isNew = ({ id, thread }: MemoryItem) => !known.has(id) && thread !== ctx.key;
  const alike = (await memory.memory.alike(text, viewer, { threshold, nearness })).filter(
    ({ item }) => item.thread !== ctx.key,
  );
  const best = alike.filter(({ ids }) => !ids.some((id) => known.has(id))).slice(0, similar);
  const newest =
    recent === 0 ? [] : await memory.memory.newest(viewer, { kind: "note", limit: recent });
  const isBest = ({ id }: MemoryItem) => best.some(({ ids }) => ids.includes(id));
  const others = newest.filter((item) => isNew(item) && !isBest(item));
  return told(ctx, best, countFixes(alike).slice(0, MOST_FIXES), others);
}

/** The best first, then what was done, then the newest notes: as much as there is room for. */
function told(
  { parts }: ThreadContext,
  best: readonly Case[],
  fixes: readonly FixCount[],
  newest: readonly MemoryItem[],
): Above["remembered"] {
  const { encode } = parts.encoder;
  const texts = [...best.map(caseText), ...fixes.map(fixText), ...newest.map(itemText)].map(encode);
  const window = parts.run.terms?.contextWindow;
  const kept = withinBudget(texts, parts.memory?.recall ?? {}, window, TOLD_TOKENS);
  const items = [...best.map(({ item }) => item), ...newest];
  const end = best.length + fixes.length;
  const lines = [...kept.slice(0, best.length), ...kept.slice(end)];
  if (lines.length === 0) return undefined;
  return {
    items: lines.map((line, i) => ({ memory: items[i]?.id ?? "", text: line })),
    fixes: kept.slice(best.length, end),
  };
}

/** Keeps the record of what the thread looked into, where it is of use. */
export const remember: Learn<"remember"> = async (ctx, step, signal) => {
  const { key, adapter, parts, thread } = ctx;
  const { memory } = parts;
  const task = taskOf(thread);
  if (memory !== undefined && task !== undefined && usefulness(task) >= memory.keep) {
    // Of a place that cannot be looked up now it is the thread's alone, until it is told again.
    const audience = await audienceOf(ctx).catch(() => key);
    const of = { thread: key, link: adapter.link(key), audience, asOf: step.entry };
    await memory.memory.record(of, task).catch((error: unknown) => {
      if (isBotError(error, "STORE_UNAVAILABLE") || isBotError(error, "TIMEOUT")) throw error;
      ctx.log.warn({ err: error, key }, "what the thread found could not be remembered");
    });
  }
  return async () => {
    if (!signal.aborted) await conclude(ctx, { ...step, facts: "told" });
  };
};
