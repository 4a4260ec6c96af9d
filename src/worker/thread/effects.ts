import { carrierOf, type Grant, isOpen } from "../../thread/action.ts";
import type { Rechecked } from "../../thread/drafts-calls.ts";
import { entryId, noticeId } from "../../thread/entry-ids.ts";
import { alarmText } from "../../thread/phrases.ts";
import type { LearningStep, Step, StepOf } from "../../thread/steps.ts";
import { type BotError, messageOf } from "../../core/errors.ts";
import type { Draft, JsonObject } from "../../core/entry.ts";
import { checkLimit, isCheck } from "../../thread/checking.ts";
import { atMost } from "../../core/time-limit.ts";
import { conclude, concludeUnchanged, draftsFrom } from "./conclude.ts";
import type { Journal, Reservation } from "../../journal/journal.ts";
import { acquireResource, putOff, runInBackground } from "../background.ts";
import { append, catchUp, retryUntilStored, written } from "../store.ts";
import type { Wait } from "../key-handler.ts";
import type { Conclusion, Learn, ThreadContext } from "./parts.ts";
import { begunOf } from "../../queries/outgoing.ts";
import { doingOf } from "../../thread/call.ts";
import { progress } from "./progress.ts";
import { judgeAssent, judgeBeginning, judgeClick, judgeReply } from "./judge.ts";
import { channelsIn, isLookUpFailure } from "./permission/look-up.ts";
import { frozenFor, surveyFreezes } from "./permission/frozen.ts";
import { grantCounter } from "./permission/granting.ts";
import { whyNotRun } from "./permission/permission.ts";
import { readAbove } from "./above.ts";
import { remember } from "./memory.ts";
import { writeReport } from "./goal-report.ts";
import { record } from "./record.ts";
import { planFirst } from "./plan.ts";
import { judgeTask, planGoal } from "./goal.ts";
import { condense } from "./condense.ts";
import { callModel } from "./model-call.ts";
import { placeNameOf, propose } from "./propose.ts";
import { page } from "./page.ts";
import { show, showRun } from "./show.ts";
import { root } from "./root.ts";
import { sum } from "./sum.ts";
import { point } from "./point.ts";
import { mark, read, recover, runTool, verifyLater } from "./tool-call.ts";

/** Who waits longer than this for a card is told why. */
const NOTABLE_LOOK_UP_MS = 30_000;

/** Says in the journal that a time has come. */
async function ring(ctx: ThreadContext, step: TimedStep): Promise<void> {
  const timer = { kind: "timer", ...timerOf(step) } as const;
  await written(ctx);
  await retryUntilStored(ctx, () => ctx.journal.post(ctx.key, timer));
  await catchUp(ctx);
}

type TimedStep = StepOf<"expire" | "forget" | "ring" | "ringLook" | "lapseGrant" | "lapseSilence">;

function timerOf(step: TimedStep): Omit<Draft<"timer">, "kind"> {
  if (step.do === "lapseGrant") {
    const { action: grant } = step.grant.of;
    return { id: entryId.grantExpiry(grant), grant };
  }
  if (step.do === "ringLook") {
    const { call } = step.look.of;
    return { id: entryId.lookAfter(call), looks: call };
  }
  if (step.do === "lapseSilence") {
    const { call: silence } = step.silence;
    return { id: entryId.silenceEnds(silence), silence };
  }
  if (step.do === "forget") {
    const { action, editing } = step.action;
    return { id: entryId.editingEnds(action, editing?.until ?? 0), edited: action };
  }
  if (step.do === "expire") {
    const { action } = step.action;
    return { id: entryId.expiry(action), action };
  }
  const { call } = step.check.of;
  return { id: entryId.lookAgain(call), call };
}

async function lookForHosts(ctx: ThreadContext): Promise<Conclusion> {
  const at = performance.now();
  const beats = await retryUntilStored(ctx, () => ctx.journal.hosts());
  return async () => {
    ctx.hosts = { at, heard: new Map(beats.map((beat) => [beat.host, beat])) };
  };
}

async function lookForPlace(
  ctx: ThreadContext,
  { key }: StepOf<"where">,
  signal: AbortSignal,
): Promise<Conclusion> {
  const found = await channelsIn(ctx, signal).catch(lookUpFailure);
  return async () => {
    if (Array.isArray(found)) [ctx.channel] = found;
    else putOff(ctx, key, found);
  };
}

/** Learns what becomes of a call that nobody was asked about yet; one that may run at once is run. */
const prepare: Learn<"prepare"> = async (ctx, step, signal) => {
  const limitMs = checkLimit(ctx.thread.runs.get(step.call.run), step.call.call);
  if (limitMs === undefined) return prepareCall(ctx, step, signal);
  const limit = new AbortController();
  const work = prepareCall(ctx, step, AbortSignal.any([signal, limit.signal]));
  return atMost(limitMs, work, (): Conclusion => {
    limit.abort();
    return async () => {
      if (!signal.aborted) await conclude(ctx, { do: "cut", call: step.call, limitMs });
    };
  });
};

