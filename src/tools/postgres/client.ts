import type { Duplex } from "node:stream";
import type { Client, ClientConfig } from "pg";
import { BotError, type ErrorCode, messageOf } from "../../core/errors.ts";
import type { ToolContext } from "../tool.ts";

/** A database that tools ask. */
export interface Database {
  /** Its name among the tool's endpoints. */
  endpoint: string;
  user: string;
  password: string | undefined;
  database: string;
  tls: "off" | "unverified" | "verified";
}

export type Row = Readonly<Record<string, unknown>>;

export interface Session {
  /** Rows of one statement; statements after it are refused by the protocol. */
  rows(sql: string, values?: readonly unknown[]): Promise<Row[]>;
}

const CONNECT_MS = 8_000;

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
  const client: Client = new PgClient(configOf(target, socket));
  // A server that goes away while nothing is asked would end the process.
  client.on("error", () => {});
  try {
    await ended(client.connect());
    const rows: Session["rows"] = async (text, values = []) => {
      const asked = { text, values: [...values], queryMode: "extended" as const };
      const { rows: found } = await ended(client.query<Record<string, unknown>>(asked));
      return found;
    };
    await rows("BEGIN TRANSACTION READ ONLY");
    return await work({ rows });
  } finally {
    socket.destroy();
  }
}

function configOf({ user, password, database, tls }: Database, socket: Duplex): ClientConfig {
  // The connection is made, by our rules; the client only waits to be told so.
  const made = Object.assign(socket, {
    connect: () => queueMicrotask(() => socket.emit("connect")),
    setNoDelay: () => socket,
    setKeepAlive: () => socket,
  });
  return {
    user,
    ...(password !== undefined && { password }),
    database,
    options: LIMITS,
    application_name: "watchkeeper",
    connectionTimeoutMillis: CONNECT_MS,
    stream: () => made,
    ...(tls !== "off" && { ssl: { rejectUnauthorized: tls === "verified" } }),
  };
}

/** The server's code of an error, such as `53300`, where it has one. */
export function codeOf(error: unknown): string | undefined {
  const cause = error instanceof BotError ? error.cause : error;
  return cause instanceof Error && "code" in cause && typeof cause.code === "string"
    ? cause.code
    : undefined;
}

/** What the server says, with its code. */
async function ended<T>(answer: Promise<T>): Promise<T> {
  try {
    return await answer;
  } catch (error) {
    const code = codeOf(error);
    const isSql = code !== undefined && /^[0-9A-Z]{5}$/.test(code);
    const text = isSql ? `${messageOf(error)} (SQLSTATE ${code})` : messageOf(error);
    throw new BotError(isSql ? errorCode(code) : "CONNECTION_FAILED", text, { cause: error });
  }
}

/** PostgreSQL's classes of errors (its documentation, appendix A). */
function errorCode(state: string): ErrorCode {
  if (state === "57014") return "TIMEOUT";
  if (state === "42501" || state.startsWith("28")) return "NOT_AVAILABLE";
  return /^(?:08|53|57)/.test(state) ? "CONNECTION_FAILED" : "INPUT_INVALID";
}
