import type { JournalKey } from "../../src/core/journal-key.ts";
import { noticeId } from "../../src/thread/entry-ids.ts";
import type { BatchRecord } from "./batch.ts";
import { isNamedPoint, type Strike } from "./crew.ts";
import {
  type CallEvidence,
  callsOf,
  duplicates,
  entriesOf,
  type Evidence,
  runsOf,
  staleCards,
} from "./evidence.ts";
import { violations } from "./invariants.ts";
import type { Line } from "./witness.ts";

/** What is counted; none of it is wrong in itself. */
export interface Figures {
  batches: number;
  /** Threads that a struck worker had in its hands when it was struck, once each: see `verdictOf`. */
  trials: number;
  /** The same, once per strike. */
  crossings: Record<Strike["kind"], number>;
  threads: number;
  posts: number;
  /** Traps that were set, and those that were sprung. */
  traps: number;
  sprung: number;
  killsAtPoint: Map<string, number>;
  freezesAtPoint: Map<string, number>;
  randomKills: number;
  randomFreezes: number;
  /** Times that the machine died. */
  powerCuts: number;
  poisonings: number;
  drainMs: number[];
  effects: number;
  /** Requests that models were sent, and turns that came of them; messages that joined a run that went on. */
  requests: number;
  turns: number;
  joined: number;
  /** Calls whose outcome is unknown, and those of them that had happened. */
  unknown: number;
  unknownHappened: number;
  /** Of the unknown, those whose effect came after they were declared unknown. */
  actedLate: number;
  /** Interrupted calls that their verifier saw done. */
  verified: number;
  settled: number;
  lateWords: number;
  lostLeases: number;
  parked: number;
  duplicates: number;
  retracted: number;
  staleCards: number;
  /** From the strike to the message in the chat, of every interrupted write. */
  recoveryMs: number[];
  /** What the workers logged, by message. */
  logged: Map<string, number>;
}

export interface Verdict {
  figures: Figures;
  /** Per trial, so that a failed thread counts once however much is wrong with it. */
  failed: Map<JournalKey | "batch", string[]>;
}

export function emptyFigures(): Figures {
  return {
    batches: 0,
    trials: 0,
    crossings: { kill: 0, freeze: 0, drain: 0 },
    threads: 0,
    posts: 0,
    traps: 0,
    sprung: 0,
    killsAtPoint: new Map(),
    freezesAtPoint: new Map(),
    randomKills: 0,
    randomFreezes: 0,
    powerCuts: 0,
    poisonings: 0,
    drainMs: [],
    effects: 0,
    requests: 0,
    turns: 0,
    joined: 0,
    unknown: 0,
    unknownHappened: 0,
    actedLate: 0,
    verified: 0,
    settled: 0,
    lateWords: 0,
    lostLeases: 0,
    parked: 0,
    duplicates: 0,
    retracted: 0,
    staleCards: 0,
    recoveryMs: [],
    logged: new Map(),
  };
}

/**
 * Judges a batch. A trial is a thread whose lease was in the hands of a worker at the moment that worker was killed,
 * frozen or drained, by the witness's `held` and `dropped` lines; a worker gives a lease back as soon as nothing is owed,
 * so such a thread was being worked on. Threads that were merely waiting for a person are not counted.
 */
