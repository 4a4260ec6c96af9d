import { type Action, approvals, isEnough, isOpen } from "./action.ts";
import type { Actor, Draft, Entry } from "../core/entry.ts";
import { HOST_GONE_MS } from "../core/host-beat.ts";
import type { StepOf } from "./steps.ts";
import { noticeId } from "./entry-ids.ts";
import { approversAsked, askersOf, mayAllApprove, mentionable } from "./mentions.ts";
import type { IncidentOffer } from "./offer-notes.ts";
import * as phrases from "./phrases.ts";
import { clickAnswers } from "./click-phrases.ts";
import type { LaterCheck, Untold } from "./state.ts";
import { type Call, refOf } from "./call.ts";
import type { Surroundings } from "./surroundings.ts";
import type { Waiting } from "./waiting.ts";

type Notice = Draft<"notice">;

export function notice(
  id: string,
  text: string,
  more: Partial<Omit<Notice, "id" | "kind" | "text">> = {},
): Notice {
  return { id, kind: "notice", text, ...more };
}

export function untoldNotice(
  { id, to, about, mentions = [] }: Untold,
  around: Surroundings,
): Notice {
  return notice(noticeId.told(id), phrases.factText(about), {
    answers: id,
    ...(to !== undefined && { to }),
    ...mentioning([...mentions]),
    ...(about.kind === "held" && { holds: about.actions }),
    ...(about.kind === "glass" && mentioning(askersOfGlass(about.action, around))),
    ...(about.kind === "looks_like_incident" && { offers: offered(about.offer, around) }),
    ...(about.kind === "late" && !about.isSettled && { settles: about.ref }),
  });
}

function offered(
  { title, startedAt, services }: IncidentOffer,
  { encode }: Surroundings,
): NonNullable<Notice["offers"]> {
  const named = services.map(encode);
  return { title: encode(title), startedAt, ...(named.length > 0 && { services: named }) };
}

function askersOfGlass(name: string, { thread, personOf }: Surroundings): string[] {
  const action = thread.actions.get(name);
  const breakers = action?.votes.filter(({ breaksGlass }) => breaksGlass === true) ?? [];
  const accounts = breakers.map(({ account }) => account);
  return action === undefined ? [] : askersOf(action, accounts, personOf);
}

/** Something will expire, and can still be saved. */
export function warningNotice({ of, lastAt, expiresAt }: Waiting, now: number): Notice {
  const isAction = "proposal" in of;
  const warns = isAction ? of.action : of.call;
  const leftMs = expiresAt - now;
  const text = isAction ? phrases.actionExpires(of, leftMs) : phrases.questionExpires(of, leftMs);
  const id = now < lastAt ? noticeId.halfway(warns) : noticeId.expiring(warns);
  const mentions = isAction ? approversAsked(of) : [];
  return notice(id, text, { warns, ...mentioning(mentions) });
}

/** Those whom the rule names are told that it waits; gone once it waits no more. */
export function escalationNotice(action: Action): Notice {
  const { action: warns, proposal } = action;
  const mentions = mentionable(proposal.escalation?.to ?? []);
  const text = phrases.escalated(action, mayAllApprove(proposal, mentions));
  return notice(noticeId.escalated(warns), text, { warns, ...mentioning(mentions) });
}

/** It is approved, and a freeze holds it; gone once it waits no more. */
export function frozenNotice(action: Action, { id, text }: { id: string; text: string }): Notice {
  const { action: warns } = action;
  return notice(noticeId.frozen(warns, id), phrases.frozen(action, text), { warns });
}

/** Nobody decided in time, and how to ask again. */
export function expiredNotice(action: Action, { personOf }: Surroundings): Notice {
  const asked = mentioning(askersOf(action, [], personOf));
  return notice(noticeId.expired(action.action), phrases.actionExpired(action), asked);
}

