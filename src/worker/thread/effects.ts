import { isOpen } from "../../thread/action.ts";
import { entryId } from "../../thread/entry-ids.ts";
import type { Step, StepOf } from "../../thread/decide.ts";
import { type BotError, messageOf } from "../../core/errors.ts";
import type { JsonObject } from "../../core/entry.ts";
import { conclude, concludeUnchanged, draftsFrom } from "./conclude.ts";
import { acquireResource, putOff, runInBackground } from "../background.ts";
import { storeNow } from "../context.ts";
import { append, catchUp, retryUntilStored } from "../store.ts";
import type { ThreadContext } from "./context.ts";
import { progress } from "./progress.ts";
import { judgeAssent, judgeClick, judgeReply } from "./judge.ts";
import { isLookUpFailure } from "./permission/look-up.ts";
import { whyNotRun } from "./permission/may-run.ts";
import { callModel } from "./model-call.ts";
import { propose } from "./propose.ts";
import { show, showRun } from "./show.ts";
import { recover, runTool } from "./tool-call.ts";

/** Who waits longer than this for a card is told why. */
const NOTABLE_LOOK_UP_MS = 30_000;

/** Takes one step: writes what follows from it, or begins to learn what that depends on. */
export async function execute(
  ctx: ThreadContext,
  step: Exclude<Step, { do: "wait" }>,
): Promise<void> {
  switch (step.do) {
    case "recover":
      recover(ctx, step);
      return;
    case "deliver":
      runInBackground(ctx, { key: step.key, kept: true }, (signal) => show(ctx, step, signal));
      return;
    case "show":
      runInBackground(ctx, { key: step.key, kept: true }, (signal) => showRun(ctx, step, signal));
      return;
    case "judge":
      runInBackground(ctx, step, (signal) => judgeClick(ctx, step, signal));
      return;
    case "hint":
      runInBackground(ctx, step, (signal) => judgeAssent(ctx, step, signal));
      return;
    case "reply":
      runInBackground(ctx, workOf(step), (signal) => judgeReply(ctx, step, signal));
      return;
    case "prepare":
      runInBackground(ctx, workOf(step), (signal) => prepare(ctx, step, signal));
      return;
    case "dispatch":
      runInBackground(ctx, workOf(step), (signal) => dispatch(ctx, step, signal));
      return;
    case "think":
      runInBackground(ctx, { key: step.key, run: step.run.started.run }, (signal) =>
        callModel(ctx, step, signal),
      );
      return;
    case "hosts":
      runInBackground(ctx, step, () => lookForHosts(ctx));
      return;
    case "expire":
      await expire(ctx, step);
      return;
    case "tell":
    case "warn":
    case "lapse":
    case "close":
    case "renew":
    case "begin":
    case "cancel":
    case "abandon":
    case "await":
    case "write":
    case "end": {
      // All is known. Where something came meanwhile it is decided again.
      const drafts = draftsFrom(ctx, step);
      if (drafts !== undefined) await append(ctx, drafts);
    }
  }
}

function workOf({ key, call }: StepOf<"reply" | "prepare" | "dispatch">): {
  key: string;
  run: string;
} {
  return { key, run: call.run };
}

async function expire(ctx: ThreadContext, { action: { action } }: StepOf<"expire">): Promise<void> {
  const timer = { id: entryId.expiry(action), kind: "timer", action } as const;
  await retryUntilStored(ctx, () => ctx.parts.journal.post(ctx.key, timer));
  await catchUp(ctx);
}

/** Asks the store which machines are there. */
async function lookForHosts(ctx: ThreadContext): Promise<() => Promise<void>> {
  const at = performance.now();
  const beats = await retryUntilStored(ctx, () => ctx.parts.journal.hosts());
  return async () => {
    ctx.hosts = { at, heard: new Map(beats.map((beat) => [beat.host, beat])) };
  };
}

/** Learns what becomes of a call that nobody was asked about yet; one that may run at once is run. */
async function prepare(
  ctx: ThreadContext,
  step: StepOf<"prepare">,
  signal: AbortSignal,
): Promise<() => Promise<void>> {
  const { key, call } = step;
  const facts = await propose(ctx, call, signal).catch(lookUpFailure);
  if (!("kind" in facts)) {
    return async () => {
      putOff(ctx, key, facts);
      const isLong = storeNow(ctx) - call.askedAt >= NOTABLE_LOOK_UP_MS;
      if (isLong && !signal.aborted) await conclude(ctx, { ...step, facts: { kind: "later" } });
    };
  }
  if (facts.kind !== "allow") {
    return async () => {
      if (!signal.aborted) await conclude(ctx, { ...step, facts });
      const isWaiting = facts.kind === "ask" || facts.kind === "question";
      if (isWaiting) progress(ctx, call.run, { kind: "waiting", run: call.run });
    };
  }
  const { tool, args } = facts.prepared;
  const release = await acquireFor(ctx, tool, args);
  return async () => {
    const isStarted = !signal.aborted && (await concludeUnchanged(ctx, { ...step, facts }));
    if (isStarted) runTool(ctx, call, release);
    else release();
  };
}

/** A look-up that failed is neither yes nor no. */
function lookUpFailure(error: unknown): BotError {
  if (isLookUpFailure(error)) return error;
  throw error;
}

/**
 * Looks once more whether an approved action may run: policy, approvers, schema, precheck. If so it is written down as
 * started, unless anything was posted meanwhile or its expiry has passed, and only then run.
 */
async function dispatch(
  ctx: ThreadContext,
  step: StepOf<"dispatch">,
  signal: AbortSignal,
): Promise<() => Promise<void>> {
  const { key, call, action } = step;
  const { proposal } = action;
  const release = await acquireFor(ctx, proposal.tool, proposal.args);
  const drift = await driftOf(ctx, step, signal);
  return async () => {
    let isRunning = false;
    try {
      // Nobody said no: it stays approved and is looked at again, until it expires.
      if (isLookUpFailure(drift)) return isOpen(action) ? putOff(ctx, key, drift) : undefined;
      const before = drift === undefined ? { before: proposal.expiresAt } : {};
      const learnt = { ...step, facts: { proposal, drift } };
      isRunning = (await concludeUnchanged(ctx, learnt, before)) && drift === undefined;
      if (isRunning) runTool(ctx, call, release);
    } finally {
      if (!isRunning) release();
    }
  };
}

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
