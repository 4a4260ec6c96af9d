import { type Action, carrierOf, type Grant, isOpen } from "./action.ts";
import { type AppendKind, type Draft, type Entry, isFact, type Outcome } from "../core/entry.ts";
import type { DeniedBy } from "../core/entry-fields.ts";
import type { PreparedCall, ReverseCall, ToolResult, ViewChange } from "../core/tool-call.ts";
import type { StepOf } from "./steps.ts";
import type { Surroundings } from "./surroundings.ts";
import {
  expiredNotice,
  frozenNotice,
  lookingNotice,
  notice,
  questionNotice,
  unknownNotice,
} from "./drafts-notices.ts";
import { pathOf } from "./family.ts";
import { actionName, entryId, noticeId } from "./entry-ids.ts";
import type { Instead } from "./gates/gate.ts";
import type { Heard } from "./gates/gates.ts";
import { planDraft } from "./plan.ts";
import * as phrases from "./phrases.ts";
import { runEndedDraft } from "./drafts-runs.ts";
import { HOUSEKEEPING } from "./housekeeping.ts";
import { isCheck } from "./checking.ts";
import { isReader, mayOnlyRead, type Run } from "./state.ts";
import type { Call } from "./call.ts";

/** What people are shown of a call, and who of them may approve it. */
export type Card = PreparedCall &
  Pick<Entry<"action_proposed">, "preview" | "approvers" | "quorum" | "barred" | "expiresAt"> &
  Partial<
    Pick<
      Entry<"action_proposed">,
      "names" | "confirm" | "breakable" | "offer" | "granted" | "escalation"
    >
  >;

/** What becomes of a call that nobody was asked about yet. */
export type Proposal =
  /** `by`: a rule of that part says no. */
  | { kind: "blocked"; text: string; by?: DeniedBy }
  /** A gate of its run refused it, or answered it in a tool's place. */
  | { kind: "instead"; instead: Heard<Instead> }
  /** Its run only reads, and this would not, or people would have to be asked. */
  | { kind: "beyond"; why?: string }
  /** Nobody can say yet who could approve it, and people are told that this takes long. */
  | { kind: "later" }
  | { kind: "allow"; prepared: PreparedCall }
  | { kind: "ask"; card: Card; reason: string | undefined; place: string | undefined }
  | { kind: "question"; text: string; choices: string[]; expiresAt: number };

export function preparedDrafts(
  call: Call,
  proposal: Proposal,
  { thread }: Surroundings,
): Draft<AppendKind>[] | undefined {
  const isReading = proposal.kind === "allow" && proposal.prepared.effect === "read";
  const wantsMore = proposal.kind === "ask" || (proposal.kind === "allow" && !isReading);
  const run = thread.runs.get(call.run);
  // A bot is asked nothing.
  const asksNobody = proposal.kind === "question" && run?.started.principals.length === 0;
  if (
    isCheck(run, call.call) &&
    (proposal.kind === "beyond" || wantsMore || proposal.kind === "question")
  )
    return [finishedDraft(call, "blocked", phrases.results.notAsked(whyOf(proposal)))];
  if (proposal.kind === "beyond" || asksNobody || (wantsMore && mayOnlyRead(run))) {
    const why = isReader(run) ? phrases.results.beyondReading : phrases.results.nobodyAsked;
    return [{ ...finishedDraft(call, "blocked", why), handsOver: true }];
  }
  switch (proposal.kind) {
    case "blocked":
      return [{ ...finishedDraft(call, "blocked", proposal.text), ...deniedOf(proposal) }];
    case "instead":
      return insteadDrafts(call, proposal.instead, run);
    case "later":
      return call.isDelayTold ? undefined : [lookingNotice(call)];
    case "question":
      return [questionNotice(call, proposal)];
    case "allow":
      return [allowedDraft(call, proposal.prepared)];
    case "ask": {
      const { card, reason, place } = proposal;
      const action = actionName(thread.counts.actions + 1);
      const path = run === undefined ? [] : pathOf(run);
      return [proposedDraft(call, { action, revision: 1 }, card, { reason, place, path })];
    }
  }
}

