/** What must hold. A violation is a sentence that starts with the property's number (README.md). */
import { isDue, KIND, NOBODY } from "./journal.mjs";
import { next } from "./fold.mjs";

const count = (text, letter) => text.split(letter).length - 1;

/** Looked at when `me`, who has folded `view`, is about to write `entry` after `j.entries`. */
export function brokenAppend(j, me, entry, view, { quorum }) {
  const has = (letters) => [...j.entries].some((other) => letters.includes(other));
  if (j.winner !== me) return `P6 ${KIND[entry]} was appended by a worker whose token was replaced`;
  if ("FUN".includes(entry) && has("FUN")) return "P4 two results for one call";
  if (entry === "D" && count(j.entries, "D") === count(j.entries, "R"))
    return "P5 recorded as delivered twice";
  if (entry === "R") {
    if (has("S") && !has("FUN")) return "P4 the run ended over a call without a result";
    const messages = [...j.entries].filter((other) => "mnl".includes(other));
    if (count(j.entries, "R") === new Set(messages).size)
      return "P5 one message led to two answers";
    if (messages.some((other) => !view.includes(other)))
      return "P3 a message counts as answered, though who answered had not seen it";
  }
  if (entry !== "S") return undefined;
  if (has("S")) return "P1 two tool_started for one action";
  if (has("d")) return "P2 tool_started after a deny was posted";
  if (has("s")) return "P2 tool_started after a Stop was posted";
  if (has("t")) return "P2 tool_started after the expiry was posted";
  if (j.lateAt >= 0) return "P2 tool_started after the expiry by the store's clock";
  for (const [ana, bob] of [
    ["ac", "b"],
    ["AC", "B"],
  ])
    if (Number(has(ana)) + Number(has(bob)) < quorum)
      return "P2 tool_started without the votes it needs";
  return undefined;
}

/** Must hold in every state. */
export function brokenState({ journal: j, effects }, { scenario, rules, fold }) {
  if (effects > 1) return "P1 the effect happened twice";
  if (effects && !j.entries.includes("S") && rules.writeAhead)
    return "P1 an effect without tool_started";
  if (effects && j.entries.includes("N"))
    return "P4 said 'not done' of an effect that then happened";
  if (j.holder === NOBODY && !isDue(j) && !j.unindexed) {
    const todo = next(fold(j.entries, j.lateAt), j.lateAt >= 0, scenario, rules);
    const waits = todo.do === "release" && (todo.at === "never" || todo.at === j.dueAt);
    if (!waits)
      return `P8 work is owed (${todo.do} ${KIND[todo.entry] ?? todo.at ?? ""}), nobody has the lease, and due() does not show it`;
  }
  return undefined;
}

/** Must hold wherever the system, left alone, comes to rest. */
export function unsettled({ journal: j, effects, stray, lost, complete, forgot }, { fold }) {
  const f = fold(j.entries, j.lateAt);
  if (f.unanswered || f.delivered < f.answers)
    return "P3 at rest, with a post unanswered or an answer undelivered";
  if (j.holder !== NOBODY) return "P3 at rest, with a dead worker's lease";
  if (f.started && !f.outcome)
    return "P4 at rest, with a started call whose outcome nobody declared";
  if (f.outcome === "U" && effects && !forgot && !j.entries.includes("l"))
    return "P4 a worker that is alive knew the outcome, and it was thrown away";
  if (complete !== (1 << f.answers) - 1)
    return "P5 an answer recorded as delivered is only half there";
  if (lost & ~stray) return "P5 an answer recorded as delivered is not in the chat";
  return undefined;
}

/** Not violations: what the protocol cannot prevent, so people must be told or the window narrowed. */
export function witnessesOf({ journal: j, stray, workers }) {
  const found = [];
  const recorded = (answer) => count(j.entries, "D") > answer;
  const at = (pc) => workers.filter((w) => w.pc === pc);
  if (at("sent").some((w) => recorded(w.answer)))
    found.push("two copies of an answer for a moment");
  if ([0, 1].some((answer) => stray & (1 << answer) && recorded(answer)))
    found.push("two copies of an answer for good");
  if (j.expired && workers.some((w, i) => j.holder === i + 1 && w.pc === "ran"))
    found.push("a known outcome, its lease's end passed, nobody else there");
  return found;
}
