import { BotError } from "../../core/errors.ts";
import { ANSWER_ROWS, tableText, text } from "../database-rows.ts";
import type { DatabaseParts } from "../databases.ts";
import { defineQuery, serverCode } from "../sql-tools.ts";
import { MYSQL, type Session } from "./client.ts";

/**
 * Rights with which a statement can only read. With any other it could do more whatever its transaction: write files, change
 * settings, run routines that somebody defined with rights of their own.
 */
const READING = new Set([
  "USAGE",
  "SELECT",
  "PROCESS",
  "SHOW DATABASES",
  "SHOW VIEW",
  "REPLICATION CLIENT",
  "BINLOG MONITOR",
  "SLAVE MONITOR",
  "REPLICA MONITOR",
]);

/** Where hashes of passwords are. */
const SECRETS = ["mysql.user", "mysql.global_priv"];

/** Where the right to show a view is missing, the server has read the statement and knows it as one that may be explained. */
const ER_VIEW_NO_EXPLAIN = "1345";

export function createQuery(parts: DatabaseParts) {
  return defineQuery(MYSQL, parts, {
    title: "MySQL or MariaDB",
    example: "SELECT state, count(*) FROM shop.orders GROUP BY 1",
    async answer(session, { sql, explain }, { encoder }) {
      refuseLocks(sql);
      await refusePower(session, sql);
      // Only what reads or changes rows has a plan, and changes are refused by the transaction: KILL, SET, CALL and others end here.
      const plan = await planOf(session, sql, explain);
      if (plan !== undefined && explain) return tableText(plan.columns, plan.rows, encoder);
      await session.rows(`SET SESSION sql_select_limit = ${ANSWER_ROWS}`);
      const { columns, rows } = await session.table(sql);
      return tableText(columns, rows, encoder);
    },
  });
}

/**
 * A read-only transaction takes rows for itself in this one way: who writes to them waits. Told by words that stand anywhere, since
 * comments may part them, or hold them.
 * @throws BotError INPUT_INVALID
 */
function refuseLocks(sql: string): void {
  const has = (word: string) => new RegExp(`(?<![a-z_$])${word}(?![\\w$])`, "i").test(sql);
  if (!has("share") || !(has("for") || has("lock"))) return;
  const why =
    "A statement with FOR SHARE or LOCK IN SHARE MODE keeps others from writing; read without it.";
  throw new BotError("INPUT_INVALID", why);
}

/** Undefined where the server has one and may not show it. @throws BotError for a statement that has none */
async function planOf(
  { table }: Session,
  sql: string,
  isWanted: boolean,
): Promise<Awaited<ReturnType<Session["table"]>> | undefined> {
  try {
    return await table(`EXPLAIN ${sql}`);
  } catch (error) {
    if (!isWanted && serverCode(error) === ER_VIEW_NO_EXPLAIN) return undefined;
    throw error;
  }
}

const OWN_USER =
  "Give the bot a user of its own that can only read: GRANT PROCESS ON *.*, SELECT ON performance_schema.*, on mysql.func and on the databases that it may see. A user that ends sessions is set apart, in MYSQL_ADMIN_URL.";

/** @throws BotError NOT_AVAILABLE */
async function refusePower({ rows, table }: Session, sql: string): Promise<void> {
  const grants = await table("SHOW GRANTS");
  const powers = grants.rows.flatMap(([grant]) => powersIn(grant ?? ""));
  if (powers.length > 0) {
    const which = [...new Set(powers)].slice(0, 3).join(", ");
    const why = `The bot's user may do more than read (${which}), which no read-only transaction stops. ${OWN_USER}`;
    throw new BotError("NOT_AVAILABLE", why);
  }
  for (const secret of SECRETS) {
    if (await isReadable(rows, secret)) {
      const why = `The bot's user may read hashes of passwords (${secret}): grant SELECT on single databases, not on *.*. ${OWN_USER}`;
      throw new BotError("NOT_AVAILABLE", why);
    }
  }
  // A function of a library does what it likes, and everybody may call it.
  const loaded = await rows("SELECT name FROM mysql.func").catch((error: unknown) => {
    throw new BotError(
      "NOT_AVAILABLE",
      "The bot cannot see which functions of libraries the server has, which everybody may call: GRANT SELECT ON mysql.func to its user.",
      { cause: error },
    );
  });
  const named = loaded
    .map((row) => text(row["name"]))
    .find((name) => sql.toLowerCase().includes(name.toLowerCase()));
  if (named !== undefined) {
    const why = `${named} is a function of a library: nobody knows what it does, so it is not called from here.`;
    throw new BotError("NOT_AVAILABLE", why);
  }
}

/** What a line of `SHOW GRANTS` allows beyond reading. Roles are off, so a line that gives one allows nothing. */
function powersIn(grant: string): string[] {
  const [, rights] = /^GRANT (.+?) ON /.exec(grant) ?? [];
  if (rights === undefined) return [];
  const each = rights.replaceAll(/\s*\([^)]*\)/g, "").split(", ");
  return each.filter((right) => !READING.has(right.toUpperCase()));
}

async function isReadable(rows: Session["rows"], name: string): Promise<boolean> {
  try {
    await rows(`SELECT 1 FROM ${name} LIMIT 0`);
    return true;
  } catch (error) {
    // ER_TABLEACCESS_DENIED_ERROR, ER_DBACCESS_DENIED_ERROR, ER_NO_SUCH_TABLE
    if (["1142", "1044", "1146"].includes(serverCode(error) ?? "")) return false;
    throw error;
  }
}
