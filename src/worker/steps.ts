import type { MessageRef, View } from "../adapters/adapter.ts";
import { beginRun, endRun } from "../agent/run.ts";
import { type Action, isOpen } from "../approvals/action.ts";
import { checkEligible } from "../approvals/eligibility.ts";
import type { Draft, Entry, JsonObject } from "../core/entry.ts";
import { BotError, isBotError, messageOf } from "../core/errors.ts";
import { fold } from "../journal/fold.ts";
import { answerIdOf, type Call, emptyThread, type Word } from "../journal/thread.ts";
import { within } from "../tools/time-limit.ts";

import { judge, privateWord, replyDrafts } from "./clicks.ts";
import {
  absorb,
  append,
  begin,
  claim,
  decide,
  type Drive,
  persist,
  placeOf,
  progress,
  storeNow,
  viewOf,
} from "./drive.ts";
import { type Owed, retryKey, type Step } from "./next.ts";
import { cardOf, deliver, progressIdOf, progressOf } from "./outbox.ts";
import { permit } from "./permission.ts";
import { propose } from "./propose.ts";
import { think } from "./think.ts";
import { finishedDraft, recover, runTool } from "./tool-call.ts";

/** How long a platform may take to show one thing, and how long it is left alone after it refused. */
const DELIVERY_MS = 20_000;
const DELIVERY_RETRY_MS = 5_000;
/** What is shown later than this after it was written down may have been shown by an attempt that was cut short. */
const FIRST_ATTEMPT_MS = 2_000;

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
      begin(drive, { key: step.key }, async (signal) => {
        const drafts = await judge(drive, step.click, signal).catch((error: unknown) => {
          const text = `That could not be judged: ${parts.encode(messageOf(error))}. Please try again.`;
          return () => [privateWord(step.click, text)];
        });
        // Cut short by a shutdown it was not judged at all; the next start does it.
        const open = () => thread.clicks.has(step.click.id) && !signal.aborted;
        return () => decide(drive, () => (open() ? drafts() : undefined));
      });
      return;
    case "tell":
      await append(drive, [wordNotice(step.word)]);
      return;
    case "close":
      await append(drive, closing(step.action));
      return;
    case "begin":
      await append(drive, beginRun(step.pending, thread, parts.run));
      return;
    case "cancel":
      await append(drive, [finishedDraft(step.call, "cancelled", "Stopped before it was run.")]);
      return;
    case "prepare":
      begin(drive, { key: step.key, run: step.call.run }, (signal) =>
        prepare(drive, step.call, signal),
      );
      return;
    case "dispatch":
      begin(drive, { key: step.key, run: step.call.run }, (signal) =>
        dispatch(drive, step.call, step.action, signal),
      );
      return;
    case "think":
      begin(drive, { key: step.key, run: step.run.started.run }, (signal) =>
        think(drive, step.run, step.talk, signal),
      );
      return;
    case "reply":
      begin(drive, { key: step.key, run: step.call.run }, async () => {
        const drafts = await replyDrafts(drive, step.call, step.reply);
        return () => decide(drive, () => (step.call.finished === undefined ? drafts : undefined));
      });
      return;
    case "write":
      await append(drive, [step.draft]);
      return;
    case "end":
      await append(drive, [endRun(step.run)]);
      return;
    case "expire": {
      const { action } = step.action;
      await persist(drive, () =>
        parts.journal.post(drive.key, { id: `expiry:${action}`, kind: "timer", action }),
      );
      await absorb(drive);
      return;
    }
  }
}

