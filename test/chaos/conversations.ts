import type { Entry } from "../../src/core/entry.ts";
import {
  type CallEvidence,
  entriesOf,
  type Evidence,
  isDecided,
  type RunEvidence,
} from "./evidence.ts";
import type { Line } from "./witness.ts";

/** What must hold of a model's runs, besides what holds of all: SAFETY.md, invariants 7 and 8. */
export function checkConversations(
  evidence: Evidence,
  runs: RunEvidence[],
  calls: CallEvidence[],
): string[] {
  const talks = runs.filter(({ started }) => started.talk !== undefined);
  return [
    ...entriesOf(evidence, "message").flatMap((message) => checkMessage(message, evidence, runs)),
    ...talks.flatMap((run) => checkTurns(run, evidence)),
    ...talks.flatMap((run) => checkPairs(run, calls)),
    ...talks.flatMap((run) => checkStops(run, evidence)),
    ...talks.flatMap((run) => checkAnswer(run, evidence, runs)),
    ...entriesOf(evidence, "message").flatMap((message) => checkHold(message, evidence, runs)),
    ...checkCallsAsked(evidence, calls),
    ...checkRequests(evidence),
  ];
}

/** The call whose question the message answered. */
function answeredBy(message: Entry<"message">, evidence: Evidence) {
  return entriesOf(evidence, "tool_finished").find(({ answers }) => answers === message.id);
}

/**
 * One run answers a message: it took it up when it began; or the message came while it went on, and its model was shown
 * it, or it answered a question, or a Stop came after it, or the run still waits for people. What a side run was refused
 * for it a second run takes up.
 */
function checkMessage(
  message: Entry<"message">,
  evidence: Evidence,
  runs: RunEvidence[],
): string[] {
  const { id, seq } = message;
  const taken = runs.filter(({ started }) => started.answers.includes(id));
  const joined = runs.find((run) => run.joined.includes(message));
  const wasShown = joined !== undefined && joined.turns.some((turn) => isTold(turn, message));
  const hasAnswered = answeredBy(message, evidence) !== undefined;
  const isHandedOver = handsOver(message, taken, joined);
  const times = taken.length + (wasShown || hasAnswered ? 1 : 0);
  const heard = isHandedOver && times === 2 ? 1 : times;
  if (taken.some(({ started }) => started.seq < seq)) return [`${id} was answered before it came`];
  if (heard === 1) return [];
  if (heard > 1 || joined === undefined) return [`${id} led to ${heard} runs`];
  const [end] = joined.ended;
  const isStopped = entriesOf(evidence, "stop").some(
    (stop) => stop.seq > seq && stop.seq < (end?.seq ?? 0),
  );
  if (end === undefined || (end.status === "cancelled" && isStopped)) return [];
  return [`${id} joined the run ${joined.run}, and its model never saw it`];
}

/** The request of a turn held the message. */
function isTold(
  { seen, elsewhere = [] }: Entry<"assistant">,
  { id, seq }: { id: string; seq: number },
): boolean {
  return seen >= seq && !elsewhere.includes(id);
}

/** A side run was told the message, and could not do all of it. */
function handsOver(
  { id }: { id: string },
  taken: readonly RunEvidence[],
  joined: RunEvidence | undefined,
): boolean {
  const told = [...taken, ...(joined === undefined ? [] : [joined])];
  return told.some(
    (run) => run.isSide && run.handsOver && (run === joined || run.started.answers.includes(id)),
  );
}

/** Steps count from 1, one entry each, by whoever had the lease; what a turn has seen only grows. */
function checkTurns({ run, turns }: RunEvidence, evidence: Evidence): string[] {
  const wrong: string[] = [];
  const all = entriesOf(evidence, "assistant").filter((turn) => turn.run === run);
  const steps = all.map(({ step }) => step);
  if (steps.some((step, i) => step !== i + 1)) {
    wrong.push(`the run ${run} has the steps ${steps.join(", ")}`);
  }
  for (const [i, turn] of all.entries()) {
    if (turn.seen >= turn.seq) wrong.push(`${turn.id} has seen what came after it`);
    if (turn.seen < (turns[i - 1]?.seq ?? 0)) wrong.push(`${turn.id} has not seen the turn before`);
    const holder = holderAt(turn.at, evidence);
    if (holder !== undefined && turn.model !== `chaos/${holder}`) {
      wrong.push(`${turn.id} is by ${turn.model}, and ${holder} had the lease`);
    }
  }
  return wrong;
}

