import { messageOf } from "../../core/errors.ts";
import type { Finding, Gap } from "../../core/finding.ts";
import { formatElapsed, tryIso } from "../../core/instant.ts";
import { countBy, number, oneStatement, type Row, text } from "../database-rows.ts";
import type { DatabaseParts } from "../databases.ts";
import { defineDiagnose } from "../sql-tools.ts";
import { MYSQL, type Session } from "./client.ts";
import { seeReplication } from "./replication.ts";
import {
  blocking,
  idle,
  longRunning,
  seeSessions,
  type Sessions,
  sessionRows,
  unexplained,
} from "./sessions.ts";

const STATUS =
  "SHOW GLOBAL STATUS WHERE Variable_name IN ('Threads_connected', 'Threads_running', 'Max_used_connections', 'Uptime')";

const VARIABLES =
  "SHOW GLOBAL VARIABLES WHERE Variable_name IN ('max_connections', 'read_only', 'super_read_only', 'innodb_read_only')";

/** Errors that the server gave to anybody, of which these say what is wrong with it. MySQL's alone. */
const ERRORS = `
SELECT ERROR_NUMBER AS number, ERROR_NAME AS name, SUM_ERROR_RAISED AS times, UNIX_TIMESTAMP(LAST_SEEN) AS last,
  TIMESTAMPDIFF(SECOND, LAST_SEEN, NOW()) AS ago_s
FROM performance_schema.events_errors_summary_global_by_error
WHERE ERROR_NUMBER IN (1021, 1114, 1030, 1040, 1205, 1290, 1836) AND SUM_ERROR_RAISED > 0
  AND LAST_SEEN > NOW() - INTERVAL 10 MINUTE ORDER BY LAST_SEEN DESC`;

/** What each of them means; 1205 and 1040 may be over. */
const MEANINGS: Readonly<Record<number, readonly [cause: string, severity: Finding["severity"]]>> =
  {
    1021: ["the disk is full", "error"],
    1114: [
      "a table is full: no space on the disk, or tmp_table_size or the tablespace is used up",
      "error",
    ],
    1030: ["the storage engine gives errors", "error"],
    1040: ["connections were refused: too many", "warning"],
    1205: ["statements gave up waiting for a lock", "warning"],
    1290: ["writes are refused: a server option such as read_only forbids them", "error"],
    1836: ["writes are refused: it is in read only mode", "error"],
  };

/** Of how many connections the last ones are worth a word. */
const FEW_FREE = 0.1;
/** How long ago a deadlock may be to be told, and to be a warning. */
const DEADLOCK_S = 3_600;
const DEADLOCK_NOW_S = 600;

export function createDiagnose(readers: DatabaseParts, admins: DatabaseParts) {
  return defineDiagnose(
    MYSQL,
    { readers, admins },
    {
      summary: "finds what is wrong in MySQL or MariaDB: locks, sessions, connections, replication",
      description:
        "Finds what is wrong with a MySQL or MariaDB server now: who blocks whom (rows and table definitions), idle and long transactions, used up connections, stopped or late replication, read-only servers, deadlocks, full disks where the server tells. Use it first when a database is slow or refuses work.",
      look,
    },
  );
}

async function look(session: Session, name: string) {
  const status = await settings(session, STATUS);
  const variables = await settings(session, VARIABLES);
  const sessions = await seeSessions(session);
  const replication = await seeReplication(session);
  const server = { kind: session.server.kind, namespace: "", name };
  const gaps: Gap[] = [...sessions.gaps, ...replication.gaps];
  const isReplica = replication.channels > 0 || replication.gaps.length > 0;
  const findings = [
    ...blocking(sessions),
    ...unexplained(sessions),
    ...usedUp(status, variables, sessions, server),
    ...replication.findings,
    ...(isReplica ? [] : readOnly(variables, server)),
    ...(await errors(session, server, gaps)),
    ...idle(sessions),
    ...longRunning(sessions),
    ...(await deadlock(session, server, gaps)),
  ];
  return {
    text: overview(session, status, variables, sessions, replication.words),
    findings,
    gaps,
  };
}

type Settings = ReadonlyMap<string, string>;

async function settings({ rows }: Session, sql: string): Promise<Settings> {
  const found = await rows(sql);
  return new Map(found.map((row) => [text(row["Variable_name"]), text(row["Value"])]));
}

function usedUp(
  status: Settings,
  variables: Settings,
  { rows }: Sessions,
  object: Finding["object"],
): Finding[] {
  const most = number(variables.get("max_connections"));
  const used = number(status.get("Threads_connected"));
  if (most === 0 || most - used > Math.max(2, most * FEW_FREE)) return [];
  // One more is kept for who may do everything.
  const isFull = used >= most;
  return [
    {
      object,
      cause: `connections are ${isFull ? "" : "nearly "}used up: ${used} of ${most}`,
      severity: isFull ? "error" : "warning",
      evidence: countBy(
        rows,
        (row) => `${text(row["command"]).toLowerCase()} of ${text(row["user"])}`,
      ),
      fix: "Find who opens so many sessions, use a pool, or raise max_connections.",
      since: null,
    },
  ];
}

