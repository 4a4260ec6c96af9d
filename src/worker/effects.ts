import { beginRun, endRun } from "../thread/run.ts";
import { type Action, isOpen } from "../thread/action.ts";
import { countVoters, signed } from "../core/people.ts";
import {
  checkEligible,
  type Electorate,
  fixApprovers,
  type Place,
} from "../approvals/eligibility.ts";
import { lapseOf } from "../approvals/refusal.ts";
import type { Draft, Entry, JsonObject } from "../core/entry.ts";
import { type BotError, messageOf } from "../core/errors.ts";
import type { Call, Word } from "../thread/state.ts";

import { absenceDrafts, lookForHosts, namelessDraft, voidDraft } from "./absence.ts";
import { judgeClick, judgeReply } from "./clicks.ts";
import {
  absorb,
  append,
  begin,
  claim,
  decide,
  type Drive,
  persist,
  progress,
  putOff,
  storeNow,
} from "./context.ts";
import { expiredDraft, hint, lapsedDrafts, warningDraft } from "./hints.ts";
import { isLookUpFailure, placeOf } from "./look-up.ts";
import type { Step } from "../thread/decide.ts";
import { permit } from "./permission.ts";
import { propose } from "./propose.ts";
import { voicesIn } from "./requesters.ts";
import { show, showRun } from "./show.ts";
import { think } from "./model-call.ts";
import { finishedDraft, recover, runTool } from "./tool-call.ts";

/** Who waits longer than this for a card is told why. */
const NOTABLE_LOOK_UP_MS = 30_000;

/** Takes one step: either writes entries now, or begins work that will. */
export async function perform(drive: Drive, step: Exclude<Step, { do: "wait" }>): Promise<void> {
  const { thread, parts } = drive;
  switch (step.do) {
    case "recover":
      recover(drive, step.key, step.call);
      return;
    case "deliver":
      begin(drive, { key: step.key, kept: true }, (signal) => show(drive, step, signal));
      return;
    case "show":
      begin(drive, { key: step.key, kept: true }, (signal) => showRun(drive, step, signal));
      return;
    case "judge":
      begin(drive, { key: step.key }, (signal) => judgeClick(drive, step.click, signal));
      return;
    case "hint":
      begin(drive, { key: step.key }, (signal) => answerAssent(drive, step.message, signal));
      return;
    case "warn":
      await append(drive, [warningDraft(drive, step.waiting)]);
      return;
    case "lapse":
      await append(drive, lapsedDrafts(step.call));
      return;
    case "tell":
      await append(drive, [wordNotice(step.word)]);
      return;
    case "close":
      await append(drive, closing(step.action));
      return;
    case "renew":
      await append(drive, [namelessDraft(step.action)]);
      return;
    case "begin":
      await append(drive, beginRun(step.pending, thread, parts.run));
      return;
    case "cancel":
      await append(drive, [finishedDraft(step.call, "cancelled", "Stopped before it was run.")]);
      return;
    case "prepare":
      begin(drive, { key: step.key, run: step.call.run }, (signal) =>
        prepare(drive, step.key, step.call, signal),
      );
      return;
    case "dispatch":
      begin(drive, { key: step.key, run: step.call.run }, (signal) =>
        dispatch(drive, step, signal),
      );
      return;
    case "think":
      begin(drive, { key: step.key, run: step.run.started.run }, (signal) =>
        think(drive, step.run, step.talk, { key: step.key, signal }),
      );
      return;
    case "reply":
      begin(drive, { key: step.key, run: step.call.run }, (signal) =>
        judgeReply(drive, step.key, step.call, step.reply, signal),
      );
      return;
    case "hosts":
      lookForHosts(drive, step.key);
      return;
    case "abandon":
    case "await":
      await append(drive, absenceDrafts(drive, step));
      return;
    case "write":
      await append(drive, [step.draft]);
      return;
    case "end":
      await append(drive, [endRun(step.run)]);
      return;
    case "expire":
      await expire(drive, step.action);
      return;
  }
}

async function expire(drive: Drive, { action }: Action): Promise<void> {
  await persist(drive, () =>
    drive.parts.journal.post(drive.key, { id: `expiry:${action}`, kind: "timer", action }),
  );
  await absorb(drive);
}

/** Tells who agreed in words what it takes. */
async function answerAssent(
  drive: Drive,
  message: Entry<"message">,
  signal: AbortSignal,
): Promise<() => Promise<void>> {
  const draft = await hint(drive, message, signal);
  const isOwed = () => drive.thread.assents.has(message.id) && !signal.aborted;
  return () => decide(drive, () => (isOwed() ? [draft()] : undefined));
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
    id: `closed:${action}`,
    kind: "action_closed",
    action,
    outcome,
    ...(by !== undefined && { by }),
    ...(reason !== undefined && { reason }),
  };
}

function wordNotice({ id, question: _question, ...said }: Word): Draft<"notice"> {
  return { id: `told:${id}`, kind: "notice", answers: id, ...said };
}

