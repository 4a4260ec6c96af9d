import { messageOf } from "../../core/errors.ts";
import type { Finding, Gap } from "../../core/finding.ts";
import { formatElapsed } from "../../core/instant.ts";
import { number, oneStatement, type Row, text } from "../database-rows.ts";
import type { Session } from "./client.ts";

/** What the server is as a replica of others. */
export interface Replication {
  findings: Finding[];
  gaps: Gap[];
  /** Servers that it replicates from. */
  channels: number;
  /** `replica of db1, 2 s behind` */
  words: string;
}

const LAG_WARNING_S = 30;

/** One channel; MySQL and MariaDB have other names for the same. */
interface Channel {
  name: string;
  source: string;
  io: string;
  sql: string;
  ioError: string;
  sqlError: string;
  lag: number | undefined;
}

export async function seeReplication({ server, rows }: Session): Promise<Replication> {
  const isMySql = server.kind === "MySQL";
  let found: Row[];
  try {
    found = await rows(isMySql ? "SHOW REPLICA STATUS" : "SHOW ALL SLAVES STATUS");
  } catch (error) {
    const right = isMySql ? "REPLICATION CLIENT" : "SLAVE MONITOR";
    const help = `GRANT ${right} ON *.* to the bot's user.`;
    const gaps = [{ what: "replication", why: messageOf(error), help }];
    return { findings: [], gaps, channels: 0, words: "replication not seen" };
  }
  const channels = found.map((row) => (isMySql ? mysqlChannel(row) : mariadbChannel(row)));
  const words = channels.map(({ source, lag }) => {
    const behind = lag === undefined ? "stopped" : `${formatElapsed(lag * 1_000)} behind`;
    return `replica of ${source}, ${behind}`;
  });
  return {
    findings: channels.flatMap(findingsOf),
    gaps: [],
    channels: channels.length,
    words: words.join("; ") || "replicates from no other",
  };
}

function lagOf(value: unknown): number | undefined {
  return value === null || value === undefined ? undefined : number(value);
}

function mysqlChannel(row: Row): Channel {
  return {
    name: text(row["Channel_Name"]),
    source: `${text(row["Source_Host"])}:${text(row["Source_Port"])}`,
    io: text(row["Replica_IO_Running"]),
    sql: text(row["Replica_SQL_Running"]),
    ioError: text(row["Last_IO_Error"]),
    sqlError: text(row["Last_SQL_Error"]),
    lag: lagOf(row["Seconds_Behind_Source"]),
  };
}

function mariadbChannel(row: Row): Channel {
  return {
    name: text(row["Connection_name"]),
    source: `${text(row["Master_Host"])}:${text(row["Master_Port"])}`,
    io: text(row["Slave_IO_Running"]),
    sql: text(row["Slave_SQL_Running"]),
    ioError: text(row["Last_IO_Error"]),
    sqlError: text(row["Last_SQL_Error"]),
    lag: lagOf(row["Seconds_Behind_Master"]),
  };
}

function findingsOf({ name, source, io, sql, ioError, sqlError, lag }: Channel): Finding[] {
  const object = { kind: "Replication", namespace: name, name: source };
  const stopped = [
    { thread: "applying changes", state: sql, error: sqlError },
    { thread: "fetching changes", state: io, error: ioError },
  ].filter(({ state, error }) => state !== "Yes" || error !== "");
  if (stopped.length > 0) {
    return stopped.map(({ thread, state, error }) => ({
      object,
      cause: error === "" ? `${thread} is stopped` : oneStatement(error, 300),
      severity: "error",
      evidence: `${thread}: running ${state.toLowerCase() || "unknown"}`,
      fix:
        error === ""
          ? "START REPLICA, if nobody stopped it on purpose."
          : "Mend what the error names, then START REPLICA.",
      since: null,
    }));
  }
  if (lag === undefined || lag < LAG_WARNING_S) return [];
  const cause = `it is ${formatElapsed(lag * 1_000)} behind`;
  const evidence = "Both threads run; it applies more slowly than its source writes.";
  return [{ object, cause, severity: "warning", evidence, since: null }];
}
