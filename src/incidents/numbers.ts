import type { DatabaseSync } from "node:sqlite";
import { createLocalTime } from "./local-time.ts";
import type { Incident, Spell } from "./incident.ts";
import type { Bin, Numbered, Numbers, NumbersAsked, Spread } from "./numbered.ts";
import type { Period } from "./period.ts";
import { allOf, type Where } from "./where.ts";

/**
 * The numbers of a period that no table has ready: one pass over the incidents of the period. Each number is a group of incidents, so
 * what it counts is also what can be listed for it. How each is computed: docs/incidents.md.
 */

/** Named with each number. */
const NEWEST = 3;
/** Causes and the like that are told one by one. */
const MOST = 5;

/** What the catalog keeps of an incident for this, beside its columns. */
export interface NumberFacts {
  /** Words of the cause that two have in common; empty without one. */
  cause: string;
  spells: readonly Spell[];
  acted: readonly { approved: boolean; done: boolean; fixed: boolean; undone: boolean }[];
  /** Open follow-ups. */
  todo: number;
  /** Its begin is known only from its alert, which says nothing of how long nobody noticed. */
  isBeginAlert: boolean;
}

export function factsOf(incident: Incident): NumberFacts {
  const { cause = "", spells, acted, followUps, known } = incident;
  return {
    cause: causeKey(cause),
    spells,
    acted: acted.map(({ votes = [], outcome, verified, undoneAt }) => ({
      approved: votes.some(({ approve }) => approve),
      done: outcome === "ok",
      fixed: verified === "fixed",
      undone: undoneAt !== undefined,
    })),
    todo: followUps.filter(({ state }) => state === "open").length,
    isBeginAlert: known.startedAt === "alert" && known.detectedAt === "alert",
  };
}

/** Two causes are the same where they differ in case, marks and spaces alone. */
function causeKey(cause: string): string {
  return cause
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]+/gu, " ")
    .trim();
}

interface Row {
  id: string;
  status: string;
  severity: string | null;
  started: number;
  detected: number | null;
  acknowledged: number | null;
  mitigated: number | null;
  resolved: number | null;
  facts: string;
  services: string | null;
}

const COLUMNS = `id, status, severity, started, detected, acknowledged, mitigated, resolved, facts,
  (SELECT group_concat(name, char(10)) FROM service WHERE service.row = incident.row) AS services`;

export function numbersOf(
  db: DatabaseSync,
  visible: Where,
  period: Period,
  { now, which, listed, bins = [] }: NumbersAsked,
): Numbers<string> {
  const { from, to, zone } = period;
  const all = allOf(visible, {
    sql: "started < ? AND (resolved IS NULL OR resolved >= ?)",
    given: [to, from],
  });
  const tally = createTally(which, listed);
  const timeOf = createLocalTime(zone);
  const statement = db.prepare(
    `SELECT ${COLUMNS} FROM incident WHERE ${all.sql} ORDER BY started DESC, id`,
  );
  for (const found of statement.iterate(...all.given)) {
    // The columns are those of the schema.
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- as selected
    const row = found as unknown as Row;
    const facts: NumberFacts = JSON.parse(row.facts);
    countStates(tally, row, facts, { from, to: Math.min(to, now) });
    const { started, resolved, status } = row;
    const isOpened = started >= from && started < to;
    if (status === "false_alarm") {
      if (isOpened) tally.add("false_alarms", row.id);
      continue;
    }
    if (isOpened) {
      countOpened(tally, row, facts, timeOf(started));
      countInBin(tally, row, binAt(bins, started));
    }
    if (resolved === null) tally.add("open", row.id);
    else if (resolved >= from && resolved < to) {
      tally.add("resolved", row.id);
      tally.lasts("mttr", row.id, resolved - started);
      const bin = binAt(bins, resolved);
      if (bin !== undefined) tally.lasts(`${bin}:mttr`, row.id, resolved - started);
    }
  }
  return tally.done();
}

type Tally = ReturnType<typeof createTally>;

function countOpened(
  tally: Tally,
  row: Row,
  facts: NumberFacts,
  { hour, weekday }: { hour: number; weekday: string },
): void {
  const { id, started, detected, acknowledged, mitigated, severity, services } = row;
  tally.add("opened", id);
  tally.add(`severity:${severity ?? "none"}`, id);
  for (const service of (services ?? "").split("\n"))
    if (service !== "") tally.add(`service:${service}`, id);
  tally.add(`hour:${String(hour).padStart(2, "0")}`, id);
  tally.add(`weekday:${weekday}`, id);
  if (facts.cause !== "") tally.add(`cause:${facts.cause}`, id);
  if (detected !== null && !facts.isBeginAlert) tally.lasts("mttd", id, detected - started);
  // Whoever took it up before it counted as detected lost no time.
  if (acknowledged !== null)
    tally.lasts("mtta", id, Math.max(0, acknowledged - (detected ?? started)));
  if (mitigated !== null) tally.lasts("mttm", id, mitigated - started);
  for (const { approved, done, fixed, undone } of facts.acted) {
    if (!approved) continue;
    tally.add("actions:approved", id);
    if (done) tally.add("actions:done", id);
    if (fixed) tally.add("actions:fixed", id);
    if (undone) tally.add("actions:undone", id);
  }
  tally.add("follow_ups", id, facts.todo);
}

