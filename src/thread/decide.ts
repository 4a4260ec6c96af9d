import { checkLimit, firstLookOf, isChecking } from "./checking.ts";
import { namesOf } from "./drafts-checks.ts";
import { callsIn, workKey } from "./work-keys.ts";
import { nextTurn } from "./decide-run.ts";
import { strategyFor } from "./plan.ts";
import { DELEGATE } from "../core/tool-spec.ts";
import { isApproved, isOpen } from "./action.ts";
import { atWork, endedHelper, MAX_AT_ONCE } from "./family.ts";
import { goalStep } from "./goals/decide.ts";
import { isHeld } from "./goals/next.ts";
import { overDueAt, overWord } from "./fold-alerts.ts";
import { beginsGoal, wantsGoal } from "./goals/begin.ts";
import { offerDue } from "./incident-offer.ts";
import { nextUndelivered } from "./undelivered.ts";
import { escalationTime, isWaiting, waitingIn } from "./waiting.ts";
import {
  absenceOf,
  type Elsewhere,
  elsewhereIn,
  mustAsk,
  namesNoMachine,
  quietCall,
} from "./machines.ts";
import {
  type PendingPost,
  type Run,
  talkingRuns,
  grantsIn,
  isUndecided,
  type Thread,
} from "./state.ts";
import type { ShownAlerts } from "./shown-living.ts";
import { silencesIn } from "./silences.ts";
import { ornaments, unshown } from "./shown-work.ts";
import type { Step, Situation, Scene } from "./steps.ts";
import { nextTime, endOfEditing } from "./next-time.ts";

function sceneOf(thread: Thread, situation: Situation): Scene {
  const items = elsewhereIn(thread, situation);
  // An edit for a machine that is away is judged here: its author is told so.
  const isLeft = (item: Elsewhere) =>
    "tool" in item.of || mustAsk([item], situation) || absenceOf(item, situation) === undefined;
  return { ...situation, items, left: new Set(items.filter(isLeft).map(({ of }) => of)) };
}

const MAX_CALLS = 8;

/**
 * Decides from the fold alone, so every worker decides alike. Clicks, Stops and timers come before any dispatch; what is
 * owed to people comes before new work.
 */
export function decide(thread: Thread, situation: Situation): Step {
  const scene = sceneOf(thread, situation);
  return (
    recoverStep(thread, scene) ??
    deliverStep(thread, scene) ??
    showStep(thread, scene) ??
    expiryStep(thread, scene) ??
    ringStep(thread, scene) ??
    (scene.draining ? undefined : (clickStep(thread, scene) ?? overStep(thread, scene))) ??
    endingStep(thread, scene) ??
    (scene.draining ? undefined : hostStep(scene)) ??
    (isResting(thread, scene)
      ? undefined
      : (verifyStep(thread, scene) ??
        markStep(thread, scene) ??
        alarmStep(thread, scene) ??
        pageStep(thread, scene) ??
        recordStep(thread, scene) ??
        reportStep(thread, scene) ??
        rememberStep(thread, scene) ??
        goalStep(thread, scene) ??
        workStep(thread, scene) ??
        ornamentStep(thread, scene))) ?? {
      do: "wait",
      until: nextTime(thread, scene),
      ...leftTo(scene),
    }
  );
}

/** Work for another machine: who is there, and what becomes of it where nobody is. */
function hostStep(scene: Scene): Step | undefined {
  const { items, busy } = scene;
  if (mustAsk(items, scene))
    return busy.has(workKey.hosts) ? undefined : { do: "hosts", key: workKey.hosts };
  for (const item of items) {
    const absence = absenceOf(item, scene);
    const { host, of } = item;
    if (absence !== undefined && "tool" in of) return { do: "abandon", call: of, host, absence };
  }
  const quiet = quietCall(items, scene);
  if (quiet === undefined || !("tool" in quiet.of)) return undefined;
  return { do: "await", call: quiet.of, host: quiet.host };
}

function leftTo(scene: Scene): { host?: string } {
  const { items, left } = scene;
  const due = items.find(({ of, isDue }) => isDue && left.has(of));
  return due === undefined ? {} : { host: due.host };
}

function isResting({ parked }: Thread, { draining }: Situation): boolean {
  return draining || parked;
}