export function verdictOf(record: BatchRecord): Verdict {
  const figures = emptyFigures();
  const failed: Verdict["failed"] = new Map();
  const fail = (key: JournalKey | "batch", what: string[]) => {
    if (what.length > 0) failed.set(key, [...(failed.get(key) ?? []), ...what]);
  };
  const crossed = crossings(record);
  const known = knownOutcomes(record);
  figures.batches = 1;
  figures.posts = record.posted.length;
  figures.powerCuts = record.deaths.length;
  figures.trials = crossed.size;
  for (const { kind } of [...crossed.values()].flat()) figures.crossings[kind] += 1;
  figures.traps = record.plan.lives.flat().flatMap(({ traps }) => traps).length;
  countStrikes(record.strikes, figures);
  for (const { key } of record.plan.threads) {
    const evidence: Evidence = {
      entries: record.journals.get(key) ?? [],
      posted: record.posted.filter((each) => each.key === key),
      lines: record.lines.filter((line) => "key" in line && line.key === key),
      disturbed: false,
      deaths: record.deaths,
      known,
    };
    evidence.disturbed =
      crossed.has(key) ||
      isDisturbed(evidence.lines) ||
      // What was recorded of it last may be gone.
      evidence.lines.some(({ at }) => record.deaths.some((death) => at <= death)) ||
      takenInDrain(evidence.lines, record.strikes);
    const rest = record.restless.get(key);
    fail(key, rest === undefined ? [] : [`not at rest: ${rest}`]);
    fail(key, violations(evidence));
    countThread(evidence, figures);
    const recoveries = callsOf(evidence).flatMap((call) =>
      recoveryOf(call, evidence, record.strikes, crossed.get(key) ?? []),
    );
    figures.recoveryMs.push(...recoveries);
    const slow = recoveries.filter((ms) => ms > RECOVERY_MS * record.plan.pace);
    fail(
      key,
      slow.map((ms) => `people were told of an interrupted write after ${ms} ms`),
    );
  }
  fail("batch", record.misdeeds);
  if (record.damage !== undefined) fail("batch", [record.damage]);
  if (record.unbooked !== undefined) fail("batch", [record.unbooked]);
  fail("batch", readLog(record.log, figures));
  return { figures, failed };
}

/** SAFETY.md, invariant 6. A freeze of five leases with the store's lock held is within it. On a quiet machine. */
const RECOVERY_MS = 10_000;

/** The threads that each strike hit: held by that process then. */
function crossings({ lines, strikes }: BatchRecord): Map<JournalKey, Strike[]> {
  const crossed = new Map<JournalKey, Strike[]>();
  for (const strike of strikes) {
    const held = new Set<JournalKey>();
    for (const line of lines) {
      if (line.pid !== strike.pid || line.at > strike.at) continue;
      if (line.what === "held") held.add(line.key);
      if (line.what === "dropped" || line.what === "fenced") held.delete(line.key);
    }
    for (const key of held) crossed.set(key, [...(crossed.get(key) ?? []), strike]);
  }
  return crossed;
}

/** More than a worker needs to write down what it knows, a store that is locked for two seconds included; on a quiet machine. */
const TELLING_MS = 3_000;

/** Names of writes that returned in a worker to which nothing happened for some time after. */
function knownOutcomes({ lines, strikes, plan }: BatchRecord): Set<string> {
  const tellingMs = TELLING_MS * plan.pace;
  const over = lines.at(-1)?.at ?? 0;
  const known = new Set<string>();
  for (const line of lines) {
    if (line.what !== "end" || line.at + tellingMs > over) continue;
    const soon = ({ pid, at, until = at }: Strike) =>
      pid === line.pid && until >= line.at - 1 && at <= line.at + tellingMs;
    if (!strikes.some(soon)) known.add(line.name);
  }
  return known;
}

/** A worker found its lease to be another's, or has one that is granted to another: it had run out. */
function isDisturbed(lines: readonly Line[]): boolean {
  const holders = new Set<number>();
  for (const { what, pid } of lines) {
    if (what === "held") holders.add(pid);
    if (what === "dropped") holders.delete(pid);
    if (what === "fenced" || holders.size > 1) return true;
  }
  return false;
}

/** Taken up by a worker that was already told to end, but had not heard of it yet. */
function takenInDrain(lines: readonly Line[], strikes: readonly Strike[]): boolean {
  const drains = strikes.filter(({ kind }) => kind === "drain");
  return lines.some(({ what, pid, at }) => {
    return what === "held" && drains.some((drain) => drain.pid === pid && drain.at <= at);
  });
}

function countStrikes(strikes: readonly Strike[], figures: Figures): void {
  for (const { kind, point, at, until } of strikes) {
    if (kind === "drain") figures.drainMs.push((until ?? at) - at);
    else if (isNamedPoint(point)) {
      figures.sprung += 1;
      const counts = kind === "kill" ? figures.killsAtPoint : figures.freezesAtPoint;
      counts.set(point, (counts.get(point) ?? 0) + 1);
    } else if (point !== undefined) figures.poisonings += 1;
    else if (kind === "kill") figures.randomKills += 1;
    else figures.randomFreezes += 1;
  }
}

