import type { Finding, Gap } from "../../core/finding.ts";
import { formatElapsed, tryIso } from "../../core/instant.ts";
import { messageOf } from "../../core/errors.ts";
import { counted } from "../../core/text.ts";
import { blockedBy, number, oneStatement, rootsOf, type Row, text } from "../database-rows.ts";
import type { Server, Session } from "./client.ts";

/** What both servers tell of their sessions, of transactions, and of who waits for whom. */

const SESSIONS = `
SELECT p.ID AS id, p.USER AS user, p.HOST AS client, p.DB AS db, p.COMMAND AS command, p.TIME AS s, p.STATE AS state,
  LEFT(p.INFO, 4000) AS query, TIMESTAMPDIFF(SECOND, t.trx_started, NOW()) AS transaction_s,
  UNIX_TIMESTAMP(t.trx_started) AS began, t.trx_rows_locked AS locked, t.trx_rows_modified AS modified
FROM information_schema.PROCESSLIST p LEFT JOIN information_schema.INNODB_TRX t ON t.trx_mysql_thread_id = p.ID
WHERE p.ID <> CONNECTION_ID() AND p.COMMAND <> 'Daemon' AND p.USER NOT IN ('event_scheduler', 'system user')
ORDER BY COALESCE(t.trx_started, NOW()), p.TIME DESC LIMIT 500`;

/** Rows that one transaction has locked and another waits for. */
const ROW_WAITS = {
  MariaDB: `
SELECT waits.trx_mysql_thread_id AS waiting, blocks.trx_mysql_thread_id AS blocking, l.lock_table AS what
FROM information_schema.INNODB_LOCK_WAITS w
JOIN information_schema.INNODB_TRX waits ON waits.trx_id = w.requesting_trx_id
JOIN information_schema.INNODB_TRX blocks ON blocks.trx_id = w.blocking_trx_id
LEFT JOIN information_schema.INNODB_LOCKS l ON l.lock_id = w.requested_lock_id LIMIT 2000`,
  MySQL: `
SELECT waits.trx_mysql_thread_id AS waiting, blocks.trx_mysql_thread_id AS blocking,
  CONCAT('\`', l.OBJECT_SCHEMA, '\`.\`', l.OBJECT_NAME, '\`') AS what
FROM performance_schema.data_lock_waits w
JOIN information_schema.INNODB_TRX waits ON waits.trx_id = w.REQUESTING_ENGINE_TRANSACTION_ID
JOIN information_schema.INNODB_TRX blocks ON blocks.trx_id = w.BLOCKING_ENGINE_TRANSACTION_ID
LEFT JOIN performance_schema.data_locks l ON l.ENGINE_LOCK_ID = w.REQUESTING_ENGINE_LOCK_ID LIMIT 2000`,
};

/** Definitions of tables that one session uses and another wants to change, or waits behind one that does. */
const METADATA_WAITS = `
SELECT tw.PROCESSLIST_ID AS waiting, tb.PROCESSLIST_ID AS blocking,
  CONCAT('the definition of \`', w.OBJECT_SCHEMA, '\`.\`', w.OBJECT_NAME, '\`') AS what
FROM performance_schema.metadata_locks w
JOIN performance_schema.metadata_locks b ON b.OBJECT_TYPE = w.OBJECT_TYPE AND b.OBJECT_SCHEMA = w.OBJECT_SCHEMA
  AND b.OBJECT_NAME = w.OBJECT_NAME AND b.LOCK_STATUS = 'GRANTED' AND b.OWNER_THREAD_ID <> w.OWNER_THREAD_ID
JOIN performance_schema.threads tw ON tw.THREAD_ID = w.OWNER_THREAD_ID
JOIN performance_schema.threads tb ON tb.THREAD_ID = b.OWNER_THREAD_ID
WHERE w.LOCK_STATUS = 'PENDING' AND w.OBJECT_TYPE = 'TABLE' AND tb.PROCESSLIST_ID <> CONNECTION_ID() LIMIT 2000`;

/** The last statement of sessions that run none now, where the server keeps it. */
const LAST_STATEMENTS = `
SELECT t.PROCESSLIST_ID AS id, LEFT(e.SQL_TEXT, 4000) AS query
FROM performance_schema.threads t JOIN performance_schema.events_statements_current e ON e.THREAD_ID = t.THREAD_ID
WHERE t.PROCESSLIST_COMMAND = 'Sleep' AND e.SQL_TEXT IS NOT NULL LIMIT 500`;

interface Wait {
  waiting: number;
  blocking: number;
  what: string;
}