function countInBin(tally: Tally, { id, severity }: Row, bin: string | undefined): void {
  if (bin === undefined) return;
  tally.add(bin, id);
  tally.add(`${bin}:${severity ?? "none"}`, id);
}

/** The name of the bin that has the instant, which lies in the period. */
function binAt(bins: readonly Bin[], instant: number): string | undefined {
  let [low, high] = [0, bins.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((bins[middle]?.from ?? Infinity) <= instant) low = middle + 1;
    else high = middle;
  }
  return bins[low - 1]?.name;
}

/** How long of the period it stood so. */
function countStates(
  tally: Tally,
  { id, resolved }: Row,
  { spells }: NumberFacts,
  { from, to }: { from: number; to: number },
): void {
  const spent = { open: 0, mitigated: 0 };
  for (const [i, { status, from: begun }] of spells.entries()) {
    if (status !== "open" && status !== "mitigated") continue;
    const end = spells[i + 1]?.from ?? resolved ?? Infinity;
    spent[status] += Math.max(0, Math.min(end, to) - Math.max(begun, from));
  }
  for (const status of ["open", "mitigated"] as const) {
    if (spent[status] > 0) tally.lasts(`state:${status}`, id, spent[status]);
  }
}

function createTally(which: string | undefined, listed: number) {
  const counts = new Map<string, { value: number; newest: string[] }>();
  const lasted = new Map<string, { all: number[]; newest: string[] }>();
  const asked: { count: number; ids: string[] } = { count: 0, ids: [] };
  let last = "";

  /** Incidents come one after the other, each perhaps more than once. */
  function note(name: string, id: string, newest: string[]): void {
    if (newest.length < NEWEST && newest.at(-1) !== id) newest.push(id);
    if (name !== which || last === id) return;
    last = id;
    asked.count += 1;
    if (asked.ids.length < listed) asked.ids.push(id);
  }

  return {
    add(name: string, id: string, by = 1): void {
      if (by === 0) return;
      const known = counts.get(name) ?? { value: 0, newest: [] };
      known.value += by;
      counts.set(name, known);
      note(name, id, known.newest);
    },
    lasts(name: string, id: string, ms: number): void {
      const known = lasted.get(name) ?? { all: [], newest: [] };
      known.all.push(ms);
      lasted.set(name, known);
      note(name, id, known.newest);
    },
    done(): Numbers<string> {
      const spreads = [...lasted].map(([name, { all }]) => [name, spreadOf(all)] as const);
      const times = [...lasted].map(([name, { all, newest }]) => {
        return { name, value: name.startsWith("state:") ? sum(all) : all.length, newest };
      });
      return {
        counts: [...[...counts].map(([name, of]) => ({ name, ...of })), ...times].flatMap(keep),
        spreads: Object.fromEntries(spreads),
        which: which === undefined ? undefined : { count: asked.count, found: asked.ids },
      };
    },
  };
}

/** A cause that occurs once is no repeated one. */
function keep(number: Numbered<string>): Numbered<string>[] {
  return number.name.startsWith("cause:") && number.value < 2 ? [] : [number];
}

function sum(all: readonly number[]): number {
  return all.reduce((a, b) => a + b, 0);
}

/** Of at least one. */
function spreadOf(all: readonly number[]): Spread {
  const sorted = all.toSorted((a, b) => a - b);
  const { length: count } = sorted;
  const at = (i: number) => sorted[i] ?? 0;
  return {
    count,
    mean: sum(sorted) / count,
    median: (at((count - 1) >> 1) + at(count >> 1)) / 2,
    p90: at(Math.ceil((count * 9) / 10) - 1),
  };
}

/** The largest of a kind of numbers, such as `service:`; the same size by name. */
export function largest<T>(
  counts: readonly Numbered<T>[],
  kind: string,
  most = MOST,
): Numbered<T>[] {
  return counts
    .filter(({ name }) => name.startsWith(kind))
    .toSorted((a, b) => b.value - a.value || (a.name < b.name ? -1 : 1))
    .slice(0, most);
}
