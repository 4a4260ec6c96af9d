import { cleanText } from "./sanitize.ts";
import { looksRandom } from "./redaction-assignments.ts";
import {
  createValueFinder,
  type HeldSpan,
  type HeldSecret,
  literal,
} from "./redaction-encodings.ts";
import { rulesFor, SECRET_RULES } from "./redaction-rules.ts";
import { createTransformFinder } from "./redaction-transforms.ts";

/** Shorter values occur in ordinary text by chance: "redis", "1234". */
const SHORTEST_HELD = 6;
/** Shorter lines of a value occur in other texts. */
const SHORTEST_LINE = 12;
/** Removing something can complete the shape of something beside it, so the text is read until nothing is found. */
const MAX_PASSES = 8;
/** Stands for a text with a word of over 4 MB, in which V8 gives up matching. What was not checked is not shown. */
const UNCHECKED = "unchecked";

/**
 * Removes secrets from text: these values and the shapes in `SECRET_RULES`.
 * What it cannot find: part of a value (so cut with an `Encoder`), a value disguised on purpose (reversed, ciphered,
 * compressed), a weak password without a name beside it.
 */
export function createRedactor(held: readonly HeldSecret[]) {
  const values = held.flatMap(valuesOf);
  const isLong = ({ value }: HeldSecret): boolean => value.length >= SHORTEST_HELD;
  const long = values.filter(isLong);
  const finders = long.map(({ name, value }) => ({ name, find: createValueFinder(value) }));
  const findTransformed = createTransformFinder(long);
  const names = [...values, ...SECRET_RULES].map(({ name }) => literal(name)).concat(UNCHECKED);
  const placeholder = new RegExp(String.raw`\[secret:(?:${[...new Set(names)].join("|")})\]`, "g");

  function findings(text: string): HeldSpan[] {
    try {
      const all = findTransformed(text);
      for (const { name, find } of [...finders, ...rulesFor(text)]) {
        for (const [start, end] of find(text)) all.push({ start, end, name });
      }
      return all.length === 0 ? [] : merge(outside(all, text, placeholder));
    } catch {
      return [{ start: 0, end: text.length, name: UNCHECKED }];
    }
  }

  function redactWithin(text: string, from: number, to: number): string {
    let part: Part = { text, from, to };
    for (let pass = 0; pass < MAX_PASSES; pass += 1) {
      const found = findings(part.text);
      if (found.length === 0) break;
      part = replace(part, found);
    }
    return part.text.slice(part.from, part.to);
  }
  const redactAsIs = (text: string): string => redactWithin(text, 0, text.length);

  return {
    /**
     * The text with `[secret:NAME]` for every held value in every encoding, and for everything that has a secret's shape.
     * Redacting twice is redacting once. It never throws.
     */
    redact(text: string): string {
      // What people type is not cleaned before: a value with something unseen in its middle is found only without it.
      const clean = cleanText(text);
      const redacted = clean === text ? text : redactAsIs(clean);
      return redacted === clean ? redactAsIs(text) : redacted;
    },
    /** What `redact` leaves of the text between two places; a placeholder that lies across one of them is part of it. */
    redactWithin,
    /** The names of what `redact` removes, each once. */
    find: (text: string): string[] => [...new Set(findings(text).map(({ name }) => name))],
    /** Names of held values that are too short to look for: they would be found in ordinary words. */
    ignored: [...new Set(values.filter((secret) => !isLong(secret)).map(({ name }) => name))],
  };
}

/** What to look for: the value without outer space, what `cleanText` leaves of it, and each of its lines. */
function valuesOf(secret: HeldSecret): HeldSecret[] {
  const name = secret.name.replaceAll(/[^\w.-]/g, "_");
  const values = [secret.value, cleanText(secret.value)].map((value) => value.trim());
  return [...new Set([...values, ...values.flatMap(linesOf)])].map((value) => ({ name, value }));
}

/** Variables often hold a file in one line, with `\n` spelled out. */
const LINE_END = /[\r\n]+|(?:\\+[rn])+/;
/** `-----BEGIN PUBLIC KEY-----`, a row of dashes, a word. */
const BORDER = /^-{2,}.*-{2,}$/;
const WORD = /^[^\p{L}\p{N}]*(?:\p{Lu}?\p{Ll}*|\p{Lu}*)[^\p{L}\p{N}]*$/u;
/** `"type": "service_account",` */
const SETTING = /^["']?[\w.-]+["']?\s*[:=]\s*["']?(?<value>[^"'=\s][^"']*)["']?[,;]?$/;

/**
 * The lines of a value that are secrets each: logs and `grep -n` put something before every line. Not those that stand
 * in other texts too.
 */
function linesOf(value: string): string[] {
  const lines = value.split(LINE_END).map((line) => line.trim());
  if (lines.length === 1) return [];
  return lines.filter((line) => {
    const set = SETTING.exec(line)?.groups?.["value"];
    const isCommon =
      BORDER.test(line) || WORD.test(line) || (set !== undefined && !looksRandom(set));
    return line.length >= SHORTEST_LINE && !isCommon;
  });
}

/** Without what begins or lies inside a placeholder of an earlier pass; none ends inside one. */
function outside(findings: HeldSpan[], text: string, placeholder: RegExp): HeldSpan[] {
  /** For each place in a placeholder, where that ends. */
  const until = new Uint32Array(text.length + 1);
  for (const match of text.matchAll(placeholder)) {
    const end = match.index + match[0].length;
    until.fill(end, match.index, end);
  }
  const isWithin = (at: number): boolean => until[at] !== 0 && until[at] === until[at - 1];
  return findings.flatMap(({ start, end, name }) => {
    const wholeEnd = isWithin(end) ? (until[end] ?? end) : end;
    const isInside = isWithin(start) || (until[start] ?? 0) >= wholeEnd;
    return isInside ? [] : [{ start, end: wholeEnd, name }];
  });
}

/** In order; what overlaps becomes one, named after what was found first (held before rules), as do parts of one value. */
function merge(findings: HeldSpan[]): HeldSpan[] {
  const ranked = findings.map((finding, rank) => ({ ...finding, rank }));
  const merged: typeof ranked = [];
  for (const next of ranked.toSorted((a, b) => a.start - b.start || b.end - a.end)) {
    const last = merged.at(-1);
    const isPart = next.start === last?.end && next.name === last.name;
    if (last === undefined || (next.start >= last.end && !isPart)) {
      merged.push(next);
      continue;
    }
    last.end = Math.max(last.end, next.end);
    if (next.rank < last.rank) Object.assign(last, { name: next.name, rank: next.rank });
  }
  return merged;
}

interface Part {
  text: string;
  from: number;
  to: number;
}

/** With a placeholder for each finding. A place within a finding moves to that end of it with which more is in between. */
function replace({ text, from, to }: Part, findings: HeldSpan[]): Part {
  const result = { text: "", from, to };
  let at = 0;
  for (const { start, end, name } of findings) {
    result.text += text.slice(at, start);
    const began = result.text.length;
    result.text += `[secret:${name}]`;
    const shift = result.text.length - end;
    if (end <= from) result.from = from + shift;
    else if (start < from) result.from = began;
    if (end <= to) result.to = to + shift;
    else if (start < to) result.to = result.text.length;
    at = end;
  }
  result.text += text.slice(at);
  return result;
}
