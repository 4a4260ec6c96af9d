import { addressesIn } from "../../core/links.ts";
import type { Button } from "./buttons.ts";

/** A piece of running text. Nothing in `text` is markup: each platform shows it character by character. */
export interface Inline {
  text: string;
  strong?: true;
  em?: true;
  strike?: true;
  code?: true;
  /** It names a result, such as `T3`. */
  cites?: true;
  /** An address that may be clicked; `text` is that address. Printable ASCII without quotes, `<`, `>` and backslash. */
  url?: string;
  /** Shown in its place, where the program made the address itself. */
  label?: string;
  /** A time, ms since 1970; `text` is its UTC form. */
  at?: number;
  /** For surfaces with colours; the text says the same. */
  tone?: "good" | "bad" | "alarm";
}

/** A line of a list. `depth` counts from 0; `marker` is `•`, or a number as it was written, `3.`. */
type Item = { kind: "item"; depth: number; marker: string; inlines: Inline[] };

/** What every platform can show. `indent`: it belongs to a line of a list of that depth, counted from 1. */
export type BasicBlock =
  /** Line breaks are `\n` inside the inlines. */
  | { kind: "text" | "heading" | "quote" | "small"; inlines: Inline[]; indent?: number }
  | Item
  /**
   * Shown as it is, monospace. `lang`: the language it was said to be in, a word. `isOutput`: to be read and not to be
   * copied, so a screen may break its lines between words.
   */
  | { kind: "code"; text: string; lang?: string; indent?: number; isOutput?: true }
  /** An action's canonical JSON on one line: shown whole or not at all. */
  | { kind: "exact"; text: string }
  | { kind: "rule" };

export interface Row {
  label: string;
  inlines: Inline[];
}

export type Fields = { kind: "fields"; rows: Row[] };

/** Cells have no line breaks. `rightAligned`: by column. */
export type Table = {
  kind: "table";
  head: Inline[][];
  rows: Inline[][][];
  rightAligned: boolean[];
};

/**
 * What is read only by whoever wants to. A platform that can fold shows `lines` under the title, each with its button;
 * elsewhere `open` is a button of the message.
 */
export type Fold = {
  kind: "fold";
  title: string;
  open: Button;
  lines: { inlines: Inline[]; button?: Button }[];
};

/** What messages are split into: tables and folds are for platforms that have them. */
export type ShownBlock = BasicBlock | Table | Fold;

/** What a message consists of. Where a platform has no fields, tables or close lines, `basicBlocks` says them otherwise. */
export type Block =
  | ShownBlock
  /** A line of its own, close to the lines before and after it: a call and how it ended. */
  | { kind: "line"; inlines: Inline[] }
  | Fields;

/** What one or more messages say, on any platform. */
export interface RenderedMessage {
  blocks: Block[];
  /** Below the last message; at most 25, the limit of the platforms. */
  buttons: Button[];
  /** The run whose answer it is, where people can say whether it helped. */
  feedbackOn?: string;
  /** One plain line of at most 150 characters, for notifications. */
  summary: string;
  /** The accounts and groups that are notified. Only the program names them; no text is ever one. */
  mentions?: readonly string[];
  /** The whole text, where the blocks are too little of it: a platform may send it along as a file. */
  whole?: { name: string; text: string };
}

/** Only our label is bold, and a text's further lines are indented, so no text looks like another row. */
export function fieldInlines({ rows }: Fields): Inline[] {
  return rows.flatMap(({ label, inlines }, at) => [
    ...(at > 0 ? [{ text: "\n" }] : []),
    { text: `${label}: `, strong: true as const },
    ...inlines.map((inline) => ({ ...inline, text: inline.text.replaceAll("\n", "\n      ") })),
  ]);
}

export type AllowLink = (url: string) => boolean;

export type Style = Pick<Inline, "strong" | "em" | "strike">;

/** Longer addresses are not for clicking. */
const MAX_LINK = 500;

/** Text that is no Markdown: addresses in it are code, or a `url` inline where `allowLink` says so. */
export function plainInlines(text: string, allowLink: AllowLink, style: Style = {}): Inline[] {
  const inlines: Inline[] = [];
  let end = 0;
  for (const { address, index } of addressesIn(text)) {
    inlines.push({ ...style, text: text.slice(end, index) }, addressInline(address, allowLink));
    end = index + address.length;
  }
  inlines.push({ ...style, text: text.slice(end) });
  return inlines.filter((inline) => inline.text !== "");
}

/** Links of other people's are never made clickable on a card. */
export function inert(text: string): Inline[] {
  return plainInlines(text, () => false);
}

/** As `plainInlines`, with what the program writes between backticks, such as a command to type, as code. */
export function programInlines(text: string, allowLink: AllowLink): Inline[] {
  const parts = text.split(/`([^`\n]{1,200})`/);
  return parts.flatMap((part, i) =>
    i % 2 === 0 ? plainInlines(part, allowLink) : [{ text: part, code: true }],
  );
}

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
export function isWhole(inline: Inline): boolean {
  return inline.url !== undefined || inline.at !== undefined;
}

/** What a reader sees of it, without styles. */
export function textOf(block: Block): string {
  if (block.kind === "rule") return "";
  if (block.kind === "code" || block.kind === "exact") return block.text;
  if (block.kind === "fields") return plain(fieldInlines(block));
  if (block.kind === "table") {
    return [block.head, ...block.rows].map((row) => row.map(plain).join(" ")).join("\n");
  }
  if (block.kind === "fold") return [block.title, ...linesOf(block)].join("\n");
  const text = plain(block.inlines);
  return block.kind === "item" ? `${block.marker} ${text}` : text;
}

function linesOf({ lines }: Fold): string[] {
  return lines.map(({ inlines }) => plain(inlines));
}

export function plain(inlines: readonly Inline[]): string {
  return inlines.map((inline) => inline.text).join("");
}
