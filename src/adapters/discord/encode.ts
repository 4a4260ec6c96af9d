import type {
  APIActionRowComponent,
  APIButtonComponent,
  APIMessageTopLevelComponent,
} from "discord.js";
import { basicBlocks } from "../render/basic.ts";
import {
  type BasicBlock,
  type Block,
  type Inline,
  joinInlines,
  type RenderedMessage,
} from "../render/rich-text.ts";
import { splitBlocks } from "../render/split.ts";
import { inCodeBlock } from "../../core/edit.ts";
import type { ShownImage } from "../shared/view.ts";
import { type Button, feedbackButtons } from "../render/buttons.ts";
import { tryRole, tryUser } from "./place.ts";

export interface DiscordMessage {
  /** Components V2, which has no embeds to be suppressed: "disables traditional content and embeds". */
  flags: number;
  components: APIMessageTopLevelComponent[];
  /** What the components show as `attachment://`, by its name. */
  files?: readonly { name: string; data: Buffer; contentType: string }[];
  /** Nobody else is pinged, whatever the text says; an edit pings nobody. */
  allowedMentions: { parse: []; users?: string[]; roles?: string[]; repliedUser: false };
}

/** MessageFlags.IsComponentsV2. Numbers, so that showing a message does not load discord.js. */
export const COMPONENTS_V2 = 1 << 15;
const ACTION_ROW = 1;
const BUTTON = 2;
const TEXT_DISPLAY = 10;
const MEDIA_GALLERY = 12;
const FILE = 13;
const STYLES = { primary: 3, plain: 2, danger: 4 } as const;

/** Of all text in one message of components (Discord's reference, "Components V2"). */
const MAX_CHARS = 4_000;
/** In UTF-8. Discord answers 500 to more than 10 170, less 12 for each text (discord-api-docs issue 8554). */
const MAX_BYTES = 10_000;
const BUTTONS_PER_ROW = 5;
/** The widest table, in cells, of which a phone breaks no line. */
const MAX_TABLE_COLUMNS = 42;
/** More is easier read in a file than page by page. */
const MAX_PAGED = 8_000;
const MAX_INDENT = 5;
/** Seconds that JavaScript's dates, and with them Discord's, can hold. */
const MAX_TIMESTAMP = 8_640_000_000_000;

/** The messages that say it, at least one; its buttons are under the last. No text in them is Markdown but our own. */
export function discordMessages({
  blocks,
  buttons,
  summary,
  mentions = [],
  whole,
  feedbackOn,
}: RenderedMessage): DiscordMessage[] {
  const { line, allowed } = mentionsOf(mentions);
  const messages = discordPages(blocks, line.length);
  const folds = blocks.flatMap((block) => (block.kind === "fold" ? [block.open] : []));
  const file = whole === undefined || whole.text.length <= MAX_PAGED ? undefined : fileOf(whole);
  return messages.map((message, at) => {
    const content = markdownOf(message);
    const isLast = at === messages.length - 1;
    const text = content.trim() === "" ? escapeText(summary || "…", true) : content;
    const below = [
      ...(file === undefined ? [] : [file.component]),
      ...rowsOf([...buttons, ...folds]),
      ...(feedbackOn === undefined ? [] : rowsOf(feedbackButtons(feedbackOn))),
    ];
    return {
      flags: COMPONENTS_V2,
      components: [
        { type: TEXT_DISPLAY, content: at === 0 ? line + text : text },
        ...(isLast ? below : []),
      ],
      ...(isLast && file !== undefined && { files: [file.sent] }),
      allowedMentions: at === 0 ? allowed : { parse: [], repliedUser: false },
    };
  });
}

/** The program's own mentions of people and roles of Discord: a line, and the list of exactly those. */
export function mentionsOf(references: readonly string[]): {
  line: string;
  allowed: DiscordMessage["allowedMentions"];
} {
  const users = references.flatMap((reference) => tryUser(reference) ?? []);
  const roles = references.flatMap((reference) => tryRole(reference) ?? []);
  const all = [...roles.map((id) => `<@&${id}>`), ...users.map((id) => `<@${id}>`)];
  return {
    line: all.length === 0 ? "" : `${all.join(" ")}\n`,
    allowed: {
      parse: [],
      ...(users.length > 0 && { users }),
      ...(roles.length > 0 && { roles }),
      repliedUser: false,
    },
  };
}