/** Tells those who asked for an action who decided it, unless they did themselves or it takes more votes. */
export function decisionNotices(
  action: Action,
  vote: Draft<"vote">,
  { personOf }: Surroundings,
): Notice[] {
  const before = approvals(action);
  const votes = vote.approve ? [...before, vote] : [vote];
  // While it waits, for the end of a freeze perhaps, others may approve it too, or deny it after all.
  const decides = isEnough(action, votes) && !isEnough(action, before);
  // What one person carries by breaking the glass is told for itself.
  if (vote.breaksGlass === true || (vote.approve && !decides)) return [];
  const deciders = votes.map(({ account }) => account);
  const mentions = askersOf(action, deciders, personOf);
  if (mentions.length === 0) return [];
  const idOf = vote.approve ? noticeId.decided : noticeId.denied;
  return [
    notice(idOf(action.action, vote.revision), phrases.decidedBy(action, votes), { mentions }),
  ];
}

/** Tells those who asked for an action that somebody else withdrew it for everyone. */
export function withdrawalNotices(action: Action, by: Actor, { personOf }: Surroundings): Notice[] {
  const mentions = askersOf(action, [by.account], personOf);
  if (mentions.length === 0) return [];
  const id = noticeId.withdrawn(action.action, action.proposal.revision);
  return [notice(id, phrases.withdrawnBy(action, by), { mentions })];
}

function mentioning(mentions: string[]): Pick<Notice, "mentions"> {
  return mentions.length > 0 ? { mentions } : {};
}

export function questionNotice(
  { call }: Call,
  { text, choices, expiresAt }: { text: string; choices: string[]; expiresAt: number },
): Notice {
  return notice(noticeId.asks(call), text, { asks: { call, choices, expiresAt } });
}

/** A card takes long, because the platform does not answer. */
export function lookingNotice({ call, tool }: Call): Notice {
  return notice(noticeId.looking(call), phrases.notices.looking(tool));
}

/** A call's outcome is unknown, and a person has to say what happened. */
export function unknownNotice(call: Call, text: string): Notice {
  const settles = refOf(call);
  return notice(noticeId.unknown(call.call), phrases.unknownOutcome(call, text), { settles });
}

/** What was seen when a call was looked at again. */
export function verifiedNotice(
  { of, afterMs }: LaterCheck,
  { verdict, evidence }: Seen,
  { encode }: Surroundings,
): Notice {
  const text = encode(phrases.verifiedLater(of, { afterMs, verdict, evidence }));
  return notice(noticeId.verified(of.call), text, { verifies: { call: of.call, verdict } });
}

/** What a look came to. */
export interface Seen {
  verdict: "done" | "not done" | "unknown";
  evidence: string;
}

export function awaitingNotice(
  { call, host }: StepOf<"await">,
  { heard, encode }: Surroundings,
): Notice {
  const beatAt = heard?.get(host)?.beatAt ?? 0;
  const text = encode(phrases.notices.waits(call, host, beatAt, beatAt + HOST_GONE_MS));
  return notice(noticeId.waits(call.call), text, { waitsFor: call.call });
}

/** An open action, for somebody who agreed in words. */
export interface Hint {
  action: Action;
  proposal: Entry<"action_proposed">;
  /** What a yes would be to, such as `a1 (restart_service on web-1 name=nginx)`. */
  what: string;
  /** Why they may not approve it. */
  refusal: string | undefined;
}

/** Tells who agreed in words which button approves, if they may. Undefined where an action was edited meanwhile. */
export function hintDrafts(
  { id, actor }: Entry<"message">,
  hints: readonly Hint[],
  { encode }: Surroundings,
): [Notice] | undefined {
  const open = hints.filter(({ action }) => isOpen(action));
  if (open.some(({ action, proposal }) => action.proposal !== proposal)) return undefined;
  const to = { to: actor.account, instead: id };
  const approvable = open.filter(({ refusal }) => refusal === undefined);
  if (approvable.length === 0) {
    const [first] = open;
    const text = first === undefined ? clickAnswers.decided : (first.refusal ?? "");
    return [notice(noticeId.word(id), text, to)];
  }
  const approves = approvable.map(({ action }) => action.action);
  return [notice(noticeId.word(id), encode(phrases.howToApprove(approvable)), { ...to, approves })];
}

/** Answers a click or a message, to its author alone. */
export function privateNotice(
  { id, actor }: Entry<"click"> | Entry<"message">,
  text: string,
): Notice {
  return notice(noticeId.word(id), text, { to: actor.account, answers: id });
}