/** What was seen of sessions at one time. */
export interface Sessions {
  rows: readonly Row[];
  /** Whom each waits for. */
  blockers: ReadonlyMap<number, readonly number[]>;
  /** What each waits for, such as `` `stock`.`items` ``. */
  wanted: ReadonlyMap<number, string>;
  gaps: readonly Gap[];
}

export async function seeSessions(session: Session): Promise<Sessions> {
  const gaps: Gap[] = [];
  const seen = async (sql: string, what: string, help: string): Promise<Row[]> => {
    try {
      return await session.rows(sql);
    } catch (error) {
      gaps.push({ what, why: messageOf(error), help });
      return [];
    }
  };
  const { kind } = session.server;
  const sight = "GRANT SELECT ON performance_schema.* to the bot's user.";
  const waits = [
    ...(await seen(
      ROW_WAITS[kind],
      "who waits for whose rows",
      kind === "MySQL" ? sight : "GRANT PROCESS to the bot's user.",
    )),
    ...(await seen(METADATA_WAITS, "who waits for whose table definitions", sight)),
  ].map(waitOf);
  const rows = await seen(
    SESSIONS,
    "sessions and transactions of others",
    "GRANT PROCESS to the bot's user.",
  );
  const last = new Map(
    (await seen(LAST_STATEMENTS, "last statements of idle sessions", sight)).map((row) => [
      number(row["id"]),
      row["query"],
    ]),
  );
  const blockers = new Map<number, number[]>();
  for (const wait of waits) {
    const known = blockers.get(wait.waiting) ?? [];
    blockers.set(wait.waiting, [...new Set([...known, wait.blocking])]);
  }
  const shown = rows.map((row) => ({
    ...row,
    query: row["query"] ?? last.get(number(row["id"])) ?? null,
  }));
  const hidden = rows.filter((row) => isMetadataWait(row) && !blockers.has(number(row["id"])));
  if (hidden.length > 0) gaps.push(unseenHolder(hidden, session.server));
  return {
    rows: shown,
    blockers,
    wanted: new Map(waits.map(({ waiting, what }) => [waiting, what])),
    gaps,
  };
}

function waitOf(row: Row): Wait {
  return {
    waiting: number(row["waiting"]),
    blocking: number(row["blocking"]),
    what: text(row["what"]),
  };
}

function isMetadataWait({ state }: Row): boolean {
  return /^Waiting for .*metadata lock$/i.test(text(state));
}

function unseenHolder(hidden: readonly Row[], { kind }: Server): Gap {
  return {
    what: `whom ${counted(hidden.length, "session")} ${hidden.length === 1 ? "waits" : "wait"} for`,
    why: `${kind} does not record metadata locks`,
    help: "Set performance_schema=ON and performance-schema-instrument='wait/lock/metadata/sql/mdl=ON'.",
  };
}

function sessionObject({ id, db }: Row): Finding["object"] {
  return { kind: "Session", namespace: text(db), name: text(id) };
}

function who({ user, client }: Row): string {
  const from = text(client).replace(/:\d+$/, "");
  return from === "" ? text(user) : `${text(user)} from ${from}`;
}

/** `idle in a transaction for 2 min`, `active for 4 s` */
export function doing(row: Row): string {
  const since = formatElapsed(number(row["s"]) * 1_000);
  if (text(row["command"]) !== "Sleep") return `active for ${since}`;
  return row["began"] === null ? `idle for ${since}` : `idle in a transaction for ${since}`;
}

function sinceOf({ began }: Row): string | null {
  return began === null || began === undefined || number(began) === 0
    ? null
    : (tryIso(number(began) * 1_000) ?? null);
}

/** A last statement that the server keeps of a session that is idle, or that it runs now. */
export function statementOf(row: Row, most?: number): string {
  return row["query"] === null || row["query"] === undefined
    ? "not recorded"
    : oneStatement(row["query"], most);
}

/** The sessions at the roots of who waits for whom. */
export function blocking({ rows, blockers, wanted }: Sessions): Finding[] {
  const byId = new Map(rows.map((row) => [number(row["id"]), row]));
  return rootsOf(blockers).map(([id, waiting]) => {
    const root: Row = byId.get(id) ?? { id };
    const held = waiting.map((each) => byId.get(each)).filter((row) => row !== undefined);
    const longest = held.toSorted((a, b) => number(b["s"]) - number(a["s"]))[0] ?? {};
    const what = wanted.get(number(longest["id"])) ?? "";
    return {
      object: sessionObject(root),
      cause: `it holds locks that ${counted(waiting.length, "session")} ${waiting.length === 1 ? "waits" : "wait"} for`,
      severity: "error",
      evidence: `${who(root)} is ${doing(root)}; its statement: ${statementOf(root)}. The longest wait: ${formatElapsed(number(longest["s"]) * 1_000)} for ${what}: ${statementOf(longest)}`,
      fix: `mysql_end_session id=${id}`,
      since: sinceOf(root),
    };
  });
}

