/** What a prefix of the journal means, and what its lease holder does next. Pure: the same prefix, the same answer. */
import { POSTS } from "./journal.mjs";

const VOTE_ON = { a: "A", c: "C", b: "B", d: "X" };

/** A fold with a memory: exploring asks for the same prefixes again and again. */
export function createFold(scenario, rules) {
  const known = new Map();
  return (prefix, lateAt) => {
    const key = prefix + lateAt;
    let folded = known.get(key);
    if (!folded) known.set(key, (folded = fold(prefix, lateAt, scenario, rules)));
    return folded;
  };
}

function fold(prefix, lateAt, { quorum }, rules) {
  const approvers = new Set();
  const unjudged = []; // clicks that may still count, in the order they were posted
  let [proposed, closed, started, unanswered] = [false, false, false, false];
  let [outcome, answers, delivered] = ["", 0, 0];
  const close = () => {
    if (!started && !(rules.inertAfterQuorum && approvers.size >= quorum)) closed = true;
  };

  for (const [i, entry] of [...prefix].entries()) {
    if ("mn".includes(entry)) unanswered = true;
    else if (VOTE_ON[entry]) {
      const inTime = lateAt < 0 || i < lateAt; // by the entry's own time, store's clock
      if (proposed && !started && !answers && inTime) unjudged.push(entry);
    } else if ("st".includes(entry)) close();
    else if (entry === "l") unanswered ||= outcome === "U"; // the thread is told
    else if (entry === "P") proposed = true;
    else if ("ACBX".includes(entry)) {
      unjudged.splice(
        unjudged.findIndex((click) => VOTE_ON[click] === entry),
        1,
      );
      if (entry === "X") close();
      else approvers.add(entry === "B" ? "Bob" : "Ana"); // people, not clicks
    } else if (entry === "S") started = true;
    else if ("FUN".includes(entry)) outcome = entry;
    else if (entry === "R") {
      unanswered = false;
      answers++;
    } else if (entry === "D") delivered++;
  }
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
    unjudged,
    approved,
    summary,
  };
}

/** The holder's next step. `late`: the store's clock is past the action's expiry. */
export function next(f, late, scenario, rules) {
  if (f.started && !f.outcome) return { do: "recover" }; // not in the middle of it myself, so whoever started it is gone
  if (f.delivered < f.answers) return { do: "send", answer: f.delivered };
  if (!f.unanswered) return { do: "release", at: "never" };
  if (!scenario.action || f.answers > 0 || f.outcome || f.closed)
    return { do: "append", entry: "R" };
  if (!f.proposed) return { do: "append", entry: "P" };
  if (f.approved && rules.startOverUnjudged) return { do: "start" };
  if (f.unjudged.length)
    return {
      do: "append",
      entry: VOTE_ON[rules.startOverUnjudged ? f.unjudged.at(-1) : f.unjudged[0]],
    };
  if (f.approved) return { do: "start" }; // every click, Stop and timer up to here has been judged
  if (late) return { do: "expire" };
  return { do: "release", at: "expiry" };
}
