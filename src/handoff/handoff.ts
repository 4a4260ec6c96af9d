import type { Incident } from "../incidents/incident.ts";
import type { Period } from "../incidents/period.ts";
import { gapKey, type Missed, type ThreadShift } from "./thread-shift.ts";

/** A thread's part, and its address for people; else its key. */
export type PlacedShift = ThreadShift & { where: string };

/** What a maintenance window kept from having a thread. */
export interface QuietShift {
  window: string;
  until: number;
  /** How often alerts were told of, names of some of them, and how many still fired at the period's end. */
  count: number;
  names: readonly string[];
  firing: number;
  /** The channel that they would have come to. */
  where: string;
}

/** What whoever takes over has to know of a period, as its readers may see it. */
export interface Handoff {
  period: Period;
  /** Those that were open at its end, and that began or ended in it, each once; the newest beginning first. */
  incidents: Incident[];
  /** Those of the months before it and in it that have a cause. */
  explained: Incident[];
  threads: PlacedShift[];
  /** Windows that held in the period, the first to end first. */
  maintenance: QuietShift[];
  /** Threads of platforms that nobody here can ask who may read them: nothing of them is told. */
  unasked: { platform: string; threads: number }[];
  /** What is frozen now, a sentence each. */
  frozen: string[];
  /** There were more threads than were looked at. */
  isCut: boolean;
}

export function openAtEnd({ incidents, period: { to } }: Handoff): Incident[] {
  return incidents.filter(
    ({ startedAt, resolvedAt }) => startedAt < to && (resolvedAt === undefined || resolvedAt >= to),
  );
}

export function openedIn({ incidents, period: { from, to } }: Handoff): Incident[] {
  return incidents.filter(({ startedAt }) => startedAt >= from && startedAt < to);
}

export function resolvedIn({ incidents, period: { from, to } }: Handoff): Incident[] {
  return incidents.filter(
    ({ resolvedAt }) => resolvedAt !== undefined && resolvedAt >= from && resolvedAt < to,
  );
}

/** Nobody who takes over has to know anything. */
export function isQuiet(handoff: Handoff): boolean {
  const { incidents, threads, frozen, maintenance, unasked } = handoff;
  const lists = [incidents, frozen, maintenance, unasked];
  return lists.every(({ length }) => length === 0) && threads.every(isNothing);
}

function isNothing({
  deeds,
  waiting,
  questions,
  unsettled,
  missed,
  silences,
  unanswered,
  ...rest
}: ThreadShift): boolean {
  const { alerts, broken, failed } = rest;
  const lists = [
    deeds,
    waiting,
    questions,
    unsettled,
    missed,
    silences,
    unanswered,
    broken,
    alerts,
  ];
  return lists.every(({ length }) => length === 0) && failed === 0;
}

/** What met in several threads or incidents, the most often first. */
export function recurring(handoff: Handoff): { what: string; times: string; count: number }[] {
  const found = Map.groupBy(
    handoff.threads.flatMap(({ broken, where }) => broken.map((what) => ({ what, where }))),
    ({ what }) => what,
  );
  const inThreads = [...found]
    .filter(([, some]) => some.length > 1)
    .map(([what, some]) => ({ what, times: `in ${some.length} threads`, count: some.length }));
  const causes = Map.groupBy(handoff.explained, ({ cause = "" }) => cause.trim().toLowerCase());
  const lately = new Set(openedIn(handoff).map(({ id }) => id));
  const inIncidents = [...causes.values()]
    .filter((some) => some.length > 1 && some.some(({ id }) => lately.has(id)))
    .map((some) => ({
      what: some[0]?.cause ?? "",
      times: `the cause of ${some.map(({ id }) => id).join(", ")}`,
      count: some.length,
    }));
  return [...inIncidents, ...inThreads].toSorted((a, b) => b.count - a.count);
}

/** What calls could not see, over all threads; what was missed most often first. */
export function allMissed({ threads }: Pick<Handoff, "threads">): Missed[] {
  const found = new Map<string, Missed>();
  for (const gap of threads.flatMap(({ missed }) => missed)) {
    const calls = (found.get(gapKey(gap))?.calls ?? 0) + gap.calls;
    found.set(gapKey(gap), { ...gap, calls });
  }
  return [...found.values()].toSorted((a, b) => b.calls - a.calls);
}
