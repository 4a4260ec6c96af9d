import { characterEnd } from "../../core/characters.ts";
import { BotError } from "../../core/errors.ts";

/** A piece of running text. Nothing in `text` is markup: each platform shows it character by character. */
export interface Span {
  text: string;
  strong?: true;
  em?: true;
  strike?: true;
  code?: true;
  /** An address that may be clicked; `text` is that address. Printable ASCII without quotes, `<`, `>` and backslash. */
  url?: string;
  /** A time, ms since 1970; `text` is its UTC form. */
  at?: number;
}

export type Part =
  /** Line breaks are `\n` inside the spans. */
  | { kind: "text" | "heading" | "quote" | "small"; spans: Span[] }
  /** A line of a list. `depth` counts from 0; `marker` is `•`, or a number as it was written, `3.`. */
  | { kind: "item"; depth: number; marker: string; spans: Span[] }
  /** Shown as it is, monospace. `lang`: the language it was said to be in, a word. */
  | { kind: "code"; text: string; lang?: string }
  /** An action's canonical JSON on one line: shown whole or not at all. */
  | { kind: "exact"; text: string }
  | { kind: "rule" };

export type AllowLink = (url: string) => boolean;

export type Style = Pick<Span, "strong" | "em" | "strike">;

/** Longer addresses are not for clicking. */
const MAX_LINK = 500;

/** Text that is no Markdown: addresses in it are code, or a `url` span where `allowLink` says so. */
export function plainSpans(text: string, allowLink: AllowLink, style: Style = {}): Span[] {
  const spans: Span[] = [];
  let end = 0;
  for (const { index, 0: found } of text.matchAll(ADDRESS)) {
    const address = found.replace(/(?<![.,;:!?'*_~|)\]}])[.,;:!?'*_~|)\]}]+$/, "");
    spans.push({ ...style, text: text.slice(end, index) }, addressSpan(address, allowLink));
    end = index + address.length;
  }
  spans.push({ ...style, text: text.slice(end) });
  return spans.filter((span) => span.text !== "");
}