/** This worker still drives the journal and is not shutting down. */
function mayAct({ over, fenced, draining, thread }: Drive): boolean {
  return !over && !fenced && !draining && thread.newer === undefined;
}

/** Decides what becomes of a call nobody was asked about yet: blocked, run at once, or proposed. */
async function prepare(
  drive: Drive,
  key: string,
  call: Call,
  signal: AbortSignal,
): Promise<() => Promise<void>> {
  const proposal = await propose(drive, call, signal);
  const run = () => drive.thread.runs.get(call.run);
  const stillAsked = () =>
    call.finished === undefined &&
    call.action === undefined &&
    call.asked === undefined &&
    run()?.stopped === false &&
    mayAct(drive);
  if (proposal.kind === "later") {
    return async () => {
      putOff(drive, key, proposal.error);
      const isLong = storeNow(drive) - call.askedAt >= NOTABLE_LOOK_UP_MS;
      if (isLong) await decide(drive, () => (stillAsked() ? [lookingUp(call)] : undefined));
    };
  }
  if (proposal.kind === "blocked") {
    return () =>
      decide(drive, () =>
        stillAsked() ? [finishedDraft(call, "blocked", proposal.text)] : undefined,
      );
  }
  if (proposal.kind === "ask" || proposal.kind === "question") {
    return async () => {
      await decide(drive, () => (stillAsked() ? [proposal.draft()] : undefined));
      progress(drive, call.run, { kind: "waiting", run: call.run });
    };
  }
  const { prepared } = proposal;
  const done = await claimFor(drive, prepared.tool.name, prepared.args);
  return async () => {
    const mayRun = stillAsked() && !signal.aborted;
    if (mayRun && (await append(drive, [started(call, prepared)])) === "ok")
      runTool(drive, call, done);
    else done();
  };
}

function lookingUp({ call, tool }: Call): Draft<"notice"> {
  const text = `I can't look up who may approve ${tool} because the platform isn't answering. I'll keep trying for an hour.`;
  return { id: `looking:${call}`, kind: "notice", text };
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
    id: `started:${call.call}`,
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
  drive: Drive,
  { key, call, action }: Extract<Step, { do: "dispatch" }>,
  signal: AbortSignal,
): Promise<() => Promise<void>> {
  const { proposal } = action;
  const done = await claimFor(drive, proposal.tool, proposal.args);
  const drift = await whyNot(drive, action, signal);
  let running = false;
  const act = async (): Promise<void> => {
    // A click that is not judged yet may be a deny: it comes first, and then this is looked at again.
    if (!isOpen(action) || action.proposal !== proposal || drive.thread.clicks.size > 0) return;
    if (!mayAct(drive)) return;
    // Nobody said no: it stays approved and is looked at again, until it expires.
    if (isLookUpFailure(drift)) return putOff(drive, key, drift);
    if (drift !== undefined) {
      await append(drive, [voidDraft(action, drift)]);
      return;
    }
    const { tool, effect, digest, host, revision, expiresAt } = proposal;
    const reply = await append(
      drive,
      [
        {
          id: `started:${call.call}`,
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
    if (running) runTool(drive, call, done);
    if (reply === "late") await perform(drive, { do: "expire", action });
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
async function claimFor(drive: Drive, tool: string, args: JsonObject): Promise<() => void> {
  const { dispatcher } = drive.parts;
  if (dispatcher.effectOf(tool, args) === "read") return () => {};
  return claim(drive, dispatcher.resourceOf(tool, args));
}

/**
 * Why an approved action may not run after all, or that who approved it could not be looked up. Its approvals have to carry
 * it as it was asked for and as policy asks now, which after a restart may ask for more.
 */
async function whyNot(
  drive: Drive,
  action: Action,
  signal: AbortSignal,
): Promise<string | BotError | undefined> {
  const { dispatcher, encoder } = drive.parts;
  const { encode } = encoder;
  const { run, tool, args, digest } = action.proposal;
  const place = placeOf(drive, signal);
  try {
    const short = await whyShort(action.votes, action.proposal, place, "`people:` is");
    if (short !== undefined) return short;
    const permission = await permit(drive, { ...action.proposal, action }, signal);
    if (permission.kind === "deny") return permission.why;
    if (permission.kind === "ask") {
      const asking = [...voicesIn(drive, run), ...action.editors];
      const now = {
        approvers: await fixApprovers(permission.approvers, place.people),
        barred: permission.requesterMayApprove ? [] : asking,
        quorum: permission.quorum,
      };
      const shortNow = await whyShort(action.votes, now, place, "the rules are");
      if (shortNow !== undefined) return shortNow;
    }
    return await dispatcher.drift(tool, args, digest, signal);
  } catch (error) {
    if (isLookUpFailure(error)) return error;
    return `it could not be checked again: ${encode(messageOf(error))}`;
  }
}

/** Why the votes do not carry what this electorate decides on, or undefined. `as`: what says so now. */
async function whyShort(
  votes: Action["votes"],
  electorate: Electorate,
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
