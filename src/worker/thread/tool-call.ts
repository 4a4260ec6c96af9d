import { createHash } from "node:crypto";
import { workKey } from "../../thread/work-keys.ts";
import { approvingVotes } from "../../thread/action.ts";
import { lateDraft } from "../../thread/drafts-calls.ts";
import { isCheck } from "../../thread/checking.ts";
import { depthOf } from "../../thread/family.ts";
import { oneResultBytes } from "../../thread/filling.ts";
import { askerIn, mayOnlyRead } from "../../thread/state.ts";
import { argsOf, type Call, doingOf } from "../../thread/call.ts";
import { begunOf } from "../../queries/outgoing.ts";
import type { DeniedBy } from "../../core/entry-fields.ts";
import { isAgent } from "../../core/people.ts";
import type { PreparedCall, ToolResult } from "../../core/tool-call.ts";
import type { Asker, Verdict } from "../../tools/tool.ts";
import { conclude } from "./conclude.ts";
import { concludeSoon, putOff, runInBackground } from "../background.ts";
import { ensureLive } from "../lease.ts";
import { barrier, postLate } from "../store.ts";
import type { Conclusion, Learn, ThreadContext } from "./parts.ts";
import { audienceOf, peopleAround, saidAt, tenantsOf } from "./places.ts";
import { progress } from "./progress.ts";
import { isLookUpFailure } from "./permission/look-up.ts";
import { mayRun } from "./permission/permission.ts";
import { hasReadOutside } from "./permission/outside.ts";
import { permitStep } from "./permission/permission.ts";
import { isAmongMembers } from "./permission/requesters.ts";

/** Who the call is made for: whoever began its run. */
function askerOf(ctx: ThreadContext, { run, call, tool, action }: Call): Asker {
  const { key, adapter, parts, thread } = ctx;
  const found = thread.runs.get(run);
  const { account = "", name = "" } = (found && askerIn(found)) ?? {};
  const own = () =>
    peopleAround(ctx)
      .timezone(account)
      .catch(() => undefined);
  return {
    key,
    call,
    account,
    person: parts.personOf(account),
    name,
    principals: [...(found?.principals ?? [])],
    approvers: action === undefined ? [] : approvingVotes(action).map((vote) => vote.account),
    timezone: async () => parts.timezone ?? (await own()) ?? "UTC",
    tenants: () => tenantsOf(ctx, account),
    // Nobody here knows what an agent has read.
    outside: async () => isAgent(account) || (await hasReadOutside(ctx, run)),
    // Who is no full member of the thread is told what everybody may know.
    audience: async () => {
      const isOpen = parts.dispatcher.find(tool)?.open === true;
      return isOpen && !(await isAmongMembers(ctx, run)) ? undefined : audienceOf(ctx);
    },
    link: adapter.link(key),
    said: (post) => saidAt(ctx, post),
  };
}

/** A change for which the store was not there for so long after it was to begin is not what people expect any more. */
const LATEST_MS = 60_000;
const NOT_BEGUN: ToolResult = {
  outcome: "error",
  text: "It was not begun: for more than a minute the store could not keep that it begins. Ask for it again.",
  artifacts: [],
  files: [],
  findings: [],
  gaps: [],
  ms: 0,
};

/** Runs a call whose `tool_started` is in the journal, and writes down how it ended; `done` lets the next one go. */
export function runTool(ctx: ThreadContext, call: Call, done: () => void = () => {}): void {
  const kept = call.started?.effect !== "read";
  runInBackground(ctx, { key: workKey.call(call.call), run: call.run, kept }, async (signal) => {
    try {
      if (kept && !(await barrier(ctx))) return async () => {};
      if (kept && ctx.now() - (call.started?.at ?? 0) > LATEST_MS)
        return () => record(ctx, call, NOT_BEGUN);
      // Narrows the window in which a worker that was frozen right here acts after another has taken over.
      if (!(await ensureLive(ctx))) return async () => {};
      const finished = await callTool(
        ctx,
        call,
        { args: argsOf(call), doing: doingOf(call) },
        signal,
      );
      return () => record(ctx, call, finished);
    } finally {
      done();
    }
  });
}

/** A read that takes longer is written down as begun, so that everybody sees what goes on. */
const LONG_READ_MS = 100;

/**
 * Runs an allowed read at once. Nothing hangs on its start, and after a crash it is simply asked for again: what takes no
 * time is written down when it has ended.
 */
export async function read(
  ctx: ThreadContext,
  call: Call,
  prepared: PreparedCall,
  signal: AbortSignal,
): Promise<Conclusion> {
  if (signal.aborted || ctx.over || ctx.draining || !(await ensureLive(ctx))) return async () => {};
  const begun = { do: "read", call, prepared, facts: undefined } as const;
  const note = () => {
    if (!ctx.draining) concludeSoon(ctx, () => conclude(ctx, begun));
  };
  const noted = setTimeout(note, LONG_READ_MS);
  // What a Stop cut had begun, which its run's last word counts.
  signal.addEventListener("abort", note);
  try {
    const facts = await callTool(ctx, call, prepared, signal);
    return async () => {
      if (facts.outcome === "cancelled" && ctx.draining) return;
      await conclude(ctx, { do: "read", call, prepared, facts });
    };
  } finally {
    clearTimeout(noted);
    signal.removeEventListener("abort", note);
  }
}

