import { entryId, noticeId } from "../../thread/entry-ids.ts";
import { beginRun, endRun } from "../../thread/run.ts";
import { type Action, isOpen } from "../../thread/action.ts";
import { countVoters, signed } from "../../core/people.ts";
import {
  checkEligible,
  type VotingRule,
  fixApprovers,
  type Place,
} from "../../approvals/eligibility.ts";
import { lapseOf } from "../../approvals/refusal.ts";
import type { Draft, Entry, JsonObject } from "../../core/entry.ts";
import { type BotError, messageOf } from "../../core/errors.ts";
import type { Call, DueNotice } from "../../thread/state.ts";

import { absenceDrafts, lookForHosts, namelessDraft, voidDraft } from "./absence.ts";
import { judgeClick, judgeReply } from "./clicks.ts";
import { runInBackground, acquireResource, putOff } from "../background.ts";
import { storeNow } from "../context.ts";
import { catchUp, append, appendDecision, retryUntilStored } from "../store.ts";
import type { ThreadContext } from "./context.ts";
import { progress } from "./progress.ts";
import { expiredDraft, hint, lapsedDrafts, warningDraft } from "./hints.ts";
import { isLookUpFailure, placeOf } from "./permission/look-up.ts";
import type { Step } from "../../thread/decide.ts";
import { permit } from "./permission/permission.ts";
import { propose } from "./propose.ts";
import { voicesIn } from "./permission/requesters.ts";
import { show, showRun } from "./show.ts";
import { callModel } from "./model-call.ts";
import { finishedDraft, recover, runTool } from "./tool-call.ts";

/** Who waits longer than this for a card is told why. */
const NOTABLE_LOOK_UP_MS = 30_000;

/** Takes one step: either writes entries now, or begins work that will. */
export async function execute(
  ctx: ThreadContext,
  step: Exclude<Step, { do: "wait" }>,
): Promise<void> {
  const { thread, parts } = ctx;
  switch (step.do) {
    case "recover":
      recover(ctx, step.key, step.call);
      return;
    case "deliver":
      runInBackground(ctx, { key: step.key, kept: true }, (signal) => show(ctx, step, signal));
      return;
    case "show":
      runInBackground(ctx, { key: step.key, kept: true }, (signal) => showRun(ctx, step, signal));
      return;
    case "judge":
      runInBackground(ctx, { key: step.key }, (signal) => judgeClick(ctx, step.click, signal));
      return;
    case "hint":
      runInBackground(ctx, { key: step.key }, (signal) => answerAssent(ctx, step.message, signal));
      return;
    case "warn":
      await append(ctx, [warningDraft(ctx, step.waiting)]);
      return;
    case "lapse":
      await append(ctx, lapsedDrafts(step.call));
      return;
    case "tell":
      await append(ctx, [wordNotice(step.word)]);
      return;
    case "close":
      await append(ctx, closing(step.action));
      return;
    case "renew":
      await append(ctx, [namelessDraft(step.action)]);
      return;
    case "begin":
      await append(ctx, beginRun(step.pending, thread, parts.run));
      return;
    case "cancel":
      await append(ctx, [finishedDraft(step.call, "cancelled", "Stopped before it was run.")]);
      return;
    case "prepare":
      runInBackground(ctx, { key: step.key, run: step.call.run }, (signal) =>
        prepare(ctx, step.key, step.call, signal),
      );
      return;
    case "dispatch":
      runInBackground(ctx, { key: step.key, run: step.call.run }, (signal) =>
        dispatch(ctx, step, signal),
      );
      return;
    case "think":
      runInBackground(ctx, { key: step.key, run: step.run.started.run }, (signal) =>
        callModel(ctx, step.run, step.modelRun, { key: step.key, signal }),
      );
      return;
    case "reply":
      runInBackground(ctx, { key: step.key, run: step.call.run }, (signal) =>
        judgeReply(ctx, step.key, step.call, step.reply, signal),
      );
      return;
    case "hosts":
      lookForHosts(ctx, step.key);
      return;
    case "abandon":
    case "await":
      await append(ctx, absenceDrafts(ctx, step));
      return;
    case "write":
      await append(ctx, [step.draft]);
      return;
    case "end":
      await append(ctx, [endRun(step.run)]);
      return;
    case "expire":
      await expire(ctx, step.action);
      return;
  }
}

