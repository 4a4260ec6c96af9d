import * as z from "zod";
import { percent } from "../../core/text.ts";
import { messageOf } from "../../core/errors.ts";
import { formatElapsed } from "../../core/instant.ts";
import { number, oneStatement, type Row, text } from "../database-rows.ts";
import { costField, databaseFor, type DatabaseParts } from "../databases.ts";
import { instanceArgument } from "../instances.ts";
import { defineTool } from "../tool.ts";
import { inSession, type Session } from "./client.ts";

const RECORDING = `
SELECT @@performance_schema AS recorded,
  (SELECT ENABLED FROM performance_schema.setup_consumers WHERE NAME = 'statements_digest') AS digests`;

const ORDER = { total: "SUM_TIMER_WAIT", mean: "AVG_TIMER_WAIT", calls: "COUNT_STAR" } as const;

/** Times are in picoseconds. */
const statements = (order: keyof typeof ORDER) => `
SELECT COALESCE(SCHEMA_NAME, '') AS db, LEFT(DIGEST_TEXT, 2000) AS query, COUNT_STAR AS calls, SUM_TIMER_WAIT / 1e9 AS total_ms,
  AVG_TIMER_WAIT / 1e9 AS mean_ms, MAX_TIMER_WAIT / 1e9 AS max_ms, SUM_ROWS_EXAMINED AS examined, SUM_ROWS_SENT AS sent,
  SUM_NO_INDEX_USED AS scans, SUM_ERRORS AS errors, SUM_CREATED_TMP_DISK_TABLES AS disk_tables,
  SUM_TIMER_WAIT / NULLIF((SELECT SUM(SUM_TIMER_WAIT) FROM performance_schema.events_statements_summary_by_digest), 0) AS share
FROM performance_schema.events_statements_summary_by_digest WHERE DIGEST_TEXT IS NOT NULL
ORDER BY ${ORDER[order]} DESC LIMIT 10`;

export function createStatements(parts: DatabaseParts) {
  return defineTool({
    name: "mysql_statements",
    summary: "shows which statements cost MySQL or MariaDB most",
    description:
      "Shows the ten statements that cost a MySQL or MariaDB server most since its statistics began: time, calls, rows read for each row sent, tables on disk. Use it when a database is slow over a longer time.",
    input: z.strictObject({
      by: costField,
      ...instanceArgument(parts.endpoints),
    }),
    effect: "read",
    doing: () => "Looking at the statements that cost MySQL most",
    endpoints: parts.endpoints,
    timeoutMs: 30_000,
    async run(input, ctx) {
      return inSession(ctx, databaseFor(parts, input), async (session) => {
        const gap = await whyUnseen(session);
        if (gap !== undefined)
          return { text: "", gaps: [{ what: "what statements cost", ...gap }] };
        const found = await session.rows(statements(input.by));
        if (found.length === 0) return { text: "No statement has been counted yet." };
        return { text: found.map((row, at) => `${at + 1}. ${line(row)}`).join("\n") };
      });
    },
  });
}

async function whyUnseen({ rows }: Session): Promise<{ why: string; help: string } | undefined> {
  try {
    const [state] = await rows(RECORDING);
    if (!/^(?:1|on)$/i.test(text(state?.["recorded"])))
      return {
        why: "performance_schema is off",
        help: "Set performance_schema=ON and restart the server.",
      };
    if (text(state?.["digests"]) !== "YES")
      return {
        why: "the consumer statements_digest is off",
        help: "UPDATE performance_schema.setup_consumers SET ENABLED = 'YES' WHERE NAME = 'statements_digest'.",
      };
    return undefined;
  } catch (error) {
    const help = "GRANT SELECT ON performance_schema.* to the bot's user.";
    return { why: messageOf(error), help };
  }
}

function line(row: Row): string {
  const of = (name: string) => number(row[name]);
  const time = `${percent(of("share"))} of all time, ${formatElapsed(of("total_ms"))} in ${text(row["calls"])} calls`;
  const one = `${formatElapsed(of("mean_ms"))} each, at most ${formatElapsed(of("max_ms"))}`;
  const more = [
    `${text(row["examined"])} rows read, ${text(row["sent"])} sent`,
    ...(of("scans") > 0 ? [`${text(row["scans"])} calls without an index`] : []),
    ...(of("disk_tables") > 0 ? [`${text(row["disk_tables"])} tables on disk`] : []),
    ...(of("errors") > 0 ? [`${text(row["errors"])} errors`] : []),
  ];
  const db = text(row["db"]) === "" ? "" : `${text(row["db"])}: `;
  return `${time} (${one}; ${more.join(", ")})\n   ${db}${oneStatement(row["query"], 200)}`;
}
