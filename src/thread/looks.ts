import type { Entry } from "../core/entry.ts";
import { type Finding, objectText } from "../core/finding.ts";
import { forgetOldest, MAX_BROKEN } from "./fold-memory.ts";
import { callKey } from "./model-run.ts";
import type { Broken, LaterLook, Run, Thread } from "./state.ts";
import type { Call } from "./call.ts";

/** What calls found broken, and the looks at it once something was done about it. */

export function brokenIn(findings: readonly Finding[]): Broken[] {
  return findings
    .filter(({ severity }) => severity === "error")
    .map(({ object, cause }) => ({ object: objectText(object), cause }));
}

/** A read says how what it looked at is now. */
export function noteBroken(
  thread: Thread,
  run: Run | undefined,
  call: Call,
  { outcome, findings = [] }: Entry<"tool_finished">,
): void {
  const isRead = call.started !== undefined && call.started.effect === "read";
  if (!isRead || outcome !== "ok" || call.action !== undefined) return;
  const key = callKey(call.tool, call.args);
  const before = thread.broken.get(key);
  thread.broken.delete(key);
  const broken = brokenIn(findings);
  if (broken.length === 0) return;
  const { tool, args } = call;
  const asked = run?.started.checks?.asked ?? [];
  const askedBy = asked
    .filter((each) => each.call === call.call)
    .map(({ skill, check }) => ({ skill, check }));
  const by = askedBy.length > 0 ? askedBy : (before?.askedBy ?? []);
  thread.broken.set(key, { tool, args, askedBy: by, broken });
  forgetOldest(thread, thread.broken, MAX_BROKEN);
}

/** An action was done while something was broken. */
export function planLook(thread: Thread, of: Call, { at, looksAfterMs }: Entry<"tool_finished">) {
  const { action } = of;
  if (looksAfterMs === undefined || action === undefined) return;
  thread.looks.set(of.call, {
    of,
    action,
    afterMs: looksAfterMs,
    dueAt: at + looksAfterMs,
    calls: [...thread.broken.values()],
    isDue: false,
    run: undefined,
  });
}

/** How what was broken stands now. */
export interface LookedAgain {
  readonly verdict: "done" | "not done" | "unknown";
  /** Those that are well, those that are not, and those that nobody could see, each with the call that was to show it. */
  readonly well: readonly Seen[];
  readonly still: readonly Seen[];
  readonly unseen: readonly Seen[];
  /** What is broken that was not before. */
  readonly others: readonly Seen[];
}

export type Seen = Broken & { readonly call: Call };

/** Compares what was broken with what a run saw now. */
export function lookedAgain({ calls }: LaterLook, run: Run): LookedAgain {
  const now = [...run.calls.values()];
  const [well, still, unseen, others]: Seen[][] = [[], [], [], []];
  for (const before of calls) {
    const key = callKey(before.tool, before.args);
    const call = now.find((each) => callKey(each.tool, each.args) === key);
    if (call === undefined) continue;
    const { outcome, findings = [], gaps = [] } = call.finished ?? {};
    const broken = brokenIn(findings);
    for (const each of before.broken) {
      const same = broken.find(({ object }) => object === each.object);
      if (same !== undefined) still?.push({ ...same, call });
      // Where it could not see everything, that it does not see it says nothing.
      else (outcome === "ok" && gaps.length === 0 ? well : unseen)?.push({ ...each, call });
    }
    const known = new Set(before.broken.map(({ object }) => object));
    for (const each of broken) if (!known.has(each.object)) others?.push({ ...each, call });
  }
  const seen = { well: well ?? [], still: still ?? [], unseen: unseen ?? [], others: others ?? [] };
  return { ...seen, verdict: verdictOf(seen) };
}

function verdictOf({ well, still, unseen }: Omit<LookedAgain, "verdict">): LookedAgain["verdict"] {
  if (unseen.length > 0) return "unknown";
  if (still.length === 0) return well.length > 0 ? "done" : "unknown";
  // What helped one of two things may be what it was for.
  return well.length === 0 ? "not done" : "unknown";
}
