import { oneLine } from "../core/text.ts";
import { cleanText } from "../security/sanitize.ts";
import { isRecord, tryJson } from "../core/json.ts";

/** pino's numbers. */
const INFO = 30;
const WARN = 40;
const ERROR = 50;

/** What stands in every line, or is said otherwise. */
const UNSAID = new Set([
  "level",
  "time",
  "pid",
  "hostname",
  "msg",
  "event",
  "err",
  "platform",
  "transport",
]);

/**
 * A line of the log for somebody who watches it on a terminal. Empty: it tells of one thread's ordinary work, which is in its
 * journal.
 */
export function readableLine(json: string): string {
  const line = tryJson(json);
  if (!isRecord(line)) return json;
  const { level, time, msg, err, platform, transport, key } = line;
  if (key !== undefined && level === INFO) return "";
  const clock = new Date(Number(time)).toTimeString().slice(0, 8);
  const mark = Number(level) <= INFO ? " " : Number(level) < ERROR ? "!" : "✗";
  const from = platform ?? transport;
  const text = `${typeof from === "string" ? `${from}: ` : ""}${shown(msg)}`;
  const details = Object.entries(line)
    .filter(([name]) => !UNSAID.has(name))
    .map(([name, value]) => ` ${name}=${shown(value)}`);
  const about = oneLine(cleanText(`${text}${details.join("")}`));
  return `${clock} ${mark} ${about}${cleanText(reasonOf(err))}\n`;
}

/** A warning or worse. */
export function isWarning(json: string): boolean {
  const line = tryJson(json);
  return isRecord(line) && Number(line["level"]) >= WARN;
}

/** Only an error that nobody foresaw is shown with its stack. */
function reasonOf(error: unknown): string {
  if (!isRecord(error)) return "";
  const { type, message, stack } = error;
  return `: ${type === "BotError" ? oneLine(shown(message)) : shown(stack ?? message)}`;
}

function shown(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}
