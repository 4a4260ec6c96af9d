/**
 * The journal as a store must implement it: every verb is one transaction. State is plain data; each verb returns a new one.
 *
 * An entry is one letter, so a journal is a string and `after` is a length.
 */
export const KIND = {
  // posts: anyone, any time
  m: "message 1",
  n: "message 2",
  a: "Ana's approve click",
  c: "Ana's second approve click",
  b: "Bob's approve click",
  d: "Bob's deny click",
  s: "Stop",
  t: "expiry timer",
  l: "late word (an outcome from a worker that lost its lease)",
  // decisions: token and exact `after`
  P: "action_proposed",
  A: "vote (Ana approves)",
  C: "vote (Ana again)",
  B: "vote (Bob approves)",
  X: "vote (Bob denies)",
  S: "tool_started",
  U: "tool_finished unknown",
  N: "tool_finished 'verified: not done'",
  R: "answer",
  // facts: token only
  F: "tool_finished",
  D: "delivered", // the n-th D belongs to the n-th R
};
export const POSTS = "mnacbdstl";
export const FACTS = "FD";
export const NOBODY = 0; // no token stored: never leased, or released
export const FORGOTTEN = 9; // a token whose owner crashed

export const emptyJournal = {
  entries: "",
  lateAt: -1, // number of entries when the store's clock passed the action's expiry; -1: it has not
  holder: NOBODY, // whose token is stored; workers are 1, 2, …
  winner: NOBODY, // for the checks only: who really won the last lease()
  expired: false, // the lease's end has passed; the token stays until someone leases or it is released
  dueAt: "never", // "now", "expiry" (the open action's) or "never"; means nothing while a token is stored
  unindexed: false, // in a control only: posted, but the index is a second transaction
  wake: false, // without the sweeper only: a job in the queue
};

/** Is the journal in due(now)? Leased: when the lease's end has passed. Not leased: when dueAt has. */
export function isDue(journal) {
  if (journal.holder !== NOBODY) return journal.expired;
  return journal.dueAt === "now" || (journal.dueAt === "expiry" && journal.lateAt >= 0);
}

/** The same id again writes nothing. Not leased: due now, in the same transaction. */
export function post(journal, entry, rules) {
  const woken = rules.sweeper ? journal : { ...journal, wake: true };
  if (journal.entries.includes(entry) && rules.postIdempotent) return woken;
  const written = { ...woken, entries: journal.entries + entry };
  if (!rules.postIndexesAtOnce) return { ...written, unindexed: true };
  return journal.holder === NOBODY ? { ...written, dueAt: "now" } : written;
}

/** Granted when no token is stored or the lease's end has passed; a new token, so the old one is dead for ever. */
export function lease(journal, who) {
  if (journal.holder !== NOBODY && !journal.expired) return undefined;
  return { ...journal, holder: who, winner: who, expired: false, dueAt: "never", wake: false };
}

/** The lease's end passes on the store's clock. Nothing is written: the token and the journal's place in due() stay. */
export function leaseEnds(journal, rules) {
  return rules.leaseIsKeyWithTtl ? { ...journal, holder: NOBODY } : { ...journal, expired: true };
}

/** Only for the stored token; also past the lease's end, as long as nobody took it. */
export function renew(journal, who, rules) {
  if (journal.holder !== who && rules.renewChecksToken) return undefined;
  return { ...journal, holder: who, expired: false };
}

/** Checks, in this order: token; id already written (a repeated request); deadline; `after`. The lease's end is not looked at. */
export function append(journal, who, after, entry, rules, repeated = false) {
  const fact =
    (FACTS.includes(entry) && !rules.factsNeedAfter) || (entry === "U" && rules.unknownIsFact);
  if (journal.holder !== who && rules.appendChecksToken) return { kind: "fenced" };
  if (
    journal.expired &&
    (rules.liveLeaseFor === "all" || (rules.liveLeaseFor === "decisions" && !fact))
  )
    return { kind: "fenced" };
  if (repeated && rules.entryIds) return { kind: "ok", journal };
  if (entry === "S" && journal.lateAt >= 0 && rules.startHasDeadline) return { kind: "late" };
  if (!fact && journal.entries.length !== after && rules.decisionsNeedAfter)
    return { kind: "unseen" };
  return { kind: "ok", journal: { ...journal, entries: journal.entries + entry } };
}

/** Forgets the token and says when the journal is next due. */
export function release(journal, who, after, at, rules) {
  if (journal.holder !== who && rules.releaseChecksToken) return { kind: "fenced" };
  if (journal.entries.length !== after && rules.releaseNeedsAfter) return { kind: "unseen" };
  const openPost = !rules.releaseHandlesPosts && POSTS.includes(journal.entries.at(-1) ?? "-");
  const dueAt = openPost ? "now" : rules.releaseSetsDueAt ? at : "never";
  return {
    kind: "ok",
    journal: { ...journal, holder: NOBODY, winner: NOBODY, expired: false, dueAt },
  };
}
