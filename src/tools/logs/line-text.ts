import type { Finding } from "../../core/finding.ts";
import { isRecord, tryParse } from "../decode.ts";
import { KEYS } from "./scan.ts";

/** A log line as people would write it, and how bad it says that it is. */

export type Severity = Finding["severity"];

/** What JSON says besides its message and level, each as `key=value`. */
const MAX_PAIRS = 6;
const MAX_PAIR = 60;
const TIME_KEY = /^(?:@?time(?:stamp)?|ts|t|date|datetime)$/i;

/** Of JSON its level, message and other keys; other lines as they are. */
export function lineText(line: string): string {
  if (!line.startsWith("{")) return line;
  const value = tryParse(line);
  if (!isRecord(value)) return line;
  const texts: string[] = [];
  const pairs: string[] = [];
  for (const [key, each] of Object.entries(value)) {
    if (TIME_KEY.test(key)) continue;
    const text = typeof each === "string" ? each : (JSON.stringify(each) ?? "");
    const isText = Object.hasOwn(KEYS, key) && typeof each === "string";
    if (isText) texts.push(text);
    else if (pairs.length < MAX_PAIRS)
      pairs.push(`${key}=${JSON.stringify(text.slice(0, MAX_PAIR))}`);
  }
  return [...texts, ...pairs].join(" ");
}

const ERROR = /^(?:f|e|fatal|panic|crit(?:ical)?|emerg(?:ency)?|alert|err(?:or)?|severe|[0-3])$/i;
const WARNING = /^(?:w|warn(?:ing)?|4)$/i;

/** By a level's usual names, and by the numbers of syslog. */
export function severityOfLevel(level: string): Severity {
  if (ERROR.test(level)) return "error";
  return WARNING.test(level) ? "warning" : "info";
}

const LEVEL =
  /(?:^|[\s[(<|])(FATAL|PANIC|CRITICAL|CRIT|EMERG|ALERT|ERROR|ERR|SEVERE|WARNING|WARN|INFO|NOTICE|DEBUG|TRACE)(?=[\s\])>|:,-]|$)|(?:\[|level"?[=:] ?"?)(fatal|panic|critical|crit|emerg|alert|error|err|severe|warning|warn|info|notice|debug|trace)\b|^([IWEF])\d{4} /;
const TROUBLE =
  /(?<![\w-])(?:error|fatal|panic|critical|exception|traceback|fail(?:ed|ure|s)?|refused|denied|timed? ?-?out|unable|cannot|could not|can't|out of memory|oom|killed|segfault|corrupt(?:ed)?|unreachable|aborted|deadlock)(?![\w-])|" 5\d\d /i;
/** `NullPointerException` */
const THROWN = /[a-z](?:Error|Exception)\b/;
/** A level stands near the beginning. */
const HEAD = 160;

/** As its level says; without one, as its words do. */
export function severityOfLine(text: string): Severity {
  const [, upper, lower, klog] = LEVEL.exec(text.slice(0, HEAD)) ?? [];
  const level = upper ?? lower ?? klog;
  if (level !== undefined) return severityOfLevel(level);
  if (/\bwarn(?:ing)?\b/i.test(text.slice(0, HEAD))) return "warning";
  const begin = text.slice(0, 1_000);
  return TROUBLE.test(begin) || THROWN.test(begin) ? "error" : "info";
}