/** The pages that say it, each of which fits a message. `taken`: characters that go before them. */
export function discordPages(blocks: readonly Block[], taken = 0): BasicBlock[][] {
  return splitBlocks(basicBlocks(blocks, MAX_TABLE_COLUMNS), (some) => {
    const content = markdownOf(some);
    const bytes = Buffer.byteLength(content) + taken;
    return content.length + taken <= MAX_CHARS && bytes <= MAX_BYTES;
  });
}

/** A message that is a file. */
export function discordFile(file: { name: string; text: string }): DiscordMessage {
  const { component, sent } = fileOf(file);
  return {
    flags: COMPONENTS_V2,
    components: [component],
    files: [sent],
    allowedMentions: { parse: [], repliedUser: false },
  };
}

/** A text as a file, and the component that shows it. */
function fileOf({ name, text }: { name: string; text: string }) {
  const component: APIMessageTopLevelComponent = {
    type: FILE,
    file: { url: `attachment://${name}` },
  };
  const contentType = "text/plain; charset=utf-8";
  return { component, sent: { name, data: Buffer.from(text), contentType } };
}

/** The message that shows images, each with its words for whoever cannot see it. */
export function discordImages(images: readonly ShownImage[]): DiscordMessage {
  const files = images.map(({ name, mediaType, bytes }, at) => ({
    // Names are Discord's to change, but for these characters; two of a message must differ.
    name: `${at + 1}-${name.replaceAll(/[^\w.-]/g, "_")}`,
    data: Buffer.from(bytes),
    contentType: mediaType,
  }));
  const items = files.map(({ name }, at) => ({
    media: { url: `attachment://${name}` },
    description: images[at]?.alt ?? name,
  }));
  return {
    flags: COMPONENTS_V2,
    components: [{ type: MEDIA_GALLERY, items }],
    files,
    allowedMentions: { parse: [], repliedUser: false },
  };
}

export function rowsOf(buttons: readonly Button[]): APIActionRowComponent<APIButtonComponent>[] {
  const rows: APIActionRowComponent<APIButtonComponent>[] = [];
  for (let at = 0; at < buttons.length; at += BUTTONS_PER_ROW) {
    const components = buttons.slice(at, at + BUTTONS_PER_ROW).map(({ id, label, style }) => ({
      type: BUTTON,
      custom_id: id,
      label,
      style: STYLES[style],
    }));
    rows.push({ type: ACTION_ROW, components });
  }
  return rows;
}

export function markdownOf(parts: readonly BasicBlock[]): string {
  let text = "";
  let before: BasicBlock | undefined;
  for (const part of parts) {
    const shown = partOf(part);
    if (shown === "") continue;
    text += text === "" ? shown : gap(before, part) + shown;
    before = part;
  }
  return text;
}

/** Lists end at an empty line; paragraphs have one between them. */
function gap(before: BasicBlock | undefined, part: BasicBlock): string {
  const isList = before?.kind === "item" && part.kind !== "item";
  return isList || (before?.kind === "text" && part.kind === "text") ? "\n\n" : "\n";
}

function partOf(part: BasicBlock): string {
  switch (part.kind) {
    case "text":
      return linesOf(part.inlines).join("\n");
    case "heading": {
      const line = linesOf(part.inlines).join(" ").trim();
      return line === "" ? "" : `### ${line}`;
    }
    case "quote": {
      const lines = linesOf(part.inlines);
      return lines.some(isVisible) ? lines.map((line) => `> ${line}`).join("\n") : "";
    }
    case "small":
      return linesOf(part.inlines)
        .filter(isVisible)
        .map((line) => `-# ${line.trim()}`)
        .join("\n");
    case "item":
      return itemOf(part);
    case "code":
      return codeBlock(part);
    case "exact":
      return `\`\`\`\n${inCodeBlock(part.text)}\n\`\`\``;
    case "rule":
      return "────────";
  }
}

function isVisible(line: string): boolean {
  return line.trim() !== "";
}

/** Discord would count numbered lines itself, so those are text with the number that was written. */
function itemOf({ depth, marker, inlines }: Extract<BasicBlock, { kind: "item" }>): string {
  const indent = "  ".repeat(Math.min(depth, MAX_INDENT));
  const mark = marker === "•" ? "-" : escapeText(marker, true);
  const [first = "", ...rest] = linesOf(inlines);
  return [`${indent}${mark} ${first}`, ...rest.map((line) => `${indent}  ${line}`)].join("\n");
}

