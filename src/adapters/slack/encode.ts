import type { types } from "@slack/bolt";
import { characterEnd } from "../../core/characters.ts";
import { basicBlocks, shownBlocks } from "../render/basic.ts";
import {
  type BasicBlock,
  type Block,
  type Inline,
  joinInlines,
  type RenderedMessage,
  type ShownBlock,
} from "../render/rich-text.ts";
import { moreButtons } from "../render/plainer.ts";
import { splitBlocks } from "../render/split.ts";
import { type Button, feedbackButtons } from "../render/buttons.ts";
import { tryAccount, tryGroup } from "./place.ts";
import { canShowTable, MAX_TABLE_COLUMNS, tableBlock } from "./tables.ts";
import { actionsOf, containerOf, feedbackBlock, tryContext } from "./controls.ts";

export interface SlackMessage {
  /** For notifications; Slack shows the blocks. */
  text: string;
  blocks: types.KnownBlock[];
}

type Element =
  | types.RichTextText
  | types.RichTextLink
  | types.RichTextDate
  | types.RichTextUserMention
  | types.RichTextUsergroupMention;
type Frame =
  | types.RichTextSection
  | types.RichTextList
  | types.RichTextQuote
  /** `language` is in the reference and not yet in the package. */
  | (types.RichTextPreformatted & { language?: string });

/**
 * Slack refuses messages of about 13 200 characters with `msg_blocks_too_long`; each block after the first counts as some 125
 * (bolt-js issue 2509).
 */
const MAX_CHARS = 12_000;
const CHARS_PER_BLOCK = 125;
/** Blocks of a message (Block Kit reference). */
const MAX_BLOCKS = 50;
/** For the text of one element: the limit that Block Kit states for text objects. */
const MAX_ELEMENT = 3_000;
/** Deeper lists are drawn no further to the right (Block Kit reference, rich text list). */
const MAX_INDENT = 8;
const BUTTONS_ROOM = 1_000;
/** Seconds since 1970. Slack cannot show dates after the year 9999. */
const MAX_TIMESTAMP = 253_402_300_799;

/**
 * The messages that say it, at least one; its buttons are under the last. Everything is literal, `rich_text` and
 * `plain_text`, in which Slack looks for no markup: there is nothing to escape, and no text of anybody's can mention a person.
 */
export function slackMessages({
  blocks,
  buttons,
  summary,
  mentions = [],
  feedbackOn,
}: RenderedMessage): SlackMessage[] {
  const pressable =
    feedbackOn === undefined ? buttons : [...buttons, ...feedbackButtons(feedbackOn)];
  const taken = pressable.reduce((sum, { id, label }) => sum + 2 * id.length + label.length, 0);
  const messages = splitBlocks(withOneTable(blocks), (some) => fits(some, taken));
  const text = escapeText(summary.trim() === "" ? "…" : summary);
  return messages.map((message, at) => {
    const isLast = at === messages.length - 1;
    const thumbs = isLast ? feedbackOn : undefined;
    const shown = blocksOf(message);
    if (shown.length === 0) shown.push(richText([section([{ text: summary || "…" }])]));
    if (at === 0) shown.unshift(...mentionBlocks(mentions));
    if (isLast && buttons.length > 0) shown.push(actionsOf(buttons));
    if (thumbs !== undefined) shown.push(feedbackBlock(thumbs));
    return { text, blocks: shown };
  });
}

/** The same in blocks that every workspace has: without tables, containers and thumbs. */
export function basicMessages(rendered: RenderedMessage): SlackMessage[] {
  const { blocks, buttons, feedbackOn, ...message } = rendered;
  const drawn = basicBlocks(blocks, MAX_TABLE_COLUMNS);
  const all = [...buttons, ...moreButtons(blocks, feedbackOn)];
  return slackMessages({ ...message, blocks: drawn, buttons: all });
}

/** The pages that say it, for a window, each with room for its buttons; Slack has no tables and no containers there. */
export function slackPages(blocks: readonly Block[]): BasicBlock[][] {
  return splitBlocks(basicBlocks(blocks, MAX_TABLE_COLUMNS), (some) => fits(some, BUTTONS_ROOM));
}

export function pageBlocks(
  blocks: readonly Block[],
  buttons: readonly Button[],
): types.KnownBlock[] {
  const shown = blocksOf(basicBlocks(blocks, MAX_TABLE_COLUMNS));
  return buttons.length === 0 ? shown : [...shown, actionsOf(buttons)];
}