function insteadDrafts(
  call: Call,
  instead: Heard<Instead>,
  run: Run | undefined,
): Draft<AppendKind>[] {
  const { text, gate } = instead;
  if (instead.do === "refuse") return [{ ...finishedDraft(call, "blocked", text), gate }];
  const { modelRun } = run ?? {};
  const kept =
    modelRun === undefined ? [] : [planDraft(call.run, modelRun, { tasks: instead.keeps.plan })];
  return [...kept, { ...finishedDraft(call, "ok", text), gate }];
}

/** Why people would have to be asked, as a sentence; undefined: it is not known, or nobody has to be. */
function whyOf(proposal: Proposal): string | undefined {
  return proposal.kind === "beyond" ? proposal.why : undefined;
}

/** A card's first revision, or its next. */
export function proposedDraft(
  { run, call }: Pick<Call, "run" | "call">,
  { action, revision }: { action: string; revision: number },
  { host, ...card }: Card,
  {
    reason,
    place,
    path = [],
  }: {
    reason?: string | undefined;
    place?: string | undefined;
    path?: readonly string[] | undefined;
  },
): Draft<"action_proposed"> {
  return {
    id: entryId.proposed(action, revision),
    kind: "action_proposed",
    run,
    call,
    action,
    revision,
    ...card,
    ...(host !== undefined && { host }),
    ...(reason !== undefined && { reason }),
    ...(place !== undefined && { place }),
    ...(path.length > 0 && { path: [...path] }),
  };
}

/** `more`: the action that carries it, or its words and the arguments where they are not those asked for. */
function startedDraft(
  { run, call }: Call,
  {
    tool,
    effect,
    digest,
    host,
  }: Pick<PreparedCall, "tool" | "effect"> & {
    digest?: string | undefined;
    host?: string | undefined;
  },
  more: Pick<Draft<"tool_started">, "action" | "revision" | "args" | "grant" | "doing">,
): Draft<"tool_started"> {
  return {
    id: entryId.started(call),
    kind: "tool_started",
    run,
    call,
    tool,
    effect,
    ...(digest !== undefined && { digest }),
    ...(host !== undefined && { host }),
    ...more,
  };
}

/** Nobody had to approve it. */
function allowedDraft(call: Call, prepared: PreparedCall): Draft<"tool_started"> {
  const { tool, effect, host, digest } = prepared;
  const what = { tool, effect, host, ...(effect !== "read" && { digest }) };
  return startedDraft(call, what, saidOf(call, prepared));
}

/** Its words, and the arguments where they are not those asked for. */
function saidOf(call: Call, { args, doing }: PreparedCall) {
  const isSame = JSON.stringify(args) === JSON.stringify(call.args);
  return { ...(!isSame && { args }), ...(doing !== undefined && { doing }) };
}

/** An allowed read, whose end says its start too, unless that was written while it went on. `result`: undefined until it ends. */
export function readDrafts(
  call: Call,
  prepared: PreparedCall,
  result: ToolResult | undefined,
): Draft<AppendKind>[] | undefined {
  if (call.finished !== undefined) return undefined;
  const hasBegun = call.started !== undefined;
  if (result === undefined) return hasBegun ? undefined : [allowedDraft(call, prepared)];
  const [ended, ...more] = finishedDrafts(call, result);
  // That it was cut or refused says nothing of whether it began.
  if (hasBegun || !isFact(ended)) return [ended, ...more];
  const { tool, host } = prepared;
  const where = host === undefined ? {} : { host };
  return [{ ...ended, tool, ...where, ...saidOf(call, prepared) }, ...more];
}

export interface Rechecked {
  proposal: Entry<"action_proposed">;
  drift: string | undefined;
  /** The grant that carried it when it was looked at; undefined: people do. */
  grant?: Grant | undefined;
  /** The freeze that it has to wait for; people are told. */
  frozen?: { id: string; text: string } | undefined;
}

