import { DatabaseSync } from "node:sqlite";
import { suggest } from "../core/suggest.ts";
import type { Viewer } from "../core/viewer.ts";
import type { Filter, Incident } from "./incident.ts";
import { factsOf, type NumberFacts } from "./numbers.ts";
import { openPastThreads } from "./past-threads.ts";
import type { ReadHead } from "./read-head.ts";
import { createPlaces } from "./places.ts";
import { bestFirst, type Document, documentOf } from "./search.ts";
import { allOf, limitedTo, ownOf, visibleTo, type Where } from "./where.ts";

/** What lists, searches and numbers need of an incident. */
export interface Listed extends Pick<
  Incident,
  | "audience"
  | "tenant"
  | "thread"
  | "link"
  | "status"
  | "severity"
  | "services"
  | "startedAt"
  | "detectedAt"
  | "acknowledgedAt"
  | "mitigatedAt"
  | "resolvedAt"
> {
  facts: NumberFacts;
  /** When the first and the last of it was said. */
  said: { from: number; to: number };
  document: Document;
}

export function listedOf({ history, ...incident }: Incident): Listed {
  const times = history.map(({ at }) => at);
  // A clock may have been put back.
  const said = { from: Math.min(...times), to: Math.max(...times) };
  const whole = { history, ...incident };
  return { ...incident, said, facts: factsOf(whole), document: documentOf(whole) };
}

export interface CatalogRow extends ReadHead {
  /** Undefined: there is nothing that anybody may see. */
  listed: Listed | undefined;
}

/** Ids that an unknown one is answered with. */
const MAX_NEAR = 3;

/** A file without a name is this process's alone and ends with it. */
const FILE = "";

const SCHEMA = `
  PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -4000;
  CREATE TABLE head (id TEXT PRIMARY KEY, last INTEGER NOT NULL, head TEXT) WITHOUT ROWID;
  CREATE TABLE incident (
    row INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, place INTEGER NOT NULL, public INTEGER NOT NULL,
    status TEXT NOT NULL, severity TEXT, started INTEGER NOT NULL, detected INTEGER, resolved INTEGER,
    acknowledged INTEGER, mitigated INTEGER, facts TEXT NOT NULL,
    said_from INTEGER NOT NULL, said_to INTEGER NOT NULL, thread TEXT NOT NULL, link TEXT);
  CREATE INDEX newest ON incident (started DESC, id, place);
  CREATE INDEX open ON incident (started DESC, id, place) WHERE status IN ('open', 'mitigated');
  CREATE INDEX ended ON incident (resolved);
  CREATE INDEX said ON incident (said_to);
  CREATE INDEX linked ON incident (link);
  CREATE TABLE service (row INTEGER NOT NULL, name TEXT NOT NULL, PRIMARY KEY (row, name)) WITHOUT ROWID;
  CREATE INDEX of_service ON service (name, row);
  CREATE TABLE document (row INTEGER PRIMARY KEY, words TEXT NOT NULL);`;

/** The catalog's tables, empty. */
export function openTables() {
  const db = new DatabaseSync(FILE);
  db.exec(SCHEMA);
  const places = createPlaces(db);
  const past = openPastThreads(db);
  const put = createPut(db, places);
  const head = db.prepare("SELECT last, head FROM head WHERE id = ?");
  let upTo: string | undefined;

  const visible = (viewer: Viewer): Where =>
    visibleTo(
      viewer,
      places.readBy(viewer).map(({ number }) => number),
    );
  const select = (what: string, { sql, given }: Where, rest = "") => {
    return { statement: db.prepare(`SELECT ${what} FROM incident WHERE ${sql} ${rest}`), given };
  };

  return {
    db,
    past,
    visible,
    /** Up to where the store's changes are in it. */
    mark: () => upTo,
    holds({ id, last, head: now }: ReadHead): boolean {
      const known = head.get(id);
      return known?.["last"] === last && known["head"] === (now ?? null);
    },
    headsOf: (ids: readonly string[]): ReadHead[] =>
      ids.map((id) => {
        const known = head.get(id);
        const hash = known?.["head"];
        return {
          id,
          last: Number(known?.["last"]),
          head: typeof hash === "string" ? hash : undefined,
        };
      }),
    put(rows: readonly CatalogRow[], mark: string): void {
      db.exec("BEGIN");
      for (const row of rows) put(row);
      db.exec("COMMIT");
      upTo = mark;
    },
    search: (text: string, filter: Filter, viewer: Viewer) =>
      searchIn(places, text, filter, viewer),
    list(filter: Filter, viewer: Viewer): string[] {
      const { limit } = filter;
      const limits = limitedTo(filter);
      const where = allOf(visible(viewer), limits);
      const { statement, given } = select("id", where, "ORDER BY started DESC, id LIMIT ?");
      return statement.all(...given, limit ?? -1).map(({ id }) => String(id));
    },
    count(filter: Filter, viewer: Viewer): number {
      const where = allOf(visible(viewer), limitedTo(filter));
      const { statement, given } = select("count(*) AS n", where);
      return Number(statement.get(...given)?.["n"]);
    },
    near(id: string, viewer: Viewer): { near: string[]; newest: string[] } {
      const { statement, given } = select("id", visible(viewer), "ORDER BY started DESC, id");
      const [near, newest]: [string[], string[]] = [[], []];
      for (const row of statement.iterate(...given)) {
        const other = String(row["id"]);
        if (newest.length < MAX_NEAR) newest.push(other);
        if (suggest(id, [other]) !== undefined) near.push(other);
        if (near.length === MAX_NEAR) break;
      }
      return { near, newest };
    },
  };
}

