import type { Range } from "./redaction-encodings.ts";

/** What a text was made into, and where each part of that stands in the text. */
export interface View {
  text: string;
  /** The places of the searched text that show what is from `from` to before `to` in this one. */
  rangesOf(from: number, to: number): Range[];
}

/** Fewer numbers in a row are no list of bytes. */
const SHORTEST_LIST = 6;
/** A dump has no more bytes in a line; what follows them is text. */
const BYTES_PER_LINE = 16;
/** Space between two cells of a line, or two numbers of a list: one range goes over it. */
const WIDEST_GAP = 6;

const NUMBER = String.raw`(?:0o?|\\{1,4}0?)?\d{1,3}`;
/** Numbers with commas, semicolons, spaces, line ends or backslashes between. */
const LIST = new RegExp(
  String.raw`(?<![\w.])${NUMBER}(?:(?:[,;]\s{0,8}|\s{1,8}|(?=\\))${NUMBER}(?!\d)){${SHORTEST_LIST - 1},}`,
  "g",
);
/** An offset, as xxd, hexdump and od begin a line, and the rest of the line. */
const DUMPED = /^[ \t|>]*(?<offset>[0-9a-f]{6,16})(?<colon>:?)(?<rest>[ \t][^\n]*)$/gim;
const CELL = / {1,2}(?<digits>[0-9a-f]+)(?=\s|$|\|)/iy;

interface Cell {
  byte: number;
  start: number;
  end: number;
  /** Where the same byte stands in the column of text, if there is one. */
  glyph: number | undefined;
}

/** All bytes that dumps and lists in the text show, one character for each; each way of reading them on its own. */
export function viewsOf(text: string): View[] {
  return [...dumpViews(text), ...listViews(text)].filter((view) => view.text !== "");
}

function viewOf(cells: readonly Cell[]): View {
  return {
    text: cells.map(({ byte }) => String.fromCharCode(byte)).join(""),
    rangesOf(from, to) {
      const shown = cells.slice(from, to);
      const glyphs = shown.flatMap(({ glyph }) => (glyph === undefined ? [] : [glyph]));
      return [
        ...joined(shown.map(({ start, end }) => [start, end] as const)),
        ...joined(glyphs.map((at) => [at, at + 1] as const)),
      ];
    },
  };
}

/** Ranges with no more than the space of a cell between them as one. */
function joined(ranges: readonly Range[]): Range[] {
  const result: Range[] = [];
  for (const [start, end] of ranges.toSorted((a, b) => a[0] - b[0])) {
    const last = result.at(-1);
    if (last !== undefined && start - last[1] <= WIDEST_GAP) {
      result[result.length - 1] = [last[0], Math.max(end, last[1])];
    } else result.push([start, end]);
  }
  return result;
}

function listViews(text: string): View[] {
  return Array.from(text.matchAll(LIST)).flatMap(({ 0: list, index }) => {
    const numbers = Array.from(list.matchAll(/\d+/g), (match) => ({
      digits: match[0],
      start: index + match.index,
    }));
    return [10, 8].map((base) => {
      const isOf = base === 8 ? /^[0-7]+$/ : /^\d+$/;
      return viewOf(
        numbers.map(({ digits, start }) => {
          const value = isOf.test(digits) ? Number.parseInt(digits, base) : 0;
          const end = start + digits.length;
          return { byte: value < 256 ? value : 0, start, end, glyph: undefined };
        }),
      );
    });
  });
}

