import type { Duplex } from "node:stream";
import type { Connection, ConnectionOptions, FieldPacket } from "mysql2";
import { BotError, type ErrorCode } from "../../core/errors.ts";
import { secure } from "../../net/tls.ts";
import { type Row, withoutSecrets } from "../database-rows.ts";
import { type Database, guarded } from "../databases.ts";
import { ended, type SqlSystem } from "../sql-tools.ts";
import type { ToolContext } from "../tool.ts";

/** A server says which of the two it is; what they tell, and how, differs. */
export interface Server {
  kind: "MySQL" | "MariaDB";
  /** `10.11.19` */
  version: string;
}

export interface Session {
  server: Server;
  /** Rows of one statement; one that holds several is refused by the server. Values are text. */
  rows(sql: string): Promise<Row[]>;
  /** The same as the server writes it: columns in their order, though several have one name. */
  table(sql: string): Promise<{ columns: string[]; rows: (string | null)[][] }>;
}

/** How our sessions are told from those of others, where the server keeps it. */
const PROGRAM = "watchkeeper";
const CONNECT_MS = 8_000;

/**
 * What every session of ours is held to by the server: no statement runs for long or waits long for a lock. Times are in the
 * machine's zone, as InnoDB writes them.
 */
const LIMITS = {
  MySQL: "max_execution_time = 10000, lock_wait_timeout = 2",
  MariaDB: "max_statement_time = 10, lock_wait_timeout = 2",
};

/**
 * Works in a session of its own, in a read-only transaction that ends with it. Roles that the user has are left off: what it may is
 * what was granted to itself.
 * @throws BotError CONNECTION_FAILED with the server's own words and code, NOT_AVAILABLE, TIMEOUT, ABORTED
 */
export async function inSession<T>(
  ctx: ToolContext,
  target: Database,
  work: (session: Session) => Promise<T>,
): Promise<T> {
  const { socket } = await ctx.connect(target.endpoint);
  try {
    const connection = await connected(socket, target, ctx.signal);
    const table: Session["table"] = (sql) => ask(connection, sql);
    const rows: Session["rows"] = async (sql) => {
      const found = await table(sql);
      const named = found.rows.map((row) =>
        Object.fromEntries(row.map((value, at) => [found.columns[at] ?? "", value])),
      );
      return withoutSecrets(named, ctx.encoder);
    };
    const [version] = await rows("SELECT VERSION() AS version, @@version_comment AS comment");
    const server = serverOf(String(version?.["version"]), String(version?.["comment"]));
    await rows(
      `SET SESSION ${LIMITS[server.kind]}, innodb_lock_wait_timeout = 2, time_zone = 'SYSTEM'`,
    );
    await rows("SET ROLE NONE");
    await rows("START TRANSACTION READ ONLY");
    return await work({ server, rows, table });
  } finally {
    socket.destroy();
  }
}

/** @throws BotError NOT_AVAILABLE for another product, or an older version than these tools know */
function serverOf(version: string, comment: string): Server {
  const [, major = "0", minor = "0", patch = "0"] = /^(\d+)\.(\d+)\.(\d+)/.exec(version) ?? [];
  const at = Number(major) * 10_000 + Number(minor) * 100 + Number(patch);
  const number = `${major}.${minor}.${patch}`;
  const isOther = /tidb|vitess|oceanbase|singlestore|starrocks|doris/i.test(version + comment);
  if (!isOther && /mariadb/i.test(version + comment)) {
    if (at >= 100_500) return { kind: "MariaDB", version: number };
  } else if (!isOther && at >= 80_022) return { kind: "MySQL", version: number };
  throw new BotError(
    "NOT_AVAILABLE",
    `It says that it is ${version} (${comment}); these tools know MySQL 8.0.22 and newer, and MariaDB 10.5 and newer.`,
  );
}

/** What is used of the client beside what it declares. */
interface Packet {
  sequenceId: number;
  readLengthCodedNumberExt(tag: number, ...how: unknown[]): unknown;
}

interface Internals {
  handlePacket(packet?: Packet): void;
  startTLS(onSecure: (error?: unknown) => void): void;
  packetParser: { execute(chunk: Buffer): void };
  stream: Duplex;
  sequenceId: number;
}

/** @throws BotError */
async function connected(
  socket: Duplex,
  target: Database,
  signal: AbortSignal,
): Promise<Connection> {
  const { default: mysql } = await import("mysql2");
  const connection = mysql.createConnection(configOf(target, mysql, guarded(socket, "MySQL")));
  // A server that goes away while nothing is asked would end the process.
  connection.on("error", () => {});
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the version is pinned, and test/tools/mysql holds each of these
  const inner = connection as unknown as Internals;
  let isPlain = true;
  const handle = inner.handlePacket.bind(connection);
  inner.handlePacket = (packet) => {
    // The client only writes to the terminal about packets out of order, and takes what was slipped in before TLS began.
    if (packet !== undefined && (!isPlain || packet.sequenceId !== inner.sequenceId))
      throw new TypeError("a packet out of order");
    if (packet !== undefined) refuseNoLength(packet);
    handle(packet);
  };
  inner.startTLS = (onSecure) => {
    isPlain = false;
    socket.removeAllListeners("data");
    const use = (channel: Duplex) => {
      inner.stream = guarded(channel, "MySQL");
      isPlain = true;
      channel.on("data", (chunk: Buffer) => inner.packetParser.execute(chunk));
      onSecure();
    };
    encrypted(socket, target, signal).then(use, onSecure);
  };
  await ended(
    new Promise<void>((resolve, reject) => {
      connection.connect((error) => (error === null ? resolve() : reject(error)));
    }),
    told,
  );
  return connection;
}

