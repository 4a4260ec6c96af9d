import type { NewerEntry, StoredEntry } from "../core/entry.ts";
import { tryIso } from "../core/instant.ts";
import type { Schedule } from "./schedule.ts";

/** So many times are remembered: clocks that are put back do not make a digest again. */
const MAX_KEPT = 100;

/** What a journal `digest:<channel>:<name>` comes to: for which of its times a digest is due, or was dealt with. */
export class DigestState {
  last = 0;
  head: string | undefined;
  newer: NewerEntry | undefined;
  /** When it was configured: no time before is due. */
  since: number | undefined;
  /** By the time that had come: whether nothing is owed for it any more. */
  readonly times = new Map<number, { rungAt: number; isOver: boolean }>();
  /** What was last begun or said. */
  newest: string | undefined;
}

export const BEGIN_ID = "begin";
const DUE = "due:";

/** The timer that says that a time has come: once for each, whoever writes it. */
export function dueId(at: number): string {
  return `${DUE}${tryIso(at) ?? at}`;
}

function timeOf(id: string): number | undefined {
  return id.startsWith(DUE) ? Date.parse(id.slice(DUE.length)) : undefined;
}

export function foldDigest(state: DigestState, entries: readonly StoredEntry[]): void {
  for (const entry of entries) {
    if (state.newer !== undefined) return;
    state.last = entry.seq;
    state.head = entry.head;
    if (entry.kind === "newer") state.newer = entry;
    else if (entry.kind === "timer") {
      const time = timeOf(entry.id);
      if (time === undefined) state.since ??= entry.at;
      else state.times.set(time, { rungAt: entry.at, isOver: false });
    } else if (entry.kind === "delivered") {
      const due = state.times.get(timeOf(entry.entry) ?? NaN);
      if (due !== undefined) due.isOver = true;
      if (entry.ref !== "") state.newest = entry.ref;
    }
  }
  for (const time of state.times.keys()) {
    if (state.times.size <= MAX_KEPT) break;
    state.times.delete(time);
  }
}

/** What is owed for a digest. `ring`: a time has come, which nobody has written down. `late`: too late for anybody to need it. */
export type DigestOwed = { do: "ring" | "make" | "leave"; at: number };

/** A digest that was missed is made so much later at the most, and only until half of the time to the next one is over. */
const MAX_LATE_MS = 12 * 3_600_000;

export function lateMs(at: number, { next }: Schedule): number {
  return Math.min(MAX_LATE_MS, ((next(at) ?? Infinity) - at) / 2);
}

/** Of several times that were missed the newest alone is made. */
export function owedFor(
  { since = Infinity, times }: DigestState,
  schedule: Schedule,
  now: number,
): DigestOwed | undefined {
  for (const [at, { isOver }] of times) {
    if (!isOver) return { do: now > at + lateMs(at, schedule) ? "leave" : "make", at };
  }
  const at = schedule.latest(now);
  const before = Math.max(since > now ? -Infinity : since, ...knownUntil(times, now));
  return at === undefined || since === Infinity || at <= before ? undefined : { do: "ring", at };
}

/** When the next one is due that nobody has dealt with: clocks may have been put back since one was. */
export function nextTime({ times }: DigestState, { next }: Schedule, now: number) {
  let at = next(now);
  while (at !== undefined && times.has(at)) at = next(at);
  return at;
}

function knownUntil(times: DigestState["times"], now: number): number[] {
  return [...times.keys()].filter((time) => time <= now);
}
