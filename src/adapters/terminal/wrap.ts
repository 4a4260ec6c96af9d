import stringWidth from "string-width";
import wrapAnsi from "wrap-ansi";

/** Ends a line of exact text that goes on in the next one, so that spaces before the break can be seen and counted. */
export const CONTINUED = "↵";

/** Terminals disagree on how wide joined emoji are drawn: on this screen they stand side by side. */
export function apart(text: string): string {
  return text.replaceAll(/\u200d|\ufe0f/g, "");
}

/** Terminal cells that `text` takes; colours take none. */
export function widthOf(text: string): number {
  return stringWidth(apart(text));
}

/** `text` in pieces of at most `columns` cells, at least one character each; one empty piece for an empty text. */
function pieces(text: string, columns: number): string[] {
  const done: string[] = [];
  let start = 0;
  let end = 0;
  let width = 0;
  for (const char of text) {
    const cells = char <= "~" ? 1 : widthOf(char);
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
      return wrapAnsi(line, room, { hard: true })
        .split("\n")
        .map((each) => (each === "" ? "" : indent + each));
    });
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