function fits(some: readonly ShownBlock[], taken: number): boolean {
  const sized = blocksOf(some);
  const count = sized.reduce((sum, block) => sum + 1 + childrenOf(block), 0);
  const length = lengthOf(sized) + CHARS_PER_BLOCK * count;
  return count < MAX_BLOCKS - 1 && length <= MAX_CHARS - taken;
}

function childrenOf(block: types.KnownBlock): number {
  return block.type === "container" ? block.child_blocks.length : 0;
}

/** Slack shows one table in a message; another one, or one that is too large, is drawn. */
function withOneTable(blocks: readonly Block[]): ShownBlock[] {
  let hasTable = false;
  return shownBlocks(blocks).flatMap((block): ShownBlock[] => {
    if (block.kind !== "table") return [block];
    if (hasTable || !canShowTable(block)) return basicBlocks([block], MAX_TABLE_COLUMNS);
    hasTable = true;
    return [block];
  });
}

/** The program's own mentions of people and groups of Slack; an edit of the message notifies nobody. */
export function mentionBlocks(references: readonly string[]): types.RichTextBlock[] {
  const elements = references.flatMap((reference): Element[] => {
    const group = tryGroup(reference);
    if (group !== undefined) return [{ type: "usergroup", usergroup_id: group }];
    const user = tryAccount(reference)?.user;
    return user === undefined ? [] : [{ type: "user", user_id: user }];
  });
  const spaced = elements.flatMap((each, at) => [...(at > 0 ? textElements(" ", {}) : []), each]);
  return spaced.length === 0 ? [] : [richText([{ type: "rich_text_section", elements: spaced }])];
}