/** With any scheme: which ones a platform makes clickable is its own affair. */
const ADDRESS = /[a-z][a-z0-9+.-]{0,30}:\/\/[^\s<>"`\\]+/gi;
const LINKABLE = /^https?:\/\/[^\s<>"'`\\]+$/;

/** An address of which nothing is hidden. */
export function addressSpan(address: string, allowLink: AllowLink): Span {
  const isPlain = LINKABLE.test(address) && !/[^!-~]/.test(address);
  if (isPlain && address.length <= MAX_LINK && allowLink(address)) {
    return { text: address, url: address };
  }
  return { text: address, code: true };
}

/** Without empty spans, and neighbours of one style as one. */
export function joined(spans: readonly Span[]): Span[] {
  const done: Span[] = [];
  for (const span of spans) {
    const last = done.at(-1);
    if (span.text === "") continue;
    if (last !== undefined && isAlike(last, span)) {
      done[done.length - 1] = { ...last, text: last.text + span.text };
    } else {
      done.push(span);
    }
  }
  return done;
}

function isAlike(one: Span, other: Span): boolean {
  if (isWhole(one) || isWhole(other)) return false;
  return (["strong", "em", "strike", "code"] as const).every(
    (style) => one[style] === other[style],
  );
}

/** An address or a time is never cut. */
function isWhole(span: Span): boolean {
  return span.url !== undefined || span.at !== undefined;
}

/**
 * The parts as messages, each of which `fits`; at least one. They are cut between parts, else at line ends, else between
 * words, else between characters; a cut part goes on as one of its kind, a line of a list as text. Joined they are the
 * same text. `fits` is true of a part's beginning when it is true of more of it.
 * @throws BotError PLATFORM_REFUSED when an exact part, an address or a character does not fit by itself
 */
export function splitParts(
  parts: readonly Part[],
  fits: (parts: readonly Part[]) => boolean,
): Part[][] {
  const messages: Part[][] = [];
  let now: Part[] = [];
  for (const whole of parts) {
    let part = whole;
    while (!fits([...now, part])) {
      const before = now;
      const cut = fits([part]) ? undefined : cutPart(part, (head) => fits([...before, head]));
      if (now.length === 0 && cut === undefined) throw tooLong(part);
      // Rather a new message than a broken line.
      const isBroken = now.length > 0 && cut?.atLineEnd !== true;
      if (isBroken || cut === undefined) {
        // A heading stays with what it is the heading of.
        const end = endOfBody(now);
        messages.push(now.slice(0, end));
        now = now.slice(end);
      } else {
        messages.push([...now, cut.head]);
        part = cut.tail;
        now = [];
      }
    }
    now.push(part);
  }
  return now.length > 0 || messages.length === 0 ? [...messages, now] : messages;
}

/** Where the headings at the end begin; the end where there is nothing else. */
function endOfBody(parts: readonly Part[]): number {
  const end = parts.findLastIndex(({ kind }) => kind !== "heading") + 1;
  return end === 0 ? parts.length : end;
}

/** What a reader sees of it, without styles. */
export function textOf(part: Part): string {
  if (part.kind === "rule") return "";
  if (!("spans" in part)) return part.text;
  const text = part.spans.map((span) => span.text).join("");
  return part.kind === "item" ? `${part.marker} ${text}` : text;
}

function tooLong(part: Part): BotError {
  const { length } = textOf(part);
  return new BotError(
    "PLATFORM_REFUSED",
    `A part of ${length} characters cannot be shown whole in one message here; ask for something shorter.`,
  );
}

/** The longest beginning that fits and what follows it; undefined when the part may not be cut so. */
function cutPart(
  part: Part,
  fits: (head: Part) => boolean,
): { head: Part; tail: Part; atLineEnd: boolean } | undefined {
  if (part.kind === "rule" || part.kind === "exact") return undefined;
  const text = breakable(part);
  let low = 0;
  let high = text.length - 1;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (fits(between(part, 0, middle))) low = middle;
    else high = middle - 1;
  }
  const lineEnd = text.lastIndexOf("\n", low - 1) + 1;
  const wordEnd = text.lastIndexOf(" ", low - 1) + 1;
  const best = lineEnd > 0 ? lineEnd : wordEnd > 0 ? wordEnd : low;
  const at = outsideOf(part, best);
  if (at < 1 || low < 1) return undefined;
  const head = between(part, 0, at);
  const tail = between(part, at, text.length);
  if (!fits(head)) return undefined;
  const rest: Part = tail.kind === "item" ? { kind: "text", spans: tail.spans } : tail;
  return { head, tail: rest, atLineEnd: at === lineEnd };
}

/** The part's text, with no break in what is never cut. */
function breakable(part: Part): string {
  if (part.kind === "rule") return "";
  if (!("spans" in part)) return part.text;
  return part.spans
    .map((span) => (isWhole(span) ? "x".repeat(span.text.length) : span.text))
    .join("");
}

/** The next place before `at` that is neither inside a character nor inside an address or a time. */
function outsideOf(part: Part, at: number): number {
  let start = 0;
  const pieces: Span[] = "spans" in part ? part.spans : part.kind === "rule" ? [] : [part];
  for (const span of pieces) {
    const end = start + span.text.length;
    if (at > start && at < end) {
      return isWhole(span) ? start : start + characterEnd(span.text, at - start);
    }
    start = end;
  }
  return at;
}

function between(part: Part, from: number, to: number): Part {
  if (part.kind === "rule") return part;
  if (!("spans" in part)) return { ...part, text: part.text.slice(from, to) };
  const spans: Span[] = [];
  let start = 0;
  for (const span of part.spans) {
    const text = span.text.slice(Math.max(0, from - start), Math.max(0, to - start));
    if (text !== "") spans.push({ ...span, text });
    start += span.text.length;
  }
  return { ...part, spans };
}