const prepareCall: Learn<"prepare"> = async (ctx, step, signal) => {
  const { key, call } = step;
  const facts = await propose(ctx, call, signal).catch(lookUpFailure);
  if (!("kind" in facts)) {
    const text = ctx.parts.encoder.encode(messageOf(facts));
    // A check does not wait for it.
    if (isCheck(ctx.thread.runs.get(call.run), call.call))
      return () => conclude(ctx, { ...step, facts: { kind: "blocked", text } });
    return async () => {
      putOff(ctx, key, facts);
      const isLong = ctx.now() - call.askedAt >= NOTABLE_LOOK_UP_MS;
      if (isLong && !signal.aborted) await conclude(ctx, { ...step, facts: { kind: "later" } });
    };
  }
  if (facts.kind !== "allow") {
    return async () => {
      if (!signal.aborted) await conclude(ctx, { ...step, facts });
      if (facts.kind === "delegate" && call.helper !== undefined)
        progress(ctx, call.run, begunOf(call, { args: call.args, doing: doingOf(call) }));
      const isWaiting = facts.kind === "ask" || facts.kind === "question";
      if (isWaiting) progress(ctx, call.run, { kind: "waiting", run: call.run });
    };
  }
  const { prepared } = facts;
  if (prepared.effect === "read") return read(ctx, call, prepared, signal);
  const { tool, args } = prepared;
  const release = await acquireFor(ctx, tool, args);
  return async () => {
    const isStarted = !signal.aborted && (await concludeUnchanged(ctx, { ...step, facts }));
    if (isStarted) runTool(ctx, call, release);
    else release();
  };
};

/** A look-up that failed is neither yes nor no. */
function lookUpFailure(error: unknown): BotError {
  if (isLookUpFailure(error)) return error;
  throw error;
}

/**
 * Looks once more whether an approved action may run: policy, approvers, schema, precheck. If so it is written down as
 * started, unless anything was posted meanwhile or its expiry has passed, and only then run.
 */
const dispatch: Learn<"dispatch"> = async (ctx, step, signal) => {
  const { key, call, action } = step;
  const { proposal } = action;
  const release = await acquireFor(ctx, proposal.tool, proposal.args);
  const carrier = carrierOf(action);
  const look = async () =>
    carrier?.kind === "glass" ? undefined : frozenFor(ctx, proposal, signal);
  const held = await look();
  const drift = held === undefined ? await driftOf(ctx, step, signal) : undefined;
  const frozen = held ?? (drift === undefined ? await look() : undefined);
  return async () => {
    let isRunning = false;
    try {
      if (isLookUpFailure(drift)) {
        // Nobody said no: it stays approved and is looked at again, until it expires. What came meanwhile comes first.
        const isAsItWas = isOpen(action) && action.proposal === proposal;
        if (isAsItWas && ctx.thread.clicks.size === 0) putOff(ctx, key, drift);
        return;
      }
      const grant = carrier?.kind === "grant" ? carrier.grant : undefined;
      const learned = { ...step, facts: { proposal, drift, grant, frozen } };
      if (drift === undefined && frozen !== undefined) {
        if (!ctx.thread.liveNotices.has(noticeId.frozen(action.action, frozen.id)))
          await concludeUnchanged(ctx, learned);
        // Another journal says when it is lifted earlier.
        if (isOpen(action))
          ctx.deferred.set(key, Math.min(ctx.now() + FREEZE_LOOK_MS, frozen.until));
        return;
      }
      if (drift !== undefined) await concludeUnchanged(ctx, learned);
      else isRunning = await begin(ctx, learned, grant);
      if (isRunning) runTool(ctx, call, release);
    } finally {
      if (!isRunning) release();
    }
  };
};

/**
 * Writes down that it starts, if nothing came meanwhile and neither it nor its grant has expired. A use of a grant is set aside
 * before: a crash in between uses it up. False: nothing is to be run.
 */
async function begin(
  ctx: ThreadContext,
  learned: StepOf<"dispatch"> & { facts: Rechecked },
  grant: Grant | undefined,
): Promise<boolean> {
  const { proposal } = learned.facts;
  if (grant === undefined) return concludeUnchanged(ctx, learned, { before: proposal.expiresAt });
  const { journal, key } = ctx;
  const counter = grantCounter(key, grant);
  const use = await retryUntilStored(ctx, () => reserveUse(journal, counter, grant.offer.uses));
  if (use === undefined) {
    const facts = { ...learned.facts, drift: GRANT_USED_UP };
    await concludeUnchanged(ctx, { ...learned, facts });
    return false;
  }
  const before = Math.min(proposal.expiresAt, grant.until);
  const isBegun = await concludeUnchanged(ctx, learned, { before });
  // A fenced worker cannot know whether it was written: then it is used.
  const used = isBegun || ctx.fenced ? 1 : 0;
  await retryUntilStored(ctx, () => journal.commitReservation(use, used));
  return isBegun;
}

/** A use that lasts: lost in a failover it could be had twice, and the call's own barrier does not name it. */
async function reserveUse(
  journal: Journal,
  counter: string,
  uses: number,
): Promise<Reservation | undefined> {
  const use = await journal.reserve(counter, 1, uses);
  if (use === undefined || (await journal.flushReservation(use)) === "ok") return use;
  return reserveUse(journal, counter, uses);
}