/** The client would print a trace about the bytes that begin no length. It uses one object for all packets. */
function refuseNoLength(packet: Packet): void {
  if (Object.hasOwn(packet, "readLengthCodedNumberExt")) return;
  const read = packet.readLengthCodedNumberExt.bind(packet);
  packet.readLengthCodedNumberExt = (tag, ...how) => {
    if (!(tag >= 0xfb && tag <= 0xfe)) throw new TypeError("no length begins so");
    return read(tag, ...how);
  };
}

/** @throws BotError CONNECTION_FAILED, before a name or password was sent */
async function encrypted(
  socket: Duplex,
  { host, tls }: Database,
  signal: AbortSignal,
): Promise<Duplex> {
  const { socket: channel, distrust } = await secure(socket, host, { signal });
  if (tls === "unverified" || distrust === undefined) return channel;
  const text = `This machine does not trust its certificate (${distrust}); for an authority of your own set NODE_EXTRA_CA_CERTS.`;
  throw new BotError("CONNECTION_FAILED", text);
}

/** Why a password is not sent, though the server's key would hide it: whoever stands in between would send a key of their own. */
const NEEDS_TLS =
  "The server asks for the password in a way that needs TLS: add ?ssl-mode=REQUIRED";

function configOf(
  { user, password, database, tls }: Database,
  { authPlugins }: typeof import("mysql2"),
  stream: Duplex,
): ConnectionOptions {
  const refused = () => {
    throw new Error(NEEDS_TLS);
  };
  return {
    stream,
    user,
    ...(password !== undefined && { password }),
    ...(database !== "" && { database }),
    connectTimeout: CONNECT_MS,
    connectAttributes: { program_name: PROGRAM },
    // The server may otherwise ask for any file of this machine.
    flags: ["-LOCAL_FILES"],
    multipleStatements: false,
    // Names of columns come from the server: nothing is compiled from them.
    disableEval: true,
    dateStrings: true,
    ...(tls === "off"
      ? {
          authPlugins: {
            caching_sha2_password: authPlugins.caching_sha2_password({
              onServerPublicKey: refused,
            }),
            sha256_password: () => refused,
          },
        }
      : // What it means is in `encrypted`.
        { ssl: {} }),
  };
}

async function ask(
  connection: Connection,
  sql: string,
): Promise<{ columns: string[]; rows: (string | null)[][] }> {
  const asked = {
    sql,
    rowsAsArray: true,
    typeCast: (field: { string(encoding: "utf8"): string | null }) => field.string("utf8"),
  };
  return ended(
    new Promise((resolve, reject) => {
      connection.query(asked, (error, rows, fields: FieldPacket[] | undefined) => {
        if (error !== null) reject(error);
        // What has no columns has no rows either, only what the server counted.
        else if (fields === undefined || !Array.isArray(rows)) resolve({ columns: [], rows: [] });
        else resolve({ columns: fields.map(({ name }) => name), rows: rows.map(valuesOf) });
      });
    }),
    told,
  );
}

/** What `typeCast` made of each value. */
function valuesOf(row: unknown): (string | null)[] {
  return Array.isArray(row) ? row.map((value) => (typeof value === "string" ? value : null)) : [];
}

/** What the server says, with its number. */
function told(code: string | undefined): { code: ErrorCode; said?: string } {
  if (code === "AUTH_SWITCH_PLUGIN_ERROR") return { code: "NOT_AVAILABLE" };
  const number = Number(code);
  return Number.isInteger(number)
    ? { code: errorCode(number), said: `error ${number}` }
    : { code: "CONNECTION_FAILED" };
}

/** By MySQL's and MariaDB's lists of error numbers. */
function errorCode(number: number): ErrorCode {
  // ER_QUERY_TIMEOUT, ER_STATEMENT_TIMEOUT, ER_QUERY_INTERRUPTED, ER_LOCK_WAIT_TIMEOUT
  if ([3024, 1969, 1317, 1205].includes(number)) return "TIMEOUT";
  // ER_*_ACCESS_DENIED_ERROR: to the server, a database, a table, a column, a right, a routine
  if ([1044, 1045, 1142, 1143, 1227, 1370, 1698].includes(number)) return "NOT_AVAILABLE";
  // ER_CON_COUNT_ERROR, ER_SERVER_SHUTDOWN, ER_HOST_IS_BLOCKED, ER_HOST_NOT_PRIVILEGED
  return [1040, 1053, 1129, 1130, 1203, 1226].includes(number)
    ? "CONNECTION_FAILED"
    : "INPUT_INVALID";
}

export const MYSQL: SqlSystem<Session> = {
  name: "mysql",
  product: "a MySQL or MariaDB",
  kind: "MySQL",
  inSession,
  refusals: {
    1040: "Close idle sessions, or raise max_connections.",
    1203: "The bot's user has too many sessions: max_user_connections.",
    1129: "mysqladmin flush-hosts: too many of this machine's connections broke off.",
    1053: "It shuts down: wait, and read its log.",
    ECONNREFUSED: "Nothing listens there: is the server running?",
  },
  full: {
    code: "1040",
    help: "Set MYSQL_ADMIN_URL (or admin, in the yaml) to a user that has CONNECTION ADMIN: the server keeps one connection for it.",
  },
};
