import { rootOf } from "./family.ts";
import type { Entry } from "../core/entry.ts";
import { isMapped, signed } from "../core/people.ts";
import {
  Action,
  close,
  count,
  type Grant,
  grantOf,
  isOpen,
  isOver,
  revise,
  titleOf,
} from "./action.ts";
import { MAX_PAST, forget, forgetOldest } from "./fold-memory.ts";
import { applyVoice, place } from "./fold-messages.ts";
import { routeTo } from "./routing.ts";
import { rejoinFirst } from "./side-run.ts";
import { isTalking, type Run, type Thread, type UntoldFact } from "./state.ts";
import type { Call } from "./call.ts";

/** The life of an action: proposed in revisions, voted on, closed, and shown until every view shows its end. */

export function applyProposal(thread: Thread, entry: Entry<"action_proposed">): void {
  thread.host = entry.host ?? thread.host;
  const editor = thread.clicks.get(entry.click ?? "")?.actor.account;
  if (entry.click !== undefined) forget(thread, entry.click);
  if (editor !== undefined) applyVoice(thread, editor, entry);
  const proposal = withAccounts(thread, entry);
  let action = thread.actions.get(entry.action);
  if (action === undefined) {
    action = open(thread, proposal);
    action.granted = thread.grants.get(entry.granted ?? "");
  } else revise(action, proposal, editor);
  action.barred = [...new Set(entry.barred.map((person) => nameOf(thread, person)))];
  touch(thread, action, entry);
}

function open(thread: Thread, proposal: Entry<"action_proposed">): Action {
  const run = thread.runs.get(proposal.run);
  const action = new Action(proposal, run?.principals ?? [], run?.started.undoes);
  thread.actions.set(action.action, action);
  thread.live.add(action);
  thread.counts.actions += 1;
  const call = run?.calls.get(proposal.call);
  if (call !== undefined) call.action = action;
  if (run !== undefined) makeWay(thread, rootOf(run));
  return action;
}

/** What was written while the model still thought does not wait for the card either. */
function makeWay(thread: Thread, run: Run): void {
  if (!isTalking(run)) return;
  const route = routeTo(thread, run);
  if (route.to === "run" && route.run === run) return;
  const { unseen, taken } = run.modelRun;
  run.modelRun.unseen = unseen.filter(({ id }) => taken.has(id));
  for (const message of unseen.filter(({ id }) => !taken.has(id))) {
    run.messages.delete(message.id);
    place(thread, message, route);
  }
}

/** A person that `people:` names, or an account by what it was called when it wrote here. */
function nameOf({ names }: Thread, person: string): string {
  return person.startsWith("person:") ? person.slice(7) : (names.get(person) ?? person);
}

/** Versions before this one barred people, who may have another name or none by now: their accounts are barred with them. */
function withAccounts(
  { runs, voices }: Thread,
  entry: Entry<"action_proposed">,
): Entry<"action_proposed"> {
  if (!entry.barred.some(isMapped)) return entry;
  const principals = runs.get(entry.run)?.principals ?? [];
  const accounts = [...principals, ...voices.keys()];
  return { ...entry, barred: [...new Set([...entry.barred, ...accounts])] };
}

export function applyVote(thread: Thread, entry: Entry<"vote">): void {
  const action = thread.actions.get(entry.action);
  if (action === undefined) return;
  forget(thread, entry.click);
  // The model is told why somebody denied.
  if (entry.reason !== undefined) applyVoice(thread, entry.account, entry);
  count(action, entry);
  rejoinFirst(thread);
  touch(thread, action, entry);
  if (entry.breaksGlass === true && isOpen(action)) {
    const { id, reason = "" } = entry;
    const { action: name, proposal } = action;
    const by = signed(entry);
    const title = titleOf(proposal);
    const about: UntoldFact = { kind: "glass", action: name, title, by, reason };
    thread.untold.set(id, { id, about });
    thread.alarms.set(id, about);
  }
}

/** An action was started: what its approval granted begins, and a grant that carried it has one use less. */
export function applyGrant(
  thread: Thread,
  call: Call,
  action: Action,
  entry: Entry<"tool_started">,
) {
  action.grant = grantOf(action);
  if (action.grant !== undefined) thread.grants.set(action.action, action.grant);
  const used = thread.grants.get(entry.grant ?? "");
  if (used === undefined) return;
  used.uses.push(call);
  touch(thread, used.of, entry);
}

