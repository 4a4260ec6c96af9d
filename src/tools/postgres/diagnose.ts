import type { Finding, Gap } from "../../core/finding.ts";
import { formatElapsed } from "../../core/instant.ts";
import { counted, formatBytes } from "../../core/text.ts";
import {
  blockedBy,
  countBy,
  number,
  oneStatement,
  rootsOf,
  type Row,
  text,
} from "../database-rows.ts";
import type { DatabaseParts } from "../databases.ts";
import { defineDiagnose } from "../sql-tools.ts";
import { POSTGRES, type Session } from "./client.ts";

/** Sessions with what they wait for. `blockers`: the sessions that hold what this one waits for. */
const SESSIONS = `
SELECT pid, usename AS user, datname AS database, application_name AS app, client_addr::text AS client, state,
  wait_event_type AS wait, query, pg_blocking_pids(pid) AS blockers,
  extract(epoch FROM now() - xact_start)::float8 AS transaction_s,
  extract(epoch FROM now() - query_start)::float8 AS query_s,
  extract(epoch FROM now() - state_change)::float8 AS state_s,
  to_char(xact_start AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') AS since
FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()
ORDER BY xact_start NULLS LAST LIMIT 500`;

const LIMITS = `
SELECT current_setting('max_connections')::int AS most, current_setting('superuser_reserved_connections')::int AS reserved,
  (SELECT count(*)::int FROM pg_stat_activity WHERE backend_type = 'client backend') AS used,
  version() AS version, pg_is_in_recovery() AS standby`;

const SLOTS = `
SELECT slot_name AS name, active, pg_wal_lsn_diff(
  CASE WHEN pg_is_in_recovery() THEN pg_last_wal_receive_lsn() ELSE pg_current_wal_lsn() END, restart_lsn)::float8 AS kept
FROM pg_replication_slots`;

const REPLICAS = `
SELECT application_name AS name, client_addr::text AS client, state,
  extract(epoch FROM replay_lag)::float8 AS lag_s FROM pg_stat_replication`;

const AGES = `
SELECT datname AS name, age(datfrozenxid)::float8 AS age, current_setting('autovacuum_freeze_max_age')::float8 AS most
FROM pg_database ORDER BY 2 DESC LIMIT 1`;

/** How long a transaction may be idle, or a statement run, before it is worth a line. In seconds. */
const LONG_IDLE_S = 60;
const LONG_QUERY_S = 60;
/** An active statement that is named, though many take as long. */
const BUSY_QUERY_S = 5;
/** Log that a slot keeps; without a reader it grows until the disk is full. */
const KEPT_WARNING = 64 * 1024 * 1024;
const LAG_WARNING_S = 30;
/** Of `autovacuum_freeze_max_age`; at twice that, far from the end at 2 billion, something keeps vacuum from its work. */
const AGE_WARNING = 1.5;
const MAX_ROWS = 10;

export function createDiagnose(readers: DatabaseParts, admins: DatabaseParts) {
  return defineDiagnose(
    POSTGRES,
    { readers, admins },
    {
      summary: "finds what is wrong in PostgreSQL: locks, sessions, connections, replication",
      description:
        "Finds what is wrong with a PostgreSQL server now: who blocks whom, idle and long transactions, used up connections, replication slots and lag, transaction ids that run out. Use it first when a database is slow or refuses work.",
      look,
    },
  );
}

