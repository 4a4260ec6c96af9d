import { entryId, noticeId } from "../../thread/entry-ids.ts";
import type { AppendKind, Draft, Effect, Outcome } from "../../core/entry.ts";
import { argsOf, askerIn, type Call } from "../../thread/state.ts";
import type { Finished } from "../../tools/dispatch.ts";
import type { Asker } from "../../tools/tool.ts";
import { runInBackground, putOff } from "../background.ts";
import { storeNow } from "../context.ts";
import { ensureLive } from "../lease.ts";
import { appendDecision, postLate } from "../store.ts";
import type { ThreadContext } from "./context.ts";
import { progress } from "./progress.ts";
import { isLookUpFailure } from "./permission/look-up.ts";
import { hasReadOutside } from "./permission/outside.ts";
import { permit, permitStep } from "./permission/permission.ts";
import { isAmongMembers } from "./permission/requesters.ts";

/** A call's result, from whoever knows it. */
export function finishedDraft(
  { run, call }: Pick<Call, "run" | "call">,
  outcome: Outcome,
  text: string,
): Draft<"tool_finished"> {
  return { id: entryId.finished(call), kind: "tool_finished", run, call, outcome, text };
}

export function recoveredDraft(call: Call, outcome: Outcome, text: string): Draft<"tool_finished"> {
  return { ...finishedDraft(call, outcome, text), recovered: true };
}

/** Who the call is made for: whoever began its run. */
function askerOf(ctx: ThreadContext, { run, call, tool }: Call): Asker {
  const { key, adapter, parts, thread } = ctx;
  const found = thread.runs.get(run);
  const { account = "", name = "" } = (found && askerIn(found)) ?? {};
  const own = () => adapter.people.timezone(account).catch(() => undefined);
  return {
    key,
    call,
    account,
    name,
    timezone: async () => parts.timezone ?? (await own()) ?? "UTC",
    tenants: () => adapter.tenants(key, account),
    outside: () => hasReadOutside(ctx, run),
    // Who is no full member of the thread is told what everybody may know.
    audience: async () => {
      const isOpen = parts.dispatcher.find(tool)?.open === true;
      return isOpen && !(await isAmongMembers(ctx, run)) ? undefined : adapter.audience(key);
    },
    link: adapter.link(key),
  };
}

/** Runs a call whose `tool_started` is in the journal, and writes down how it ended; `done` lets the next one go. */
export function runTool(ctx: ThreadContext, call: Call, done: () => void = () => {}): void {
  const { tool } = call;
  const args = argsOf(call);
  const kept = call.started?.effect !== "read";
  runInBackground(ctx, { key: `call:${call.call}`, run: call.run, kept }, async (signal) => {
    try {
      // Narrows the window in which a worker that was frozen right here acts after another has taken over.
      if (!(await ensureLive(ctx))) return async () => {};
      progress(ctx, call.run, { kind: "tool_started", call: call.call, tool, args });
      const finished = await ctx.parts.dispatcher.run(tool, args, {
        signal,
        startedAt: call.started?.at ?? storeNow(ctx),
        asker: askerOf(ctx, call),
        keep: (bytes) => ctx.parts.journal.putArtifact(ctx.key, bytes),
        artifact: (id) => ctx.parts.journal.readArtifact(ctx.key, id),
        permit: (other) => permitStep(ctx, { ...call, args: other, from: args }),
      });
      const { outcome, ms } = finished;
      progress(ctx, call.run, { kind: "tool_finished", call: call.call, tool, outcome, ms });
      return () => record(ctx, call, finished);
    } finally {
      done();
    }
  });
}

/**
 * Writes down an outcome this worker knows. A fenced worker posts it as a late word instead, so that it is not lost. A
 * read that was cut because of a shutdown is left as it is: the next start runs it again.
 */
