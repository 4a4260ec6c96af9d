import * as z from "zod";
import { BotError } from "../../core/errors.ts";
import { instanceArgument } from "../instances.ts";
import { defineTool } from "../tool.ts";
import { inSession, type Row, type Session } from "./client.ts";
import { databaseFor, type PostgresParts, text } from "./parts.ts";

/** Rights with which a statement could do more than read, whatever its transaction: run programs, write files, end sessions. */
const POWERS = `
SELECT rolsuper OR pg_has_role(current_user, 'pg_execute_server_program', 'member')
  OR pg_has_role(current_user, 'pg_write_server_files', 'member')
  OR pg_has_role(current_user, 'pg_signal_backend', 'member') AS powerful FROM pg_roles WHERE rolname = current_user`;

const MAX_ROWS = 50;
const MAX_CELL = 120;

export function createQuery(parts: PostgresParts) {
  return defineTool({
    name: "postgres_query",
    summary: "reads from PostgreSQL with SQL; the server refuses writes",
    description:
      "Reads from a PostgreSQL database with one SELECT, in a transaction that the server keeps read-only, at most 10 s; shows up to 50 rows. `explain`: the plan of the statement instead, without running it.",
    input: z.strictObject({
      sql: z
        .string()
        .min(1)
        .max(20_000)
        .describe("One statement, such as `SELECT state, count(*) FROM orders GROUP BY 1`"),
      explain: z.boolean().default(false).describe("Show its plan; it is not run"),
      ...instanceArgument(parts.endpoints),
    }),
    effect: "read",
    endpoints: parts.endpoints,
    timeoutMs: 30_000,
    async run({ sql, explain, ...input }, ctx) {
      return inSession(ctx, databaseFor(parts, input), async (session) => {
        await refusePower(session);
        if (explain) {
          const plan = await session.rows(`EXPLAIN (VERBOSE, COSTS) ${sql}`);
          return { text: plan.map((row) => text(Object.values(row)[0])).join("\n") };
        }
        // A cursor takes nothing but a query, and what is not fetched does not come.
        await session.rows(`DECLARE answer NO SCROLL CURSOR FOR ${sql}`);
        return { text: table(await session.rows(`FETCH ${MAX_ROWS + 1} FROM answer`)) };
      });
    },
  });
}

/** @throws BotError NOT_AVAILABLE */
async function refusePower({ rows }: Session): Promise<void> {
  const [role] = await rows(POWERS);
  if (role?.["powerful"] !== true) return;
  throw new BotError(
    "NOT_AVAILABLE",
    "The bot's role may run programs, write files or end sessions, which no read-only transaction stops. Give it a role that can only read: CREATE ROLE watchkeeper LOGIN; GRANT pg_monitor TO watchkeeper; and SELECT on what it may see. A role that ends sessions is set apart, in POSTGRES_ADMIN_URL.",
  );
}

function table(rows: readonly Row[]): string {
  const [first] = rows;
  if (first === undefined) return "No rows.";
  const lines = rows.slice(0, MAX_ROWS).map((row) => Object.values(row).map(cell).join(" | "));
  const rest = rows.length > lines.length ? [`… more rows: only ${MAX_ROWS} are shown`] : [];
  return [Object.keys(first).join(" | "), ...lines, ...rest].join("\n");
}

function cell(value: unknown): string {
  const shown = value instanceof Date ? value.toISOString() : value === null ? "NULL" : text(value);
  return shown.length > MAX_CELL ? `${shown.slice(0, MAX_CELL)}…` : shown;
}
