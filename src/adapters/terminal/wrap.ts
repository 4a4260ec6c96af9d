/** Ends a line of exact text that goes on in the next one, so that spaces before the break can be seen and counted. */
export const CONTINUED = "↵";

// What terminals draw two cells wide, by block: the ranges that Node's own line editor uses, and all that is an emoji
// by itself. JavaScript's regular expressions do not know East_Asian_Width.
const WIDE =
  /[\p{Emoji_Presentation}\u1100-\u115F\u2E80-\u303E\u3041-\uA4CF\uA960-\uA97C\uAC00-\uD7A3\uF900-\uFAFF\uFE10-\uFE19\uFE30-\uFE6B\uFF01-\uFF60\uFFE0-\uFFE6\u{1F300}-\u{1F64F}\u{1F680}-\u{1F6FF}\u{1F900}-\u{1F9FF}\u{20000}-\u{3FFFD}]/u;
const COMBINING = /\p{Mn}|\p{Me}|\p{Cf}/u;
const PLAIN = /^[\x20-\x7E]*$/;

function widthOfChar(char: string): number {
  if (WIDE.test(char)) return 2;
  return COMBINING.test(char) ? 0 : 1;
}

/** Terminal cells that `text` takes; without colours in it. */
export function widthOf(text: string): number {
  if (PLAIN.test(text)) return text.length;
  let width = 0;
  for (const char of text) width += widthOfChar(char);
  return width;
}

/** `text` in pieces of at most `columns` cells, at least one character each; one empty piece for an empty text. */
function pieces(text: string, columns: number): string[] {
  const done: string[] = [];
  let start = 0;
  let end = 0;
  let width = 0;
  for (const char of text) {
    const wide = widthOfChar(char);
    if (end > start && width + wide > columns) {
      done.push(text.slice(start, end));
      start = end;
      width = 0;
    }
    width += wide;
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

function wrapParagraph(paragraph: string, columns: number): string[] {
  const lines: string[] = [];
  let line = "";
  for (const word of paragraph.match(/\S+\s*|\s+/g) ?? []) {
    const wide = widthOf(word.trimEnd());
    if (line !== "" && widthOf(line) + wide > columns) {
      lines.push(line.trimEnd());
      line = "";
    }
    if (wide > columns) {
      const parts = pieces(word, columns);
      lines.push(...parts.slice(0, -1));
      line = parts.at(-1) ?? "";
    } else {
      line += word;
    }
  }
  return [...lines, line.trimEnd()];
}

/** Breaks prose between words, and within a word only when it is longer than a line. Keeps line breaks. */
export function wrapWords(text: string, columns: number): string[] {
  return text.split("\n").flatMap((paragraph) => wrapParagraph(paragraph, columns));
}

/** The last `count` lines of a long text that is broken between words, in time that its length does not change. */
export function tailLines(text: string, columns: number, count: number): string[] {
  // More characters than fit on so many lines, and then some, so that breaks stay where they are as the text grows.
  const tail = text.slice(-4 * columns * count).trimEnd();
  const paragraphs = tail.split("\n").slice(-count);
  return paragraphs.flatMap((paragraph) => wrapParagraph(paragraph, columns)).slice(-count);
}

/** `text` on one line of at most `columns` cells, with `…` where it was cut. Never for what somebody approves. */
export function clip(text: string, columns: number): string {
  const line = text.replaceAll(/\s*\n\s*/g, " ");
  if (widthOf(line) <= columns) return line;
  return `${pieces(line, columns - 1)[0]}…`;
}
