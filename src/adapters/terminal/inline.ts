import type { MarkedToken, Token, Tokens } from "marked";
import type { Paint, Style } from "./style.ts";
import { widthOf, wrapWords } from "./wrap.ts";

/** A piece of text and how it is painted. */
export interface Span {
  text: string;
  styles: readonly Style[];
}

/** Refers to a call of the run by its number, as in `[T3]`. */
const EVIDENCE = /(\[T\d+\])/;

const INLINE = ["text", "escape", "strong", "em", "codespan", "br", "link", "image"] as const;
type Inline = Extract<MarkedToken, { type: (typeof INLINE)[number] }>;

function isInline(token: Token): token is Inline {
  return INLINE.some((type) => type === token.type);
}

/**
 * The running text of a paragraph, heading or cell. Nothing that was written is left out: a link's target and title
 * follow its text, an image is named by its address, HTML is text.
 */
export function inlineSpans(tokens: readonly Token[], styles: readonly Style[] = []): Span[] {
  return tokens.flatMap((token) => spansOf(token, styles));
}

function spansOf(token: Token, styles: readonly Style[]): Span[] {
  // Also `~~struck out~~`: what few terminals draw is better told by its marks.
  if (!isInline(token)) return textSpans(token.raw, styles);
  switch (token.type) {
    case "text":
      return token.tokens === undefined
        ? textSpans(token.text, styles)
        : inlineSpans(token.tokens, styles);
    case "escape":
      return textSpans(token.text, styles);
    case "strong":
      return inlineSpans(token.tokens, [...styles, "bold"]);
    case "em":
      return inlineSpans(token.tokens, [...styles, "italic"]);
    case "codespan":
      return [{ text: oneLine(token.text), styles: [...styles, "cyan"] }];
    case "br":
      return [{ text: "\n", styles }];
    case "link":
      return linkSpans(token, styles);
    case "image":
      return [{ text: `image: ${oneLine(token.text)}${target(token)}`, styles }];
  }
}

function textSpans(text: string, styles: readonly Style[]): Span[] {
  return text
    .replaceAll("\t", " ")
    .split(EVIDENCE)
    .filter((part) => part !== "")
    .map((part) => ({
      text: part,
      styles: EVIDENCE.test(part) ? [...styles, "dim", "cyan"] : styles,
    }));
}

/** Where a link leads is always read beside it; one that is its own text is shown as written. */
function linkSpans(token: Tokens.Link, styles: readonly Style[]): Span[] {
  const underlined = [...styles, "underline"] as const;
  if (!token.raw.startsWith("[")) return [{ text: token.raw, styles: underlined }];
  // `[text][name]` and `[name]`: the target stands elsewhere, under that name.
  const isInPlace = token.raw.endsWith(")");
  const words = isInPlace ? inlineSpans(token.tokens, underlined) : textSpans(token.raw, styles);
  return [...words, { text: target(token), styles }];
}

function target({ href, title }: Tokens.Link | Tokens.Image): string {
  return ` (${oneLine(href)}${title == null ? "" : ` "${oneLine(title)}"`})`;
}

function oneLine(text: string): string {
  return text.replaceAll(/\s/g, " ");
}

/** Terminal cells that the spans take on one line. */
export function spansWidth(spans: readonly Span[]): number {
  return widthOf(spans.map((span) => span.text).join(""));
}

/** The spans on lines of at most `columns` cells; each line is painted for itself. */
export function wrapSpans(spans: readonly Span[], columns: number, paint: Paint): string[] {
  const whole = spans.map((span) => span.text).join("");
  let end = 0;
  const lines = wrapWords(whole, columns).map((line) => {
    // Wrapping leaves out spaces only, so the line follows where the last one ended.
    const start = whole.indexOf(line, end);
    end = start + line.length;
    return { start, end, painted: "" };
  });
  let at = 0;
  let first = 0;
  for (const { text, styles } of spans) {
    for (let index = first; index < lines.length; index += 1) {
      const line = lines[index];
      if (line === undefined || line.start >= at + text.length) break;
      const part = text.slice(Math.max(0, line.start - at), Math.max(0, line.end - at));
      if (part !== "") {
        line.painted += styles.reduce((shown, style) => paint(style, shown), part);
      }
      // The last line that this span reaches is the first that the next one may.
      first = index;
    }
    at += text.length;
  }
  return lines.map((line) => line.painted);
}