async function look(session: Session, name: string) {
  const gaps: Gap[] = [];
  const [limits] = await session.rows(LIMITS);
  const sessions = await session.rows(SESSIONS);
  const hidden = sessions.filter(({ query }) => text(query) === "<insufficient privilege>").length;
  if (hidden > 0) {
    const what = `what ${counted(hidden, "session")} of other roles do`;
    gaps.push({ what, why: "insufficient privilege", help: "GRANT pg_monitor TO the bot's role." });
  }
  // A failed statement would end the transaction, so each of these has to be allowed to everybody.
  const [slots, replicas, ages] = [
    await session.rows(SLOTS),
    await session.rows(REPLICAS),
    await session.rows(AGES),
  ];
  const server = { kind: "PostgreSQL", namespace: "", name };
  const findings = [
    ...blocking(sessions),
    ...usedUp(limits ?? {}, sessions, server),
    ...idle(sessions),
    ...slots.flatMap((row) => slotFinding(row)),
    ...replicas.flatMap((row) => lagFinding(row)),
    ...ages.flatMap((row) => ageFinding(row)),
    ...longRunning(sessions),
  ];
  return { text: overview(limits ?? {}, sessions), findings, gaps };
}

function sessionObject({ pid, database }: Row): Finding["object"] {
  return { kind: "Session", namespace: text(database), name: text(pid) };
}

function who({ user, app, client }: Row): string {
  const from = [text(app), text(client)].filter((part) => part !== "").join(", ");
  return from === "" ? text(user) : `${text(user)} (${from})`;
}

function pids(value: unknown): number[] {
  return Array.isArray(value) ? value.map(number) : [];
}

/** The sessions at the roots of who waits for whom: ending one of them frees the others. */
function blocking(sessions: readonly Row[]): Finding[] {
  const byPid = new Map(sessions.map((row) => [number(row["pid"]), row]));
  const blockers = new Map(
    sessions.map((row) => [number(row["pid"]), pids(row["blockers"])] as const),
  );
  for (const [pid, of] of blockers) if (of.length === 0) blockers.delete(pid);
  return rootsOf(blockers).map(([pid, waiting]) => {
    const root = byPid.get(pid) ?? { pid };
    const held = waiting.map((each) => byPid.get(each)).filter((row) => row !== undefined);
    const longest = Math.max(...held.map(({ query_s: s }) => number(s)));
    const does =
      text(root["state"]) === "active"
        ? "active"
        : `${text(root["state"])} for ${formatElapsed(number(root["state_s"]) * 1_000)}`;
    return {
      object: sessionObject(root),
      cause: `it holds locks that ${counted(held.length, "session")} wait for`,
      severity: "error",
      evidence: `${who(root)} is ${does}; its last statement: ${oneStatement(root["query"])}. The longest wait: ${formatElapsed(longest * 1_000)}, for ${oneStatement(held[0]?.["query"])}`,
      fix: `postgres_end_session pid=${pid}`,
      since: sinceOf(root),
    };
  });
}

function sinceOf({ since }: Row): string | null {
  return typeof since === "string" ? since : null;
}

function usedUp(
  { most, used, reserved }: Row,
  sessions: readonly Row[],
  object: Finding["object"],
): Finding[] {
  const free = number(most) - number(reserved) - number(used);
  if (number(used) < 0.9 * (number(most) - number(reserved))) return [];
  const states = countBy(
    sessions,
    ({ state, user }) => `${text(state) || "unknown"} of ${text(user)}`,
  );
  return [
    {
      object,
      cause:
        free > 0
          ? `connections are nearly used up: ${text(used)} of ${text(most)}`
          : `connections are used up: ${text(used)} of ${text(most)}`,
      severity: free > 0 ? "warning" : "error",
      evidence: `${states}; ${text(reserved)} are reserved for superusers`,
      fix: "Find who opens so many sessions, use a pool, or raise max_connections.",
      since: null,
    },
  ];
}

/** A transaction that does nothing keeps its locks and what vacuum could take away. */
function idle(sessions: readonly Row[]): Finding[] {
  const holders = new Set(sessions.flatMap(({ blockers }) => pids(blockers)));
  const still = sessions.filter(
    ({ pid, state, state_s: s }) =>
      text(state).startsWith("idle in transaction") &&
      number(s) >= LONG_IDLE_S &&
      !holders.has(number(pid)),
  );
  return still.slice(0, MAX_ROWS).map((row) => ({
    object: sessionObject(row),
    cause: `idle in transaction for ${formatElapsed(number(row["state_s"]) * 1_000)}`,
    severity: "warning",
    evidence: `${who(row)}; its last statement: ${oneStatement(row["query"])}`,
    fix: "Set idle_in_transaction_session_timeout, or end the session.",
    since: sinceOf(row),
  }));
}

