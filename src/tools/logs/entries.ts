import { tryIso } from "../../core/instant.ts";
import { isRecord, recordsOf, textOf, tryParse } from "../decode.ts";
import { type Severity, severityOfLevel } from "./line-text.ts";

/** Answers of log systems as lines. This is work for a thread: an answer has megabytes. */

export interface Entry {
  /** When, in the system's own unit since 1970. */
  key: bigint;
  /** ms since 1970 */
  at: number;
  service: string;
  /** As the system says it. */
  severity: Severity | undefined;
  line: string;
  /** Tells it from others of the same time. */
  id: string;
}

export type System = "loki" | "elasticsearch" | "victorialogs" | "journald";

/** How many of its units are 1 ms. */
export const UNITS: Readonly<Record<System, bigint>> = {
  loki: 1_000_000n,
  victorialogs: 1_000_000n,
  elasticsearch: 1n,
  journald: 1_000n,
};

/** Where a service's name usually stands, the best first. */
export const SERVICE_FIELDS: readonly string[] = [
  "service_name",
  "service.name",
  "service",
  "app",
  "app_kubernetes_io_name",
  "application",
  "kubernetes.labels.app",
  "kubernetes.container.name",
  "kubernetes.container_name",
  "container_name",
  "container",
  "container.name",
  "job",
  "unit",
  "_SYSTEMD_UNIT",
  "systemd_unit",
  "SYSLOG_IDENTIFIER",
  "syslog_identifier",
  "process.name",
];
export const MESSAGE_FIELDS = [
  "message",
  "_msg",
  "log",
  "msg",
  "event.original",
  "body.text",
  "body",
];
export const LEVEL_FIELDS: readonly string[] = [
  "log.level",
  "level",
  "severity_text",
  "severity",
  "loglevel",
  "detected_level",
  "PRIORITY",
];

/** What stands there, whether it is written `a.b` or `a: { b }`. */
function fieldOf(record: Record<string, unknown>, path: string): string {
  const direct = record[path];
  if (typeof direct === "string" || typeof direct === "number") return String(direct);
  const [first = "", ...rest] = path.split(".");
  const inner = record[first];
  return rest.length > 0 && isRecord(inner) ? fieldOf(inner, rest.join(".")) : "";
}

function firstOf(record: Record<string, unknown>, paths: readonly string[]): string {
  for (const path of paths) {
    const value = fieldOf(record, path);
    if (value !== "") return value;
  }
  return "";
}

function entryOf(
  record: Record<string, unknown>,
  { key, system, id, line }: { key: bigint; system: System; id: string; line: string },
): Entry {
  const level = firstOf(record, LEVEL_FIELDS);
  return {
    key,
    line,
    id,
    at: Number(key / UNITS[system]),
    service: firstOf(record, SERVICE_FIELDS),
    severity: level === "" || level === "unknown" ? undefined : severityOfLevel(level),
  };
}

/** What a system's answer holds; undefined where it is no such answer. Lines of times that no calendar has are left out. */
export function entriesIn(system: System, text: string): Entry[] | undefined {
  return readAnswer(system, text)?.filter(({ at }) => tryIso(at) !== undefined);
}

function readAnswer(system: System, text: string): Entry[] | undefined {
  switch (system) {
    case "loki":
      return lokiEntries(tryParse(text));
    case "elasticsearch":
      return elasticsearchEntries(tryParse(text));
    case "victorialogs":
      return jsonLines(text, victoriaLogsEntry);
    case "journald":
      return jsonLines(text, journalEntry);
  }
}

function lokiEntries(body: unknown): Entry[] | undefined {
  const data = isRecord(body) ? body["data"] : undefined;
  if (!isRecord(data) || data["resultType"] !== "streams") return undefined;
  return recordsOf(data["result"]).flatMap((stream) => {
    const labels = isRecord(stream["stream"]) ? stream["stream"] : {};
    const id = JSON.stringify(labels);
    const values: unknown[] = Array.isArray(stream["values"]) ? stream["values"] : [];
    return values.flatMap((value) => {
      const [time, line, extra]: unknown[] = Array.isArray(value) ? value : [];
      if (typeof time !== "string" || typeof line !== "string" || !/^\d+$/.test(time)) return [];
      const record = isRecord(extra) ? { ...labels, ...extra } : labels;
      return entryOf(record, { key: BigInt(time), system: "loki", id: `${id}\n${line}`, line });
    });
  });
}

function elasticsearchEntries(body: unknown): Entry[] | undefined {
  const hits = isRecord(body) ? body["hits"] : undefined;
  if (!isRecord(hits)) return undefined;
  return recordsOf(hits["hits"]).flatMap((hit) => {
    const [time]: unknown[] = Array.isArray(hit["sort"]) ? hit["sort"] : [];
    const source = isRecord(hit["_source"]) ? hit["_source"] : {};
    if (typeof time !== "number" || !Number.isFinite(time)) return [];
    const line = firstOf(source, MESSAGE_FIELDS) || tryJson(source);
    const id = `${textOf(hit["_index"])}/${textOf(hit["_id"])}`;
    return entryOf(source, { key: BigInt(Math.trunc(time)), system: "elasticsearch", id, line });
  });
}

/** What is nested very deep can be read and not written. */
function tryJson(source: Record<string, unknown>): string {
  try {
    return JSON.stringify(source);
  } catch {
    return "(nested too deep to be shown)";
  }
}

function jsonLines(
  text: string,
  entry: (record: Record<string, unknown>) => Entry | undefined,
): Entry[] | undefined {
  const found: Entry[] = [];
  for (const line of text.split("\n")) {
    if (line === "") continue;
    const record = tryParse(line);
    const read = isRecord(record) ? entry(record) : undefined;
    if (read === undefined) return undefined;
    found.push(read);
  }
  return found;
}

/** Its time has up to nine digits behind the second, which a Date would lose. */
function victoriaLogsEntry(record: Record<string, unknown>): Entry | undefined {
  const time = textOf(record["_time"]);
  const [, seconds, fraction = ""] = /^(.*T\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?Z$/.exec(time) ?? [];
  const ms = Date.parse(`${seconds}Z`);
  if (seconds === undefined || Number.isNaN(ms)) return undefined;
  const key = BigInt(ms) * 1_000_000n + BigInt(fraction.padEnd(9, "0"));
  const line = textOf(record["_msg"]);
  const id = `${textOf(record["_stream_id"])}\n${line}`;
  return entryOf(record, { key, system: "victorialogs", id, line });
}

function journalEntry(record: Record<string, unknown>): Entry | undefined {
  const time = textOf(record["__REALTIME_TIMESTAMP"]);
  if (!/^\d+$/.test(time)) return undefined;
  const message = record["MESSAGE"];
  // What is no text is given as a list of bytes.
  const line = Array.isArray(message)
    ? Buffer.from(message.filter((byte) => typeof byte === "number")).toString()
    : textOf(message);
  const id = textOf(record["__CURSOR"]);
  return entryOf(record, { key: BigInt(time), system: "journald", id, line });
}
