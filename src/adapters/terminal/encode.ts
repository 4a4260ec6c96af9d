import { basicBlocks } from "../render/basic.ts";
import type { Block, Inline } from "../render/rich-text.ts";
import type { Look, Style } from "./style.ts";
import { formatMoment } from "./time.ts";
import { foldExact, widthOf, wrapWords } from "./wrap.ts";

/** Narrower than this, deeply nested text would be one character a line. */
const MIN_COLUMNS = 16;
const MAX_RULE = 40;
const MAX_LABEL = 14;
/** Below this a label stands on a line of its own. */
const MIN_COLUMNS_FOR_LABELS = 50;
const INDENT = "  ";
/** As wide as the mark of a numbered line. */
const ITEM_INDENT = "   ";

/**
 * The blocks as lines of at most `look.columns` cells, each painted for itself. Code is not broken: a command that is
 * copied stays one line. What a tool put out is, between words. Texts hold no control characters, so the only escape sequences are colours.
 */
export function terminalLines(blocks: readonly Block[], look: Look): string[] {
  const lines: string[] = [];
  let before: Block | undefined;
  for (const block of blocks) {
    const shown = linesOf(block, look);
    if (shown.length === 0) continue;
    if (before !== undefined && !isClose(before, block)) lines.push("");
    lines.push(...shown);
    before = block;
  }
  return lines;
}

/** True for what stands right below the block before it. */
function isClose(before: Block, block: Block): boolean {
  if (before.kind === "heading" || ["code", "item", "line"].includes(block.kind)) return true;
  if ("indent" in block && block.indent !== undefined) return true;
  return before.kind === block.kind && (block.kind === "small" || block.kind === "quote");
}

function linesOf(block: Block, look: Look): string[] {
  const { paint, columns } = look;
  switch (block.kind) {
    case "line":
      return wrapInlines(block.inlines, look);
    case "text":
      return indented(block, look, (inner) => wrapInlines(block.inlines, inner));
    case "heading":
      return wrapInlines(block.inlines, look, ["bold"]);
    case "small":
      return indented(block, look, (inner) => wrapInlines(block.inlines, inner, ["dim"]), INDENT);
    case "quote":
      return wrapInlines(block.inlines, narrower(look, 2)).map((line) => paint("dim", "> ") + line);
    case "item":
      return hang(`${ITEM_INDENT.repeat(block.depth)}${block.marker} `, block.inlines, look);
    case "code":
      return indented(block, look, () => codeLines(block, look));
    case "exact":
      return foldExact(block.text, columns).map((line) => paint("bold", line));
    case "fields":
      return block.rows.flatMap((row) => fieldLines(row, labelsOf(block), look));
    case "table":
      return terminalLines(basicBlocks([block], columns - INDENT.length), look);
    // A terminal has nothing to press: what is behind it is written out instead (`isUncut`).
    case "fold":
      return [];
    case "rule":
      return [paint("dim", "─".repeat(Math.min(MAX_RULE, columns)))];
  }
}

function narrower(look: Look, by: number): Look {
  return { ...look, columns: Math.max(MIN_COLUMNS, look.columns - by) };
}

/** A block's lines, further in where the block belongs to a line of a list. */
function indented(
  { indent = 0 }: { indent?: number },
  look: Look,
  lines: (inner: Look) => string[],
  step = ITEM_INDENT,
): string[] {
  const by = step.repeat(indent);
  return lines(narrower(look, by.length)).map((line) => (line === "" ? "" : by + line));
}

function codeLines(
  { text, lang, isOutput }: Extract<Block, { kind: "code" }>,
  { paint, columns }: Look,
): string[] {
  const room = columns - INDENT.length;
  const lines = text
    .split("\n")
    .flatMap((line) => (isOutput && widthOf(line) > room ? wrapWords(line, room) : [line]))
    .map((line) => (line === "" ? "" : INDENT + line));
  return lang === undefined ? lines : [paint("dim", INDENT + lang), ...lines];
}

/** Running text behind `head`, which has no colours; its further lines stand below its first. */
function hang(head: string, inlines: readonly Inline[], look: Look): string[] {
  const width = widthOf(head);
  const [first = "", ...rest] = wrapInlines(inlines, narrower(look, width));
  return [head + first, ...rest.map((line) => " ".repeat(width) + line)];
}

type Fields = Extract<Block, { kind: "fields" }>;

function labelsOf({ rows }: Fields): number {
  return Math.min(MAX_LABEL, Math.max(...rows.map(({ label }) => widthOf(label))));
}

/** A label and beside it, or below it where the screen is narrow, its text. `labels`: cells for a label. */
function fieldLines({ label, inlines }: Fields["rows"][number], labels: number, look: Look) {
  const isBeside = look.columns >= MIN_COLUMNS_FOR_LABELS;
  const indent = " ".repeat(isBeside ? labels + 2 : INDENT.length);
  const lines = wrapInlines(inlines, narrower(look, indent.length));
  const name = look.paint("dim", label);
  if (!isBeside || widthOf(label) > labels) return [name, ...lines.map((line) => indent + line)];
  const [first = "", ...rest] = lines;
  return [name + indent.slice(widthOf(label)) + first, ...rest.map((line) => indent + line)];
}

/** Refers to a call of the run by its number. */
const CITATION = /(\[T\d+\])/;

const TONES: Readonly<Record<NonNullable<Inline["tone"]>, Style>> = {
  good: "green",
  bad: "red",
  alarm: "destructive",
};

/** Running text on lines of at most `look.columns` cells; each line is painted for itself. */
function wrapInlines(
  inlines: readonly Inline[],
  look: Look,
  base: readonly Style[] = [],
): string[] {
  return wrapWords(inlines.map((inline) => paintInline(inline, look, base)).join(""), look.columns);
}

function paintInline(inline: Inline, look: Look, base: readonly Style[]): string {
  const { strong, em, strike, code, url, at, tone } = inline;
  const styles: Style[] = [
    // An alarm is bold itself.
    ...base.filter((style) => tone !== "alarm" || style !== "bold"),
    ...(strong && !base.includes("bold") ? ["bold" as const] : []),
    ...(em ? ["italic" as const] : []),
    ...(code ? ["cyan" as const] : []),
    ...(url === undefined ? [] : ["underline" as const]),
    ...(tone === undefined ? [] : [TONES[tone]]),
  ];
  const text = at === undefined ? inline.text : formatMoment(at, look.now);
  // Few terminals strike text out.
  return (strike ? `~~${text}~~` : text)
    .split(CITATION)
    .map((piece) =>
      paintLines(piece, CITATION.test(piece) ? [...styles, "dim", "cyan"] : styles, look),
    )
    .join("");
}

/** Line by line: no style goes on behind a line's end. */
function paintLines(text: string, styles: readonly Style[], look: Look): string {
  const paintLine = (line: string): string =>
    line === "" ? "" : styles.reduce((shown, style) => look.paint(style, shown), line);
  return text.split("\n").map(paintLine).join("\n");
}