function longRunning(sessions: readonly Row[]): Finding[] {
  const long = sessions.filter(
    ({ state, query_s: s, blockers }) =>
      text(state) === "active" && number(s) >= BUSY_QUERY_S && pids(blockers).length === 0,
  );
  return long.slice(0, MAX_ROWS).map((row) => ({
    object: sessionObject(row),
    cause: `a statement runs for ${formatElapsed(number(row["query_s"]) * 1_000)}`,
    severity: number(row["query_s"]) >= LONG_QUERY_S ? ("warning" as const) : ("info" as const),
    evidence: `${who(row)}: ${oneStatement(row["query"])}`,
    since: sinceOf(row),
  }));
}

function slotFinding({ name, active, kept }: Row): Finding[] {
  const object = { kind: "ReplicationSlot", namespace: "", name: text(name) };
  if (active === true && number(kept) < KEPT_WARNING) return [];
  const size = formatBytes(number(kept));
  return [
    {
      object,
      cause:
        active === true
          ? `its reader is ${size} behind`
          : "it has no reader, and keeps write-ahead log for ever",
      severity: active === true || number(kept) < KEPT_WARNING ? "warning" : "error",
      evidence: `${size} of log are kept for it`,
      fix: "Start its reader again, or drop the slot: pg_drop_replication_slot.",
      since: null,
    },
  ];
}

function lagFinding({ name, client, state, lag_s: lag }: Row): Finding[] {
  if (text(state) === "streaming" && number(lag) < LAG_WARNING_S) return [];
  return [
    {
      object: { kind: "Replica", namespace: "", name: text(name) || text(client) },
      cause:
        text(state) === "streaming"
          ? `it is ${formatElapsed(number(lag) * 1_000)} behind`
          : `it is ${text(state)}`,
      severity: "warning",
      evidence: `from ${text(client) || "a local socket"}`,
      since: null,
    },
  ];
}

function ageFinding({ name, age, most }: Row): Finding[] {
  if (number(age) < AGE_WARNING * number(most)) return [];
  return [
    {
      object: { kind: "Database", namespace: "", name: text(name) },
      cause: "transaction ids run out: vacuum does not get to freeze its rows",
      severity: "warning",
      evidence: `the oldest is ${text(age)} transactions old, autovacuum acts at ${text(most)}`,
      fix: "Look for old transactions, prepared ones and slots, then VACUUM (FREEZE).",
      since: null,
    },
  ];
}

function overview({ version, standby, used, most }: Row, sessions: readonly Row[]): string {
  const role = standby === true ? "standby" : "primary";
  const states = countBy(sessions, ({ state }) => text(state) || "of unknown state");
  const first = `${text(version).split(" ").slice(0, 2).join(" ")}, ${role}, ${text(used)} of ${text(most)} connections${states === "" ? "" : `: ${states}`}`;
  const busy = sessions.filter(({ state }) => text(state) !== "idle" && text(state) !== "");
  const rows = busy.slice(0, MAX_ROWS).map((row) => {
    // Whom a lock is waited for says more, and an idle session waits for its client by being idle.
    const wait = ["", "Lock", "Client"].includes(text(row["wait"]))
      ? ""
      : `, waits for ${text(row["wait"])}`;
    const by = blockedBy(pids(row["blockers"]));
    return `${text(row["pid"])} ${who(row)} ${text(row["state"])} ${formatElapsed(Math.max(0, number(row["query_s"]) * 1_000))}${wait}${by}: ${oneStatement(row["query"], 80)}`;
  });
  const more = busy.length - rows.length;
  return [first, ...rows, ...(more > 0 ? [`… ${counted(more, "more session")}`] : [])].join("\n");
}