/** One view for each way in which dumps write bytes: in order, words with their last byte first, octal, as characters. */
function dumpViews(text: string): View[] {
  const inOrder: Cell[] = [];
  const swapped: Cell[] = [];
  const octal: Cell[] = [];
  const characters: Cell[] = [];
  for (const match of text.matchAll(DUMPED)) {
    const { rest = "" } = match.groups ?? {};
    const at = match.index + match[0].length - rest.length;
    const { words, end } = wordsOf(rest);
    const bytes = words.flatMap((word) => hexBytes(word, at));
    const glyphs = glyphsOf(rest, end, at, bytes.length);
    inOrder.push(...bytes.map((cell, i) => ({ ...cell, glyph: glyphs[i] })));
    swapped.push(...words.flatMap((word) => hexBytes(word, at).toReversed()));
    octal.push(...words.flatMap((word) => octalBytes(word, at)));
    characters.push(...characterCells(rest, at));
  }
  return [inOrder, swapped, octal, characters].map(viewOf);
}

interface Word {
  digits: string;
  /** In the rest of its line. */
  start: number;
}

function wordsOf(rest: string): { words: Word[]; end: number } {
  const words: Word[] = [];
  let count = 0;
  CELL.lastIndex = 0;
  for (let end = 0; ; end = CELL.lastIndex) {
    const digits = count < BYTES_PER_LINE ? CELL.exec(rest)?.groups?.["digits"] : undefined;
    if (digits === undefined || digits.length > 16) return { words, end };
    words.push({ digits, start: CELL.lastIndex - digits.length });
    count += digits.length % 3 === 0 ? digits.length / 3 : digits.length / 2;
  }
}

function hexBytes({ digits, start }: Word, at: number): Cell[] {
  if (digits.length % 2 !== 0) return [];
  return Array.from({ length: digits.length / 2 }, (_, i) => ({
    byte: Number.parseInt(digits.slice(2 * i, 2 * i + 2), 16),
    start: at + start + 2 * i,
    end: at + start + 2 * i + 2,
    glyph: undefined,
  }));
}

/** A byte as three digits, or two bytes as six, the last byte first. */
function octalBytes({ digits, start }: Word, at: number): Cell[] {
  if (!/^(?:[0-7]{3}|[01][0-7]{5})$/.test(digits)) return [];
  const value = Number.parseInt(digits, 8);
  const cell = { start: at + start, end: at + start + digits.length, glyph: undefined };
  if (digits.length === 3) return [{ ...cell, byte: value & 0xff }];
  return [
    { ...cell, byte: value & 0xff },
    { ...cell, byte: value >> 8 },
  ];
}

/**
 * The column of text beside the bytes: framed by `|` or `>`, or at the line's end behind two spaces and more, with which
 * xxd fills up a short line.
 */
function glyphsOf(rest: string, end: number, at: number, count: number): number[] {
  const frame = /^ *[|>]/.exec(rest.slice(end))?.[0].length;
  if (frame === undefined && !rest.startsWith("  ", end)) return [];
  const from = end + (frame ?? Math.max(2, rest.length - end - count));
  const there = Math.max(0, Math.min(count, rest.length - from));
  return Array.from({ length: there }, (_, i) => at + from + i);
}

const ESCAPED: Record<string, number> = {
  "\\0": 0,
  "\\a": 7,
  "\\b": 8,
  "\\t": 9,
  "\\n": 10,
  "\\v": 11,
  "\\f": 12,
  "\\r": 13,
};

/** The cells of `od -c`: four characters wide, an escape or a character at the right. */
function characterCells(rest: string, at: number): Cell[] {
  const cells = rest.padEnd(Math.ceil(rest.length / 4) * 4).match(/[^]{4}/g) ?? [];
  if (cells.length > BYTES_PER_LINE || !cells.every((cell) => cell.startsWith(" "))) return [];
  return cells.map((cell, i) => {
    const shown = cell.trim();
    const byte = /^[0-7]{3}$/.test(shown) ? Number.parseInt(shown, 8) : ESCAPED[shown];
    return {
      byte: (byte ?? (shown === "" ? 0x20 : shown.charCodeAt(shown.length - 1))) & 0xff,
      start: at + 4 * i + 1,
      end: Math.min(at + 4 * i + 4, at + rest.length),
      glyph: undefined,
    };
  });
}
