import { oneLine } from "../core/text.ts";
import type { Finding } from "../core/finding.ts";
import { gradeOf } from "../core/severity-words.ts";
import { isRecord } from "./decode.ts";
import type { Encoder } from "../security/encoder.ts";

/** How the labels of series and alerts are written in results: from outside, on one line, no longer than a reader takes in. */

export type Labels = Readonly<Record<string, string>>;

/** Only what is a label: names to texts. */
export function labelsOf(value: unknown): Labels {
  if (!isRecord(value)) return {};
  const pairs = Object.entries(value).filter(
    (pair): pair is [string, string] => typeof pair[1] === "string",
  );
  return Object.fromEntries(pairs);
}

/** What the usual values of the label `severity` come to: `error` for what somebody is woken for. */
export function severityOf({ severity = "" }: Labels): Finding["severity"] {
  const grade = gradeOf(severity);
  if (grade === "sev1" || grade === "sev2") return "error";
  return grade === "quiet" ? "info" : "warning";
}

const MAX_LABELS = 240;
const MAX_VALUE = 80;
const PLAIN = /^[\w.:/@+-]+$/;

/** The labels that all of them have with the same value. */
export function sharedLabels(all: readonly Labels[]): Labels {
  const [first, ...rest] = all;
  if (first === undefined || rest.length === 0) return {};
  const shared = Object.entries(first).filter(([name, value]) =>
    rest.every((labels) => labels[name] === value),
  );
  return Object.fromEntries(shared);
}

/** `http_requests_total code=500 pod=a`, without the labels that were said before; without any: `(no labels)`. */
export function labelText(labels: Labels, encoder: Encoder, said: Labels = {}): string {
  const { __name__: name, ...others } = labels;
  const pairs = Object.entries(others)
    .filter(([label]) => !Object.hasOwn(said, label))
    .map(
      ([label, value]) =>
        `${PLAIN.test(label) ? label : quote(label)}=${valueText(value, encoder)}`,
    );
  const shown = name === undefined || Object.hasOwn(said, "__name__") ? pairs : [name, ...pairs];
  return shown.length === 0 ? "(no labels)" : clip(shown.join(" "), MAX_LABELS, encoder);
}

/** Text of others on one line, cut only once secrets are out of it. */
export function clip(text: string, maxLength: number, encoder: Encoder): string {
  const safe = oneLine(encoder.encode(text)).toWellFormed();
  return safe.length > maxLength ? `${safe.slice(0, maxLength - 1).toWellFormed()}…` : safe;
}

function valueText(value: string, encoder: Encoder): string {
  const short = value.length > MAX_VALUE ? clip(value, MAX_VALUE, encoder) : value;
  return PLAIN.test(short) ? short : quote(short);
}

function quote(text: string): string {
  return JSON.stringify(text);
}

/**
 * Each text as it may be matched, cut or counted: without secrets, on one line. Worked on beside the event loop, all at
 * once, since there may be thousands.
 */
export async function encodeEach(texts: readonly string[], encoder: Encoder): Promise<string[]> {
  if (texts.length === 0) return [];
  const joined = texts.map((text) => oneLine(text)).join("\n");
  const lines = (await encoder.aside.encode(joined)).split("\n");
  // A secret that went over several of them took their line breaks with it.
  return lines.length === texts.length ? lines : texts.map((text) => oneLine(encoder.encode(text)));
}