/** Undefined where what was looked at is not what stands there now. */
export function dispatchedDrafts(
  { call, action }: StepOf<"dispatch">,
  { proposal, drift, grant, frozen }: Rechecked,
  { thread }: Pick<Surroundings, "thread">,
): Draft<AppendKind>[] | undefined {
  const carrier = carrierOf(action);
  const granted = carrier?.kind === "grant" ? carrier.grant : undefined;
  if (action.proposal !== proposal || granted !== grant) return undefined;
  if (mayOnlyRead(thread.runs.get(call.run))) return [voidDraft(action, phrases.results.readsOnly)];
  if (drift !== undefined) return [voidDraft(action, drift)];
  if (frozen !== undefined) return [frozenNotice(action, frozen)];
  const by = grant === undefined ? {} : { grant: grant.of.action };
  const { revision } = proposal;
  return [startedDraft(call, proposal, { action: action.action, revision, ...by })];
}

/** A call's result, from whoever knows it. */
export function finishedDraft(
  { run, call }: Pick<Call, "run" | "call">,
  outcome: Outcome,
  text: string,
): Draft<"tool_finished"> {
  return { id: entryId.finished(call), kind: "tool_finished", run, call, outcome, text };
}

function deniedOf({ by }: { by?: DeniedBy | undefined }): Pick<Draft<"tool_finished">, "deniedBy"> {
  return by === undefined ? {} : { deniedBy: by };
}

export function finishedDrafts(
  call: Call,
  {
    outcome,
    text,
    ms,
    artifacts,
    files,
    findings,
    gaps,
    undo,
    verifyAfterMs,
    marks,
    view,
    readBack,
  }: ToolResult,
): [Draft<"tool_finished">, ...Draft<AppendKind>[]] {
  const finished = {
    ...finishedDraft(call, outcome, text),
    ms,
    ...(artifacts.length > 0 && { artifacts }),
    ...(files.length > 0 && { files }),
    ...(findings.length > 0 && { findings }),
    ...(gaps.length > 0 && { gaps }),
    ...(verifyAfterMs !== undefined && { verifyAfterMs }),
    ...(marks !== undefined && { marks }),
    ...(undo !== undefined && { undo }),
    ...(readBack !== undefined && { readBack }),
  };
  if (outcome === "unknown") return [finished, unknownNotice(call, text)];
  return view === undefined ? [finished] : [finished, viewDraft(view)];
}

/** With when to look again at what is broken, where an action was done about it. */
export function withLook(
  drafts: Draft<AppendKind>[],
  { action, started, undoes, tool }: Call,
  { thread, run }: Surroundings,
): Draft<AppendKind>[] {
  const looksAfterMs = run.checks?.verifyAfterMs;
  const isChange = action !== undefined && started !== undefined && started.effect !== "read";
  const isOwed = isChange && undoes === undefined && thread.broken.size > 0;
  if (looksAfterMs === undefined || !isOwed || HOUSEKEEPING.test(tool)) return drafts;
  return drafts.map((draft) =>
    draft.kind === "tool_finished" && draft.outcome === "ok" ? { ...draft, looksAfterMs } : draft,
  );
}

function viewDraft(change: ViewChange): Draft<"view_added" | "view_removed"> {
  const { kind, view } = change;
  const id = kind === "view_added" ? entryId.viewAdded(view) : entryId.viewRemoved(view);
  return { id, ...change };
}

/** The word of a worker that ran the call and no longer holds its thread. */
export function lateDraft(
  { call }: Call,
  { outcome, text }: Pick<ToolResult, "outcome" | "text">,
): Draft<"signal"> {
  return { id: entryId.late(call), kind: "signal", call, outcome, text };
}

export function cancelledDraft(call: Call): Draft<"tool_finished"> {
  return finishedDraft(call, "cancelled", phrases.results.stopped);
}

/** A check did not answer in its time: what it looks at is not known. */
export function lateCheckDraft(call: Call, limitMs: number): Draft<"tool_finished"> {
  return finishedDraft(call, "error", phrases.results.tooLate(limitMs));
}

/** Nobody answered the question in time: the run goes on without. */
export function lapsedDrafts(call: Call): Draft<AppendKind>[] {
  const { result, text } = phrases.questionExpired(call);
  return [finishedDraft(call, "expired", result), notice(noticeId.expired(call.call), text)];
}

