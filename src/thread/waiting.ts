import { type Action, isApproved, isOpen } from "./action.ts";
import type { Entry } from "../core/entry.ts";
import type { Thread } from "./state.ts";
import type { Call } from "./call.ts";

/** An action or a question that waits for people, and until when. Times are ms since 1970. */
export interface Waiting {
  of: Action | Call;
  since: number;
  /** When people are reminded of it next; Infinity: never again. */
  warnAt: number;
  /** When they are reminded for the last time. */
  lastAt: number;
  expiresAt: number;
}

/** People are reminded at half-time, and once more so long before the end where that is later. */
const WARNING_MS = 10 * 60_000;

/** Everything that waits for people and that nobody has decided yet. */
export function waitingIn({ live, going }: Thread): Waiting[] {
  const found: Waiting[] = [];
  for (const of of live)
    if (isWaiting(of)) found.push(timed(of, of.openedAt, of.proposal.expiresAt));
  for (const run of going) {
    for (const of of run.stopped ? [] : run.open.values()) {
      if (of.asked !== undefined && of.reply === undefined)
        found.push(timed(of, of.asked.at, questionExpiry(of.asked)));
    }
  }
  return found;
}

/** Nobody has decided it. */
export function isWaiting(action: Action): boolean {
  return isOpen(action) && !isApproved(action);
}

function timed(of: Action | Call, since: number, expiresAt: number): Waiting {
  const halfAt = since + (expiresAt - since) / 2;
  const lastAt = Math.max(expiresAt - WARNING_MS, halfAt);
  // A question is its asker's, who knows of it: one reminder will do.
  const firstAt = "proposal" in of ? halfAt : lastAt;
  const warnAt = { no: firstAt, once: lastAt, last: Infinity }[of.warned];
  return { of, since, warnAt, lastAt, expiresAt };
}

/** How long a question waits that does not say so itself. */
export const QUESTION_MS = 60 * 60_000;

/** When a question that waits expires, ms since 1970. */
export function questionExpiry({ at, asks }: Entry<"notice">): number {
  return asks?.expiresAt ?? at + QUESTION_MS;
}

/** When those whom its rule names are told that an action waits, ms since 1970; Infinity: never, or no more. */
export function escalationTime(action: Action): number {
  return isWaiting(action) && !action.escalated
    ? (action.proposal.escalation?.at ?? Infinity)
    : Infinity;
}