/** Writes down that an action has been closed, and the result of its call. */
function closing(action: Action): Draft<"action_closed" | "tool_finished">[] {
  const { closed } = action;
  if (closed === undefined || closed.outcome === "void") return [];
  const { outcome, by, reason } = closed;
  const who = by === undefined ? "" : ` by ${by}`;
  const why = reason === undefined ? "" : `: ${reason}`;
  const word = { denied: "Denied", expired: "Expired", cancelled: "Cancelled" }[outcome];
  return [
    closedDraft(action, outcome, by, reason),
    finishedDraft(action, outcome, `${word}${who}${why}. The tool was not executed.`),
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

function wordNotice({ id, ...said }: Word): Draft<"notice"> {
  return { id: `told:${id}`, kind: "notice", answers: id, ...said };
}

/** This worker still drives the journal and is not shutting down. */
function mayAct({ over, fenced, draining, thread }: Drive): boolean {
  return !over && !fenced && !draining && thread.newer === undefined;
}

/** Decides what becomes of a call nobody was asked about yet: blocked, run at once, or proposed. */
async function prepare(
  drive: Drive,
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

function started(
  call: Call,
  prepared: {
    tool: { name: string; effect: Entry<"tool_started">["effect"] };
    args: JsonObject;
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
    effect: prepared.tool.effect,
    digest: prepared.digest,
    ...(!same && { args: prepared.args }),
  };
}

/**
 * Looks once more whether an approved action may run: policy, approvers, schema, precheck. If so it is written down as
 * started, unless anything was posted meanwhile or its expiry has passed, and only then run.
 */
async function dispatch(
  drive: Drive,
  call: Call,
  action: Action,
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
    if (drift !== undefined) {
      await append(drive, [closedDraft(action, "void", undefined, drift)]);
      return;
    }
    const { tool, effect, digest, revision, expiresAt } = proposal;
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
  if (dispatcher.find(tool)?.effect === "read") return () => {};
  return claim(drive, dispatcher.resourceOf(tool, args));
}

async function whyNot(
  drive: Drive,
  action: Action,
  signal: AbortSignal,
): Promise<string | undefined> {
  const { dispatcher, encode } = drive.parts;
  const { tool, args, digest } = action.proposal;
  try {
    const permission = await permit(drive, action.proposal);
    if (permission.kind === "deny") return permission.why;
    for (const vote of action.votes) {
      const still = await checkEligible(vote.account, action.proposal, placeOf(drive));
      if (!still.eligible) return `${vote.name}'s approval no longer counts: ${still.why}`;
    }
    return await dispatcher.drift(tool, args, digest, signal);
  } catch (error) {
    return `it could not be checked again: ${encode(messageOf(error))}`;
  }
}

/** Shows one owed thing; a platform that refuses is left alone for a while, the debt stays. */
function show(
  drive: Drive,
  { key, view, owed }: Extract<Step, { do: "deliver" }>,
  signal: AbortSignal,
): Promise<() => Promise<void>> {
  return showOn(drive, { name: view, stage: "final", retry: key }, signal, async (shown) => {
    const context = { key: drive.key, thread: drive.thread, again: againIn(drive) };
    const { entry, ref } = await deliver(shown, view, context, owed, drive.parts.encode);
    return { entry, ref, takeBack: () => takeBack(drive, shown, owed, ref) };
  });
}

/** Posts the message in which people see the run's progress. */
function showRun(
  drive: Drive,
  { view, run }: Extract<Step, { do: "show" }>,
  signal: AbortSignal,
): Promise<() => Promise<void>> {
  const retry = retryKey(view);
  return showOn(drive, { name: view, stage: "started", retry }, signal, async (shown) => {
    const delivery = {
      id: progressIdOf(run),
      again: againIn(drive)(run.started.at + drive.parts.showAfterMs),
    };
    const ref = await shown.begin?.(delivery, progressOf(run));
    if (ref === undefined) throw new BotError("NOT_AVAILABLE", "This view shows no progress.");
    return { entry: answerIdOf(run), ref, takeBack: () => takeBack(drive, shown, undefined, ref) };
  });
}

/** An attempt that began right after what it shows was written down is the first one. */
function againIn(drive: Drive): (since: number) => boolean {
  return (since) => drive.attempts > 1 || storeNow(drive) - since > FIRST_ATTEMPT_MS;
}

async function showOn(
  drive: Drive,
  { name, stage, retry }: { name: string; stage: "started" | "final"; retry: string },
  signal: AbortSignal,
  send: (view: View) => Promise<{ entry: string; ref: MessageRef; takeBack(): Promise<void> }>,
): Promise<() => Promise<void>> {
  const { parts } = drive;
  try {
    const view = viewOf(drive, name);
    const sent = await within(DELIVERY_MS, signal, () => send(view), 0);
    const { entry, ref } = sent;
    const id = `delivered:${name}:${entry}:${stage}`;
    const draft = { id, kind: "delivered", view: name, entry, stage, ref } as const;
    return async () => {
      if ((await append(drive, [draft])) === "fenced") await sent.takeBack();
    };
  } catch (error) {
    return async () => {
      parts.log.warn({ err: error, key: drive.key, view: name }, "a delivery was refused");
      const retryMs = (isBotError(error) ? error.retryAfterMs : undefined) ?? DELIVERY_RETRY_MS;
      drive.deferred.set(retry, storeNow(drive) + retryMs);
    };
  }
}

/** Another worker serves this thread now, and what this one showed may be a second copy, or out of date. */
async function takeBack(
  drive: Drive,
  view: View,
  owed: Owed | undefined,
  ref: MessageRef,
): Promise<void> {
  const { parts, key } = drive;
  const entries = await persist(drive, () => parts.journal.read(key));
  if (owed?.kind === "card") {
    const action = fold(emptyThread(), entries).actions.get(owed.action.action);
    if (action !== undefined) await view.settle(ref, cardOf(key, action, parts.encode));
    return;
  }
  if (entries.some((entry) => entry.kind === "delivered" && entry.ref === ref)) return;
  parts.log.warn(
    { key, entry: owed?.debt.id },
    "a message was sent twice; this copy is taken back",
  );
  await view.retract(ref);
}
