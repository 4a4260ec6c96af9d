import type { Finding } from "../../core/finding.ts";
import { formatElapsed } from "../../core/instant.ts";
import { formatMoment } from "../moment.ts";
import { counted, formatBytes } from "../../core/text.ts";
import type { Reply } from "./resp.ts";

/** What `INFO` says, by its names. */
export type Info = ReadonlyMap<string, string>;

export function parseInfo(reply: Reply | undefined): Info {
  if (typeof reply !== "string") return new Map();
  return new Map(
    reply
      .split(/\r?\n/)
      .filter((line) => !line.startsWith("#") && line.includes(":"))
      .map((line) => [line.slice(0, line.indexOf(":")), line.slice(line.indexOf(":") + 1)]),
  );
}

export function number(info: Info, name: string): number {
  const value = Number(info.get(name) ?? 0);
  return Number.isFinite(value) ? value : 0;
}

/** `ip=10.0.0.8,port=6379,state=online` */
function fields(text: string): Info {
  return new Map(
    text.split(",").map((part) => {
      const [name = "", value = ""] = part.split("=");
      return [name, value] as const;
    }),
  );
}

interface Later {
  /** Since the first look. */
  seconds: number;
  info: Info;
}

const NEARLY = 0.9;
/** Without a limit the machine's memory is one: what comes then is the kernel's end of the process. */
const OF_MACHINE = 0.8;
const LAG_S = 10;

type About = Omit<Finding, "object" | "since">;

/** `holders`: what holds the memory, in words. */
export function infoFindings(info: Info, later: Later, name: string, holders: string): Finding[] {
  const found = [
    ...memory(info, later, holders),
    ...persistence(info),
    ...replication(info),
    ...clients(info),
  ];
  return found.map((about) => ({
    object: { kind: "Redis", namespace: "", name },
    ...about,
    since: null,
  }));
}

function memory(info: Info, { seconds, info: after }: Later, holders: string): About[] {
  const [used, limit] = [number(info, "used_memory"), number(info, "maxmemory")];
  const policy = info.get("maxmemory_policy") ?? "noeviction";
  const machine = number(info, "total_system_memory");
  const from = holders === "" ? "" : ` ${holders}.`;
  if (limit === 0) {
    if (machine === 0 || used < OF_MACHINE * machine) return [];
    const evidence = `${formatBytes(used)} of the machine's ${formatBytes(machine)}, without a limit.${from}`;
    return [
      {
        cause: "it takes nearly all memory of its machine",
        severity: "warning",
        evidence,
        fix: "Set maxmemory and a policy.",
      },
    ];
  }
  const refused = errorCount(info, "OOM");
  const errors =
    refused === 0 ? "" : ` ${counted(refused, "command")} refused since it started (OOM).`;
  const expiring = [...info].some(
    ([key, text]) => /^db\d+$/.test(key) && fields(text).get("expires") !== "0",
  );
  const evicts = policy !== "noeviction" && (expiring || !policy.startsWith("volatile"));
  const evidence = `${formatBytes(used)} of ${formatBytes(limit)} (maxmemory), policy ${policy}.${errors}${from}`;
  if (!evicts && used >= limit)
    return [
      {
        cause: "its memory is used up: it refuses writes",
        severity: "error",
        evidence,
        fix: "Delete what is not needed, let keys expire, raise maxmemory, or choose a policy that evicts.",
      },
    ];
  if (!evicts && used >= NEARLY * limit)
    return [
      {
        cause: "its memory is nearly used up: then it refuses writes",
        severity: "warning",
        evidence,
      },
    ];
  const evicted = number(after, "evicted_keys") - number(info, "evicted_keys");
  if (evicted <= 0) return [];
  const rate = Math.round(evicted / seconds);
  return [
    {
      cause: "it evicts keys to make room",
      severity: "warning",
      evidence: `${rate} keys/s. ${evidence}`,
      fix: "Raise maxmemory, or let keys expire sooner.",
    },
  ];
}

function errorCount(info: Info, kind: string): number {
  return number(fields(info.get(`errorstat_${kind}`) ?? ""), "count");
}

function persistence(info: Info): About[] {
  const found: About[] = [];
  const misconf = errorCount(info, "MISCONF");
  const since = number(info, "rdb_last_save_time");
  if (info.get("rdb_last_bgsave_status") === "err")
    found.push({
      cause:
        misconf > 0
          ? "its last snapshot failed, and it refuses writes (MISCONF)"
          : "its last snapshot failed",
      severity: misconf > 0 ? "error" : "warning",
      evidence: `${number(info, "rdb_changes_since_last_save")} changes are not saved${since === 0 ? "" : `; last saved ${formatMoment(since * 1_000)}`}.`,
      fix: "Look at the disk's room and rights, and at its log.",
    });
  if (info.get("aof_last_write_status") === "err")
    found.push({
      cause: "it cannot write its append-only file",
      severity: "error",
      evidence: "aof_last_write_status is err.",
      fix: "Look at the disk's room, and at its log.",
    });
  return found;
}

function replication(info: Info): About[] {
  if (info.get("role") === "slave") {
    if (info.get("master_link_status") === "up") return [];
    const down = number(info, "master_link_down_since_seconds");
    const master = `${info.get("master_host")}:${info.get("master_port")}`;
    const isSyncing = info.get("master_sync_in_progress") === "1";
    return [
      {
        cause: isSyncing ? "it copies its master's data" : "its link to its master is down",
        severity: isSyncing ? "warning" : "error",
        evidence: `${master}${down > 0 ? `, for ${formatElapsed(down * 1_000)}` : ""}.`,
      },
    ];
  }
  const replicas = [...info]
    .filter(([key]) => /^slave\d+$/.test(key))
    .map(([, text]) => fields(text));
  return replicas.flatMap((replica) => {
    const [state, lag] = [replica.get("state") ?? "?", number(replica, "lag")];
    if (state === "online" && lag < LAG_S) return [];
    const at = `${replica.get("ip")}:${replica.get("port")}`;
    const behind = number(info, "master_repl_offset") - number(replica, "offset");
    return [
      {
        cause:
          state === "online"
            ? `replica ${at} has not answered for ${lag} s`
            : `replica ${at} is in state ${state}`,
        severity: "warning" as const,
        evidence: `It is ${formatBytes(Math.max(0, behind))} behind.`,
      },
    ];
  });
}

function clients(info: Info): About[] {
  const [now, most] = [number(info, "connected_clients"), number(info, "maxclients")];
  if (most === 0 || now < NEARLY * most) return [];
  return [
    {
      cause: `connections are nearly used up: ${now} of ${most}`,
      severity: "warning",
      evidence: `${number(info, "rejected_connections")} refused since it started.`,
      fix: "Find who opens so many, use a pool, or raise maxclients.",
    },
  ];
}