function countThread(evidence: Evidence, figures: Figures): void {
  const { lines } = evidence;
  figures.threads += 1;
  figures.effects += lines.filter(({ what }) => what === "effect").length;
  figures.requests += lines.filter(({ what }) => what === "asked").length;
  figures.turns += entriesOf(evidence, "assistant").length;
  for (const { joined } of runsOf(evidence)) figures.joined += joined.length;
  figures.lostLeases += lines.filter(({ what }) => what === "fenced").length;
  figures.retracted += lines.filter(({ what }) => what === "retracted").length;
  figures.lateWords += entriesOf(evidence, "signal").length;
  figures.parked += entriesOf(evidence, "notice").filter(({ id }) =>
    id.startsWith("parked:"),
  ).length;
  figures.duplicates += duplicates(evidence);
  figures.staleCards += staleCards(evidence);
  for (const { finished, settled, sights } of callsOf(evidence)) {
    figures.settled += settled.length;
    const [end] = finished;
    if (end?.outcome === "ok" && end.recovered === true) figures.verified += 1;
    if (end?.outcome !== "unknown") continue;
    const effect = sights.find(({ what }) => what === "effect");
    figures.unknown += 1;
    if (effect !== undefined) figures.unknownHappened += 1;
    if (effect !== undefined && effect.at > end.at) figures.actedLate += 1;
  }
}

/**
 * How long it took from the strike that interrupted a write until the chat said how that write stands. Who was to say it may
 * have been struck as well, one of `crossed`: then it is counted from there.
 */
function recoveryOf(
  call: CallEvidence,
  { lines }: Evidence,
  strikes: readonly Strike[],
  crossed: readonly Strike[],
): number[] {
  const [start] = call.started;
  const [finished] = call.finished;
  if (start === undefined || start.effect === "read" || finished === undefined) return [];
  const interrupted = finished.outcome === "unknown" || finished.recovered === true;
  if (!interrupted) return [];
  const begin = call.sights.find(({ what }) => what === "begin");
  const struck = strikes.filter(({ at, pid }) => {
    return (
      at <= finished.at &&
      (begin === undefined ? at >= start.at : pid === begin.pid && at >= begin.at)
    );
  });
  const told = lines.find((line) => {
    if (line.what === "settled") return line.phase === "done" && line.action === start.action;
    if (line.what !== "said") return false;
    if (finished.outcome !== "unknown") return line.run === start.run;
    return line.delivery === noticeId.unknown(call.call);
  });
  const [first] = struck;
  if (first === undefined || told === undefined) return [];
  const last = crossed.findLast(({ at }) => at >= first.at && at <= told.at) ?? first;
  return [told.at - last.at];
}

/** pino's. */
const ERROR = 50;
/** What `postLate` says when an outcome is lost for good. */
const GIVEN_UP = "lost a late word";

interface LogLine {
  level: number;
  msg: string;
  err?: { message: string; code?: string };
}

/** Counts what was logged. An error is a mistake of the program's, unless the store was only away for a moment. */
function readLog(log: readonly string[], figures: Figures): string[] {
  const wrong: string[] = [];
  for (const text of log) {
    const line = tryLogLine(text);
    const said =
      line === undefined
        ? text
        : `${line.msg}${line.err === undefined ? "" : `: ${shorten(line.err.message)}`}`;
    figures.logged.set(said, (figures.logged.get(said) ?? 0) + 1);
    const away = line?.err?.code === "STORE_UNAVAILABLE" && line.msg !== GIVEN_UP;
    const expected = line !== undefined && (away || line.level < ERROR);
    if (!expected) wrong.push(`a worker logged: ${said}`);
  }
  return wrong;
}

function shorten(message: string): string {
  return message.replace(/^\S*watchkeeper\.db/, "the store").slice(0, 120);
}

function tryLogLine(text: string): LogLine | undefined {
  try {
    return JSON.parse(text) as LogLine;
  } catch {
    return undefined;
  }
}
