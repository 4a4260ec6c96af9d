import { once } from "node:events";
import type { Duplex } from "node:stream";
import type { Client, ClientConfig } from "pg";
import { BotError, type ErrorCode } from "../../core/errors.ts";
import { secure } from "../../net/tls.ts";
import { type Row, withoutSecrets } from "../database-rows.ts";
import { type Database, guarded } from "../databases.ts";
import { ended, type SqlSystem } from "../sql-tools.ts";
import type { ToolContext } from "../tool.ts";

export interface Session {
  /** Rows of one statement; statements after it are refused by the protocol. */
  rows(sql: string, values?: readonly unknown[]): Promise<Row[]>;
  /** The same as the server writes it: columns in their order, though several have one name. */
  table(sql: string): Promise<{ columns: string[]; rows: (string | null)[][] }>;
}

/** How our sessions are told from those of others. */
export const APPLICATION = "watchkeeper";
const CONNECT_MS = 8_000;
/** What a client sends to begin TLS (the protocol's `SSLRequest`). */
const SSL_REQUEST = Buffer.from([0, 0, 0, 8, 4, 210, 22, 47]);

/**
 * What every session of ours is held to by the server: no statement writes, none runs or waits for a lock for long. `end_session`
 * needs no more, since a signal to another session is no write.
 */
const LIMITS =
  "-c default_transaction_read_only=on -c statement_timeout=10000 -c lock_timeout=2000 -c idle_in_transaction_session_timeout=15000";

/**
 * Works in a session of its own, in a read-only transaction that is rolled back.
 * @throws BotError CONNECTION_FAILED with the server's own words and code, TIMEOUT, ABORTED
 */
export async function inSession<T>(
  ctx: ToolContext,
  target: Database,
  work: (session: Session) => Promise<T>,
): Promise<T> {
  const { Client: PgClient } = (await import("pg")).default;
  const { socket } = await ctx.connect(target.endpoint);
  try {
    const channel = target.tls === "off" ? socket : await encrypted(socket, target, ctx.signal);
    const client: Client = new PgClient(configOf(target, guarded(channel, "PostgreSQL")));
    // A server that goes away while nothing is asked would end the process.
    client.on("error", () => {});
    await ended(client.connect(), told);
    const rows: Session["rows"] = async (text, values = []) => {
      const asked = { text, values: [...values], queryMode: "extended" as const };
      const { rows: found } = await ended(client.query<Record<string, unknown>>(asked), told);
      return withoutSecrets(found, ctx.encoder);
    };
    const table: Session["table"] = async (text) => {
      const types = { getTypeParser: () => String };
      const asked = { text, rowMode: "array" as const, types, queryMode: "extended" as const };
      const found = await ended(client.query<(string | null)[]>(asked), told);
      return { columns: found.fields.map(({ name }) => name), rows: found.rows };
    };
    await rows("BEGIN TRANSACTION READ ONLY");
    return await work({ rows, table });
  } finally {
    socket.destroy();
  }
}

/** @throws BotError CONNECTION_FAILED, before anything that matters was sent */
async function encrypted(
  socket: Duplex,
  { host, tls }: Database,
  signal: AbortSignal,
): Promise<Duplex> {
  socket.write(SSL_REQUEST);
  await Promise.race([once(socket, "readable", { signal }), once(socket, "close", { signal })]);
  const answer: unknown = socket.read(1);
  if (!Buffer.isBuffer(answer) || answer.toString() !== "S")
    throw new BotError(
      "CONNECTION_FAILED",
      "The server does not speak TLS, and sslmode asks for it.",
    );
  const { socket: channel, distrust } = await secure(socket, host, { signal });
  if (tls === "unverified" || distrust === undefined) return channel;
  const text = `This machine does not trust its certificate (${distrust}); for an authority of your own set NODE_EXTRA_CA_CERTS.`;
  throw new BotError("CONNECTION_FAILED", text);
}

function configOf({ user, password, database }: Database, socket: Duplex): ClientConfig {
  // The connection is made, by our rules; the client only waits to be told so.
  const made = Object.assign(socket, {
    connect: () => queueMicrotask(() => socket.emit("connect")),
    setNoDelay: () => socket,
    setKeepAlive: () => socket,
  });
  return {
    user,
    // Without one the client would send what PGPASSWORD or ~/.pgpass holds for somewhere else.
    password: () => password ?? "",
    database,
    options: LIMITS,
    application_name: APPLICATION,
    connectionTimeoutMillis: CONNECT_MS,
    stream: () => made,
    ssl: false,
  };
}

/** What the server says, with its code. */
function told(code: string | undefined): { code: ErrorCode; said?: string } {
  if (code === undefined || !/^(?=.*\d)[0-9A-Z]{5}$/.test(code))
    return { code: "CONNECTION_FAILED" };
  return { code: errorCode(code), said: `SQLSTATE ${code}` };
}

/** PostgreSQL's classes of errors (its documentation, appendix A). */
function errorCode(state: string): ErrorCode {
  if (state === "57014") return "TIMEOUT";
  if (state === "42501" || state.startsWith("28")) return "NOT_AVAILABLE";
  return /^(?:08|53|57)/.test(state) ? "CONNECTION_FAILED" : "INPUT_INVALID";
}

export const POSTGRES: SqlSystem<Session> = {
  name: "postgres",
  product: "a PostgreSQL",
  kind: "PostgreSQL",
  inSession,
  refusals: {
    "53300": "Close idle sessions, or raise max_connections.",
    "57P03": "It starts up or recovers: wait, and read its log.",
    ECONNREFUSED: "Nothing listens there: is the server running?",
  },
  full: {
    code: "53300",
    help: "Set POSTGRES_ADMIN_URL (or admin, in the yaml) to a superuser, or set reserved_connections and GRANT pg_use_reserved_connections to the bot's role (PostgreSQL 16 and newer).",
  },
};
