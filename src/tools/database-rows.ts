import { oneLine, shortened } from "../core/text.ts";
import type { Encoder } from "../security/encoder.ts";

/** What databases answer, as people and models read it. */

export type Row = Readonly<Record<string, unknown>>;

/** Numbers come as text where JavaScript's are too small for them; 0: it is none. */
export function number(value: unknown): number {
  return Number(value ?? 0) || 0;
}

/** On one line, though a name in the database may have several: they would read as lines of ours. */
export function text(value: unknown): string {
  return typeof value === "string"
    ? value.replaceAll(/[\n\v\f\r\u0085\u2028\u2029]+/g, " ")
    : value === null || value === undefined
      ? ""
      : JSON.stringify(value);
}

/** What is shorter is never cut. */
const LONG = 60;

/** Rows whose long texts have no secrets any more: results and cards show only the begin of them. */
export async function withoutSecrets(rows: readonly Row[], encoder: Encoder): Promise<Row[]> {
  const all = rows.map(async (row) => {
    const cells = await eachWithoutSecrets(Object.values(row), encoder);
    return Object.fromEntries(Object.keys(row).map((name, at) => [name, cells[at]]));
  });
  return Promise.all(all);
}

async function eachWithoutSecrets<C>(cells: readonly C[], { aside }: Encoder) {
  const isLong = (cell: unknown): cell is string => typeof cell === "string" && cell.length > LONG;
  return Promise.all(cells.map((cell) => (isLong(cell) ? aside.encode(cell) : cell)));
}

/** A statement as a row shows it. */
export function oneStatement(value: unknown, most = 120): string {
  return shortened(oneLine(text(value)), most);
}

/** `12 idle of shop, 3 active of shop` */
export function countBy(rows: readonly Row[], key: (row: Row) => string): string {
  const counts = new Map<string, number>();
  for (const row of rows) counts.set(key(row), (counts.get(key(row)) ?? 0) + 1);
  const ranked = [...counts].toSorted(([, a], [, b]) => b - a);
  return ranked.map(([name, count]) => `${count} ${name}`).join(", ");
}

const MAX_ROWS = 50;
const MAX_CELL = 120;

/** An answer to somebody's own statement: its columns, and as many rows as anybody reads. */
export async function tableText(
  columns: readonly string[],
  rows: readonly (readonly (string | null)[])[],
  encoder: Encoder,
): Promise<string> {
  if (rows.length === 0) return "No rows.";
  const cell = (value: string | null) => (value === null ? "NULL" : oneStatement(value, MAX_CELL));
  const shown = rows.slice(0, MAX_ROWS).map((row) => eachWithoutSecrets(row, encoder));
  const lines = (await Promise.all(shown)).map((row) => row.map(cell).join(" | "));
  const rest = rows.length > lines.length ? [`… more rows: only ${MAX_ROWS} are shown`] : [];
  return [columns.map(cell).join(" | "), ...lines, ...rest].join("\n");
}

/** How many rows an answer may need: one more than are shown says that there are more. */
export const ANSWER_ROWS = MAX_ROWS + 1;

/**
 * The sessions at the roots of who waits for whom, with those who wait behind each, the most first: ending a root frees the others.
 * `blockers`: whom a session waits for.
 */
export function rootsOf(blockers: ReadonlyMap<number, readonly number[]>): [number, number[]][] {
  const roots = new Map<number, number[]>();
  for (const waiting of blockers.keys()) {
    for (const root of rootsBehind(waiting, blockers, new Set()))
      roots.set(root, [...(roots.get(root) ?? []), waiting]);
  }
  return [...roots].toSorted(([, a], [, b]) => b.length - a.length);
}

const MAX_BLOCKERS = 2;

/** `, blocked by 17, 18 and 4 more`, or nothing: those who wait in line all block the last one. */
export function blockedBy(blockers: readonly number[]): string {
  if (blockers.length === 0) return "";
  const more = blockers.length - MAX_BLOCKERS;
  return `, blocked by ${blockers.slice(0, MAX_BLOCKERS).join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
}

function rootsBehind(
  waiting: number,
  blockers: ReadonlyMap<number, readonly number[]>,
  seen: Set<number>,
): Set<number> {
  const found = new Set<number>();
  for (const blocker of blockers.get(waiting) ?? []) {
    if (seen.has(blocker)) continue;
    seen.add(blocker);
    if (!blockers.has(blocker)) found.add(blocker);
    else for (const root of rootsBehind(blocker, blockers, seen)) found.add(root);
  }
  return found;
}