/** The one place where Slack does read markup: `text` (docs.slack.dev, "Escaping text"). */
export function escapeText(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

/** Shown as it is, whatever is in it. */
export function exactBlock(text: string): types.RichTextBlock {
  return richText([{ type: "rich_text_preformatted", elements: textElements(text, {}) }]);
}

function blocksOf(parts: readonly ShownBlock[]): types.KnownBlock[] {
  const blocks: types.KnownBlock[] = [];
  let frames: Frame[] = [];
  let before: ShownBlock | undefined;
  const close = (): void => {
    if (frames.length > 0) blocks.push(richText(frames));
    frames = [];
  };
  for (const part of parts) {
    const own = ownBlock(part);
    if (own !== undefined) {
      close();
      blocks.push(own);
    } else if (part.kind !== "rule" && part.kind !== "table" && part.kind !== "fold") {
      addPart(frames, part, before);
    }
    before = part;
  }
  close();
  return blocks;
}

/** What is a block by itself; everything else goes on in one of text. */
function ownBlock(part: ShownBlock): types.KnownBlock | undefined {
  if (part.kind === "rule") return { type: "divider" };
  if (part.kind === "fold") return containerOf(part);
  if (part.kind === "table") return tableBlock(part, (cell) => richText([section(cell)]));
  return part.kind === "small" ? tryContext(part) : undefined;
}

/** Running text as one block. */
export function textBlock(inlines: readonly Inline[]): types.RichTextBlock {
  return richText([section(inlines)]);
}

function richText(elements: Frame[]): types.RichTextBlock {
  return { type: "rich_text", elements };
}

function section(inlines: readonly Inline[]): types.RichTextSection {
  return { type: "rich_text_section", elements: elementsOf(inlines) };
}

/**
 * Languages by the words that people and models use. Only what is listed is told to Slack: what it does with a language
 * that it does not know is written nowhere, and a refused block is a lost answer.
 */
const LANGUAGES: ReadonlyMap<string, string> = new Map(
  [
    "bash",
    "c",
    "css",
    "diff",
    "dockerfile docker",
    "go golang",
    "html",
    "java",
    "javascript js",
    "json",
    "kotlin",
    "php",
    "python py",
    "ruby rb",
    "rust rs",
    "shell sh zsh",
    "sql",
    "swift",
    "typescript ts",
    "xml",
    "yaml yml",
  ].flatMap((line) => {
    const words = line.split(" ");
    return words.map((word): [string, string] => [word, words[0] ?? word]);
  }),
);

/** Running text goes on in the section before it: two sections have no line between them. */
function addPart(
  frames: Frame[],
  part: Exclude<BasicBlock, { kind: "rule" }>,
  before: ShownBlock | undefined,
) {
  const last = frames.at(-1);
  if (!("inlines" in part)) {
    const elements = textElements(part.text, {});
    const language =
      part.kind === "code" ? LANGUAGES.get(part.lang?.toLowerCase() ?? "") : undefined;
    const named = language === undefined ? {} : { language };
    if (elements.length > 0) frames.push({ type: "rich_text_preformatted", elements, ...named });
    return;
  }
  const inlines = joinInlines(part.kind === "heading" ? part.inlines.map(bold) : part.inlines);
  if (part.kind === "item") return addItem(frames, part, inlines);
  if (inlines.length === 0) return;
  if (part.kind === "quote") {
    frames.push({ type: "rich_text_quote", elements: elementsOf(inlines) });
  } else if (last?.type === "rich_text_section") {
    const isClose =
      before?.kind === "heading" || (before?.kind === part.kind && part.kind === "small");
    last.elements.push(...elementsOf([{ text: isClose ? "\n" : "\n\n" }, ...inlines]));
  } else {
    frames.push(section(inlines));
  }
}

function bold(inline: Inline): Inline {
  return { ...inline, strong: true };
}

/** Slack would count numbered lines itself, so those are text with the number that was written. */
function addItem(
  frames: Frame[],
  item: Extract<BasicBlock, { kind: "item" }>,
  inlines: readonly Inline[],
) {
  const last = frames.at(-1);
  const indent = Math.min(item.depth, MAX_INDENT);
  if (item.marker !== "•" || inlines.length === 0) {
    const line = [{ text: `${"    ".repeat(indent)}${item.marker} ` }, ...inlines];
    if (last?.type === "rich_text_section")
      last.elements.push(...elementsOf([{ text: "\n" }, ...line]));
    else frames.push(section(line));
  } else if (last?.type === "rich_text_list" && last.indent === indent) {
    last.elements.push(section(inlines));
  } else {
    frames.push({ type: "rich_text_list", style: "bullet", indent, elements: [section(inlines)] });
  }
}

function elementsOf(inlines: readonly Inline[]): Element[] {
  return inlines.flatMap((inline) => {
    const style = styleOf(inline);
    if (inline.url !== undefined) {
      return [
        { type: "link" as const, url: inline.url, text: inline.label ?? inline.text, ...style },
      ];
    }
    return inline.at === undefined
      ? textElements(inline.text, style)
      : timeElements(inline.at, inline);
  });
}

function styleOf({ strong, em, strike, code }: Inline): Pick<types.RichTextText, "style"> {
  const style = {
    ...(strong && { bold: true }),
    ...(em && { italic: true }),
    ...(strike && { strike: true }),
    ...(code && { code: true }),
  };
  return Object.keys(style).length === 0 ? {} : { style };
}

/** An empty text element is invalid, so an empty text has none. */
function textElements(
  text: string,
  style: Pick<types.RichTextText, "style">,
): types.RichTextText[] {
  const elements: types.RichTextText[] = [];
  for (let start = 0; start < text.length;) {
    const piece = text.slice(start, characterEnd(text, start + MAX_ELEMENT));
    elements.push({ type: "text", text: piece, ...style });
    start += piece.length;
  }
  return elements;
}

/** In each reader's own time zone, and in UTC for all. */
function timeElements(at: number, { text }: Inline): Element[] {
  const timestamp = timestampOf(at);
  if (timestamp === undefined) return textElements(text, {});
  const format = "{date_short_pretty} {time} ({ago})";
  return [{ type: "date", timestamp, format, fallback: text }, ...textElements(` (${text})`, {})];
}

/** Seconds, where Slack can show them. */
export function timestampOf(at: number): number | undefined {
  const timestamp = Math.floor(at / 1000);
  return timestamp > 0 && timestamp < MAX_TIMESTAMP ? timestamp : undefined;
}

/** Every text that the blocks hold. */
function lengthOf(value: unknown): number {
  if (Array.isArray(value)) return value.reduce((sum: number, each) => sum + lengthOf(each), 0);
  if (typeof value !== "object" || value === null) return 0;
  return Object.entries(value).reduce((sum, [name, inner]) => {
    const isText = typeof inner === "string" && name !== "type";
    return sum + (isText ? inner.length : lengthOf(inner));
  }, 0);
}
