import { folded, shortened } from "../core/text.ts";
import type { Encoder } from "../security/encoder.ts";
import { cleanText } from "../security/sanitize.ts";

/** The part of a job's log that says why it failed. */

export interface LogTail {
  /** The lines that say that they are errors, each once, the last ones. */
  errors: string[];
  /** What stood before and around the last of them; without any the end. The same line in a row once, with (×N). */
  lines: string[];
}

/** Read of a log, from its end. Redacting takes time. */
const MAX_READ = 256 * 1024;
const MAX_LINE = 300;
const MAX_ERRORS = 5;
const BEFORE = 30;
const BEHIND = 5;
/** When CI wrote the line. */
const STAMP = /^\uFEFF?\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z (?:\d\d[A-Z] ?\+?)?/;
/** How GitHub marks folds, and GitLab its sections. */
const MARKS = /^##\[(?:end)?group\]|^##\[section\]|^section_(?:start|end):\d+:[^\r]*\r?/;
const MARKED_ERROR = /^(?:##\[error\]|ERROR: )/;
const LIKE_ERROR = /\b(?:error|fatal|panic|exception|failed|traceback)\b/i;
/** Says only that something failed. */
const EMPTY_WORDS =
  /^(?:Process completed with exit code \d+|Job failed: exit (?:code|status) \d+)\.?$/;

export async function tailOf(log: string, encoder: Encoder): Promise<LogTail> {
  const end = log.slice(-MAX_READ);
  // Half a line, and half a secret in it, is worth nothing.
  const whole = end.length < log.length ? end.slice(end.indexOf("\n") + 1) : end;
  const lines = (await encoder.aside.encode(cleanText(whole)))
    .split("\n")
    .map((line) => line.replace(STAMP, "").replace(MARKS, "").trimEnd())
    .filter((line) => line !== "");
  const marked = lines.flatMap((line, at) => (MARKED_ERROR.test(line) ? [at] : []));
  const last = marked.at(-1) ?? lines.findLastIndex((line) => LIKE_ERROR.test(line));
  const stop = last < 0 ? lines.length : last + 1 + BEHIND;
  const start = Math.max(0, (last < 0 ? lines.length : last) - BEFORE);
  const said = marked.map((at) => (lines[at] ?? "").replace(MARKED_ERROR, ""));
  const telling = said.filter((line) => !EMPTY_WORDS.test(line));
  const like = lines.slice(start, stop).filter((line) => LIKE_ERROR.test(line));
  const errors = telling.length > 0 ? telling : like.map((line) => line.replace(MARKED_ERROR, ""));
  const kept = errors.filter((line) => !EMPTY_WORDS.test(line));
  return {
    errors: [...new Set(kept.length > 0 ? kept : said)].slice(-MAX_ERRORS).map(short),
    lines: folded(lines.slice(start, stop).map(short)),
  };
}

function short(line: string): string {
  return shortened(line, MAX_LINE);
}
