import type { Finding } from "../../core/finding.ts";
import { formatElapsed, formatUtc, isoUtc } from "../../core/instant.ts";
import { counted, oneLine } from "../../core/text.ts";
import type { Reply } from "./resp.ts";

/** An entry of the slow log. */
interface Slow {
  at: number;
  ms: number;
  /** Its first words; values that follow are left out. */
  command: string;
  client: string;
}

/** Older ones explain nothing that goes on now. */
const RECENT_MS = 3_600_000;
/** Together, of one kind of command, within that time. */
const NOTABLE_MS = 100;
const MAX_ROWS = 5;
const MAX_COMMAND = 120;

/** Commands that look at everything there is. */
const SWEEPING: Readonly<Record<string, string>> = {
  KEYS: "Use SCAN in its place.",
  SMEMBERS: "Use SSCAN in its place.",
  HGETALL: "Use HSCAN, or read single fields.",
  FLUSHALL: "Use FLUSHALL ASYNC.",
  DEL: "Use UNLINK for large keys.",
};

export function parseSlowLog(reply: Reply): Slow[] {
  if (!Array.isArray(reply)) return [];
  return reply.flatMap((entry) => {
    if (!Array.isArray(entry)) return [];
    const [, at, micros, words, client] = entry;
    if (typeof at !== "number" || typeof micros !== "number" || !Array.isArray(words)) return [];
    const [verb = "", first = ""] = words.map((word) => (typeof word === "string" ? word : ""));
    const command = oneLine(`${verb.toUpperCase()} ${first}`).slice(0, MAX_COMMAND);
    return [
      {
        at: at * 1_000,
        ms: micros / 1_000,
        command,
        client: typeof client === "string" ? client : "",
      },
    ];
  });
}

/** Recent ones by their verb, as arguments differ from call to call: those that took long together. */
function notable(slow: readonly Slow[], now: number) {
  const recent = slow.filter(({ at }) => now - at < RECENT_MS);
  return [...Map.groupBy(recent, ({ command }) => command.split(" ", 1)[0] ?? "")]
    .map(([verb, calls]) => ({ verb, calls, ms: calls.reduce((all, { ms }) => all + ms, 0) }))
    .filter(({ ms }) => ms >= NOTABLE_MS)
    .toSorted((a, b) => b.ms - a.ms)
    .slice(0, MAX_ROWS);
}

export function slowFindings(slow: readonly Slow[], now: number): Finding[] {
  return notable(slow, now).map(({ verb, calls, ms }) => {
    const slowest = calls.reduce((a, b) => (b.ms > a.ms ? b : a));
    const oldest = Math.min(...calls.map(({ at }) => at));
    // A script's own commands come from nobody: `?:0`.
    const from = /^(?:$|\?)/.test(slowest.client) ? "" : ` from ${slowest.client}`;
    const fix = SWEEPING[verb];
    return {
      object: { kind: "Command", namespace: "", name: verb },
      cause: `it held Redis up for ${formatElapsed(slowest.ms)}`,
      severity: "warning" as const,
      evidence: `${counted(calls.length, "slow call")} within the last hour, ${formatElapsed(ms)} together; the slowest${from}: ${slowest.command}.`,
      ...(fix !== undefined && { fix }),
      since: `${isoUtc(oldest, "second")}Z`,
    };
  });
}

/** Those of which no finding tells. */
export function slowRows(slow: readonly Slow[], now: number): string[] {
  const found = new Set(notable(slow, now).flatMap(({ calls }) => calls));
  const worst = slow
    .filter((each) => !found.has(each))
    .toSorted((a, b) => b.ms - a.ms)
    .slice(0, MAX_ROWS);
  if (worst.length === 0) return [];
  const rows = worst.map(
    ({ at, ms, command }) =>
      `${formatUtc(at, "second")} (${formatElapsed(Math.max(0, now - at))} ago) ${formatElapsed(ms)} ${command}`,
  );
  return [`${found.size > 0 ? "Other slow" : "Slowest"} commands that are kept:`, ...rows];
}
