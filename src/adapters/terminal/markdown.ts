import { stripVTControlCharacters } from "node:util";
import type { Token, Tokens } from "marked";
import { holdsAll, isBlock, parseMarkdown } from "../render/markdown.ts";
import type { Span } from "./inline.ts";
import { inlineSpans, spansWidth, wrapSpans } from "./inline.ts";
import type { Look } from "./style.ts";
import { wrapWords } from "./wrap.ts";

/** Narrower than this, deeply nested text would be one character a line. */
const MIN_COLUMNS = 16;
const MAX_RULE = 40;
const CODE_INDENT = "  ";

/**
 * A model's Markdown as lines for a terminal with colours. It is untrusted: everything that a reader of the source
 * would see is in the lines too (link targets, HTML, comments, definitions), and they hold no escape sequences but
 * colours. A part that cannot be shown so is shown as it was written.
 */
export async function renderMarkdown(source: string, look: Look): Promise<string[]> {
  const lines: string[] = [];
  for (const block of await parseMarkdown(source)) {
    const rendered = renderTokens([block], look);
    const shown = stripVTControlCharacters(rendered.join("\n"));
    // Nothing of a block may get lost.
    lines.push(...(holdsAll(shown, block.raw) ? rendered : written(block.raw)));
    if (endsParagraph(block) && lines.at(-1) !== "") lines.push("");
  }
  while (lines.at(-1) === "") lines.pop();
  return lines;
}

function written(text: string): string[] {
  return text.trim() === "" ? [] : text.replace(/(?<!\n)\n+$/, "").split("\n");
}

/** An empty line stands where one was written. */
function endsParagraph({ type, raw }: Token): boolean {
  return type === "space" || /\n[ \t]*\n$/.test(raw);
}

function renderTokens(tokens: readonly Token[], look: Look): string[] {
  const lines: string[] = [];
  for (const token of tokens) {
    lines.push(...renderBlock(token, look));
    if (endsParagraph(token) && token !== tokens.at(-1) && lines.at(-1) !== "") lines.push("");
  }
  return lines;
}

function renderBlock(token: Token, look: Look): string[] {
  const { paint, columns } = look;
  // The check box stands beside its list's mark. HTML and definitions are text.
  if (token.type === "space" || token.type === "checkbox") return [];
  if (!isBlock(token))
    return wrapWords(token.raw.trimEnd(), columns).map((line) => paint("dim", line));
  switch (token.type) {
    case "heading":
      return wrapSpans(inlineSpans(token.tokens, ["bold"]), columns, paint);
    case "code":
      return renderCode(token, look);
    case "blockquote":
      return renderTokens(token.tokens, narrower(look, 2)).map((line) => paint("dim", "│ ") + line);
    case "list":
      return renderList(token, look);
    case "table":
      return renderTable(token, look);
    case "hr":
      return [paint("dim", "─".repeat(Math.min(MAX_RULE, columns)))];
    case "text":
    case "paragraph":
      return wrapSpans(inlineSpans(token.tokens ?? [token]), columns, paint);
  }
}

function narrower(look: Look, by: number): Look {
  return { ...look, columns: Math.max(MIN_COLUMNS, look.columns - by) };
}

/** Never broken: a command that is copied stays one line. */
function renderCode(token: Tokens.Code, { paint }: Look): string[] {
  const lines = token.text.split("\n").map((line) => (line === "" ? "" : CODE_INDENT + line));
  const { lang } = token;
  return lang === undefined || lang === "" ? lines : [paint("dim", CODE_INDENT + lang), ...lines];
}

function renderList(token: Tokens.List, look: Look): string[] {
  const lines: string[] = [];
  for (const item of token.items) {
    const mark = markOf(item);
    const indent = " ".repeat(mark.length);
    const [first = "", ...rest] = renderTokens(item.tokens, narrower(look, mark.length));
    lines.push(mark + first, ...rest.map((line) => (line === "" ? "" : indent + line)));
    if (endsParagraph(item) && item !== token.items.at(-1)) lines.push("");
  }
  return lines;
}

/** A number as it was written, though Markdown would count: `4.` may be what the text refers to. */
function markOf(item: Tokens.ListItem): string {
  const number = /^\s*(\d+[.)])/.exec(item.raw)?.[1];
  const box = item.tokens.find(({ type }) => type === "checkbox")?.raw.trim();
  return `${number ?? "•"} ${box === undefined ? "" : `${box} `}`;
}

function renderTable(token: Tokens.Table, look: Look): string[] {
  const { paint, columns } = look;
  const head = token.header.map((cell) => inlineSpans(cell.tokens, ["bold"]));
  const rows = token.rows.map((row) => row.map((cell) => inlineSpans(cell.tokens)));
  const widths = head.map((_, at) =>
    Math.max(1, ...[head, ...rows].map((row) => spansWidth(row[at] ?? []))),
  );
  const wide = widths.reduce((sum, width) => sum + width, 3 * (widths.length - 1));
  if (wide > columns) return rowByRow(head, rows, look);
  const line = (row: Span[][]): string =>
    widths
      .map((width, at) => {
        const spans = row[at] ?? [];
        const [text = ""] = wrapSpans(spans, Number.POSITIVE_INFINITY, paint);
        return pad(text, width - spansWidth(spans), token.align[at]);
      })
      .join(paint("dim", " │ "))
      .trimEnd();
  const rule = paint("dim", widths.map((width) => "─".repeat(width)).join("─┼─"));
  return [line(head), rule, ...rows.map(line)];
}

/** A table that the screen has no room for. */
function rowByRow(head: Span[][], rows: Span[][][], { paint, columns }: Look): string[] {
  const line = (row: Span[][]): Span[] =>
    row.flatMap((cell, at) => (at === 0 ? cell : [{ text: " │ ", styles: [] }, ...cell]));
  return [
    ...wrapSpans(line(head), columns, paint),
    ...rows.flatMap((row) =>
      wrapSpans(line(row), columns - 2, paint).map((text, at) => (at === 0 ? "• " : "  ") + text),
    ),
  ];
}

function pad(text: string, room: number, align: Tokens.Table["align"][number] | undefined): string {
  const left = align === "right" ? room : align === "center" ? Math.floor(room / 2) : 0;
  return " ".repeat(left) + text + " ".repeat(room - left);
}