/** Started, not finished, and not running here: whoever started it is gone. */
function recoverStep(thread: Thread, scene: Scene): Step | undefined {
  const { busy, left } = scene;
  for (const run of thread.going) {
    for (const call of run.open.values()) {
      const key = workKey.call(call.call);
      const isHere = busy.has(key) || left.has(call) || call.helper !== undefined;
      if (call.started === undefined || isHere) continue;
      // A read is simply run again, by the next start or once someone writes.
      if (isResting(thread, scene) && call.started.effect === "read") continue;
      return { do: "recover", key, call };
    }
  }
  return undefined;
}

/** The oldest thing owed to each view; one at a time, so that a thread reads in order. */
function deliverStep(thread: Thread, { busy, now }: Situation): Step | undefined {
  // Nobody can answer in a place before what is said there comes here.
  for (const [view, pointer] of thread.pointers) {
    const key = workKey.view(view);
    if (pointer !== "open" && !busy.has(key))
      return { do: "point", key, view, isOver: pointer === "closing" };
  }
  for (const view of thread.views) {
    const key = workKey.view(view);
    if (busy.has(key) || thread.pointers.get(view) === "opening") continue;
    const undelivered = nextUndelivered(thread, view, now);
    if (undelivered !== undefined) return { do: "deliver", key, view, undelivered };
  }
  return undefined;
}

function showStep(thread: Thread, situation: Situation): Step | undefined {
  for (const { view, run, at } of unshown(thread, situation)) {
    const key = workKey.view(view);
    const isTime = at <= situation.now;
    const isFree = !situation.busy.has(key) && !situation.busy.has(workKey.progress(view));
    if (isTime && isFree) return { do: "show", key, view, run };
  }
  return undefined;
}

function ornamentStep(thread: Thread, situation: Situation): Step | undefined {
  for (const { at, ...step } of ornaments(thread, situation))
    if (at <= situation.now && !situation.busy.has(step.key)) return step;
  return undefined;
}

/** Comes before clicks are judged: one whose author cannot be looked up must not keep an action open. */
function expiryStep({ live }: Thread, { now }: Situation): Step | undefined {
  for (const action of live) {
    if (isOpen(action) && now >= action.proposal.expiresAt) return { do: "expire", action };
  }
  return undefined;
}

function ringStep(thread: Thread, { now }: Situation): Step | undefined {
  for (const action of thread.live)
    if (now >= endOfEditing(action)) return { do: "forget", action };
  for (const check of thread.checks.values())
    if (!check.isDue && now >= check.dueAt) return { do: "ring", check };
  for (const look of thread.looks.values())
    if (!look.isDue && now >= look.dueAt) return { do: "ringLook", look };
  for (const grant of grantsIn(thread)) if (now >= grant.until) return { do: "lapseGrant", grant };
  for (const silence of silencesIn(thread))
    if (now >= silence.until) return { do: "lapseSilence", silence };
  return undefined;
}

function verifyStep({ checks }: Thread, { busy, left }: Scene): Step | undefined {
  for (const check of checks.values()) {
    const key = workKey.verify(check.of.call);
    if (check.isDue && !busy.has(key) && !left.has(check)) return { do: "verify", key, check };
  }
  return undefined;
}

function markStep({ marks }: Thread, { busy }: Scene): Step | undefined {
  for (const done of marks.values()) {
    const key = workKey.mark(done.call);
    if (!busy.has(key)) return { do: "mark", key, done };
  }
  return undefined;
}

function alarmStep({ alarms }: Thread, { busy }: Scene): Step | undefined {
  for (const [entry, about] of alarms) {
    const key = workKey.alarm(entry);
    if (!busy.has(key)) return { do: "alarm", key, entry, about };
  }
  return undefined;
}

function reportStep({ goals }: Thread, { busy, reports }: Scene): Step | undefined {
  if (reports !== true) return undefined;
  for (const goal of goals.values()) {
    const key = workKey.report(goal.started.goal);
    if (goal.isReportOwed && !busy.has(key)) return { do: "writeReport", key, goal };
  }
  return undefined;
}

function rememberStep({ task, going }: Thread, { busy, remembers }: Scene): Step | undefined {
  const { owed } = task;
  if (remembers !== true || owed === undefined || going.size > 0) return undefined;
  const key = workKey.memory;
  return busy.has(key) ? undefined : { do: "remember", key, entry: owed };
}

/** One after the other, in the order in which it happened. */
function recordStep({ record }: Thread, { busy }: Scene): Step | undefined {
  for (const owed of record.owed.values())
    return busy.has(workKey.record) ? undefined : { do: "record", key: workKey.record, owed };
  return undefined;
}

