/** What must hold. A violation is a sentence that starts with the property's number (README.md). */
import { isDue, KIND, NOBODY } from "./journal.mjs";
import { next } from "./fold.mjs";

const count = (text, letter) => text.split(letter).length - 1;

/** Looked at when `me`, who has folded `view`, is about to write `entry` after the journal's entries. */
export function brokenAppend(
  { journal: j, left, workers, gone, lostOnce, base, sent },
  me,
  entry,
  view,
  { quorum, judge, hosts, loses, reads },
) {
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
    if (reads && !has("Q")) return "P10 an answer rests on a read that the journal does not have";
    if (messages.some((other) => !view.includes(other)))
      return "P3 a message counts as answered, though who answered had not seen it";
  }
  if ("FUN".includes(entry) && !has("S"))
    return "P4 the result of a call that this journal never started";
  if (entry === "D" && !has("R")) return "P5 recorded as delivered what this journal never said";
  const out = (name) => left.includes(name);
  if ("efg".includes(entry) && !out(entry === "g" ? "Bob" : "Ana") && !waited(j, entry))
    return "P2 an approve was used up though nobody said no";
  if (entry === "h" && !out("Bob"))
    return "P2 a deny was thrown away though nobody said that Bob may not";
  if (
    entry === "V" &&
    judge &&
    !["Ana", "Bob"].some((name) => out(name) && has(name === "Ana" ? "AC" : "B"))
  )
    return "P2 an approved action was dropped though nobody said no";
  if (entry === "V" && hosts && !gone) return "P11 dropped as if its host were gone";
  if (entry !== "S") return undefined;
  if (hosts && me !== 1) return "P11 an action ran on another host than its card says";
  const { looked } = workers[me - 1];
  for (const [name, votes] of judge
    ? [
        ["Ana", "AC"],
        ["Bob", "B"],
      ]
    : [])
    if (has(votes) && !looked.includes(name))
      return `P2 tool_started, and nobody looked again whether ${name} may approve`;
  if (
    lostOnce &&
    loses === "restore" &&
    quorum === 0 &&
    ![...j.entries].some((other) => "mn".includes(other) && !sent.includes(other))
  )
    return "P1 a write that nobody was asked about, on the word of messages from before the restore";
  if (
    lostOnce &&
    loses === "restore" &&
    quorum > 0 &&
    [..."PABC"].some((letter) => has(letter) && j.entries.indexOf(letter) < base)
  )
    return "P1 a write on a card or votes from before the restore";
  if (has("l")) return "P2 tool_started after a late word said that it had happened";
  if (has("S")) return "P1 two tool_started for one action";
  if (has("d") && !has("h")) return "P2 tool_started after a deny was posted";
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

/** Has the click that this word takes out waited past the limit? */
function waited(j, word) {
  return [{ e: "a", f: "c", g: "b" }[word], word === "e" ? "z" : ""].some(
    (click) => click && j.entries.includes(click) && j.entries.indexOf(click) < j.tiredAt,
  );
}

/** Looked at when the store loses everything after `kept`: what others rely on must be in it. (A restore cannot promise that.) */
export function brokenLoss({ acked, effects, cards, told, complete }, kept, { reads }) {
  if ([...acked].some((post) => !kept.includes(post))) return "P9 an acknowledged post is lost";
  if (effects && !kept.includes("S")) return "P1 tool_started is lost, its effect happened";
  if (cards && !kept.includes("P"))
    return "P10 a card is shown whose action the journal does not know";
  if ([...told].some((vote) => !kept.includes(vote)))
    return "P10 a vote is shown that the journal does not know";
  for (let answer = 0; complete >> answer; answer++)
    if (complete & (1 << answer) && count(kept, "R") <= answer)
      return "P10 an answer is shown that the journal never gave";
  if (complete && reads && !kept.includes("Q"))
    return "P10 an answer is shown, and the read that it rests on is lost";
  return undefined;
}

/** Must hold in every state. */
export function brokenState(
  { journal: j, effects, begun, left, gone, lostOnce },
  { scenario, rules, fold },
) {
  if (effects > (scenario.loses === "restore" && lostOnce ? Math.max(begun, 1) : 1))
    return "P1 the effect happened twice";
  if (effects && !j.entries.includes("S") && rules.writeAhead && scenario.loses !== "restore")
    return "P1 an effect without tool_started";
  if (effects && j.entries.includes("N"))
    return "P4 said 'not done' of an effect that then happened";
  if (j.holder !== NOBODY) return undefined;
  const folded = fold(j.entries, j.lateAt, rules.epoch ? j.epoch : -1, j.early);
  const todo = next(folded, j.lateAt >= 0, scenario, rules);
  const waits = todo.do === "release" && (todo.at === "never" || todo.at === j.dueAt);
  for (const host of scenario.hosts ?? []) {
    const may = host === 1 || gone || todo.do !== "start";
    if (!waits && may && !isDue(j, host, gone))
      return `P8 work is owed (${todo.do}) that host ${host} may do, and due() does not show it there`;
  }
  if (!isDue(j) && !j.unindexed) {
    if (!waits)
      return `P8 work is owed (${todo.do} ${KIND[todo.entry] ?? todo.at ?? ""}), nobody has the lease, and due() does not show it`;
  }
  return undefined;
}

/** Must hold wherever the system, left alone, comes to rest. */
export function unsettled(
  { journal: j, effects, stray, lost, complete, forgot, lostOnce, acked, lastGone },
  { fold, scenario, rules },
) {
  const f = fold(j.entries, j.lateAt, rules.epoch ? j.epoch : -1, j.early);
  if (f.restored)
    return "P12 at rest after a restore, with open work of before, and the thread was not told";
  if (f.unanswered || f.delivered < f.answers)
    return "P3 at rest, with a post unanswered or an answer undelivered";
  if (j.holder !== NOBODY) return "P3 at rest, with a dead worker's lease";
  if (f.started && !f.outcome)
    return "P4 at rest, with a started call whose outcome nobody declared";
  if (f.outcome === "U" && effects && !forgot && !j.entries.includes("l"))
    return "P4 a worker that is alive knew the outcome, and it was thrown away";
  if (
    scenario.loses === "restore" &&
    lostOnce &&
    effects > Number(j.entries.includes("S")) &&
    lastGone.includes("S") &&
    !forgot &&
    !j.entries.includes("l")
  )
    return "P4 a worker that is alive knew the outcome of a call that the restore took back, and it was thrown away";
  const all = (1 << f.answers) - 1;
  if ((complete & all) !== all || (complete !== all && scenario.loses !== "restore"))
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