/** A third backtick in a row would end the block; U+02CB looks like one. Nothing that is approved is shown so. */
function codeBlock({ text, lang = "" }: Extract<BasicBlock, { kind: "code" }>): string {
  const shown = text.replaceAll(/`{3,}/g, (ticks) => "ˋ".repeat(ticks.length));
  return shown.trim() === "" ? "" : `\`\`\`${lang}\n${shown}\n\`\`\``;
}

/** Three backticks would begin a block, so there are fences of one and of two; a text with both shows others. */
function codeSpan(text: string): string {
  const runs = new Set(text.match(/`+/g)?.map((ticks) => ticks.length));
  const hasBoth = runs.has(1) && runs.has(2);
  const shown = hasBoth ? text.replaceAll("`", "ˋ") : text;
  const fence = runs.has(1) && !hasBoth ? "``" : "`";
  const before = shown.startsWith("`") ? " " : "";
  const after = shown.endsWith("`") ? " " : "";
  return fence + before + shown + after + fence;
}

/** Each line by itself: a line's prefix inside of styled text would be part of it. */
function linesOf(inlines: readonly Inline[]): string[] {
  const lines: Inline[][] = [[]];
  for (const inline of joinInlines(inlines)) {
    for (const [at, text] of inline.text.split("\n").entries()) {
      if (at > 0) lines.push([]);
      lines.at(-1)?.push({ ...inline, text });
    }
  }
  return lines.map((line) => lineOf(joinInlines(line.map(withoutBlankStyle))));
}

/** Marks round nothing but white space are not marks. */
function withoutBlankStyle(inline: Inline): Inline {
  return inline.text.trim() === "" ? { text: inline.text } : inline;
}

const ZERO_WIDTH_SPACE = "\u200b";

function lineOf(inlines: readonly Inline[]): string {
  let line = "";
  for (const inline of inlines) {
    const shown = spanOf(inline, line.trim() === "");
    // Two runs of one mark would be read as one.
    const mark = /[*_~`]$/.exec(line)?.[0];
    const isSame = mark !== undefined && shown.startsWith(mark);
    line += (isSame ? ZERO_WIDTH_SPACE : "") + shown;
  }
  return line;
}

function spanOf(inline: Inline, atStart: boolean): string {
  const { text, url, label, at, code, strong, em, strike } = inline;
  if (at !== undefined) return timeOf(at, text);
  if (url !== undefined)
    return label === undefined ? `<${url}>` : `[${label}](<${withoutEnd(url)}>)`;
  if (code) return codeSpan(text);
  const stars = (strong ? "**" : "") + (em ? "*" : "");
  const waves = strike ? "~~" : "";
  if (stars + waves === "") return escapeText(text, atStart);
  const words = text.trim();
  const start = text.slice(0, text.indexOf(words));
  const end = text.slice(start.length + words.length);
  return start + stars + waves + escapeText(words, true) + waves + stars + end;
}

/** In each reader's own time zone, and in UTC for all. */
function timeOf(at: number, text: string): string {
  const seconds = Math.floor(at / 1000);
  const shown = escapeText(text, true);
  if (!(seconds > 0 && seconds < MAX_TIMESTAMP)) return shown;
  return `<t:${seconds}:R> (${shown})`;
}

/** Opens a style, a mention, a time, an emoji or a link anywhere in a line. */
const MARKS = /[\\*_~`|<[\]]/g;
/** Makes the two slashes after it an address. */
const SCHEME = /:(?=\/\/)/g;
/** As discord.js does it; a backslash would not keep the server from seeing a mention. */
const MENTION = /@(?=everyone|here|[!&\d])/gi;
/** Makes a line a heading, quote, list or small text. */
const LINE_MARK = /^(\s*)(?:([#>+-])|(\d+)([.)]))/;

function escapeText(text: string, atStart: boolean): string {
  const escaped = text
    .replaceAll(MARKS, "\\$&")
    .replaceAll(SCHEME, "\\:")
    .replaceAll(MENTION, `@${ZERO_WIDTH_SPACE}`);
  if (!atStart) return escaped;
  return escaped.replace(
    LINE_MARK,
    (_, space: string, mark: string | undefined, number: string = "", dot: string = "") =>
      `${space}${number}\\${mark ?? dot}`,
  );
}

/** A bracket within an address may end the link there, and begin another behind it. */
function withoutEnd(url: string): string {
  return url.replaceAll("(", "%28").replaceAll(")", "%29");
}