function searchIn(
  { readBy, publicBeside }: ReturnType<typeof createPlaces>,
  text: string,
  filter: Filter,
  viewer: Viewer,
): { count: number; ids: string[] } {
  const { limit = Infinity } = filter;
  const limits = limitedTo(filter);
  const own = allOf(limits, ownOf(viewer));
  const all = [
    ...readBy(viewer).map(({ words }) => words.find(text, limits, limit)),
    ...publicBeside(viewer).map(({ words }) => {
      const { count, found } = words.find(text, own, limit);
      // How common a word is there is not for whoever asks from elsewhere.
      return { count, found: found.map((each) => ({ ...each, score: 0 })) };
    }),
  ];
  const found = all.flatMap((each) => each.found).toSorted(bestFirst);
  return {
    count: all.reduce((sum, { count }) => sum + count, 0),
    ids: found.slice(0, limit).map(({ id }) => id),
  };
}

function createPut(db: DatabaseSync, places: ReturnType<typeof createPlaces>) {
  const sql = {
    head: db.prepare("INSERT OR REPLACE INTO head (id, last, head) VALUES (?, ?, ?)"),
    known: db.prepare("SELECT row, place FROM incident WHERE id = ?"),
    remove: db.prepare("DELETE FROM incident WHERE row = ?"),
    removeServices: db.prepare("DELETE FROM service WHERE row = ?"),
    add: db.prepare(
      `INSERT INTO incident (id, place, public, status, severity, started, detected, resolved, said_from, said_to, thread, link, acknowledged, mitigated, facts)
       VALUES (:id, :place, :public, :status, :severity, :started, :detected, :resolved, :from, :to, :thread, :link, :acknowledged, :mitigated, :facts)`,
    ),
    addWords: db.prepare("INSERT INTO document (row, words) VALUES (?, ?)"),
    removeWords: db.prepare("DELETE FROM document WHERE row = ?"),
    addService: db.prepare("INSERT OR IGNORE INTO service (row, name) VALUES (?, ?)"),
  };

  function remove(id: string): void {
    const known = sql.known.get(id);
    if (known === undefined) return;
    const row = Number(known["row"]);
    places.at(Number(known["place"]))?.words.remove(row);
    sql.removeServices.run(row);
    sql.removeWords.run(row);
    sql.remove.run(row);
  }

  function add(id: string, listed: Listed): void {
    const { status, severity, startedAt, detectedAt, resolvedAt, said, thread, link } = listed;
    const { number, audience, words } = places.of(listed);
    // What changed last has the highest number.
    const { lastInsertRowid } = sql.add.run({
      id,
      place: number,
      public: audience === undefined ? 1 : 0,
      status,
      severity: severity ?? null,
      started: startedAt,
      detected: detectedAt ?? null,
      resolved: resolvedAt ?? null,
      from: said.from,
      to: said.to,
      thread,
      link: link ?? null,
      acknowledged: listed.acknowledgedAt ?? null,
      mitigated: listed.mitigatedAt ?? null,
      facts: JSON.stringify(listed.facts),
    });
    const row = Number(lastInsertRowid);
    for (const service of listed.services) sql.addService.run(row, service);
    sql.addWords.run(row, words.add(row, listed.document));
  }

  return ({ id, last, head, listed }: CatalogRow): void => {
    sql.head.run(id, last, head ?? null);
    remove(id);
    if (listed !== undefined) add(id, listed);
  };
}
