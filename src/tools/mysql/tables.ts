import * as z from "zod";
import type { Finding } from "../../core/finding.ts";
import { counted, formatBytes } from "../../core/text.ts";
import { number, type Row, text } from "../database-rows.ts";
import { databaseFor, type DatabaseParts } from "../databases.ts";
import { instanceArgument } from "../instances.ts";
import { defineTool } from "../tool.ts";
import { inSession } from "./client.ts";

const SYSTEM = "('mysql', 'information_schema', 'performance_schema', 'sys')";

/** Sizes are those of the server's statistics, which it renews from time to time. */
const TABLES = `
SELECT t.TABLE_SCHEMA AS db, t.TABLE_NAME AS name, t.ENGINE AS engine, t.TABLE_ROWS AS live, t.DATA_LENGTH AS data,
  t.INDEX_LENGTH AS indexes, t.DATA_FREE AS free, EXISTS (SELECT 1 FROM information_schema.STATISTICS i
    WHERE i.TABLE_SCHEMA = t.TABLE_SCHEMA AND i.TABLE_NAME = t.TABLE_NAME AND i.INDEX_NAME = 'PRIMARY') AS keyed
FROM information_schema.TABLES t WHERE t.TABLE_TYPE = 'BASE TABLE' AND t.TABLE_SCHEMA NOT IN ${SYSTEM}
ORDER BY COALESCE(t.DATA_LENGTH, 0) + COALESCE(t.INDEX_LENGTH, 0) DESC LIMIT 500`;

const MAX_ROWS = 15;
const MAX_FINDINGS = 10;
/** Space inside a table's file that nothing uses: worth a word from a third of it on. */
const FREE_SHARE = 0.33;
const FREE_LEAST = 100 * 1024 * 1024;

export function createTables(parts: DatabaseParts) {
  return defineTool({
    name: "mysql_tables",
    summary: "shows MySQL's or MariaDB's largest tables, and those without a primary key",
    description:
      "Shows a MySQL or MariaDB server's largest tables with rows, data, indexes and unused space, tables without a primary key, and tables that are not InnoDB. Use it when a database grows, or replication falls behind.",
    input: z.strictObject({ ...instanceArgument(parts.endpoints) }),
    effect: "read",
    doing: () => "Looking at the tables in MySQL",
    endpoints: parts.endpoints,
    timeoutMs: 30_000,
    async run(input, ctx) {
      return inSession(ctx, databaseFor(parts, input), async ({ rows }) => {
        const tables = await rows(TABLES);
        const all = tables.reduce((sum, row) => sum + bytesOf(row), 0);
        const first = `${counted(tables.length, "table")}, ${formatBytes(all)} together`;
        const findings = [...tables.flatMap(keyless), ...tables.flatMap(wasteful)];
        const more = tables.length - MAX_ROWS;
        const rest = more > 0 ? [`… ${counted(more, "smaller table")}`] : [];
        return {
          text: [first, ...tables.slice(0, MAX_ROWS).map(line), ...rest].join("\n"),
          findings: findings.slice(0, MAX_FINDINGS),
        };
      });
    },
  });
}

function bytesOf(row: Row): number {
  return number(row["data"]) + number(row["indexes"]);
}

function objectOf({ db, name }: Row): Finding["object"] {
  return { kind: "Table", namespace: text(db), name: text(name) };
}

function keyless(row: Row): Finding[] {
  if (number(row["keyed"]) === 1) return [];
  return [
    {
      object: objectOf(row),
      cause: "it has no primary key",
      severity: "warning",
      evidence: `${text(row["live"])} rows, ${formatBytes(bytesOf(row))}: a replica reads all of it for each row that changes.`,
      fix: "Give it one.",
      since: null,
    },
  ];
}

function wasteful(row: Row): Finding[] {
  const free = number(row["free"]);
  if (free < FREE_LEAST || free < FREE_SHARE * bytesOf(row)) return [];
  return [
    {
      object: objectOf(row),
      cause: `${formatBytes(free)} of its file are unused`,
      severity: "info",
      evidence: `${formatBytes(bytesOf(row))} are used`,
      fix: "OPTIMIZE TABLE rebuilds it; that takes time and as much free space.",
      since: null,
    },
  ];
}

function line(row: Row): string {
  const engine = text(row["engine"]) === "InnoDB" ? "" : `, ${text(row["engine"])}`;
  return `${text(row["db"])}.${text(row["name"])} ${formatBytes(bytesOf(row))}: about ${text(row["live"])} rows, ${formatBytes(number(row["indexes"]))} indexes${engine}`;
}
