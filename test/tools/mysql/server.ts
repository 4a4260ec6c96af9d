import net from "node:net";
import { once } from "node:events";
import mysql from "mysql2";
import { onTestFinished } from "vitest";
import type { JsonObject } from "../../../src/core/entry.ts";
import { mysql as integration } from "../../../src/tools/mysql/integration.ts";
import type { Tool } from "../../../src/tools/tool.ts";
import { NOTHING_LENT } from "../../../src/tools/registry.ts";

/** A MySQL 8 that answers what its manual says. MySQL itself is not to be had here; the tools run against a real MariaDB in test/real. */

export const NOW = 1_795_400_000;

export async function listening(server: net.Server): Promise<number> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("it has no port");
  return address.port;
}

export async function toolsFor(
  port: number,
  query = "",
  adminPort = port,
): Promise<readonly Tool[]> {
  const urlOf = (at: number) => `mysql://watch:s3cret-of-the-bot@127.0.0.1:${at}/shop${query}`;
  const admin = adminPort === 0 ? undefined : urlOf(adminPort);
  const settings = { url: urlOf(port), admin, named: {} };
  return integration.tools(settings, NOTHING_LENT);
}

export type Answer = readonly JsonObject[] | { errno: number; message: string };

/** What MySQL 8.0.36 answers where nothing is wrong, by how the statement begins or what it names. */
const QUIET: Readonly<Record<string, Answer>> = {
  "SELECT VERSION()": [{ version: "8.0.36", comment: "MySQL Community Server - GPL" }],
  "SET SESSION": [],
  "SET ROLE NONE": [],
  "START TRANSACTION READ ONLY": [],
  "SHOW GLOBAL STATUS": [
    { Variable_name: "Uptime", Value: "86400" },
    { Variable_name: "Threads_connected", Value: "2" },
    { Variable_name: "Threads_running", Value: "1" },
    { Variable_name: "Max_used_connections", Value: "9" },
  ],
  "SHOW GLOBAL VARIABLES": [
    { Variable_name: "max_connections", Value: "151" },
    { Variable_name: "read_only", Value: "OFF" },
  ],
  "performance_schema.data_lock_waits": [],
  "performance_schema.metadata_locks": [],
  "information_schema.PROCESSLIST": [],
  "performance_schema.events_statements_current": [],
  "SHOW REPLICA STATUS": [],
  "performance_schema.events_errors_summary_global_by_error": [],
  "SHOW ENGINE INNODB STATUS": [{ Type: "InnoDB", Name: "", Status: "nothing\n" }],
  "SELECT UNIX_TIMESTAMP() AS now": [{ now: String(NOW) }],
  "SHOW GRANTS": [{ Grants: "GRANT SELECT ON `shop`.* TO `watch`@`%`" }],
  "FROM mysql.user": { errno: 1142, message: "SELECT command denied" },
  "FROM mysql.global_priv": { errno: 1146, message: "Table doesn't exist" },
  "FROM mysql.func": [],
};

/** Any other statement is a syntax error to it. */
export async function serve(answers: Readonly<Record<string, Answer>> = {}) {
  const heard: string[] = [];
  const known = { ...QUIET, ...answers };
  const server = net.createServer((socket) => {
    const connection = mysql.createConnection({ stream: socket, isServer: true });
    connection.on("error", () => {});
    // Each command and its answer are numbered anew, which this side of the library leaves to its user.
    const anew = (answer: () => void) => {
      answer();
      connection.sequenceId = 0;
    };
    connection.serverHandshake({
      protocolVersion: 10,
      serverVersion: "8.0.36",
      connectionId: 7,
      statusFlags: 2,
      characterSet: 45,
      capabilityFlags: 0xff_f7_ff,
      authCallback: (_: unknown, done: (error: null) => void) => anew(() => done(null)),
    });
    const reply = (sql: string) => {
      heard.push(sql);
      const name = Object.keys(known).find(
        (each) => sql.trim().startsWith(each) || (each.includes(".") && sql.includes(each)),
      );
      const answer = known[name ?? ""] ?? { errno: 1064, message: "error in your SQL syntax" };
      anew(() => {
        if ("errno" in answer)
          connection.writeError({ code: answer.errno, message: answer.message });
        else if (answer.length === 0) connection.writeOk();
        else connection.writeTextResult([...answer], Object.keys(answer[0] ?? {}).map(column));
      });
    };
    connection.on("query", reply);
    // The library calls SET so.
    connection.on("stmt_prepare", reply);
  });
  const port = await listening(server);
  return { tools: await toolsFor(port), heard, port };
}

function column(name: string) {
  return {
    catalog: "def",
    schema: "",
    table: "",
    orgTable: "",
    name,
    orgName: name,
    characterSet: 45,
    columnLength: 200,
    columnType: 253,
    flags: 0,
    decimals: 0,
  };
}