function pageStep({ pages }: Thread, { busy }: Scene): Step | undefined {
  for (const page of pages.values()) {
    const key = workKey.page(page.action.action);
    const isOver = !isWaiting(page.action);
    // Somebody may just have decided it.
    const isDue = isOver || !(page.isOpen || busy.has(workKey.judging));
    if (isDue && !busy.has(key)) return { do: "page", key, page, isOver };
  }
  return undefined;
}

/**
 * Clicks are judged in the order they were posted, one at a time. One that is put off is passed over: a deny further down
 * must not wait for it.
 */
function clickStep(thread: Thread, { busy, left }: Scene): Step | undefined {
  for (const click of busy.has(workKey.judging) ? [] : thread.clicks.values()) {
    if (!busy.has(workKey.click(click.id)) && !left.has(click))
      return { do: "judge", key: workKey.judging, click };
  }
  for (const untold of thread.untold.values()) return { do: "tell", untold };
  for (const message of thread.assents.values()) {
    return busy.has(workKey.hint) ? undefined : { do: "hint", key: workKey.hint, message };
  }
  return undefined;
}

/** The thread is told in a line of its own that a group's alerts are over, or that it looks like an incident. */
function overStep(thread: Thread, scene: Scene): Step | undefined {
  for (const alerts of thread.alerts.values()) {
    const at = overDueAt(alerts);
    if (at !== undefined && at <= scene.now)
      return { do: "tell", untold: overWord(thread, alerts) };
  }
  const untold = offerDue(thread, scene);
  return untold && { do: "tell", untold };
}

/** What is over but not yet written down: closed actions, calls of a stopped run, runs with nothing left to do. */
function endingStep(thread: Thread, scene: Scene): Step | undefined {
  const { now, busy, machines, left } = scene;
  for (const waiting of waitingIn(thread)) {
    if (now >= waiting.expiresAt && "asked" in waiting.of) return { do: "lapse", call: waiting.of };
    const isDue = now >= waiting.warnAt && now < waiting.expiresAt;
    if (isDue) return { do: "warn", waiting };
  }
  for (const action of thread.live) {
    if (now >= escalationTime(action)) return { do: "escalate", action };
    if (action.closed !== undefined && !action.closed.recorded) return { do: "close", action };
    // One that nobody pressed. A press is judged first: it may be a deny.
    const isNameless = machines !== undefined && namesNoMachine(action, machines.isBound);
    if (isNameless && thread.clicks.size === 0) return { do: "renew", action };
  }
  for (const run of thread.going) {
    for (const call of run.open.values()) {
      const helper = endedHelper(thread, call);
      if (helper !== undefined) return { do: "report", call, helper };
    }
    if (run.stopped) {
      for (const call of run.open.values()) {
        if (call.started === undefined) return { do: "cancel", call };
      }
    }
    for (const call of run.open.values()) {
      const limitMs = checkLimit(run, call.call);
      const isLeft = left.has(call) && now >= run.started.at + (limitMs ?? Infinity);
      if (limitMs !== undefined && isLeft) return { do: "cut", call, limitMs };
    }
    // A model that was just stopped ends the run itself, with what it had written.
    if (run.open.size > 0 || busy.has(workKey.model(run.started.run))) continue;
    // What is remembered belongs to what is said.
    const isRecalling = recallStep(run, scene) !== undefined;
    if (!run.stopped && (isRecalling || busy.has(workKey.above(run.started.run)))) continue;
    if (run.stopped || run.modelRun === undefined) return { do: "end", run };
  }
  return undefined;
}

