import { isJsonObject } from "../../core/json.ts";
import type { Json } from "../../core/entry.ts";

/** Alerts nest a few levels; a payload that somebody made up may have any number. */
const MAX_DEPTH = 12;
const MAX_LINES = 400;

/**
 * The words of Block Kit blocks and of attachments, a line for each, in Slack's own notation (`readSlackText` reads it).
 * What a block of an unknown type says in its usual fields is found too.
 */
export function wordsOfBlocks(blocks: unknown): string {
  const lines: string[] = [];
  collect(blocks, lines, 0);
  return lines.join("\n");
}

/** The words of attachments, in the order that Slack shows them. */
export function wordsOfAttachments(attachments: unknown): string {
  if (!Array.isArray(attachments)) return "";
  return attachments
    .map((each: unknown) => (isJsonObject(each) ? wordsOfAttachment(each) : ""))
    .filter((words) => words !== "")
    .join("\n");
}

type Fields = Record<string, Json | undefined>;

function wordsOfAttachment(attachment: Fields): string {
  const { pretext, author_name, title, text, fields, footer, fallback } = attachment;
  const blocks = wordsOfBlocks([attachment["blocks"], attachment["message_blocks"]]);
  const rows = Array.isArray(fields)
    ? fields.flatMap((field) =>
        isJsonObject(field) ? [`${stringOf(field["title"])}: ${stringOf(field["value"])}`] : [],
      )
    : [];
  const words = [
    ...[pretext, author_name, title, text].map(stringOf),
    blocks,
    ...rows,
    stringOf(footer),
  ].filter((line) => line !== "" && line !== ": ");
  return words.length > 0 ? words.join("\n") : stringOf(fallback);
}

function stringOf(value: Json | undefined): string {
  return typeof value === "string" ? value : "";
}

/** Fields that hold more blocks, elements or texts. */
const HOLDERS = [
  "title",
  "subtitle",
  "text",
  "fields",
  "elements",
  "body",
  "blocks",
  "rows",
  "details",
  "output",
];
const INLINE: ReadonlySet<string> = new Set([
  "rich_text_section",
  "rich_text_preformatted",
  "rich_text_quote",
]);

function collect(value: unknown, lines: string[], depth: number): void {
  if (depth > MAX_DEPTH || lines.length >= MAX_LINES) return;
  if (Array.isArray(value)) {
    for (const each of value) collect(each, lines, depth + 1);
    return;
  }
  if (typeof value === "string") {
    if (value !== "") lines.push(value);
    return;
  }
  if (!isJsonObject(value)) return;
  const { type, elements } = value;
  if (typeof type === "string" && INLINE.has(type) && Array.isArray(elements)) {
    const line = elements.map(inline).join("");
    if (line !== "") lines.push(line);
    return;
  }
  if (type === "image") {
    const alt = stringOf(value["alt_text"]);
    if (alt !== "") lines.push(`(image: ${alt})`);
    return;
  }
  // What can be pressed there cannot be pressed here.
  if (type === "actions" || type === "button") return;
  for (const holder of HOLDERS) collect(value[holder], lines, depth + 1);
}

/** An element of rich text, as it would stand in a message's `text`. */
function inline(element: Json): string {
  if (!isJsonObject(element)) return "";
  const { type, text, url, name, user_id, channel_id, usergroup_id, range } = element;
  if (type === "text") return escaped(stringOf(text));
  if (type === "link") {
    const label = text === undefined ? "" : `|${escaped(stringOf(text))}`;
    return `<${stringOf(url)}${label}>`;
  }
  if (type === "emoji") return `:${stringOf(name)}:`;
  if (type === "user") return `<@${stringOf(user_id)}>`;
  if (type === "channel") return `<#${stringOf(channel_id)}>`;
  if (type === "usergroup") return `<!subteam^${stringOf(usergroup_id)}>`;
  if (type === "broadcast") return `<!${stringOf(range)}>`;
  return escaped(stringOf(element["fallback"]));
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
