import { setImmediate as turnOfLoop } from "node:timers/promises";
import type { MarkedToken, Token, Tokens } from "marked";
import {
  addressInline,
  type AllowLink,
  joinInlines,
  type Block,
  plainInlines,
  type Inline,
  type Style,
  textOf,
} from "./rich-text.ts";

/** Parsed at once. Longer texts are parsed piece by piece; answers seldom have a tenth of it. */
const MAX_CHARS = 16 * 1024;
/** Lists are parsed in time with the square of their lines. */
const MAX_LINES = 1_000;
/** A line that opens more lists and quotes than people nest is built to be slow. */
const DEEPLY_NESTED = /^(?:[ \t]*(?:>|[-*+]|\d+[.)])){20}/m;
/**
 * The parser's work on running text grows with its length times its marks; nothing else happens meanwhile. So much was
 * done in 0.25 s on one slow core, where 16 KiB made to be slow (`_é!_é!`) took 4 s; an answer of a page needs a tenth.
 */
const MAX_WORK = 2_000_000;
const MARKS = /[*_~`[\]<!]/g;

/**
 * A model's Markdown as parts in which nothing is markup any more. Everything that a reader of the source would see is
 * in the parts, in the same order, but for the marks themselves: a link's target follows its text, an image is named by
 * its address, HTML is text. Addresses are code, or a `url` inline where `allowLink` says so. Never throws: what cannot be
 * read so is code, as it was written.
 */
export async function readMarkdown(text: string, allowLink: AllowLink): Promise<Block[]> {
  try {
    return readBlocks(await parseMarkdown(text), allowLink);
  } catch {
    return asWritten(text);
  }
}

/**
 * Blocks whose `raw` texts are the source. A piece that is too long or built to be slow is one block of code, and running
 * text that would take too long is one piece of plain text.
 */
async function parseMarkdown(source: string): Promise<Token[]> {
  const { Lexer } = await import("marked");
  const tokens: Token[] = [];
  for (const piece of piecesOf(source)) {
    if (tokens.length > 0) await turnOfLoop();
    const isSlow = isTooLong(piece) || DEEPLY_NESTED.test(piece);
    tokens.push(...(isSlow ? [tryFence(piece) ?? codeOf(piece, piece)] : parsePiece(piece, Lexer)));
  }
  return tokens;
}

function parsePiece(piece: string, Lexer: typeof import("marked").Lexer): Token[] {
  const lexer = new Lexer();
  lexer.blockTokens(piece, lexer.tokens);
  let left = MAX_WORK;
  for (const { src, tokens } of lexer.inlineQueue) {
    const work = src.length * (src.match(MARKS)?.length ?? 0);
    if (work > left) {
      tokens.push({ type: "text", raw: src, text: src });
    } else {
      lexer.inlineTokens(src, tokens);
      left -= work;
    }
  }
  // Nothing of it may get lost between the blocks.
  const isWhole = lexer.tokens.map(({ raw }) => raw).join("") === piece;
  return isWhole ? lexer.tokens : [codeOf(piece, piece)];
}

function codeOf(raw: string, text: string, lang = ""): Tokens.Code {
  return { type: "code", raw, text: text.replace(/\n+$/, ""), lang };
}

function isTooLong(text: string): boolean {
  return text.length > MAX_CHARS || text.split("\n").length > MAX_LINES;
}

const FENCE = /^(`{3,}|~{3,})([^`\n]*)$/;
const LIST_ITEM = /^(?:[-*+]|\d{1,9}[.)])\s/;

/** A block of code, however long. Undefined for anything else. */
function tryFence(piece: string): Token | undefined {
  const [first = "", ...lines] = piece.replace(/\n+$/, "").split("\n");
  const [, mark, lang = ""] = FENCE.exec(first) ?? [];
  if (mark === undefined) return undefined;
  const text = closes(lines.at(-1) ?? "", mark) ? lines.slice(0, -1) : lines;
  return codeOf(piece, text.join("\n"), lang.trim());
}

function closes(line: string, mark: string): boolean {
  return line.startsWith(mark) && line.trimEnd().replaceAll(mark.charAt(0), "") === "";
}

/** The source in pieces that can be parsed each by itself, cut only between blocks of the top level. */
function piecesOf(source: string): string[] {
  if (!isTooLong(source)) return [source];
  const blocks = blocksOf(source, (line, before) => before === "" && /^\S/.test(line));
  const short = blocks.flatMap((block) =>
    isTooLong(block) && !FENCE.test(block.slice(0, block.indexOf("\n")))
      ? blocksOf(block, (line) => LIST_ITEM.test(line))
      : [block],
  );
  const pieces: string[] = [];
  let now = "";
  for (const block of short) {
    if (now !== "" && isTooLong(now + block)) {
      pieces.push(now);
      now = "";
    }
    now += block;
  }
  return [...pieces, now];
}

/** Cut before and behind each fenced block of code, and wherever else `mayCut`. */
function blocksOf(source: string, mayCut: (line: string, before: string) => boolean): string[] {
  const blocks: string[] = [];
  let fence: string | undefined;
  let now = "";
  let before = "";
  let isOver = false;
  for (const line of source.split(/(?<=\n)/)) {
    const bare = line.trimEnd();
    const opens: string | undefined = fence === undefined ? FENCE.exec(bare)?.[1] : undefined;
    if (
      now !== "" &&
      fence === undefined &&
      (isOver || opens !== undefined || mayCut(line, before))
    ) {
      blocks.push(now);
      now = "";
    }
    now += line;
    isOver = fence !== undefined && closes(bare, fence);
    if (isOver) fence = undefined;
    fence ??= opens;
    before = bare;
  }
  return now === "" ? blocks : [...blocks, now];
}

function asWritten(text: string): Block[] {
  const shown = text.replace(/(?<!\n)\n+$/, "");
  return shown.trim() === "" ? [] : [{ kind: "code", text: shown }];
}

/** The top level, where nothing of a block may get lost. */
function readBlocks(blocks: readonly Token[], allowLink: AllowLink): Block[] {
  return blocks.flatMap((block) => {
    const read = readBlock(block, { allowLink, depth: 0 });
    const shown = read.map(textOf).join("\n");
    const isWhole = holdsAll(shown, block.raw.replaceAll(LANGUAGE, "$1"));
    return isWhole ? read : asWritten(block.raw);
  });
}

/** What Markdown's own marks are made of; everything else has to stay. */
const MARKUP = /[\s*_`#>[\]()!|\-+=~:<\\"'.]/u;
/** Where a code block begins, up to its language. */
const LANGUAGE =
  /^([ \t>]*(?:(?:[-*+]|\d+[.)])[ \t]+)*(?:`{3,}|~{3,})[ \t]*)[\w+#.-]{1,20}[ \t]*$/gm;

/** True when `shown` has every character of `raw`, in its order, but for white space and markup. */
function holdsAll(shown: string, raw: string): boolean {
  let at = 0;
  for (const char of raw) {
    if (MARKUP.test(char)) continue;
    at = shown.indexOf(char, at);
    if (at < 0) return false;
    at += char.length;
  }
  return true;
}

interface Context {
  allowLink: AllowLink;
  /** Of the list that would begin here. */
  depth: number;
}

const BLOCKS = "heading code blockquote list table hr text paragraph".split(" ");
type BlockType = "heading" | "code" | "blockquote" | "list" | "table" | "hr" | "text" | "paragraph";
type BlockToken = Extract<MarkedToken, { type: BlockType }>;

/** True for what is neither white space, HTML nor a definition. */
function isBlock(token: Token): token is BlockToken {
  return BLOCKS.includes(token.type);
}

function readBlock(token: Token, context: Context): Block[] {
  const { allowLink } = context;
  // The check box stands beside its list's mark. HTML and definitions are text.
  if (token.type === "space" || token.type === "checkbox") return [];
  if (!isBlock(token)) return textPart("text", plainInlines(token.raw.trim(), allowLink));
  switch (token.type) {
    case "heading":
      return textPart("heading", readInline(token.tokens, allowLink));
    case "code":
      return readCode(token);
    case "blockquote":
      return token.tokens
        .flatMap((inner) => readBlock(inner, context))
        .map((part) => (isRunning(part) ? { ...part, kind: "quote" } : part));
    case "list":
      return token.items.flatMap((item) => readItem(item, context));
    case "table":
      return readTable(token, allowLink);
    case "hr":
      return [{ kind: "rule" }];
    case "text":
    case "paragraph":
      return textPart("text", readInline(token.tokens ?? [token], allowLink));
  }
}

type Running = Extract<Block, { kind: "text" | "heading" | "quote" | "small" }>;

function isRunning(part: Block): part is Running {
  return part.kind === "text" || part.kind === "heading";
}

function textPart(kind: "text" | "heading", inlines: Inline[]): Block[] {
  return inlines.length === 0 ? [] : [{ kind, inlines: inlines }];
}

function readCode({ text, lang = "" }: Tokens.Code): Block[] {
  // Where the parser takes more than a word for the language, it is part of what was written.
  const isWord = /^[\w+#.-]{0,20}$/.test(lang);
  const shown = isWord ? text : `${lang}\n${text}`;
  // A block of nothing but a language was meant to say that word.
  if (shown.trim() === "") return lang === "" ? [] : [{ kind: "code", text: lang }];
  return [{ kind: "code", text: shown, ...(isWord && lang !== "" && { lang }) }];
}

function readItem(item: Tokens.ListItem, context: Context): Block[] {
  const { depth } = context;
  const parts = item.tokens.flatMap((each) => readBlock(each, { ...context, depth: depth + 1 }));
  const box = item.tokens.find(({ type }) => type === "checkbox")?.raw.trim();
  const boxSpan: Inline[] = box === undefined ? [] : [{ text: `${box} ` }];
  // A number as it was written, though Markdown would count: `4.` may be what the text refers to.
  const marker = /^\s*(\d+[.)])/.exec(item.raw)?.[1] ?? "•";
  const [first, ...rest] = parts;
  const led = first !== undefined && isRunning(first);
  const inlines = led ? joinInlines([...boxSpan, ...first.inlines]) : boxSpan;
  const below = (led ? rest : parts).map((block) => indented(block, depth + 1));
  return [{ kind: "item", depth, marker, inlines }, ...below];
}

/** A line of a list within says its depth itself. */
function indented(block: Block, indent: number): Block {
  const canBe = block.kind === "text" || block.kind === "code" || block.kind === "quote";
  return canBe && block.indent === undefined ? { ...block, indent } : block;
}

function readTable(token: Tokens.Table, allowLink: AllowLink): Block[] {
  const cellOf = ({ tokens }: Tokens.TableCell): Inline[] =>
    readInline(tokens, allowLink).map((inline) => ({
      ...inline,
      text: withoutBreaks(inline.text),
    }));
  const head = token.header.map(cellOf);
  const rows = token.rows.map((row) => row.map(cellOf));
  return [{ kind: "table", head, rows, rightAligned: token.align.map((each) => each === "right") }];
}

const INLINE = "text escape strong em del codespan br link image".split(" ");
type InlineType =
  | "text"
  | "escape"
  | "strong"
  | "em"
  | "del"
  | "codespan"
  | "br"
  | "link"
  | "image";
type InlineToken = Extract<MarkedToken, { type: InlineType }>;

function isInline(token: Token): token is InlineToken {
  return INLINE.includes(token.type);
}

function readInline(tokens: readonly Token[], allowLink: AllowLink, style: Style = {}): Inline[] {
  const inlines = joinInlines(tokens.flatMap((token) => readToken(token, allowLink, style)));
  // Only now: an address may have begun in one token and ended in the next.
  return inlines.flatMap((inline) =>
    isPlain(inline) ? plainInlines(inline.text, allowLink, inline) : [inline],
  );
}

function isPlain({ code, url }: Inline): boolean {
  return code === undefined && url === undefined;
}

function readToken(token: Token, allowLink: AllowLink, style: Style): Inline[] {
  const plain = (text: string): Inline[] => [{ ...style, text: text.replaceAll("\t", " ") }];
  if (!isInline(token)) return plain(token.raw);
  switch (token.type) {
    case "text":
      return token.tokens === undefined
        ? plain(token.text)
        : readInline(token.tokens, allowLink, style);
    case "escape":
      return [{ ...style, text: token.text }];
    case "strong":
      return readInline(token.tokens, allowLink, { ...style, strong: true });
    case "em":
      return readInline(token.tokens, allowLink, { ...style, em: true });
    case "del":
      return readInline(token.tokens, allowLink, { ...style, strike: true });
    case "codespan":
      return [{ text: withoutBreaks(token.text), code: true }];
    case "br":
      return [{ text: "\n" }];
    case "link":
      return readLink(token, allowLink, style);
    case "image":
      return [...plain(`image: ${withoutBreaks(token.text)} `), ...target(token, () => false)];
  }
}

/** Where a link leads is always read beside it; one that is its own text is read once. */
function readLink(token: Tokens.Link, allowLink: AllowLink, style: Style): Inline[] {
  const { raw, text, href } = token;
  if (!raw.startsWith("[")) {
    // An e-mail address is a word; nobody needs to be kept from writing to it by accident.
    if (href.startsWith("mailto:")) return [{ ...style, text }];
    return [text === href ? addressInline(href, allowLink) : { text, code: true }];
  }
  // `[text][name]` and `[name]`: the target stands elsewhere, under that name.
  const isInPlace = raw.endsWith(")");
  const words = isInPlace ? readInline(token.tokens, allowLink, style) : [{ ...style, text: raw }];
  if (words.map((inline) => inline.text).join("") === href) return target(token, allowLink);
  return [...words, { text: " " }, ...target(token, allowLink)];
}

function target({ href, title }: Tokens.Link | Tokens.Image, allowLink: AllowLink): Inline[] {
  const address = withoutBreaks(href);
  const name = title == null || title === "" ? "" : ` "${withoutBreaks(title)}"`;
  const inlines = address === "" ? [] : [addressInline(address, allowLink)];
  return name === "" ? inlines : [...inlines, ...plainInlines(name, allowLink)];
}

function withoutBreaks(text: string): string {
  return text.replaceAll(/\s/g, " ");
}