/** Who had been granted the lease last before that time; undefined where one was granted in the same millisecond. */
function holderAt(at: number, { lines }: Evidence): number | undefined {
  const grants = lines
    .flatMap((line) => (line.what === "held" && line.since <= at ? [line] : []))
    .toSorted((a, b) => a.since - b.since);
  const last = grants.at(-1);
  return last === undefined || last.since === at ? undefined : last.pid;
}

/** 8: each call of a turn has its one result before its model is asked again, and before the run ends. */
function checkPairs({ run, turns, ended }: RunEvidence, calls: CallEvidence[]): string[] {
  return turns.flatMap((turn, i) => {
    const next = turns[i + 1];
    const limit = next?.seen ?? ended[0]?.seq ?? Infinity;
    const own = calls.filter((call) => call.run === run && call.request === turn);
    if (next === undefined && ended.length === 0) return [];
    return own.flatMap(({ call, finished }) => {
      const times = finished.filter(({ seq }) => seq <= limit).length;
      if (times === 1) return [];
      return [`${call} had ${times} results when the run ${run} went on without it`];
    });
  });
}

/** A Stop cuts a model's run: nothing is asked of the model any more, and the run ends as cancelled. */
function checkStops({ run, started, turns, ended }: RunEvidence, evidence: Evidence): string[] {
  const [end] = ended;
  const stop = entriesOf(evidence, "stop").find(
    ({ seq }) => seq > started.seq && seq < (end?.seq ?? Infinity),
  );
  if (stop === undefined) return [];
  const wrong = turns
    .filter(({ seen }) => seen >= stop.seq)
    .map(({ id }) => `the run ${run} went on after the Stop ${stop.id}: ${id}`);
  if (end !== undefined && end.status !== "cancelled") {
    wrong.push(`the run ${run} went on after the Stop ${stop.id}: it is ${end.status}`);
  }
  return wrong;
}

/** An answer names every message that the run was asked and its model was shown, but for those that a side run answered before. */
function checkAnswer(
  { run, asked, joined, turns, ended, isSide }: RunEvidence,
  evidence: Evidence,
  runs: RunEvidence[],
) {
  const [end] = ended;
  const last = turns.at(-1);
  if (end === undefined || last === undefined) return [];
  if (end.status !== "completed" && end.status !== "wrapped_up") return [];
  return [...asked, ...joined]
    .filter((said) => isTold(last, said))
    .filter(({ id }) => isSide || !runs.some((each) => each.isSide && isAnsweredIn(each, id)))
    .filter((said) => said.kind === "message" && answeredBy(said, evidence) === undefined)
    .filter(({ id }) => end.text?.includes(`"${id}"`) !== true)
    .map(({ id }) => `the answer of ${run} does not know of ${id}`);
}

function isAnsweredIn({ started, joined }: RunEvidence, id: string): boolean {
  return started.answers.includes(id) || joined.some((message) => message.id === id);
}