/** Sessions that wait for a table's definition while nobody is seen to hold it. */
export function unexplained({ rows, blockers }: Sessions): Finding[] {
  const stuck = rows.filter((row) => isMetadataWait(row) && !blockers.has(number(row["id"])));
  const open = rows.filter((row) => row["began"] !== null && !stuck.includes(row));
  const others = open.map((row) => `session ${text(row["id"])} (${who(row)}, ${doing(row)})`);
  const [only] = open.length === 1 ? open : [];
  return stuck
    .toSorted((a, b) => number(b["s"]) - number(a["s"]))
    .slice(0, 3)
    .map((row) => ({
      object: sessionObject(row),
      cause: text(row["state"]),
      severity: "error",
      evidence: `for ${formatElapsed(number(row["s"]) * 1_000)}: ${statementOf(row)}. Open transactions: ${others.slice(0, 3).join(", ") || "none"}`,
      ...(only !== undefined && {
        fix: `mysql_end_session id=${text(only["id"])}: no other transaction is open.`,
      }),
      since: null,
    }));
}

/** How long a transaction may be idle, or a statement run, before it is worth a line. In seconds. */
const LONG_IDLE_S = 60;
const LONG_QUERY_S = 60;
/** A statement that is named, though many take as long. */
const BUSY_QUERY_S = 5;
const MAX_FINDINGS = 10;
/** Threads that serve a replica or the server itself run for ever. */
const SERVING =
  /^(?:Binlog Dump|Binlog Dump GTID|Slave_IO|Slave_SQL|Slave_worker|Connect|Daemon|Replica)/i;

/** A transaction that does nothing keeps its locks, and old versions of every row that changed since it began. */
export function idle({ rows, blockers }: Sessions): Finding[] {
  const holders = new Set([...blockers.values()].flat());
  const still = rows.filter(
    (row) =>
      row["began"] !== null &&
      text(row["command"]) === "Sleep" &&
      number(row["s"]) >= LONG_IDLE_S &&
      !holders.has(number(row["id"])),
  );
  return still.slice(0, MAX_FINDINGS).map((row) => ({
    object: sessionObject(row),
    cause: doing(row),
    severity: "warning",
    evidence: `${who(row)}; ${text(row["locked"])} rows locked, ${text(row["modified"])} changed; its last statement: ${statementOf(row)}`,
    fix: `Look at what that client does, or mysql_end_session id=${text(row["id"])}`,
    since: sinceOf(row),
  }));
}

export function longRunning({ rows, blockers }: Sessions): Finding[] {
  const long = rows.filter(
    (row) =>
      row["query"] !== null &&
      !["Sleep", ""].includes(text(row["command"])) &&
      !SERVING.test(text(row["command"])) &&
      number(row["s"]) >= BUSY_QUERY_S &&
      !isMetadataWait(row) &&
      !blockers.has(number(row["id"])),
  );
  const holders = new Set([...blockers.values()].flat());
  return long
    .filter((row) => !holders.has(number(row["id"])))
    .slice(0, MAX_FINDINGS)
    .map((row) => ({
      object: sessionObject(row),
      cause: `a statement runs for ${formatElapsed(number(row["s"]) * 1_000)}`,
      severity: number(row["s"]) >= LONG_QUERY_S ? ("warning" as const) : ("info" as const),
      evidence: `${who(row)}, ${text(row["state"]) || "no state"}: ${statementOf(row)}`,
      since: sinceOf(row),
    }));
}

const MAX_ROWS = 10;

export function sessionRows({ rows, blockers }: Sessions): string[] {
  const busy = rows.filter((row) => text(row["command"]) !== "Sleep" || row["began"] !== null);
  const lines = busy.slice(0, MAX_ROWS).map((row) => {
    const by = blockedBy(blockers.get(number(row["id"])) ?? []);
    const state = text(row["state"]) === "" ? "" : `, ${text(row["state"])}`;
    return `${text(row["id"])} ${who(row)} ${doing(row)}${state}${by}: ${statementOf(row, 80)}`;
  });
  const more = busy.length - lines.length;
  return [...lines, ...(more > 0 ? [`… ${counted(more, "more session")}`] : [])];
}
