import { BotError } from "../../core/errors.ts";
import { ANSWER_ROWS, tableText, text } from "../database-rows.ts";
import type { DatabaseParts } from "../databases.ts";
import { defineQuery } from "../sql-tools.ts";
import { APPLICATION, POSTGRES, type Session } from "./client.ts";

/**
 * Rights with which a statement could do more than read, whatever its transaction: run programs, use the server's files or other
 * servers, end sessions (a role ends those of its own without any right). A statement can take on every role that the session's is
 * a member of.
 */
const POWERS = `
SELECT EXISTS (SELECT FROM pg_roles WHERE pg_has_role(session_user, oid, 'member') AND (rolsuper OR rolreplication OR rolname IN
    ('pg_execute_server_program', 'pg_write_server_files', 'pg_read_server_files', 'pg_signal_backend')))
  OR EXISTS (SELECT FROM pg_proc WHERE has_function_privilege(session_user, oid, 'execute') AND proname IN
    ('pg_read_file', 'pg_read_binary_file', 'pg_file_write', 'lo_import', 'lo_export', 'dblink', 'dblink_connect', 'dblink_exec'))
    AS powerful,
  EXISTS (SELECT FROM pg_stat_activity WHERE application_name <> '${APPLICATION}' AND pg_has_role(session_user, usesysid, 'member'))
    AS shared`;

export function createQuery(parts: DatabaseParts) {
  return defineQuery(POSTGRES, parts, {
    title: "PostgreSQL",
    example: "SELECT state, count(*) FROM orders GROUP BY 1",
    async answer(session, { sql, explain }, { encoder }) {
      await refusePower(session);
      if (explain) {
        const plan = await session.rows(`EXPLAIN (VERBOSE, COSTS) ${sql}`);
        return plan.map((row) => text(Object.values(row)[0])).join("\n");
      }
      // A cursor takes nothing but a query, and what is not fetched does not come.
      await session.rows(`DECLARE answer NO SCROLL CURSOR FOR ${sql}`);
      const { columns, rows } = await session.table(`FETCH ${ANSWER_ROWS} FROM answer`);
      return tableText(columns, rows, encoder);
    },
  });
}

const OWN_ROLE =
  "Give the bot a role of its own that can only read: CREATE ROLE watchkeeper LOGIN; GRANT pg_monitor TO watchkeeper; and SELECT on what it may see. A role that ends sessions is set apart, in POSTGRES_ADMIN_URL.";

/** @throws BotError NOT_AVAILABLE */
async function refusePower({ rows }: Session): Promise<void> {
  const [role] = await rows(POWERS);
  if (role?.["powerful"] !== false) {
    const what =
      "run programs, use the server's files, reach other servers (dblink) or end sessions, which no read-only transaction stops";
    throw new BotError("NOT_AVAILABLE", `The bot's role may ${what}. ${OWN_ROLE}`);
  }
  if (role["shared"] !== false) {
    const what =
      "Others are logged in with the bot's role, or with one that it is a member of, so that a statement could end their sessions";
    throw new BotError("NOT_AVAILABLE", `${what}. ${OWN_ROLE}`);
  }
}
