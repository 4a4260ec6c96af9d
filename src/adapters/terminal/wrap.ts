import { eastAsianWidth } from "get-east-asian-width";
import stringWidth from "string-width";
import wrapAnsi from "wrap-ansi";

/** Ends a line of exact text that goes on in the next one, so that spaces before the break can be seen and counted. */
export const CONTINUED = "↵";

/** Terminals disagree on how wide joined emoji are drawn: on this screen they stand side by side. */
export function apart(text: string): string {
  return text.replaceAll(/\u200d|\ufe0f/g, "");
}

/** Each of them takes one cell, whatever stands beside it. What others take is looked up in tables that take long to load. */
const NARROW =
  /^[ -~\u00a1-\u00ac\u00ae-\u02ff\u2010-\u2027\u2030-\u205e\u2190-\u2319\u2500-\u25fc]*$/;

/** Terminal cells that `text` takes; colours take none. */
export function widthOf(text: string): number {
  return NARROW.test(text) ? text.length : stringWidth(apart(text));
}

/**
 * Terminal cells of one character, never less than it takes. Measuring characters together is exact and takes 50 times as long:
 * too long for a whole answer.
 */
function cellsOf(char: string): number {
  if (char <= "~") return 1;
  if (/^[\p{Mn}\p{Me}\p{Cf}]$/u.test(char)) return char === "\u20e3" ? 1 : 0;
  return eastAsianWidth(char.codePointAt(0) ?? 0);
}

/** `text` in pieces of at most `columns` cells, at least one character each; one empty piece for an empty text. */
function pieces(text: string, columns: number): string[] {
  const done: string[] = [];
  let start = 0;
  let end = 0;
  let width = 0;
  for (const char of text) {
    const cells = cellsOf(char);
    if (end > start && width + cells > columns) {
      done.push(text.slice(start, end));
      start = end;
      width = 0;
    }
    width += cells;
    end += char.length;
  }
  return [...done, text.slice(start)];
}

/**
 * Breaks one line of exact text without losing a byte: every line but the last ends with `CONTINUED`, and taking those
 * away and joining the lines gives `text` again.
 */
export function foldExact(text: string, columns: number): string[] {
  if (widthOf(text) <= columns) return [text];
  const lines = pieces(text, columns - CONTINUED.length);
  return lines.map((line, index) => (index < lines.length - 1 ? line + CONTINUED : line));
}

/**
 * Breaks prose between words, and within a word only when it is longer than a line. Keeps line breaks; a line that is
 * indented goes on indented. Colours go on in the next line.
 */
export function wrapWords(text: string, columns: number): string[] {
  return apart(text)
    .split("\n")
    .flatMap((line) => {
      const indent = (/^ */.exec(line)?.[0] ?? "").slice(0, columns / 2);
      const room = Math.max(1, columns - indent.length);
      const rows = isQuick(line)
        ? wrapPlain(line, room)
        : wrapAnsi(line, room, { hard: true }).split("\n");
      return rows.map((each) => (each === "" ? "" : indent + each));
    });
}

/** The library is quick with ASCII, and needed for colours. */
function isQuick(line: string): boolean {
  return /\P{ASCII}/u.test(line) && !line.includes("\u001b") && !line.includes("\u009b");
}

function quickWidth(text: string): number {
  let width = 0;
  for (const char of text) width += cellsOf(char);
  return width;
}

function wrapPlain(line: string, columns: number): string[] {
  const rows: string[] = [];
  let row = "";
  let used = 0;
  for (const word of line.trim().split(/ +/)) {
    const width = quickWidth(word);
    if (row !== "" && used + 1 + width <= columns) {
      row += ` ${word}`;
      used += 1 + width;
      continue;
    }
    if (row !== "") rows.push(row);
    const parts = pieces(word, columns);
    rows.push(...parts.slice(0, -1));
    row = parts.at(-1) ?? "";
    used = quickWidth(row);
  }
  return [...rows, row];
}

/** The last `count` lines of a long text that is broken between words, in time that its length does not change. */
export function tailLines(text: string, columns: number, count: number): string[] {
  // More characters than fit on so many lines, and then some, so that breaks stay where they are as the text grows.
  const tail = text.slice(-4 * columns * count).trimEnd();
  const paragraphs = tail.split("\n").slice(-count);
  return wrapWords(paragraphs.join("\n"), columns).slice(-count);
}

/** `text` on one line of at most `columns` cells, with `…` where it was cut. Never for what somebody approves. */
export function clip(text: string, columns: number): string {
  const line = text.replaceAll(/\s*\n\s*/g, " ");
  if (widthOf(line) <= columns) return line;
  return `${pieces(line, columns - 1)[0]}…`;
}
