import * as z from "zod";
import type { Finding } from "../../core/finding.ts";
import { formatElapsed } from "../../core/instant.ts";
import { formatBytes } from "../../core/text.ts";
import { number, type Row, text } from "../database-rows.ts";
import { databaseFor, type DatabaseParts } from "../databases.ts";
import { instanceArgument } from "../instances.ts";
import { defineTool } from "../tool.ts";
import { inSession } from "./client.ts";

const TABLES = `
SELECT schemaname AS schema, relname AS name, pg_total_relation_size(relid)::float8 AS bytes, n_live_tup::float8 AS live,
  n_dead_tup::float8 AS dead, seq_scan::float8 AS scans, seq_tup_read::float8 AS scanned, idx_scan::float8 AS lookups,
  extract(epoch FROM now() - greatest(last_vacuum, last_autovacuum))::float8 AS vacuumed_s,
  extract(epoch FROM now() - greatest(last_analyze, last_autoanalyze))::float8 AS analyzed_s
FROM pg_stat_user_tables ORDER BY pg_total_relation_size(relid) DESC LIMIT 500`;

const INDEXES = `
SELECT schemaname AS schema, relname AS table, indexrelname AS name, pg_relation_size(indexrelid)::float8 AS bytes
FROM pg_stat_user_indexes JOIN pg_index USING (indexrelid)
WHERE idx_scan = 0 AND NOT indisunique AND pg_relation_size(indexrelid) > 10485760 ORDER BY 4 DESC LIMIT 5`;

const SIZES =
  "SELECT current_database() AS name, pg_database_size(current_database())::float8 AS bytes";

const MAX_ROWS = 15;
/** Rows that vacuum has yet to take away: a fifth is where autovacuum begins; twice that says that it does not get there. */
const DEAD_SHARE = 0.4;
const DEAD_LEAST = 10_000;
/** Whole tables of that many rows read that often. */
const LARGE_ROWS = 50_000;
const MANY_SCANS = 100;

export function createTables(parts: DatabaseParts) {
  return defineTool({
    name: "postgres_tables",
    summary: "shows PostgreSQL's largest tables, dead rows and missing or unused indexes",
    description:
      "Shows a PostgreSQL database's largest tables with dead rows and their last vacuum, tables that are read whole again and again, and large indexes that nothing uses. Use it when a database grows or gets slower.",
    input: z.strictObject({ ...instanceArgument(parts.endpoints) }),
    effect: "read",
    doing: () => "Looking at the tables in PostgreSQL",
    endpoints: parts.endpoints,
    timeoutMs: 30_000,
    async run(input, ctx) {
      return inSession(ctx, databaseFor(parts, input), async ({ rows }) => {
        const [[size], tables, indexes] = [
          await rows(SIZES),
          await rows(TABLES),
          await rows(INDEXES),
        ];
        const findings = [...tables.flatMap(tableFindings), ...indexes.map(indexFinding)];
        const first = `${text(size?.["name"])}: ${formatBytes(number(size?.["bytes"]))}`;
        return { text: [first, ...tables.slice(0, MAX_ROWS).map(line)].join("\n"), findings };
      });
    },
  });
}

function objectOf(kind: string, { schema, name }: Row): Finding["object"] {
  return { kind, namespace: text(schema), name: text(name) };
}

function tableFindings(row: Row): Finding[] {
  const [dead, live, scans] = [number(row["dead"]), number(row["live"]), number(row["scans"])];
  const found: Finding[] = [];
  const object = objectOf("Table", row);
  if (dead > DEAD_LEAST && dead > DEAD_SHARE * live) {
    found.push({
      object,
      cause: `${dead} dead rows beside ${live} live ones`,
      severity: "warning",
      evidence: `last vacuum: ${ago(row["vacuumed_s"])}`,
      fix: "VACUUM the table; look for old transactions that keep it from working.",
      since: null,
    });
  }
  if (live > LARGE_ROWS && scans > MANY_SCANS && scans > number(row["lookups"])) {
    found.push({
      object,
      cause: `it is read whole ${scans} times`,
      severity: "info",
      evidence: `${number(row["scanned"])} rows read so, ${number(row["lookups"])} look-ups by an index`,
      fix: "Look for the statement with postgres_statements, and for a missing index with postgres_query explain.",
      since: null,
    });
  }
  return found;
}

function indexFinding(row: Row): Finding {
  const bytes = formatBytes(number(row["bytes"]));
  return {
    object: objectOf("Index", row),
    cause: "nothing has used it since statistics began",
    severity: "info",
    evidence: `${bytes}, on ${text(row["table"])}`,
    since: null,
  };
}

function ago(seconds: unknown): string {
  return seconds === null || seconds === undefined
    ? "never"
    : `${formatElapsed(number(seconds) * 1_000)} ago`;
}

function line(row: Row): string {
  const rows = `${number(row["live"])} rows, ${number(row["dead"])} dead`;
  return `${text(row["schema"])}.${text(row["name"])} ${formatBytes(number(row["bytes"]))}, ${rows}, vacuum ${ago(row["vacuumed_s"])}, analyze ${ago(row["analyzed_s"])}`;
}
