import { RE2JS } from "re2js";
import type { Encoder } from "../../security/encoder.ts";
import { cleanText } from "../../security/sanitize.ts";
import { entriesIn, type Entry, type System } from "./entries.ts";
import type { Severity } from "./line-text.ts";
import { type Batch, type Mined, Miner } from "./miner.ts";
import { timeOfLine } from "./time-of-line.ts";

/** What is to be made of lines. */
export interface Wanted {
  /** RE2; case does not count. It is matched on lines as they may be shown. */
  pattern: string | undefined;
  /** Lines as they are, the newest so many; undefined: templates. */
  lines: number | undefined;
  /** Leaves out lines that a secret was taken out of: a query saw it, and its answer must not tell of it. */
  withoutSecrets: boolean;
  /** ms since 1970 */
  now: number;
}

export interface RawLine {
  at: number | undefined;
  service: string;
  text: string;
}

export interface Outcome extends Mined {
  /** The oldest first. */
  raw: RawLine[];
}

/** One answer of a system, and what is new in it. */
export interface PageRead {
  /** Undefined: the answer holds no lines but something else. */
  received: number | undefined;
  fresh: number;
  /** The time of the oldest line, in the system's unit. */
  oldest: string | undefined;
}

const MAX_LINE = 1_000;
/** At the beginning of a line. */
const STAMP_LENGTH = 80;

/** @throws RE2JSException for a pattern that is none */
export function createReading(wanted: Wanted, encoder: Encoder) {
  const { pattern, lines: most, withoutSecrets, now } = wanted;
  const regex = pattern === undefined ? undefined : RE2JS.compile(pattern, RE2JS.CASE_INSENSITIVE);
  /** Each line is made safe to show before anything is made of it, and not only examples. */
  const isEach = regex !== undefined || most !== undefined || withoutSecrets;
  const miner = new Miner();
  let raw: RawLine[] = [];
  let cursor: Cursor | undefined;

  const matches = (line: string) => regex?.test(line) ?? true;

  function keep(lines: readonly RawLine[]): void {
    if (most === undefined) return;
    raw.push(...lines.slice(-most));
    if (raw.length > 4 * most) raw = newest(raw, most);
  }

  function takeEntries(entries: readonly Entry[]): void {
    const severity = entries[0]?.severity;
    // Behind a line break within a line stands what belongs to it.
    const texts = entries.map(({ line }) => cleanText(line).replaceAll("\n", "\n\t"));
    const lines = (safe: readonly string[]) =>
      entries.map(({ at, service }, index) => ({ at, service, text: safe[index] ?? "" }));
    if (isEach) {
      const found = lines(encodeLines(texts, encoder)).filter(
        ({ text }, index) => matches(text) && !(withoutSecrets && text !== texts[index]),
      );
      keep(found);
      miner.mine(batchOf(found, severity));
      return;
    }
    const batch = batchOf(lines(texts), severity);
    const { bytes } = batch;
    miner.mine({ ...batch, encoded: (from, to) => encodedIn(bytes, from, to, encoder) });
  }

  return {
    /** Takes what is new in an answer; `begin`: it is the first of a window. */
    page(system: System, text: string, begin: boolean): PageRead {
      if (begin) cursor = undefined;
      const entries = entriesIn(system, text);
      if (entries === undefined) return { received: undefined, fresh: 0, oldest: undefined };
      const fresh = newIn(entries, cursor);
      cursor = cursorBehind(entries, cursor);
      const groups = Map.groupBy(fresh, ({ service, severity }) => `${severity}\n${service}`);
      for (const group of groups.values())
        takeEntries(group.toSorted((a, b) => (a.key < b.key ? -1 : Number(a.key > b.key))));
      return {
        received: entries.length,
        fresh: fresh.length,
        oldest: cursor?.oldest.toString(),
      };
    },

    /** Takes lines of a file, the oldest first. */
    block(bytes: Buffer, from: number, to: number, service: string): void {
      const encoded = (start: number, end: number) => encodedIn(bytes, start, end, encoder);
      if (isEach) {
        const lines = encoded(from, to)
          .split("\n")
          .filter((line) => line !== "" && matches(line));
        const at = (line: string) => timeOfLine(line.slice(0, STAMP_LENGTH), now);
        miner.mine(batchOf(lines.map((text) => ({ at: at(text), service, text }))));
        // They say themselves when they were written, and stand in order.
        keep(lines.map((text) => ({ at: undefined, service, text })));
        return;
      }
      const timeAt = (at: number) =>
        timeOfLine(bytes.toString("latin1", at, at + STAMP_LENGTH), now);
      miner.mine({ bytes, from, to, service, timeAt, encoded });
    },

    result(): Outcome {
      const lines = newest(raw, most ?? 0).map((line) => ({ ...line, text: short(line.text) }));
      return { ...miner.result(), raw: lines };
    },
  };
}