async function expire(ctx: ThreadContext, { action }: Action): Promise<void> {
  await retryUntilStored(ctx, () =>
    ctx.parts.journal.post(ctx.key, { id: entryId.expiry(action), kind: "timer", action }),
  );
  await catchUp(ctx);
}

/** Tells who agreed in words what it takes. */
async function answerAssent(
  ctx: ThreadContext,
  message: Entry<"message">,
  signal: AbortSignal,
): Promise<() => Promise<void>> {
  const draft = await hint(ctx, message, signal);
  const isOwed = () => ctx.thread.assents.has(message.id) && !signal.aborted;
  return () => appendDecision(ctx, () => (isOwed() ? [draft()] : undefined));
}

/** Writes down that an action has been closed, and the result of its call. */
function closing(action: Action): Draft<"action_closed" | "tool_finished" | "notice">[] {
  const { closed } = action;
  if (closed === undefined || closed.outcome === "void") return [];
  const { outcome, by, reason } = closed;
  const who = by === undefined ? "" : ` by ${by}`;
  const why = reason === undefined ? "" : `: ${reason}`;
  const word = { denied: "Denied", expired: "Expired", cancelled: "Cancelled" }[outcome];
  return [
    closedDraft(action, outcome, by, reason),
    finishedDraft(action, outcome, `${word}${who}${why}. The tool was not executed.`),
    ...(outcome === "expired" ? [expiredDraft(action)] : []),
  ];
}

function closedDraft(
  { action }: Action,
  outcome: Entry<"action_closed">["outcome"],
  by: string | undefined,
  reason: string | undefined,
): Draft<"action_closed"> {
  return {
    id: entryId.closed(action),
    kind: "action_closed",
    action,
    outcome,
    ...(by !== undefined && { by }),
    ...(reason !== undefined && { reason }),
  };
}

function wordNotice({ id, question: _question, ...said }: DueNotice): Draft<"notice"> {
  return { id: noticeId.told(id), kind: "notice", answers: id, ...said };
}

/** This worker still drives the journal and is not shutting down. */
function mayAct({ over, fenced, draining, thread }: ThreadContext): boolean {
  return !over && !fenced && !draining && thread.newer === undefined;
}

/** Decides what becomes of a call nobody was asked about yet: blocked, run at once, or proposed. */
async function prepare(
  ctx: ThreadContext,
  key: string,
  call: Call,
  signal: AbortSignal,
): Promise<() => Promise<void>> {
  const proposal = await propose(ctx, call, signal);
  const run = () => ctx.thread.runs.get(call.run);
  const stillAsked = () =>
    call.finished === undefined &&
    call.action === undefined &&
    call.asked === undefined &&
    run()?.stopped === false &&
    mayAct(ctx);
  if (proposal.kind === "later") {
    return async () => {
      putOff(ctx, key, proposal.error);
      const isLong = storeNow(ctx) - call.askedAt >= NOTABLE_LOOK_UP_MS;
      if (isLong) await appendDecision(ctx, () => (stillAsked() ? [lookingUp(call)] : undefined));
    };
  }
  if (proposal.kind === "blocked") {
    return () =>
      appendDecision(ctx, () =>
        stillAsked() ? [finishedDraft(call, "blocked", proposal.text)] : undefined,
      );
  }
  if (proposal.kind === "ask" || proposal.kind === "question") {
    return async () => {
      await appendDecision(ctx, () => (stillAsked() ? [proposal.draft()] : undefined));
      progress(ctx, call.run, { kind: "waiting", run: call.run });
    };
  }
  const { prepared } = proposal;
  const done = await claimFor(ctx, prepared.tool.name, prepared.args);
  return async () => {
    const mayRun = stillAsked() && !signal.aborted;
    if (mayRun && (await append(ctx, [started(call, prepared)])) === "ok") runTool(ctx, call, done);
    else done();
  };
}

function lookingUp({ call, tool }: Call): Draft<"notice"> {
  const text = `I can't look up who may approve ${tool} because the platform isn't answering. I'll keep trying for an hour.`;
  return { id: noticeId.looking(call), kind: "notice", text };
}

function started(
  call: Call,
  prepared: {
    tool: { name: string };
    effect: Entry<"tool_started">["effect"];
    args: JsonObject;
    host: string | undefined;
    digest: string;
  },
): Draft<"tool_started"> {
  const same = JSON.stringify(prepared.args) === JSON.stringify(call.args);
  return {
    id: entryId.started(call.call),
    kind: "tool_started",
    run: call.run,
    call: call.call,
    tool: prepared.tool.name,
    effect: prepared.effect,
    digest: prepared.digest,
    ...(prepared.host !== undefined && { host: prepared.host }),
    ...(!same && { args: prepared.args }),
  };
}