/** Whose message a side run could not do all of is told that the rest waits for the first run's card, once as long as it is open; nobody else is. */
function checkHold(message: Entry<"message">, evidence: Evidence, runs: RunEvidence[]): string[] {
  const notices = entriesOf(evidence, "notice").filter(({ holds }) => holds !== undefined);
  const [told, ...more] = notices.filter(({ id }) => id === `told:held:${message.id}`);
  if (more.length > 0)
    return [`people were told ${more.length + 1} times that ${message.id} is held up`];
  const side = runs.find((run) => run.isSide && run.handsOver && isAnsweredIn(run, message.id));
  if (side === undefined)
    return told === undefined ? [] : [`who wrote ${message.id} was told that it is held up`];
  const refused = entriesOf(evidence, "tool_finished").find(
    ({ run, handsOver: isRefused }) => run === side.run && isRefused === true,
  );
  const talks = new Set(runs.filter(({ started }) => started.talk).map(({ run }) => run));
  const before = { entries: evidence.entries.filter(({ seq }) => seq < (refused?.seq ?? 0)) };
  // What came after the request is answered by the run's next turn.
  const asking = entriesOf(before, "assistant").findLast(({ run }) => run === side.run);
  const open = entriesOf(before, "action_proposed").filter(
    ({ action, run }) => talks.has(run) && run !== side.run && !isDecided(action, before),
  );
  const account = message.actor.account;
  const knows = notices.some(
    ({ to, holds = [] }) => to === account && open.some(({ action }) => holds.includes(action)),
  );
  const isCut = side.ended.some(({ status }) => status === "cancelled");
  if (open.length === 0 || knows || isCut || message.seq > (asking?.seen ?? 0)) return [];
  return [`nobody was told that ${message.id} is held up`];
}

/** Nothing is written of a call that nobody asked for, or before it was asked for. */
function checkCallsAsked(evidence: Evidence, calls: CallEvidence[]): string[] {
  const written = [
    ...entriesOf(evidence, "tool_started"),
    ...entriesOf(evidence, "tool_finished"),
    ...entriesOf(evidence, "action_proposed"),
  ];
  return written.flatMap((entry) => {
    const call = calls.find((each) => each.call === entry.call);
    if (call !== undefined && entry.seq > call.request.seq) {
      const isNamed = entry.tool === undefined || entry.tool === call.tool;
      return isNamed ? [] : [`${entry.id} is of ${entry.tool}, and ${call.tool} was asked for`];
    }
    return [`${entry.id} is of a call that was not asked for`];
  });
}

/**
 * 8, seen from the model: each call has its one result, and every request begins with what earlier ones said, within a run
 * to the byte. What a machine had not flushed when it died may be said otherwise in its next life, and so may what a process
 * asked a model and never wrote the answer to: the reads that it told of may have gone with it.
 */
function checkRequests(evidence: Evidence): string[] {
  const { lines, deaths } = evidence;
  const lifeOf = ({ at }: { at: number }) => deaths.filter((death) => death < at).length;
  const lives = Object.values(Object.groupBy(lines, lifeOf));
  const asked = lines.filter(({ what }) => what === "asked");
  const answered = new Set(
    entriesOf(evidence, "assistant").map(({ model, at }) =>
      asked.findLast((line) => `chaos/${line.pid}` === model && line.at <= at),
    ),
  );
  return lives.flatMap((life = []) => checkLife(life, answered));
}

function checkLife(lines: readonly Line[], answered: ReadonlySet<Line | undefined>): string[] {
  const asked = lines.flatMap((line) => (line.what === "asked" ? [line] : []));
  const unpaired = asked.flatMap((line) => line.unpaired);
  const ordered = asked.toSorted((a, b) => a.turns.length - b.turns.length);
  const broken = ordered.filter(({ run, isSide, turns, unlabelled }, i) => {
    // A side run is told what waits otherwise than the run that it goes on beside.
    const lane = ordered
      .slice(0, i)
      .filter((each) => answered.has(each))
      .filter((each) => each.isSide === isSide && (!isSide || each.run === run));
    const shorter = lane.filter((each) => each.run === run && each.turns.length < turns.length);
    // Asked again without a turn between, others may instruct it.
    const own = shorter.filter((each) => each.turns.length === shorter.at(-1)?.turns.length);
    const isOwn = own.length === 0 || own.some((each) => begins(turns, each.turns));
    return !isOwn || !begins(unlabelled, lane.at(-1)?.unlabelled ?? []);
  });
  return [
    ...unpaired.map((what) => `a request without one result per call: ${what}`),
    ...broken.map(
      ({ turns }) => `a request of ${turns.length} turns that does not begin as another`,
    ),
  ];
}

function begins(turns: readonly string[], beginning: readonly string[]): boolean {
  return beginning.every((turn, i) => turns[i] === turn);
}