function batchOf(lines: readonly RawLine[], severity?: Severity): Batch {
  const bytes = Buffer.from(lines.map(({ text }) => text).join("\n"));
  const times = new Map<number, number | undefined>();
  let offset = 0;
  for (const { at, text } of lines) {
    times.set(offset, at);
    offset += Buffer.byteLength(text) + 1;
  }
  return {
    bytes,
    from: 0,
    to: bytes.length,
    service: lines[0]?.service ?? "",
    severity,
    timeAt: (at) => times.get(at),
    encoded: (from, to) => bytes.toString("utf8", from, to),
  };
}

/** The bytes as text that may be shown, with what stands around them in view. */
function encodedIn(bytes: Buffer, from: number, to: number, encoder: Encoder): string {
  const [before = "", middle = "", behind = ""] = [
    [Math.max(0, from - encoder.reach), from],
    [from, to],
    [to, to + encoder.reach],
  ].map(([start, end]) => cleanText(bytes.toString("utf8", start, end)));
  const text = before + middle + behind;
  return encoder.encodeWithin(text, before.length, before.length + middle.length);
}

/** Where the answers so far end: pages follow each other by time, and several lines may have the same. */
interface Cursor {
  oldest: bigint;
  /** Of the lines of that time, and how many of each. */
  ids: Map<string, number>;
}

function newIn(entries: readonly Entry[], cursor: Cursor | undefined): readonly Entry[] {
  if (cursor === undefined) return entries;
  const left = new Map(cursor.ids);
  return entries.filter(({ key, id }) => {
    if (key !== cursor.oldest) return key < cursor.oldest;
    const count = left.get(id) ?? 0;
    left.set(id, count - 1);
    return count <= 0;
  });
}

function cursorBehind(entries: readonly Entry[], before: Cursor | undefined): Cursor | undefined {
  if (entries.length === 0) return before;
  let oldest = entries[0]?.key ?? 0n;
  for (const { key } of entries) if (key < oldest) oldest = key;
  const ids = new Map<string, number>();
  for (const { key, id } of entries) if (key === oldest) ids.set(id, (ids.get(id) ?? 0) + 1);
  return { oldest, ids };
}

/** Those without a time stand where they came. */
function newest(lines: readonly RawLine[], most: number): RawLine[] {
  if (most === 0) return [];
  return lines.toSorted((a, b) => (a.at ?? b.at ?? 0) - (b.at ?? a.at ?? 0)).slice(-most);
}

function short(text: string): string {
  const more = text.length - MAX_LINE;
  return more <= 0 ? text : `${text.slice(0, MAX_LINE).toWellFormed()} [… ${more} more characters]`;
}

/**
 * Each text as it may be shown, worked on together: a secret may go over several of them. Where one did, and took line breaks with
 * it, the halves are looked at with the rest still in view.
 */
function encodeLines(texts: readonly string[], encoder: Encoder): string[] {
  const whole = texts.join("\n");
  const starts: number[] = [];
  let offset = 0;
  for (const text of texts) {
    starts.push(offset);
    offset += text.length + 1;
  }
  const breaksIn = (text: string) => text.split("\n").length - 1;

  function within(first: number, last: number): string[] {
    const [from = 0, end = 0] = [starts[first], starts[last]];
    const to = end + (texts[last]?.length ?? 0);
    const clean = encoder.encodeWithin(whole, from, to);
    if (first === last) return [clean];
    const breaks = texts.slice(first, last + 1).map(breaksIn);
    const wanted = breaks.reduce((sum, each) => sum + each, last - first);
    if (breaksIn(clean) === wanted) {
      const lines = clean.split("\n");
      return breaks.map((each) => lines.splice(0, each + 1).join("\n"));
    }
    const middle = Math.floor((first + last) / 2);
    return [...within(first, middle), ...within(middle + 1, last)];
  }

  return texts.length === 0 ? [] : within(0, texts.length - 1);
}