export function applyRevoked(thread: Thread, entry: Entry<"grant_revoked">): void {
  forget(thread, entry.click);
  const grant = thread.grants.get(entry.action);
  if (grant !== undefined) endGrant(thread, grant, { how: "revoked", by: entry.name }, entry);
}

export function endGrant(
  thread: Thread,
  grant: Grant,
  ended: NonNullable<Grant["ended"]>,
  entry: Entry,
): void {
  if (grant.ended !== undefined) return;
  grant.ended = ended;
  touch(thread, grant.of, entry);
  // What it covered waits for people from here on.
  for (const action of thread.live)
    if (action.granted === grant && isOpen(action)) touch(thread, action, entry);
}

export function applyClosed(thread: Thread, entry: Entry<"action_closed">): void {
  const action = thread.actions.get(entry.action);
  if (action === undefined) return;
  if (entry.click !== undefined) forget(thread, entry.click);
  close(action, entry.outcome, entry.by, entry.reason);
  if (action.closed !== undefined) action.closed.recorded = true;
  rejoinFirst(thread);
  const call = thread.runs.get(action.run)?.calls.get(action.call);
  // Void: what was approved is no longer what would run. The call is asked about again, by another action.
  if (entry.outcome === "void" && call?.action === action) call.action = undefined;
  touch(thread, action, entry);
}

export function closeOpen(
  thread: Thread,
  action: Action,
  entry: Entry<"timer"> | Entry<"stop">,
): void {
  if (!isOpen(action)) return;
  if (entry.kind === "timer") close(action, "expired");
  else close(action, "cancelled", entry.actor.name);
  rejoinFirst(thread);
  touch(thread, action, entry);
}

/** As long as a form is taken to be open: nobody tells when it is closed. */
const EDITING_MS = 2 * 60_000;

/**
 * Somebody looked at all of an action, or began to edit it. Decides nothing, so nobody is asked whether they may. False for
 * any other click.
 */
export function applyLook(thread: Thread, click: Entry<"click">): boolean {
  const { choice, actor, digest = "?", at } = click;
  if (choice.kind !== "open" && choice.kind !== "editing") return false;
  const action = thread.actions.get(click.action);
  if (action === undefined || !isOpen(action)) return true;
  const { proposal } = action;
  if (click.revision !== proposal.revision || click.seq < proposal.seq) return true;
  if (choice.kind === "open") {
    if (proposal.digest.startsWith(digest)) action.opened.add(actor.account);
  } else if (action.editing === undefined) {
    action.editing = { name: actor.name, until: at + EDITING_MS };
    touch(thread, action, click);
  }
  return true;
}

export function endEditing(thread: Thread, action: Action, entry: Entry): void {
  if (action.editing === undefined) return;
  action.editing = undefined;
  touch(thread, action, entry);
}

/** What the card shows has changed: every view is owed it again, also one that was forgotten. */
export function touch(thread: Thread, action: Action, { seq }: Entry): void {
  action.touched = seq;
  thread.live.add(action);
  thread.actions.set(action.action, action);
}

export function showCard(
  thread: Thread,
  action: Action,
  { view, ref, instead }: Entry<"delivered">,
  seq: number,
): void {
  const before = action.shown.get(view);
  // An edit of what stands elsewhere does not bring it here; one that could not be shown takes nothing away.
  const isElsewhere = before?.isRefused === true && before.read === 0 && before.ref === ref;
  const isHere = instead === undefined && !isElsewhere;
  const isRefused = isElsewhere || (instead !== undefined && instead.to !== "file");
  action.shown.set(view, { ref, seq, read: isHere ? seq : (before?.read ?? 0), isRefused });
  if (isOver(action)) leaveIfShown(thread, action);
}

/** The place takes messages again: it is owed what it refused of open cards. */
export function showAgain(thread: Thread, entry: Entry<"delivered">): void {
  for (const action of thread.live) {
    const there = action.shown.get(entry.view);
    if (there?.isRefused !== true || !isOpen(action)) continue;
    if (there.read === 0) action.shown.delete(entry.view);
    touch(thread, action, entry);
  }
}

/** What is over is forgotten once every view shows it so. */
export function leaveIfShown(thread: Thread, action: Action): void {
  const isCurrent = thread.views.every(
    (each) => (action.shown.get(each)?.seq ?? 0) >= action.touched,
  );
  if (isCurrent) leave(thread, action);
}

function leave(thread: Thread, action: Action): void {
  thread.live.delete(action);
  forgetOldest(thread, thread.grants, MAX_PAST, ({ ended }) => ended !== undefined);
  forgetOldest(thread, thread.actions, MAX_PAST, (each) => !thread.live.has(each));
}