/** A server that replicates from none and takes no writes: somebody left it so, or a failover did not end. */
function readOnly(variables: Settings, object: Finding["object"]): Finding[] {
  const on = ["super_read_only", "read_only", "innodb_read_only"].find((name) =>
    /^(?:on|1)$/i.test(variables.get(name) ?? ""),
  );
  if (on === undefined) return [];
  const evidence = "It replicates from no other server.";
  const fix = `SET GLOBAL ${on} = OFF, if it is the primary.`;
  return [
    {
      object,
      cause: `it takes no writes: ${on} is on`,
      severity: "warning",
      evidence,
      fix,
      since: null,
    },
  ];
}

async function errors(
  { server, rows }: Session,
  object: Finding["object"],
  gaps: Gap[],
): Promise<Finding[]> {
  if (server.kind !== "MySQL") return [];
  try {
    const found = await rows(ERRORS);
    return found.flatMap((row) => {
      const [cause, severity] = MEANINGS[number(row["number"])] ?? [];
      if (cause === undefined || severity === undefined) return [];
      const evidence = `${text(row["name"])} (${text(row["number"])}), ${text(row["times"])} times since it started, last ${ago(row["ago_s"])}.`;
      return [{ object, cause, severity, evidence, since: null }];
    });
  } catch (error) {
    const help = "GRANT SELECT ON performance_schema.* to the bot's user.";
    gaps.push({ what: "errors that it gave lately", why: messageOf(error), help });
    return [];
  }
}

async function deadlock(
  { rows }: Session,
  object: Finding["object"],
  gaps: Gap[],
): Promise<Finding[]> {
  let found: Row[];
  try {
    found = await rows("SHOW ENGINE INNODB STATUS");
  } catch (error) {
    const help = "GRANT PROCESS to the bot's user.";
    gaps.push({ what: "the last deadlock", why: messageOf(error), help });
    return [];
  }
  const status = lines(found[0]?.["Status"]);
  const [, at, words = ""] =
    /LATEST DETECTED DEADLOCK\n-+\n(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)([^]*?)(?:\n-{4,}\n[A-Z]|$)/.exec(
      status,
    ) ?? [];
  if (at === undefined) return [];
  const [when] = await rows(
    `SELECT TIMESTAMPDIFF(SECOND, '${at}', NOW()) AS ago_s, UNIX_TIMESTAMP('${at}') AS at`,
  );
  if (number(when?.["ago_s"]) > DEADLOCK_S) return [];
  return [
    {
      object,
      cause: `a deadlock: transaction ${/WE ROLL BACK TRANSACTION \((\d+)\)/.exec(words)?.[1] ?? "?"} of these was rolled back`,
      severity: number(when?.["ago_s"]) > DEADLOCK_NOW_S ? "info" : "warning",
      evidence: `${ago(when?.["ago_s"])}: ${statementsIn(words).join("; ")}`,
      fix: "Let transactions take their rows in the same order, keep them short, and try again when one is rolled back.",
      since: tryIso(number(when?.["at"]) * 1_000) ?? null,
    },
  ];
}

function lines(value: unknown): string {
  return typeof value === "string" ? value : "";
}

/** Each transaction's statement stands between the line of its thread and its locks. */
function statementsIn(words: string): string[] {
  const found = words.matchAll(
    /\*\*\* \((\d+)\) TRANSACTION:[^]*?\n(?:MySQL|MariaDB) thread id (\d+)[^\n]*\n([^]*?)\n\*\*\* /g,
  );
  return [...found]
    .slice(0, 4)
    .map(([, at, thread, query = ""]) => `(${at}) session ${thread}: ${oneStatement(query)}`);
}

function ago(seconds: unknown): string {
  return `${formatElapsed(number(seconds) * 1_000)} ago`;
}

function overview(
  { server }: Session,
  status: Settings,
  variables: Settings,
  sessions: Sessions,
  replication: string,
): string {
  const up = formatElapsed(number(status.get("Uptime")) * 1_000);
  const most = text(variables.get("max_connections"));
  const used = `${text(status.get("Threads_connected"))} of ${most} connections (at most ${text(status.get("Max_used_connections"))} so far), ${text(status.get("Threads_running"))} running`;
  const first = `${server.kind} ${server.version}, up ${up}, ${replication}, ${used}`;
  return [first, ...sessionRows(sessions)].join("\n");
}