const FREEZE_LOOK_MS = 10_000;
const GRANT_USED_UP = "the grant that covered it is used up";

/** Why an approved action may not run after all, or that who approved it could not be looked up. */
async function driftOf(
  ctx: ThreadContext,
  { action }: StepOf<"dispatch">,
  signal: AbortSignal,
): Promise<string | BotError | undefined> {
  const { dispatcher, encoder } = ctx.parts;
  const { tool, args, digest } = action.proposal;
  try {
    const why = await whyNotRun(ctx, action, signal);
    return why ?? (await dispatcher.revalidate(tool, args, digest, signal));
  } catch (error) {
    if (isLookUpFailure(error)) return error;
    return `it could not be checked again: ${encoder.encode(messageOf(error))}`;
  }
}

/** Writes on one resource follow each other; a read waits for nothing. */
async function acquireFor(ctx: ThreadContext, tool: string, args: JsonObject): Promise<() => void> {
  const { dispatcher } = ctx.parts;
  if (dispatcher.effectOf(tool, args) === "read") return () => {};
  return acquireResource(ctx, dispatcher.resourceOf(tool, args));
}

/** The operations channel hears of it too; without one nobody is told. */
const tellOps: Learn<"alarm"> = async (ctx, step, signal) => {
  const { key, adapter, parts } = ctx;
  const text = alarmText(step.about, {
    place: await placeNameOf(ctx, signal),
    link: adapter.link(key),
  });
  await parts.ops?.tell(`${key} ${step.entry}`, parts.encoder.encode(text));
  return async () => {
    if (!signal.aborted) await conclude(ctx, { ...step, facts: "told" });
  };
};

/** How each step is learned. `kept`: it is not cut half-way, see `Work.kept`. */
const LEARNED: {
  readonly [D in LearningStep["do"]]: { learn: Learn<D>; kept: boolean };
} = {
  recover: { learn: recover, kept: true },
  verify: { learn: verifyLater, kept: false },
  mark: { learn: mark, kept: true },
  deliver: { learn: show, kept: true },
  show: { learn: showRun, kept: true },
  sum: { learn: sum, kept: true },
  root: { learn: root, kept: true },
  point: { learn: point, kept: true },
  judge: { learn: judgeClick, kept: false },
  hint: { learn: judgeAssent, kept: false },
  reply: { learn: judgeReply, kept: false },
  prepare: { learn: prepare, kept: false },
  dispatch: { learn: dispatch, kept: false },
  survey: { learn: surveyFreezes, kept: false },
  admit: { learn: judgeBeginning, kept: false },
  look: { learn: readAbove, kept: false },
  think: { learn: callModel, kept: false },
  plan: { learn: planFirst, kept: false },
  planGoal: { learn: planGoal, kept: false },
  judgeTask: { learn: judgeTask, kept: false },
  condense: { learn: condense, kept: false },
  hosts: { learn: lookForHosts, kept: false },
  where: { learn: lookForPlace, kept: false },
  alarm: { learn: tellOps, kept: false },
  remember: { learn: remember, kept: false },
  record: { learn: record, kept: true },
  writeReport: { learn: writeReport, kept: true },
  page: { learn: page, kept: true },
};

/** Takes one step: writes what follows from it, or begins to learn what that depends on. */
export async function execute(ctx: ThreadContext, step: Exclude<Step, Wait>): Promise<void> {
  if ("key" in step) {
    // What is never cut begins on what the store has.
    if (LEARNED[step.do].kept) await written(ctx);
    if (!ctx.fenced) beginToLearn(ctx, step);
    return;
  }
  if (
    step.do === "expire" ||
    step.do === "forget" ||
    step.do === "ring" ||
    step.do === "ringLook" ||
    step.do === "lapseGrant" ||
    step.do === "lapseSilence"
  )
    return ring(ctx, step);
  // Where something came meanwhile it is decided again.
  const drafts = draftsFrom(ctx, step);
  if (drafts !== undefined) await append(ctx, drafts);
  if (step.do === "report" && step.call.finished !== undefined) {
    const { call, tool, run, finished } = step.call;
    progress(ctx, run, {
      kind: "tool_finished",
      call,
      tool,
      outcome: finished.outcome,
      ms: undefined,
    });
  }
}

type Steps = { [D in LearningStep["do"]]: StepOf<D> };

function beginToLearn<D extends LearningStep["do"]>(
  ctx: ThreadContext,
  step: Steps[D] & { do: D },
): void {
  const { learn, kept } = LEARNED[step.do];
  const { key } = step;
  runInBackground(ctx, { key, run: runOf(step), kept }, (signal) => learn(ctx, step, signal));
}

/** The run that it works for, or the goal: with that it is stopped. */
function runOf(step: LearningStep): string | undefined {
  if ("goal" in step) return step.goal.started.goal;
  if ("call" in step) return step.call.run;
  return "run" in step ? step.run.started.run : undefined;
}