/**
 * Looks once more whether an approved action may run: policy, approvers, schema, precheck. If so it is written down as
 * started, unless anything was posted meanwhile or its expiry has passed, and only then run.
 */
async function dispatch(
  ctx: ThreadContext,
  { key, call, action }: Extract<Step, { do: "dispatch" }>,
  signal: AbortSignal,
): Promise<() => Promise<void>> {
  const { proposal } = action;
  const done = await claimFor(ctx, proposal.tool, proposal.args);
  const drift = await whyNot(ctx, action, signal);
  let running = false;
  const act = async (): Promise<void> => {
    // A click that is not judged yet may be a deny: it comes first, and then this is looked at again.
    if (!isOpen(action) || action.proposal !== proposal || ctx.thread.clicks.size > 0) return;
    if (!mayAct(ctx)) return;
    // Nobody said no: it stays approved and is looked at again, until it expires.
    if (isLookUpFailure(drift)) return putOff(ctx, key, drift);
    if (drift !== undefined) {
      await append(ctx, [voidDraft(action, drift)]);
      return;
    }
    const { tool, effect, digest, host, revision, expiresAt } = proposal;
    const reply = await append(
      ctx,
      [
        {
          id: entryId.started(call.call),
          kind: "tool_started",
          run: call.run,
          call: call.call,
          tool,
          effect,
          digest,
          ...(host !== undefined && { host }),
          action: action.action,
          revision,
        },
      ],
      { before: expiresAt },
    );
    running = reply === "ok";
    if (running) runTool(ctx, call, done);
    if (reply === "late") await execute(ctx, { do: "expire", action });
  };
  return async () => {
    try {
      await act();
    } finally {
      if (!running) done();
    }
  };
}

/** Writes on one resource follow each other; a read waits for nothing. */
async function claimFor(ctx: ThreadContext, tool: string, args: JsonObject): Promise<() => void> {
  const { dispatcher } = ctx.parts;
  if (dispatcher.effectOf(tool, args) === "read") return () => {};
  return acquireResource(ctx, dispatcher.resourceOf(tool, args));
}

/**
 * Why an approved action may not run after all, or that who approved it could not be looked up. Its approvals have to carry
 * it as it was asked for and as policy asks now, which after a restart may ask for more.
 */
async function whyNot(
  ctx: ThreadContext,
  action: Action,
  signal: AbortSignal,
): Promise<string | BotError | undefined> {
  const { dispatcher, encoder } = ctx.parts;
  const { encode } = encoder;
  const { run, tool, args, digest } = action.proposal;
  const place = placeOf(ctx, signal);
  try {
    const short = await whyShort(action.votes, action.proposal, place, "`people:` is");
    if (short !== undefined) return short;
    const permission = await permit(ctx, { ...action.proposal, action }, signal);
    if (permission.kind === "deny") return permission.why;
    if (permission.kind === "ask") {
      const asking = [...voicesIn(ctx, run), ...action.editors];
      const now = {
        approvers: await fixApprovers(permission.approvers, place.people),
        barred: permission.requesterMayApprove ? [] : asking,
        quorum: permission.quorum,
      };
      const shortNow = await whyShort(action.votes, now, place, "the rules are");
      if (shortNow !== undefined) return shortNow;
    }
    return await dispatcher.revalidate(tool, args, digest, signal);
  } catch (error) {
    if (isLookUpFailure(error)) return error;
    return `it could not be checked again: ${encode(messageOf(error))}`;
  }
}

/** Why the votes do not carry what this electorate decides on, or undefined. `as`: what says so now. */
async function whyShort(
  votes: Action["votes"],
  electorate: VotingRule,
  place: Place,
  as: string,
): Promise<string | undefined> {
  // They count as different people only if `people:` has them so still.
  const approving = votes.filter(({ approve }) => approve);
  if (countVoters(approving, place.personOf) < electorate.quorum)
    return `its approvals are by fewer different people than it needs, as ${as} now`;
  for (const vote of votes) {
    const still = await checkEligible(vote.account, electorate, place);
    if (!still.eligible) return `an approval no longer counts: ${lapseOf(signed(vote), still)}`;
  }
  return undefined;
}