async function record(ctx: ThreadContext, call: Call, finished: Finished): Promise<void> {
  const { outcome, text, ms, artifacts, files } = finished;
  if (outcome === "cancelled" && ctx.draining) return;
  const kept = {
    ...(artifacts.length > 0 && { artifacts }),
    ...(files.length > 0 && { files }),
  };
  const draft = { ...finishedDraft(call, outcome, text), ms, ...kept };
  const drafts = outcome === "unknown" ? [draft, unknownNotice(call, text)] : [draft];
  let said = false;
  try {
    if (!ctx.over && !ctx.fenced) {
      await appendDecision(ctx, () => (call.finished === undefined ? drafts : undefined));
      said = !ctx.fenced && call.finished?.recovered !== true;
    }
  } finally {
    // Another worker may have concluded meanwhile that nobody knows.
    const isOpen = call.finished === undefined || call.finished.recovered === true;
    if (!said && isOpen && call.started?.effect !== "read") {
      const id = entryId.late(call.call);
      await postLate(ctx, { id, kind: "signal", call: call.call, outcome, text });
    }
  }
}

/**
 * A call whose worker died. A read that nobody had to approve is run again, unless it was stopped, or policy denies it or
 * has it approved by now. Anything else is never run again: its verifier may report that it was done; whatever else it says is evidence for
 * the person who settles it.
 */
export function recover(ctx: ThreadContext, key: string, call: Call): void {
  const { started } = call;
  if (started === undefined) return;
  const { dispatcher } = ctx.parts;
  const args = argsOf(call);
  if (started.effect === "read" && call.action === undefined) {
    runInBackground(ctx, { key, run: call.run, kept: true }, (signal) =>
      again(ctx, call, started.effect, signal).catch((error: unknown) => {
        if (!isLookUpFailure(error)) throw error;
        return async () => putOff(ctx, key, error);
      }),
    );
    return;
  }
  runInBackground(ctx, { key, run: call.run, kept: true }, async (signal) => {
    const { verdict, evidence } = ctx.thread.parked
      ? { verdict: "unknown" as const, evidence: "not possible: its work crashed twice" }
      : await dispatcher.verify(call.tool, args, started.at, signal, askerOf(ctx, call));
    return () =>
      appendDecision(ctx, () =>
        call.finished === undefined ? recovered(call, verdict, evidence) : undefined,
      );
  });
}

/** A call that was started cannot be put on a card. */
const NEEDS_APPROVAL =
  "It was cut off, and it needs approval by now, so it was not run again. Ask for it again to have it approved.";

/** Runs an interrupted read again, or says why not. */
async function again(
  ctx: ThreadContext,
  call: Call,
  effect: Effect,
  signal: AbortSignal,
): Promise<() => Promise<void>> {
  const permission = await permit(ctx, { ...call, effect, args: argsOf(call) }, signal);
  const end = (outcome: Outcome, text: string) =>
    appendDecision(ctx, () =>
      call.finished === undefined ? [recoveredDraft(call, outcome, text)] : undefined,
    );
  return async () => {
    if (ctx.thread.runs.get(call.run)?.stopped === true)
      await end("cancelled", "Interrupted, then stopped.");
    else if (permission.kind === "deny") await end("blocked", permission.why);
    else if (permission.kind === "ask") await end("blocked", NEEDS_APPROVAL);
    else if (!ctx.over && !ctx.fenced && !ctx.draining) runTool(ctx, call);
  };
}

export function recovered(
  call: Call,
  verdict: "done" | "not done" | "unknown",
  evidence: string,
): Draft<AppendKind>[] {
  const done = verdict === "done";
  const interrupted = `The worker that ran ${call.tool} was cut off before it could say how it went.`;
  const text = done
    ? `${interrupted} Checked afterwards: it was done. ${evidence}`
    : `${interrupted} The outcome is unknown; it is not run again. Checked afterwards: ${asSentence(evidence)}`;
  const finished = recoveredDraft(call, done ? "ok" : "unknown", text);
  return done ? [finished] : [finished, unknownNotice(call, text)];
}

function asSentence(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`;
}

/** `restart_service on web-1` */
function toolOn({ tool, started }: Call): string {
  return started?.host === undefined ? tool : `${tool} on ${started.host}`;
}

function unknownNotice(call: Call, text: string): Draft<"notice"> {
  const ref = call.action?.action ?? call.call;
  return {
    id: noticeId.unknown(call.call),
    kind: "notice",
    text: `UNKNOWN outcome of ${ref} (${toolOn(call)}). ${text} Please look, then say: settle ${ref} happened | not-happened [because …].`,
    settles: ref,
  };
}