/** New runs, calls to prepare, approved actions to dispatch; no more calls at once than MAX_CALLS. */
function workStep(thread: Thread, scene: Scene): Step | undefined {
  const { busy, left } = scene;
  for (const pending of thread.pending.values()) {
    if (!mayBegin(thread, pending)) continue;
    if (scene.owesPlace === true && (pending.entry.kind === "message" || beginsGoal(pending))) {
      if (!busy.has(workKey.where)) return { do: "where", key: workKey.where };
      continue;
    }
    const { id } = pending.entry;
    const step: Step = wantsGoal(pending)
      ? { do: "admit", key: workKey.admit(id), pending }
      : isAnsweredWithFreezes(pending)
        ? { do: "survey", key: workKey.survey(id), pending }
        : { do: "begin", pending };
    if (!("key" in step) || !busy.has(step.key)) return step;
  }
  for (const alerts of thread.alerts.values())
    if (isUntriaged(thread, alerts)) return { do: "triage", alerts };
  for (const look of thread.looks.values())
    if (look.isDue && look.run === undefined) return { do: "again", look };
  if (callsIn(busy) >= MAX_CALLS) return undefined;
  for (const run of thread.going) {
    if (run.stopped) continue;
    const look = recallStep(run, scene);
    if (look !== undefined) return look;
    const held = isHeld(thread, run);
    // Who said "yes" is told first what it takes: that is no word to the model.
    const step = held || thread.assents.size > 0 ? undefined : modelStep(run, scene);
    if (step !== undefined) return step;
    for (const call of run.open.values()) {
      const key = workKey.call(call.call);
      if (busy.has(key) || left.has(call)) continue;
      if (call.asked !== undefined) {
        if (call.reply !== undefined) return { do: "reply", key, call, reply: call.reply };
        continue;
      }
      if (call.helper !== undefined) continue;
      // One that is to ask for a helper waits for a place.
      if (call.tool === DELEGATE && atWork(run) >= MAX_AT_ONCE) continue;
      if (call.action === undefined) {
        if (held) continue;
        return { do: "prepare", key, call };
      }
      const { action } = call;
      if (thread.clicks.size === 0 && isApproved(action))
        return { do: "dispatch", key, call, action };
    }
  }
  return undefined;
}

/** A run of checks is told what is remembered too, while they look. */
function recallStep(run: Run, { busy, remembers }: Scene): Step | undefined {
  const isOwed = remembers === true && isChecking(run) && run.above === undefined;
  const key = workKey.above(run.started.run);
  const { why } = run.started.checks ?? {};
  return isOwed && why !== "again" && !busy.has(key) ? { do: "look", key, run } : undefined;
}

/** Its alerts are to be looked into once, and again for each name that joined them since. */
function isUntriaged({ going }: Thread, { state, triaged }: ShownAlerts): boolean {
  if (state.triage !== true || state.firing === 0) return false;
  const isNew = namesOf(state).some((name) => !triaged.has(name));
  const isGoing = [...going].some(({ started: { checks } }) => {
    const { of, group } = checks?.group ?? {};
    return of === state.of && group === state.group;
  });
  return isNew && !isGoing;
}

/** Plain language has one run at a time, and a side run while a card is open; a command's run may be open beside them. */
function mayBegin(thread: Thread, { entry, forSide }: PendingPost): boolean {
  const { first, side } = talkingRuns(thread);
  const isFree = first === undefined || (forSide === true && side === undefined);
  return entry.kind === "command" || isFree;
}

/** What is frozen is part of the answer. */
function isAnsweredWithFreezes({ entry, stopped }: PendingPost): boolean {
  if (entry.kind !== "command" || stopped) return false;
  return entry.command.name === "status" || entry.command.name === "approvals";
}

/** A model's run whose calls all have their results: ask the model, or write down what follows from what it said. */
function modelStep(run: Run, { busy, readsAbove, remembers }: Scene): Step | undefined {
  const key = workKey.model(run.started.run);
  if (run.modelRun === undefined || busy.has(key)) return undefined;
  // A goal's run answers no message, and nothing stands above its task.
  const isApart =
    run.parent !== undefined || (run.started.goal !== undefined && remembers !== true);
  const isTold = run.above !== undefined || isApart;
  const isNew = run.modelRun.last === undefined && !isTold && !isUndecided(run);
  if (isNew && (readsAbove === true || remembers === true)) {
    const above = workKey.above(run.started.run);
    return busy.has(above) ? undefined : { do: "look", key: above, run };
  }
  const isLooked = firstLookOf(run) !== undefined && run.open.size === 0;
  const isNoted = run.modelRun.gates.some(({ gate }) => gate === "checks");
  if (isLooked && !isNoted && run.modelRun.last === undefined) return { do: "note", run };
  const move = nextTurn(run, run.modelRun);
  const strategy = move?.do === "think" ? strategyFor(run, run.modelRun) : undefined;
  if (strategy !== undefined) return { do: "plan", key, run, modelRun: run.modelRun, strategy };
  const isAsked = move?.do === "think" || move?.do === "condense";
  return isAsked ? { do: move.do, key, run, modelRun: run.modelRun } : move;
}
