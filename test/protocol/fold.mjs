/** What a prefix of the journal means, and what its lease holder does next. Pure: the same prefix, the same answer. */
import { POSTS } from "./journal.mjs";

export const VOTE_ON = { a: "A", c: "C", b: "B", d: "X", z: "A" };
/** Takes a click out without a vote: whoever pressed may not, or could not be looked up for too long. */
export const WORD_ON = { a: "e", c: "f", b: "g", d: "h", z: "e" };
export const VOTER = { a: "Ana", c: "Ana", z: "Ana", b: "Bob", d: "Bob" };

/** A fold with a memory: exploring asks for the same prefixes again and again. */
export function createFold(scenario, rules) {
  const known = new Map();
  return (prefix, lateAt, epoch = -1, early = "") => {
    const key = epoch < 0 ? prefix + lateAt : `${prefix}${lateAt}|${epoch}${early}`;
    let folded = known.get(key);
    if (!folded) known.set(key, (folded = fold(prefix, lateAt, epoch, early, scenario, rules)));
    return folded;
  };
}

function fold(prefix, lateAt, epoch, early, { quorum }, rules) {
  const approvers = new Set();
  const unjudged = []; // clicks that may still count, in the order they were posted
  let [proposed, closed, started, unanswered] = [false, false, false, false];
  let [outcome, answers, delivered, looked] = ["", 0, 0, false];
  let stale = false; // what asks for an answer was posted before a restore: on its word alone nothing is written
  let restored = false; // brought back by a restore, and the people of this thread have not been told
  const close = () => {
    if (!started && !(rules.inertAfterQuorum && approvers.size >= quorum)) closed = true;
  };
  const restoredHere = () => {
    restored = unanswered || (started && !outcome);
    stale = unanswered;
    if (proposed && rules.restoreVoids) close(); // the action, not only its votes: its card is still out there
  };

  for (const [i, entry] of [...prefix].entries()) {
    if (i === epoch) restoredHere();
    if ("mn".includes(entry)) {
      unanswered = true;
      if (epoch >= 0 && i >= epoch && early.includes(entry)) stale = restored = true; // delivered once more by the platform
    } else if (VOTE_ON[entry]) {
      const inTime = lateAt < 0 || i < lateAt; // by the entry's own time, store's clock
      const shown = entry !== "z" || !rules.clickNamesDigest;
      if (proposed && !started && !answers && inTime && shown) unjudged.push(entry);
    } else if ("st".includes(entry)) close();
    else if (entry === "l") {
      unanswered ||= outcome === "U"; // the thread is told
      // A call that this journal never started, so it was restored: what it has open for the same request must not run as well.
      if (!started && rules.lateWordCloses) {
        close();
        closed = true;
        unanswered = true;
      }
    } else if (entry === "P") proposed = true;
    else if ("ACBX".includes(entry)) {
      unjudged.splice(
        unjudged.findIndex((click) => VOTE_ON[click] === entry),
        1,
      );
      if (entry === "X") close();
      else approvers.add(entry === "B" ? "Bob" : "Ana"); // people, not clicks
    } else if ("efgh".includes(entry))
      unjudged.splice(
        unjudged.findIndex((click) => WORD_ON[click] === entry),
        1,
      );
    else if (entry === "V") close();
    else if (entry === "E") restored = false;
    else if (entry === "Q") looked = true;
    else if (entry === "S") started = true;
    else if ("FUN".includes(entry)) outcome = entry;
    else if (entry === "R") {
      unanswered = false;
      answers++;
    } else if (entry === "D") delivered++;
  }
  if (epoch === prefix.length) restoredHere();
  const approved = approvers.size >= quorum;
  const posts = [...prefix]
    .filter((entry) => POSTS.includes(entry))
    .sort()
    .join("");
  const summary = [
    posts,
    +proposed,
    +closed,
    +started,
    +unanswered,
    outcome,
    answers,
    delivered,
    unjudged.join(""),
    [...approvers].sort(),
  ].join();
  return {
    proposed,
    closed,
    started,
    outcome,
    unanswered,
    answers,
    delivered,
    looked,
    unjudged,
    approvers,
    approved,
    stale,
    restored,
    summary,
  };
}

/** The holder's next step. `late`: the store's clock is past the action's expiry. */
export function next(f, late, scenario, rules) {
  if (f.restored && rules.restoreTells) return { do: "append", entry: "E" };
  if (f.started && !f.outcome) return { do: "recover" }; // not in the middle of it myself, so whoever started it is gone
  if (f.delivered < f.answers) return { do: "send", answer: f.delivered };
  if (!f.unanswered) return { do: "release", at: "never" };
  if (scenario.reads && !f.looked) return { do: "append", entry: "Q" };
  if (!scenario.action || f.answers > 0 || f.outcome || f.closed)
    return { do: "append", entry: "R" };
  if (f.stale && scenario.quorum === 0 && rules.restoreAsks) return { do: "append", entry: "R" }; // "ask again, it may have been done"
  if (!f.proposed) return { do: "append", entry: "P" };
  if (f.approved && rules.startOverUnjudged) return { do: "start" };
  if (late && scenario.judge && rules.expiresUnjudged) return { do: "expire" }; // whose judge is away must not keep it open
  if (f.unjudged.length && scenario.judge) return { do: "judge", clicks: f.unjudged };
  if (f.unjudged.length)
    return {
      do: "append",
      entry: VOTE_ON[rules.startOverUnjudged ? f.unjudged.at(-1) : f.unjudged[0]],
    };
  if (f.approved) return { do: "start" }; // every click, Stop and timer up to here has been judged
  if (late) return { do: "expire" };
  return { do: "release", at: "expiry" };
}
