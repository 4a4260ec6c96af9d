import * as z from "zod";
import { percent } from "../../core/text.ts";
import { formatElapsed } from "../../core/instant.ts";
import { number, oneStatement, type Row, text } from "../database-rows.ts";
import { costField, databaseFor, type DatabaseParts } from "../databases.ts";
import { instanceArgument } from "../instances.ts";
import { defineTool } from "../tool.ts";
import { inSession } from "./client.ts";

const EXTENSION =
  "SELECT extversion AS version FROM pg_extension WHERE extname = 'pg_stat_statements'";

const ORDER = { total: "total_exec_time", mean: "mean_exec_time", calls: "calls" } as const;

const statements = (order: keyof typeof ORDER) => `
SELECT queryid::text AS id, calls::float8, total_exec_time AS total_ms, mean_exec_time AS mean_ms, max_exec_time AS max_ms,
  rows::float8, shared_blks_read::float8 AS blocks_read, shared_blks_hit::float8 AS blocks_hit, query,
  total_exec_time / NULLIF(sum(total_exec_time) OVER (), 0) AS share
FROM pg_stat_statements WHERE dbid = (SELECT oid FROM pg_database WHERE datname = current_database())
ORDER BY ${ORDER[order]} DESC LIMIT 10`;

export function createStatements(parts: DatabaseParts) {
  return defineTool({
    name: "postgres_statements",
    summary: "shows which statements cost PostgreSQL most",
    description:
      "Shows the ten statements that cost a PostgreSQL database most since its statistics began: time, calls, rows, blocks. Use it when a database is slow over a longer time.",
    input: z.strictObject({
      by: costField,
      ...instanceArgument(parts.endpoints),
    }),
    effect: "read",
    doing: () => "Looking at the statements that cost PostgreSQL most",
    endpoints: parts.endpoints,
    timeoutMs: 30_000,
    async run(input, ctx) {
      return inSession(ctx, databaseFor(parts, input), async ({ rows }) => {
        const installed = await rows(EXTENSION);
        if (installed.length === 0) {
          const help =
            "Set shared_preload_libraries = 'pg_stat_statements', restart, and CREATE EXTENSION pg_stat_statements.";
          const gap = {
            what: "what statements cost",
            why: "pg_stat_statements is not installed",
            help,
          };
          return { text: "", gaps: [gap] };
        }
        const found = await rows(statements(input.by));
        if (found.length === 0) return { text: "No statement has been counted yet." };
        return { text: found.map((row, at) => `${at + 1}. ${line(row)}`).join("\n") };
      });
    },
  });
}

function line(row: Row): string {
  const read = number(row["blocks_read"]);
  const all = read + number(row["blocks_hit"]);
  const cached = all === 0 ? "" : `, ${percent(all - read, all)} cached`;
  const time = `${percent(number(row["share"]))} of all time, ${formatElapsed(number(row["total_ms"]))} in ${text(row["calls"])} calls`;
  const one = `${formatElapsed(number(row["mean_ms"]))} each, at most ${formatElapsed(number(row["max_ms"]))}, ${text(row["rows"])} rows${cached}`;
  return `${time} (${one})\n   ${oneStatement(row["query"], 200)}`;
}
