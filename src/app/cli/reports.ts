import { BotError } from "../../core/errors.ts";
import { exactText } from "../../security/sanitize.ts";
import { type JournalKey, tryJournalKey } from "../../core/journal-key.ts";
import type { JournalReader } from "../../journal/journal.ts";
import type { StoredEntry } from "../../core/entry.ts";

/** What an audit is about: who asked for what, who decided, what was executed and how it ended. */
const AUDITED = new Set([
  "message",
  "command",
  "run_started",
  "action_proposed",
  "click",
  "stop",
  "vote",
  "action_closed",
  "tool_started",
  "tool_finished",
  "signal",
  "settled",
]);

/**
 * The thread that a person names by its key or by a beginning of it that only one thread has, with or without
 * `terminal:`.
 * @throws BotError THREAD_UNKNOWN
 */
export async function findThread(journal: JournalReader, name: string): Promise<JournalKey> {
  const exact = tryJournalKey(name);
  const found: JournalKey[] = [];
  for (const prefix of [name, `terminal:${name}`]) {
    for await (const { key } of journal.list({ prefix })) {
      if (key === exact) return key;
      found.push(key);
    }
  }
  const [only, another] = found;
  if (only !== undefined && another === undefined) return only;
  const problem = only === undefined ? "No thread begins with" : "Several threads begin with";
  throw new BotError(
    "THREAD_UNKNOWN",
    `${problem} ${exactText(name)}; /threads in \`npm start\` lists them.`,
  );
}

/** A journal as people read it: one line an entry, what it says in full. */
export async function* traceLines(journal: JournalReader, key: JournalKey): AsyncIterable<string> {
  yield key;
  for (const entry of await journal.read(key)) yield traceLine(entry);
}

function traceLine(entry: StoredEntry): string {
  const { seq, at, id, kind, head: _, ...fields } = entry;
  const said = Object.entries(fields).map(
    ([name, value]) =>
      `${name}=${typeof value === "string" ? oneLine(value) : exactText(JSON.stringify(value))}`,
  );
  const time = new Date(at).toISOString();
  return `${String(seq).padStart(4)}  ${time}  ${kind.padEnd(15)} ${id}  ${said.join(" ")}`;
}

function oneLine(text: string): string {
  return exactText(/^[\w.:/@-]+$/.test(text) ? text : JSON.stringify(text));
}

export interface AuditFilter {
  /** Only this thread. */
  key: JournalKey | undefined;
  /** Only entries from then on, ms since 1970. */
  since: number | undefined;
}

/** Requests, votes, executions and outcomes, oldest first in each thread, one JSON object a line. */
export async function* auditLines(
  journal: JournalReader,
  { key, since = 0 }: AuditFilter,
): AsyncIterable<string> {
  const keys: JournalKey[] = key === undefined ? [] : [key];
  if (key === undefined) {
    for await (const summary of journal.list()) if (summary.lastAt >= since) keys.push(summary.key);
  }
  for (const thread of keys) {
    for (const entry of await journal.read(thread)) {
      if (entry.at < since || !AUDITED.has(entry.kind)) continue;
      const { at, ...rest } = entry;
      yield JSON.stringify({ at: new Date(at).toISOString(), thread, ...rest });
    }
  }
}

const UNITS: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000 };

/**
 * `24h`, `7d`, `30m` before `now`, or a date such as `2026-11-21` or `2026-11-21T03:00Z`, as ms since 1970.
 * @throws BotError USAGE
 */
export function readSince(text: string, now: number): number {
  const [, count, unit = ""] = /^(\d{1,6})([mhd])$/.exec(text) ?? [];
  const unitMs = UNITS[unit];
  if (unitMs !== undefined) return now - Number(count) * unitMs;
  const time = Date.parse(text);
  if (/^\d{4}-\d\d-\d\d/.test(text) && !Number.isNaN(time)) return time;
  throw new BotError(
    "USAGE",
    "--since takes 30m, 24h, 7d or a date such as 2026-11-21 or 2026-11-21T03:00Z.",
  );
}
