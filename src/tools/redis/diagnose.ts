import * as z from "zod";
import { BotError, messageOf } from "../../core/errors.ts";
import { bySeverity, type Finding, type Gap } from "../../core/finding.ts";
import { formatElapsed } from "../../core/instant.ts";
import { counted, formatBytes, percent } from "../../core/text.ts";
import type { Endpoint } from "../http.ts";
import { instanceArgument, instanceOf } from "../instances.ts";
import { defineTool } from "../tool.ts";
import { inSession, type Session, type Target } from "./client.ts";
import { type Info, infoFindings, number, parseInfo } from "./info.ts";
import { RedisError, type Reply } from "./resp.ts";
import { mostOf, type Sample, sampleKeys, shownKey } from "./sample.ts";
import { parseSlowLog, slowFindings, slowRows } from "./slow-log.ts";

/** A server that takes so long for one answer does nothing else meanwhile. */
const ANSWER_MS = 5_000;
/** One that is busy is not asked for its keys. */
const BUSY_MS = 500;
/** A key that holds that share of the memory, and is not small. */
const LARGE_SHARE = 0.1;
const LARGE_BYTES = 10 * 1024 * 1024;

export function createDiagnose(
  targets: Readonly<Record<string, Target>>,
  { answerMs = ANSWER_MS }: { answerMs?: number } = {},
) {
  const endpoints: Record<string, Endpoint> = Object.fromEntries(
    Object.values(targets).map(({ endpoint, name }) => [endpoint, { url: `redis://${name}` }]),
  );
  return defineTool({
    name: "redis_diagnose",
    summary: "finds what is wrong in Redis: memory, slow commands, replication, large keys",
    description:
      "Finds what is wrong with a Redis server now: memory against its limit, evictions and refused writes, slow commands, connections, replication and persistence that failed, large keys by a sample. Use it first when Redis is slow or refuses writes.",
    input: z.strictObject({ ...instanceArgument(endpoints) }),
    diagnoses: true,
    effect: "read",
    doing: () => "Looking for what is wrong with Redis",
    endpoints,
    timeoutMs: 30_000,
    async run(input, ctx) {
      const target = targets[instanceOf(input, endpoints)];
      if (target === undefined) throw new TypeError("There is no such Redis.");
      try {
        return await inSession(ctx, target, answerMs, (session) => look(session, target));
      } catch (error) {
        if (ctx.signal.aborted) throw error;
        const refused = refusalOf(error, target);
        if (refused === undefined) throw error;
        return { text: "", findings: [refused], failed: true };
      }
    },
  });
}

const FIXES: Readonly<Record<string, string>> = {
  LOADING: "It reads its data from disk: wait, and read its log.",
  BUSY: "A script holds it up: SCRIPT KILL, or FUNCTION KILL, ends one that wrote nothing.",
  ERR: "Close idle connections, or raise maxclients.",
};

/** A server that answers nothing else says why: that is what was asked for. */
function refusalOf(error: unknown, { name }: Target): Finding | undefined {
  const isLate = error instanceof BotError && error.code === "TIMEOUT";
  const isBroken = error instanceof BotError && error.code === "CONNECTION_FAILED";
  if (!isLate && !isBroken && !(error instanceof RedisError)) return undefined;
  const fix = isLate
    ? "Look at what it runs: one slow command or a full machine stops everything."
    : error instanceof RedisError
      ? FIXES[error.kind]
      : undefined;
  return {
    object: { kind: "Redis", namespace: "", name },
    cause: messageOf(error).replace(/\.$/, ""),
    severity: "error",
    evidence: isLate ? "It accepted our connection." : "It refused our session.",
    ...(fix !== undefined && { fix }),
    since: null,
  };
}

async function look(session: Session, { name }: Target) {
  const gaps: Gap[] = [];
  const began = performance.now();
  const [all, log] = await session.ask(["INFO"], ["SLOWLOG", "GET", "64"]);
  const answeredMs = performance.now() - began;
  const info = parseInfo(granted(all, "its state", "+info", gaps));
  const slow = parseSlowLog(granted(log, "slow commands", "+slowlog|get", gaps));
  const sample = await sampleOf(session, info, answeredMs, gaps);
  const [later] = await session.ask(["INFO", "stats"]);
  const passed = { seconds: (performance.now() - began) / 1_000, info: parseInfo(later) };
  const now = number(info, "server_time_usec") / 1_000 || Date.now();
  const findings = [
    ...infoFindings(info, passed, name, sample === undefined ? "" : mostOf(sample)),
    ...slowFindings(slow, now),
    ...(sample === undefined ? [] : largeKeys(sample, info)),
  ];
  return {
    text: [
      ...(info.size === 0 ? [] : [overview(info)]),
      ...(sample === undefined ? [] : keyRows(sample)),
      ...slowRows(slow, now),
    ].join("\n"),
    findings: findings.toSorted(bySeverity),
    gaps,
  };
}

/** A reply, or undefined and a gap for one that was refused. */
function granted(reply: Reply | undefined, what: string, right: string, gaps: Gap[]): Reply {
  if (!(reply instanceof RedisError)) return reply ?? null;
  const help = `Give the bot's user the right: ACL SETUSER <user> ${right}.`;
  gaps.push({ what, why: reply.message, help });
  return null;
}

async function sampleOf(
  session: Session,
  info: Info,
  answeredMs: number,
  gaps: Gap[],
): Promise<Sample | undefined> {
  if (answeredMs > BUSY_MS) {
    const why = `its state alone took ${formatElapsed(answeredMs)}, and the server was left alone`;
    gaps.push({ what: "which keys hold the memory", why, help: "Ask again when it is less busy." });
    return undefined;
  }
  if (number(info, "used_memory") === 0) return undefined;
  const sample = await sampleKeys(session);
  if (sample.refused !== undefined)
    granted(
      new RedisError(sample.refused),
      "which keys hold the memory",
      "%R~* +scan +memory|usage",
      gaps,
    );
  return sample.keys === 0 ? undefined : sample;
}

function largeKeys({ largest }: Sample, info: Info): Finding[] {
  const used = number(info, "used_memory");
  const large = largest.filter(({ bytes }) => bytes > LARGE_BYTES && bytes > LARGE_SHARE * used);
  return large.map(({ key, bytes }) => ({
    object: { kind: "Key", namespace: "", name: shownKey(key) },
    cause: `it holds ${percent(bytes, used)} of the memory`,
    severity: "info" as const,
    evidence: `${formatBytes(bytes)} of ${formatBytes(used)}.`,
    since: null,
  }));
}

function overview(info: Info): string {
  const limit = number(info, "maxmemory");
  const most =
    limit === 0 ? "no limit" : `of ${formatBytes(limit)}, ${info.get("maxmemory_policy")}`;
  return [
    `Redis ${info.get("redis_version") ?? "of unknown version"}, ${info.get("role") ?? "of unknown role"}`,
    `${formatBytes(number(info, "used_memory"))} ${most}`,
    `${counted(number(info, "connected_clients"), "client")} (${number(info, "blocked_clients")} blocked)`,
    `${number(info, "instantaneous_ops_per_sec")} commands/s`,
    `up for ${formatElapsed(number(info, "uptime_in_seconds") * 1_000)}`,
  ].join(", ");
}

function keyRows({ groups, keys, isAll }: Sample): string[] {
  const of = isAll ? `all ${keys} keys` : `a sample of ${keys} keys`;
  const rows = groups.map(
    (group) => `${group.form}: ${counted(group.keys, "key")}, ${formatBytes(group.bytes)}`,
  );
  return [`Memory of ${of}:`, ...rows];
}
