import { characterEnd } from "../../core/characters.ts";
import { BotError } from "../../core/errors.ts";

/** A piece of running text. Nothing in `text` is markup: each platform shows it character by character. */
export interface Inline {
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

export type Block =
  /** Line breaks are `\n` inside the inlines. */
  | { kind: "text" | "heading" | "quote" | "small"; inlines: Inline[] }
  /** A line of a list. `depth` counts from 0; `marker` is `•`, or a number as it was written, `3.`. */
  | { kind: "item"; depth: number; marker: string; inlines: Inline[] }
  /** Shown as it is, monospace. `lang`: the language it was said to be in, a word. */
  | { kind: "code"; text: string; lang?: string }
  /** An action's canonical JSON on one line: shown whole or not at all. */
  | { kind: "exact"; text: string }
  | { kind: "rule" };

export type AllowLink = (url: string) => boolean;

export type Style = Pick<Inline, "strong" | "em" | "strike">;

/** Longer addresses are not for clicking. */
const MAX_LINK = 500;

/** Text that is no Markdown: addresses in it are code, or a `url` inline where `allowLink` says so. */
export function plainInlines(text: string, allowLink: AllowLink, style: Style = {}): Inline[] {
  const inlines: Inline[] = [];
  let end = 0;
  for (const { index, 0: found } of text.matchAll(ADDRESS)) {
    const address = found.replace(/(?<![.,;:!?'*_~|)\]}])[.,;:!?'*_~|)\]}]+$/, "");
    inlines.push({ ...style, text: text.slice(end, index) }, addressInline(address, allowLink));
    end = index + address.length;
  }
  inlines.push({ ...style, text: text.slice(end) });
  return inlines.filter((inline) => inline.text !== "");
}

/** With any scheme: which ones a platform makes clickable is its own affair. */
const ADDRESS = /[a-z][a-z0-9+.-]{0,30}:\/\/[^\s<>"`\\]+/gi;
const LINKABLE = /^https?:\/\/[^\s<>"'`\\]+$/;

/** An address of which nothing is hidden. */
export function addressInline(address: string, allowLink: AllowLink): Inline {
  const isPlain = LINKABLE.test(address) && !/[^!-~]/.test(address);
  if (isPlain && address.length <= MAX_LINK && allowLink(address)) {
    return { text: address, url: address };
  }
  return { text: address, code: true };
}

/** Without empty inlines, and neighbours of one style as one. */
export function joinInlines(inlines: readonly Inline[]): Inline[] {
  const done: Inline[] = [];
  for (const inline of inlines) {
    const last = done.at(-1);
    if (inline.text === "") continue;
    if (last !== undefined && isAlike(last, inline)) {
      done[done.length - 1] = { ...last, text: last.text + inline.text };
    } else {
      done.push(inline);
    }
  }
  return done;
}

function isAlike(one: Inline, other: Inline): boolean {
  if (isWhole(one) || isWhole(other)) return false;
  return (["strong", "em", "strike", "code"] as const).every(
    (style) => one[style] === other[style],
  );
}

/** An address or a time is never cut. */
function isWhole(inline: Inline): boolean {
  return inline.url !== undefined || inline.at !== undefined;
}

/**
 * The parts as messages, each of which `fits`; at least one. They are cut between parts, else at line ends, else between
 * words, else between characters; a cut part goes on as one of its kind, a line of a list as text. Joined they are the
 * same text. `fits` is true of a part's beginning when it is true of more of it.
 * @throws BotError PLATFORM_REFUSED when an exact part, an address or a character does not fit by itself
 */
export function splitBlocks(
  parts: readonly Block[],
  fits: (parts: readonly Block[]) => boolean,
): Block[][] {
  const messages: Block[][] = [];
  let now: Block[] = [];
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
function endOfBody(parts: readonly Block[]): number {
  const end = parts.findLastIndex(({ kind }) => kind !== "heading") + 1;
  return end === 0 ? parts.length : end;
}

/** What a reader sees of it, without styles. */
export function textOf(part: Block): string {
  if (part.kind === "rule") return "";
  if (!("inlines" in part)) return part.text;
  const text = part.inlines.map((inline) => inline.text).join("");
  return part.kind === "item" ? `${part.marker} ${text}` : text;
}

function tooLong(part: Block): BotError {
  const { length } = textOf(part);
  return new BotError(
    "PLATFORM_REFUSED",
    `A part of ${length} characters cannot be shown whole in one message here; ask for something shorter.`,
  );
}

/** The longest beginning that fits and what follows it; undefined when the part may not be cut so. */
function cutPart(
  part: Block,
  fits: (head: Block) => boolean,
): { head: Block; tail: Block; atLineEnd: boolean } | undefined {
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
  const rest: Block = tail.kind === "item" ? { kind: "text", inlines: tail.inlines } : tail;
  return { head, tail: rest, atLineEnd: at === lineEnd };
}

/** The part's text, with no break in what is never cut. */
function breakable(part: Block): string {
  if (part.kind === "rule") return "";
  if (!("inlines" in part)) return part.text;
  return part.inlines
    .map((inline) => (isWhole(inline) ? "x".repeat(inline.text.length) : inline.text))
    .join("");
}

/** The next place before `at` that is neither inside a character nor inside an address or a time. */
function outsideOf(part: Block, at: number): number {
  let start = 0;
  const pieces: Inline[] = "inlines" in part ? part.inlines : part.kind === "rule" ? [] : [part];
  for (const inline of pieces) {
    const end = start + inline.text.length;
    if (at > start && at < end) {
      return isWhole(inline) ? start : start + characterEnd(inline.text, at - start);
    }
    start = end;
  }
  return at;
}

function between(part: Block, from: number, to: number): Block {
  if (part.kind === "rule") return part;
  if (!("inlines" in part)) return { ...part, text: part.text.slice(from, to) };
  const inlines: Inline[] = [];
  let start = 0;
  for (const inline of part.inlines) {
    const text = inline.text.slice(Math.max(0, from - start), Math.max(0, to - start));
    if (text !== "") inlines.push({ ...inline, text });
    start += inline.text.length;
  }
  return { ...part, inlines: inlines };
}
