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
  z: "Ana's approve click on a card from before the restore",
  s: "Stop",
  t: "expiry timer",
  l: "late word (an outcome from a worker that lost its lease)",
  // decisions: token and exact `after`
  P: "action_proposed",
  A: "vote (Ana approves)",
  C: "vote (Ana again)",
  B: "vote (Bob approves)",
  X: "vote (Bob denies)",
  e: "word: Ana's click does not count",
  f: "word: Ana's second click does not count",
  g: "word: Bob's approve does not count",
  h: "word: Bob's deny does not count",
  V: "action_closed void",
  E: "notice: this store was restored",
  S: "tool_started",
  U: "tool_finished unknown",
  N: "tool_finished 'verified: not done'",
  Q: "what a read found",
  R: "answer",
  // facts: token only
  F: "tool_finished",
  D: "delivered", // the n-th D belongs to the n-th R
};
export const POSTS = "mnacbdzstl";
export const FACTS = "FD";
export const NOBODY = 0; // no token stored: never leased, or released
export const FORGOTTEN = 9; // a token whose owner crashed

export const emptyJournal = {
  entries: "",
  lateAt: -1, // number of entries when the store's clock passed the action's expiry; -1: it has not
  tiredAt: 0, // clicks before this entry have waited so long for their judge that they are not waited for any more
  epoch: -1, // number of entries that a restore brought back, as the store knows it; -1: never restored, or it does not know
  early: "", // messages that the platform dates before the restore, whenever they were posted
  holder: NOBODY, // whose token is stored; workers are 1, 2, …
  winner: NOBODY, // for the checks only: who really won the last lease()
  expired: false, // the lease's end has passed; the token stays until someone leases or it is released
  dueAt: "never", // "now", "expiry" (the open action's) or "never"; means nothing while a token is stored
  dueFor: 0, // 0: for anyone; else only for processes of this host, as long as it beats
  unindexed: false, // in a control only: posted, but the index is a second transaction
  wake: false, // without the sweeper only: a job in the queue
};

/** Is the journal in due(now)? Leased: when the lease's end has passed. Not leased: when dueAt has, for the host that it names. */
export function isDue(journal, host = 0, gone = false) {
  if (journal.holder !== NOBODY) return journal.expired;
  if (host && journal.dueFor && journal.dueFor !== host && !gone) return false;
  return journal.dueAt === "now" || (journal.dueAt === "expiry" && journal.lateAt >= 0);
}

/** The same id again writes nothing. Not leased: due now, for any host, in the same transaction. */
export function post(journal, entry, rules) {
  const woken = rules.sweeper ? journal : { ...journal, wake: true };
  if (journal.entries.includes(entry) && rules.postIdempotent) return woken;
  const written = { ...woken, entries: journal.entries + entry };
  if (!rules.postIndexesAtOnce) return { ...written, unindexed: true };
  return journal.holder === NOBODY
    ? { ...written, dueAt: "now", dueFor: rules.postReopens ? 0 : journal.dueFor }
    : written;
}

/** Granted when no token is stored or the lease's end has passed; a new token, so the old one is dead for ever. */
export function lease(journal, who) {
  if (journal.holder !== NOBODY && !journal.expired) return undefined;
  return {
    ...journal,
    holder: who,
    winner: who,
    expired: false,
    dueAt: "never",
    dueFor: 0,
    wake: false,
  };
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

/**
 * Checks, in this order: token; head (`lost`: what the caller has folded up to `after` is not what is stored there: entries were
 * lost or replaced); id already written (a repeated request); deadline; `after`. The lease's end is not looked at.
 */
export function append(
  journal,
  who,
  after,
  entry,
  rules,
  { repeated = false, lost = false, isFact = FACTS.includes(entry) } = {},
) {
  const fact = (isFact && !rules.factsNeedAfter) || (entry === "U" && rules.unknownIsFact);
  if (journal.holder !== who && rules.appendChecksToken) return { kind: "fenced" };
  if (
    journal.expired &&
    (rules.liveLeaseFor === "all" || (rules.liveLeaseFor === "decisions" && !fact))
  )
    return { kind: "fenced" };
  if (lost && rules.headOf.includes(fact ? "fact" : "decision")) return { kind: "lost" };
  if (repeated && rules.entryIds) return { kind: "ok", journal };
  if (entry === "S" && journal.lateAt >= 0 && rules.startHasDeadline) return { kind: "late" };
  if (!fact && journal.entries.length !== after && rules.decisionsNeedAfter)
    return { kind: "unseen" };
  return { kind: "ok", journal: { ...journal, entries: journal.entries + entry } };
}

/** Forgets the token and says when the journal is next due, and for which host. */
export function release(journal, who, after, at, rules, { lost = false, host = 0 } = {}) {
  if (journal.holder !== who && rules.releaseChecksToken) return { kind: "fenced" };
  if (lost && rules.headOf.includes("release")) return { kind: "lost" };
  if (journal.entries.length !== after && rules.releaseNeedsAfter) return { kind: "unseen" };
  const openPost = !rules.releaseHandlesPosts && POSTS.includes(journal.entries.at(-1) ?? "-");
  const dueAt = openPost ? "now" : rules.releaseSetsDueAt ? at : "never";
  return {
    kind: "ok",
    journal: {
      ...journal,
      holder: NOBODY,
      winner: NOBODY,
      expired: false,
      dueAt,
      dueFor: rules.releaseNamesHost ? host : 0,
    },
  };
}

/**
 * The barrier: everything so far, by whomever, is flushed (and replicated), in one flush for all who wait. It names what the
 * caller has folded or posted: a primary that never had it has nothing to wait for.
 */
export function flush(journal, rules, { lost = false } = {}) {
  if (lost && rules.headOf.includes("barrier")) return { kind: "lost" };
  return { kind: "ok", safe: journal };
}

/**
 * The store comes back as `earlier`, one of its own states: after a power loss, a failover or a restore. The clock does not go
 * back. `epoch`: the store knows, and what it held before is marked as old.
 */
export function goBack(
  journal,
  earlier,
  { epoch = false, clearTokens = false, dueNow = false, byPlatformTime = false } = {},
) {
  const lateAt =
    journal.lateAt < 0 || !earlier.entries.includes("P")
      ? -1
      : Math.min(journal.lateAt, earlier.entries.length);
  const free = clearTokens
    ? { holder: NOBODY, winner: NOBODY, expired: false }
    : { winner: earlier.holder };
  return {
    ...earlier,
    ...free,
    lateAt,
    early: byPlatformTime
      ? [...journal.entries]
          .filter((entry) => "mn".includes(entry))
          .sort()
          .join("")
      : "",
    epoch: epoch ? earlier.entries.length : earlier.epoch,
    dueAt: dueNow ? "now" : earlier.dueAt,
    dueFor: dueNow ? 0 : earlier.dueFor,
  };
}
