import type { DatabaseSync } from "node:sqlite";
import type { Incident } from "./incident.ts";
import { createSpellings, wordsIn } from "../core/spellings.ts";
import { createRanking } from "./ranking.ts";
import { allOf, type Where } from "./where.ts";

/** What is searched, and how much it counts that a word is there. */
const FIELDS = [
  { field: "id", weight: 4 },
  { field: "title", weight: 2 },
  { field: "severity", weight: 1 },
  { field: "services", weight: 2 },
  { field: "impact", weight: 1 },
  { field: "cause", weight: 1 },
  { field: "actions", weight: 1 },
  { field: "notes", weight: 1 },
  { field: "pins", weight: 1 },
] as const;
type Field = (typeof FIELDS)[number]["field"];
/** Unlike those of the table of incidents. */
const columnOf = ({ field }: { field: Field }) => `in_${field}`;
const COLUMNS = FIELDS.map(columnOf).join(", ");
const FIRST = FIELDS.filter(({ weight }) => weight > 1)
  .map(columnOf)
  .join(" ");

export type Document = Record<Field, string>;

export function documentOf(incident: Incident): Document {
  return {
    id: incident.id,
    title: incident.title,
    severity: incident.severity ?? "",
    services: incident.services.join(" "),
    impact: incident.impact ?? "",
    cause: incident.cause ?? "",
    actions: incident.actions.join(" "),
    notes: incident.history.map(({ change }) => change.note ?? "").join(" "),
    pins: incident.pins.map(({ text }) => text).join(" "),
  };
}

/** Of more matches than these, those are taken that changed last: in what counts most, or else in all. */
const MOST_RANKED = 400;

/** So many words of a question are looked for: each costs milliseconds, and others wait. */
const MAX_ASKED = 32;

/** A word that is in so many is as common as any other one that is. */
const MOST_COUNTED = 10_000;

/** A match of a place's index. */
export interface Found {
  row: number;
  id: string;
  started: number;
  /** How exactly its words are those that were asked for: 0 the most. */
  grade: number;
  score: number;
}

/** Of the same grade and score the newest, then by id. */
export function bestFirst(a: Found, b: Found): number {
  return a.grade - b.grade || b.score - a.score || b.started - a.started || (a.id < b.id ? -1 : 1);
}

/**
 * The index of one place's incidents. Each place has its own: otherwise the words of one's incidents would show in the order of
 * another's results.
 */
export function createWordIndex(db: DatabaseSync, place: number) {
  const name = `words_${place}`;
  const spellings = createSpellings();
  db.exec(
    `CREATE VIRTUAL TABLE ${name} USING fts5 (${COLUMNS}, content = '', contentless_delete = 1, prefix = '2 3')`,
  );
  const values = FIELDS.map(() => "?").join(", ");
  const insert = db.prepare(`INSERT INTO ${name} (rowid, ${COLUMNS}) VALUES (?, ${values})`);
  const remove = db.prepare(`DELETE FROM ${name} WHERE rowid = ?`);
  const words = db.prepare("SELECT words FROM document WHERE row = ?");

  const joined = `CROSS JOIN incident ON row = ${name}.rowid`;

  function count(match: string, limits: Where, most = -1): number {
    const from = `FROM ${name} ${limits.given.length > 0 ? joined : ""}`;
    const where = `WHERE ${name} MATCH ? AND ${limits.sql} LIMIT ?`;
    const counted = db.prepare(`SELECT count(*) AS n FROM (SELECT 1 ${from} ${where})`);
    return Number(counted.get(match, ...limits.given, most)?.["n"]);
  }

  function take(match: string, limits: Where, most: number, order = "") {
    const where = `WHERE ${name} MATCH ? AND ${limits.sql} ${order} LIMIT ?`;
    const found = db.prepare(`SELECT row, id, started FROM ${name} ${joined} ${where}`);
    return found.all(match, ...limits.given, most).map((each) => ({
      row: Number(each["row"]),
      id: String(each["id"]),
      started: Number(each["started"]),
    }));
  }

  /** Those that changed last, grade by grade until there are enough. */
  function newest(asked: readonly Asked[], limits: Where, wanted: number): Found[] {
    const found = new Map<number, Found>();
    for (const grade of [0, 1, 2]) {
      const match = matchOf(asked, grade);
      for (const [i, each] of [`{${FIRST}} : (${match})`, match].entries()) {
        if (found.size >= wanted) break;
        for (const one of take(each, limits, MOST_RANKED, `ORDER BY ${name}.rowid DESC`))
          if (!found.has(one.row)) found.set(one.row, { ...one, grade, score: -i });
      }
    }
    return [...found.values()];
  }

  return {
    /** Its words are kept beside it, a line for each field. */
    add(row: number, document: Document): string {
      const lines = FIELDS.map(({ field }) => wordsIn(document[field]));
      for (const [i, { field }] of FIELDS.entries())
        if (field !== "id") spellings.add(lines[i] ?? []);
      insert.run(row, ...FIELDS.map(({ field }) => document[field]));
      return lines.map((line) => line.join(" ")).join("\n");
    },
    remove: (row: number): void => void remove.run(row),
    /** How many there are and the best of them, unordered; at least `wanted` where there are so many. */
    find(text: string, limits: Where, wanted: number): { count: number; found: Found[] } {
      const asked = askedFor(text, spellings.alike);
      if (asked.length === 0) return { count: 0, found: [] };
      const match = matchOf(asked, 2);
      const found = take(match, limits, MOST_RANKED + 1);
      if (found.length > MOST_RANKED)
        return { count: count(match, limits), found: newest(asked, limits, wanted) };
      const rank = createRanking(
        asked.map((each) => ({ ...each, known: count(`"${each.word}"`, allOf(), MOST_COUNTED) })),
        found.map(({ row }) => String(words.get(row)?.["words"])),
        FIELDS.map(({ weight }) => weight),
      );
      return { count: found.length, found: found.map((each, i) => ({ ...each, ...rank(i) })) };
    },
  };
}

export type WordIndex = ReturnType<typeof createWordIndex>;

interface Asked {
  word: string;
  /** Other words that may have been meant. */
  alike: readonly string[];
}

function askedFor(text: string, alike: (word: string) => readonly string[]): Asked[] {
  const words = [...new Set(wordsIn(text))].slice(0, MAX_ASKED);
  return words.map((word) => ({ word, alike: alike(word) }));
}

/** What finds the texts with all these words, as they are and also as beginnings; undefined: there are none. */
export function matchesFor(text: string): { exact: string; begun: string } | undefined {
  const asked = askedFor(text, () => []);
  if (asked.length === 0) return undefined;
  return { exact: matchOf(asked, 0), begun: matchOf(asked, 1) };
}

/** All words: as they are; also as beginnings; also those that are spelled alike. */
function matchOf(asked: readonly Asked[], grade: number): string {
  const quoted = (word: string) => `"${word}"`;
  return asked
    .map(({ word, alike }) => {
      const others = grade < 2 ? [] : alike.map(quoted);
      return `(${[grade === 0 ? quoted(word) : `${quoted(word)} *`, ...others].join(" OR ")})`;
    })
    .join(" AND ");
}