/** What was found of a call whose worker died. */
export type Recovery =
  /** By its tool, where it is not run again. */
  | {
      kind: "verified";
      verdict: "done" | "not done" | "unknown";
      evidence: string;
      undo?: ReverseCall | undefined;
      marks?: true | undefined;
    }
  /** A read that is not run again either, and why; `by`: as of a proposal. */
  | { kind: "blocked" | "cancelled"; text: string; by?: DeniedBy | undefined };

export function recoveryDrafts(call: Call, recovery: Recovery): Draft<AppendKind>[] {
  if (recovery.kind !== "verified")
    return [{ ...recoveredDraft(call, recovery.kind, recovery.text), ...deniedOf(recovery) }];
  const { verdict, evidence, undo, marks } = recovery;
  const isDone = verdict === "done";
  const text = phrases.recoveredResult(call, isDone, evidence);
  const finished = recoveredDraft(call, isDone ? "ok" : "unknown", text);
  if (!isDone) return [finished, unknownNotice(call, text)];
  const kept = { ...(undo !== undefined && { undo }), ...(marks !== undefined && { marks }) };
  return [{ ...finished, ...kept }];
}

function recoveredDraft(call: Call, outcome: Outcome, text: string): Draft<"tool_finished"> {
  return { ...finishedDraft(call, outcome, text), recovered: true };
}

/** An action has been closed, and with it its call. */
export function closedDrafts(
  action: Action,
  around: Surroundings,
): Draft<AppendKind>[] | undefined {
  const { closed } = action;
  if (closed === undefined || closed.outcome === "void") return undefined;
  const { outcome, by, reason } = closed;
  return [
    closedDraft(action, outcome, { by, reason }),
    finishedDraft(action, outcome, phrases.closedResult(outcome, by, reason)),
    ...(outcome === "expired" ? [expiredNotice(action, around)] : []),
  ];
}

export function closedDraft(
  { action }: Action,
  outcome: Entry<"action_closed">["outcome"],
  { by, reason, click }: { by?: string | undefined; reason?: string | undefined; click?: string },
): Draft<"action_closed"> {
  return {
    id: entryId.closed(action),
    kind: "action_closed",
    action,
    outcome,
    ...(by !== undefined && { by }),
    ...(reason !== undefined && { reason }),
    ...(click !== undefined && { click }),
  };
}

function voidDraft(action: Action, reason: string): Draft<"action_closed"> {
  return closedDraft(action, "void", { reason });
}

/** Ends what an older version asked for; its call is then asked about again, with a machine. */
export function namelessDraft(action: Action): Draft<"action_closed"> {
  return voidDraft(action, phrases.NAMELESS);
}

/** What becomes of a call that its machine will not take up: a card is void, a started write unknown, the rest is blocked. */
export function abandonedDrafts(
  { call, host, absence }: StepOf<"abandon">,
  { here, heard, encode }: Surroundings,
): Draft<AppendKind>[] {
  const serving = [...(heard?.values() ?? [])].flatMap((beat) => (beat.gone ? [] : [beat.host]));
  const beatAt = heard?.get(host)?.beatAt ?? 0;
  const why = encode(phrases.whyAway(absence, { here, host, serving, beatAt }));
  const { action, started } = call;
  if (started !== undefined) {
    if (started.effect !== "read" || action !== undefined) {
      const evidence = phrases.results.unchecked(why);
      return recoveryDrafts(call, { kind: "verified", verdict: "unknown", evidence });
    }
    return [recoveredDraft(call, "error", phrases.results.interrupted(why))];
  }
  const blocked = finishedDraft(call, "blocked", phrases.results.blocked(why));
  if (action === undefined || !isOpen(action)) return [blocked];
  return [voidDraft(action, phrases.results.notRun(why)), blocked];
}

/** The model stays silent: whatever else it asked for is left, and nobody sees anything of the run. */
export function hushDrafts(run: Run): Draft<AppendKind>[] {
  const finished = [...run.open.values()].map((call) =>
    finishedDraft(call, "cancelled", phrases.results.silent),
  );
  return [...finished, runEndedDraft(run, "silent")];
}
