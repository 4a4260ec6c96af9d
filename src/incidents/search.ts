import type { DatabaseSync } from "node:sqlite";
import type { Incident } from "./incident.ts";
import { createSpellings, wordsIn } from "../core/spellings.ts";
import type { Where } from "./where.ts";

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
const WEIGHTS = FIELDS.map(({ weight }) => weight).join(", ");
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

/**
 * Of more matches than these not all are ranked, which would take some µs each: of matches in what counts most, else of all,
 * those that changed last are taken.
 */
const MOST_RANKED = 1_000;

interface Match {
  id: string;
  started: number;
  /** The lower, the better. */
  score: number;
}

export interface Found extends Match {
  /** How exactly its words are those that were asked for: 0 the most. */
  grade: number;
}

/** Of the same grade and score the newest, then by id. */
export function bestFirst(a: Found, b: Found): number {
  return a.grade - b.grade || a.score - b.score || b.started - a.started || (a.id < b.id ? -1 : 1);
}

/**
 * The index of one place's incidents. Each place has its own: otherwise the words of one's incidents would show in the order of
 * another's results.
 */
export function createWordIndex(db: DatabaseSync, place: number) {
  const name = `words_${place}`;
  const spellings = createSpellings();
  db.exec(
    `CREATE VIRTUAL TABLE ${name} USING fts5 (${COLUMNS}, content = '', contentless_delete = 1)`,
  );
  const values = FIELDS.map(() => "?").join(", ");
  const insert = db.prepare(`INSERT INTO ${name} (rowid, ${COLUMNS}) VALUES (?, ${values})`);
  const remove = db.prepare(`DELETE FROM ${name} WHERE rowid = ?`);

  /** What matches and is within the limits. */
  function matching(match: string, { sql, given }: Where) {
    const from = `FROM ${name} CROSS JOIN incident ON incident.row = ${name}.rowid WHERE ${name} MATCH ? AND ${sql}`;
    return { from, given: [match, ...given] };
  }

  function countUpTo(most: number, match: string, limits: Where): number {
    const { from, given } = matching(match, limits);
    const counted = db.prepare(`SELECT count(*) AS n FROM (SELECT 1 ${from} LIMIT ?)`);
    return Number(counted.get(...given, most)?.["n"]);
  }

  function take(score: string, match: string, limits: Where, rest = ""): Match[] {
    const { from, given } = matching(match, limits);
    const found = db.prepare(`SELECT id, started, ${score} AS score ${from} ${rest}`).all(...given);
    return found.map((row) => ({
      id: String(row["id"]),
      started: Number(row["started"]),
      score: Number(row["score"]),
    }));
  }

  function takeNewest(match: string, limits: Where, wanted: number): Match[] {
    const rest = `ORDER BY ${name}.rowid DESC LIMIT ${MOST_RANKED}`;
    const first = take("0", `{${FIRST}} : (${match})`, limits, rest);
    return first.length >= wanted ? first : [...first, ...take("1", match, limits, rest)];
  }

  return {
    add(row: number, document: Document): void {
      insert.run(row, ...FIELDS.map(({ field }) => document[field]));
      for (const { field } of FIELDS) if (field !== "id") spellings.add(wordsIn(document[field]));
    },
    remove: (row: number): void => void remove.run(row),
    /** The best of them, unordered; at least `wanted` where there are so many. */
    find(text: string, limits: Where, wanted: number): Found[] {
      const found = new Map<string, Found>();
      for (const [grade, match] of gradesOf(text, spellings.alike).entries()) {
        const matches =
          countUpTo(MOST_RANKED + 1, match, limits) > MOST_RANKED
            ? takeNewest(match, limits, wanted)
            : take(`bm25(${name}, ${WEIGHTS})`, match, limits);
        for (const each of matches) if (!found.has(each.id)) found.set(each.id, { ...each, grade });
        if (found.size >= wanted) break;
      }
      return [...found.values()];
    },
    count(text: string, limits: Where): number {
      const match = gradesOf(text, spellings.alike).at(-1);
      return match === undefined ? 0 : countUpTo(-1, match, limits);
    },
  };
}

export type WordIndex = ReturnType<typeof createWordIndex>;

/** All words as they are; as beginnings; and those that are spelled alike. Each finds what the one before does, and more. */
function gradesOf(text: string, alike: (word: string) => readonly string[]): string[] {
  const words = [...new Set(wordsIn(text))];
  if (words.length === 0) return [];
  const quoted = (word: string) => `"${word}"`;
  return [
    words.map(quoted),
    words.map((word) => `${quoted(word)} *`),
    words.map((word) => `(${[`${quoted(word)} *`, ...alike(word).map(quoted)].join(" OR ")})`),
  ].map((each) => each.join(" AND "));
}