async function callTool(
  ctx: ThreadContext,
  call: Call,
  { args, doing }: Pick<PreparedCall, "args" | "doing">,
  signal: AbortSignal,
): Promise<ToolResult> {
  const { tool } = call;
  ctx.events.publish({ kind: "tool_began", key: ctx.key, run: call.run, call: call.call, tool });
  const run = ctx.thread.runs.get(call.run);
  progress(ctx, call.run, begunOf(call, { args, doing }, run && depthOf(run)));
  const finished = await ctx.parts.dispatcher.run(tool, args, {
    signal,
    startedAt: call.started?.at ?? ctx.now(),
    asker: askerOf(ctx, call),
    readsOnly: mayOnlyRead(run) || isCheck(run, call.call),
    maxBytes: oneResultBytes(run?.modelRun?.terms.window),
    keep: (bytes) => ctx.journal.putArtifact(ctx.key, bytes),
    artifact: (id) => ctx.journal.readArtifact(ctx.key, id),
    permit: (other) => permitStep(ctx, { ...call, args: other, from: args }),
  });
  const { outcome, ms } = finished;
  progress(ctx, call.run, { kind: "tool_finished", call: call.call, tool, outcome, ms });
  return finished;
}

/**
 * Writes down an outcome this worker knows. A fenced worker posts it as a late word instead, so that it is not lost. A
 * read that was cut because of a shutdown is left as it is: the next start runs it again.
 */
async function record(ctx: ThreadContext, call: Call, facts: ToolResult): Promise<void> {
  if (facts.outcome === "cancelled" && ctx.draining) return;
  let isSaid = false;
  try {
    if (!ctx.over && !ctx.fenced) {
      await conclude(ctx, { do: "run", call, facts });
      // After a failover nobody else would know.
      const isKept = call.started?.effect === "read" || (await barrier(ctx));
      isSaid = isKept && !ctx.fenced && call.finished?.recovered !== true;
    }
  } finally {
    // Another worker may have concluded meanwhile that nobody knows.
    const isOpen =
      call.finished === undefined || call.finished.recovered === true || ctx.lost !== undefined;
    if (!isSaid && isOpen && call.started?.effect !== "read") {
      await postLate(ctx, lateDraft(call, facts));
    }
  }
}

/**
 * A call whose worker died. A read that nobody had to approve is run again, unless it was stopped, or policy denies it or
 * has it approved by now. Anything else is never run again: its verifier may report that it was done; whatever else it
 * says is evidence for the person who settles it.
 */
export const recover: Learn<"recover"> = async (ctx, step, signal) => {
  const { call } = step;
  const { started, tool, action } = call;
  if (started === undefined) return async () => {};
  if (started.effect === "read" && action === undefined) return runAgain(ctx, step, signal);
  const verified: Verdict = ctx.thread.parked
    ? { verdict: "unknown", evidence: "not possible: its work crashed twice" }
    : await ctx.parts.dispatcher.verify(tool, argsOf(call), started.at, signal, askerOf(ctx, call));
  return () => conclude(ctx, { ...step, facts: { kind: "verified", ...verified } });
};

/** Looks again at a call that is done. Cut by a shutdown, the next worker looks. */
export const verifyLater: Learn<"verify"> = async (ctx, step, signal) => {
  const call = step.check.of;
  const { dispatcher } = ctx.parts;
  const facts = await dispatcher.verifyLater(call.tool, argsOf(call), {
    digest: call.started?.digest,
    startedAt: call.started?.at ?? 0,
    asker: askerOf(ctx, call),
    signal,
  });
  return async () => {
    if (!signal.aborted) await conclude(ctx, { ...step, facts });
  };
};

/**
 * Marks once that a call is done; what fails is only logged. A private place's actions are marked nowhere. Cut by a shutdown, the
 * next worker marks it.
 */
export const mark: Learn<"mark"> = async (ctx, step, signal) => {
  const { key, adapter, log, parts } = ctx;
  const { call, tool, action, undoes, finished } = step.done;
  const audience = await audienceOf(ctx).catch(() => "not known");
  if (!(await barrier(ctx))) return async () => {};
  if (audience === undefined) {
    const done = {
      id: createHash("sha256").update(`${key} ${call}`).digest("hex").slice(0, 16),
      tool,
      resource: parts.encoder.encode(parts.dispatcher.resourceOf(tool, argsOf(step.done))),
      isUndo: undoes !== undefined,
      approvers: action === undefined ? [] : approvingVotes(action).map(({ name }) => name),
      link: adapter.link(key),
      at: finished?.at ?? ctx.now(),
    };
    for (const why of await parts.dispatcher.mark(done, signal)) log.warn({ key, call }, why);
  }
  return async () => {
    if (!signal.aborted) await conclude(ctx, { ...step, facts: "marked" });
  };
};

/** A call that was started cannot be put on a card. */
const NEEDS_APPROVAL =
  "It was cut off, and it needs approval by now, so it was not run again. Ask for it again to have it approved.";

const runAgain: Learn<"recover"> = async (ctx, step, signal) => {
  const { key, call } = step;
  const end = (kind: "blocked" | "cancelled", text: string, by?: DeniedBy) =>
    conclude(ctx, { ...step, facts: { kind, text, by } });
  try {
    const permission = await mayRun(ctx, call, { args: argsOf(call), effect: "read" }, signal);
    return async () => {
      if (ctx.thread.runs.get(call.run)?.stopped === true)
        return end("cancelled", "Interrupted, then stopped.");
      if (permission.kind === "deny") return end("blocked", permission.why, permission.by);
      if (permission.kind === "ask") return end("blocked", NEEDS_APPROVAL);
      if (!ctx.over && !ctx.fenced && !ctx.draining) runTool(ctx, call);
    };
  } catch (error) {
    if (!isLookUpFailure(error)) throw error;
    return async () => putOff(ctx, key, error);
  }
};
