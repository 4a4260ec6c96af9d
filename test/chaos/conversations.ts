import type { Entry } from "../../src/core/entry.ts";
import {
  type CallEvidence,
  entriesOf,
  type Evidence,
  isDecided,
  type RunEvidence,
} from "./evidence.ts";

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
    ...talks.flatMap((run) => checkAnswer(run, evidence)),
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
 * it, or it answered a question, or a Stop came after it, or the run still waits for people.
 */
function checkMessage(
  message: Entry<"message">,
  evidence: Evidence,
  runs: RunEvidence[],
): string[] {
  const { id, seq } = message;
  const taken = runs.filter(({ started }) => started.answers.includes(id));
  const joined = runs.find((run) => run.joined.includes(message));
  const wasShown = joined?.turns.some(({ seen }) => seen >= seq) === true;
  const hasAnswered = answeredBy(message, evidence) !== undefined;
  const heard = taken.length + (wasShown || hasAnswered ? 1 : 0);
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

/** An answer names every message that the run was asked and its model was shown. */
function checkAnswer({ run, asked, joined, turns, ended }: RunEvidence, evidence: Evidence) {
  const [end] = ended;
  const last = turns.at(-1);
  if (end === undefined || last === undefined) return [];
  if (end.status !== "completed" && end.status !== "wrapped_up") return [];
  return [...asked, ...joined]
    .filter(({ seq }) => seq <= last.seen)
    .filter((said) => said.kind === "message" && answeredBy(said, evidence) === undefined)
    .filter(({ id }) => end.text?.includes(`"${id}"`) !== true)
    .map(({ id }) => `the answer of ${run} does not know of ${id}`);
}

/** Who writes while an action of the run is open is told that it holds up what they write, once as long as it is open. */
function checkHold(message: Entry<"message">, evidence: Evidence, runs: RunEvidence[]): string[] {
  const { entries } = evidence;
  const before = { entries: entries.filter(({ seq }) => seq < message.seq) };
  const run = runs.find(({ joined }) => joined.includes(message))?.run;
  const notices = entriesOf(evidence, "notice").filter(({ holds }) => holds !== undefined);
  const told = notices.filter(({ answers }) => answers === message.id).length;
  const open = entriesOf(before, "action_proposed").filter(
    (proposal) => proposal.run === run && !isDecided(proposal.action, before),
  );
  // It may be taken for the answer.
  const isAsked = entriesOf(before, "notice").some(
    ({ asks }) => asks?.call.startsWith(`${run}.`) === true && !isDecided(asks.call, before),
  );
  const own = entriesOf(before, "message").filter(
    ({ actor }) => actor.account === message.actor.account,
  );
  // Told for a message that was there before the action, its author knows too: `<message>@<action>`.
  const knows = notices.some(
    ({ answers = "", holds }) =>
      own.some(({ id }) => answers === id || answers.startsWith(`${id}@`)) &&
      open.some(({ action }) => holds?.includes(action)),
  );
  if (told > 1) return [`people were told ${told} times that ${message.id} is held up`];
  if (open.length === 0 || isAsked) return [];
  if (knows) return told === 0 ? [] : [`who wrote ${message.id} was told again that it is held up`];
  if (told === 1) return [];
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
      const isNamed = !("tool" in entry) || entry.tool === call.tool;
      return isNamed ? [] : [`${entry.id} is of ${entry.tool}, and ${call.tool} was asked for`];
    }
    return [`${entry.id} is of a call that was not asked for`];
  });
}

/**
 * 8, seen from the model: each call has its one result, and every request begins with what earlier ones said, within a run
 * to the byte.
 */
function checkRequests({ lines }: Evidence): string[] {
  const asked = lines.flatMap((line) => (line.what === "asked" ? [line] : []));
  const unpaired = asked.flatMap((line) => line.unpaired);
  const ordered = asked.toSorted((a, b) => a.turns.length - b.turns.length);
  const broken = ordered.filter(({ run, turns, unlabelled }, i) => {
    const shorter = ordered
      .slice(0, i)
      .filter((each) => each.run === run && each.turns.length < turns.length);
    // Asked again without a turn between, others may instruct it.
    const own = shorter.filter((each) => each.turns.length === shorter.at(-1)?.turns.length);
    const isOwn = own.length === 0 || own.some((each) => begins(turns, each.turns));
    return !isOwn || !begins(unlabelled, ordered[i - 1]?.unlabelled ?? []);
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
