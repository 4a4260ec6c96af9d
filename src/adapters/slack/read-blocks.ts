import { isJsonObject } from "../../core/json.ts";
import type { Json } from "../../core/entry.ts";

/** Alerts nest a few levels; a payload that somebody made up may have any number. */
const MAX_DEPTH = 12;
const MAX_LINES = 400;

/**
 * The words of Block Kit blocks, a line for each, in Slack's own notation (`readSlackText` reads it). What a block of an
 * unknown type says in its usual fields is found too.
 */
export function wordsOfBlocks(blocks: unknown): string {
  const lines: string[] = [];
  collect(blocks, lines, 0);
  return lines.join("\n");
}

/** What can be pressed there cannot be pressed here; where a button leads is said, a line for each. */
export function linesOfLinks(buttons: unknown): string[] {
  const lines: string[] = [];
  collectLinks(buttons, lines, 0);
  return lines;
}

/** A text with the address that it leads to; one that is none of the web's is left out. */
export function linked(text: string, url: Json | undefined): string {
  if (typeof url !== "string" || !/^https?:\/\//i.test(url)) return text;
  const address = `<${inert(url)}>`;
  return text === "" ? address : `${text} (${address})`;
}

/** An address that ends nothing it stands in. */
function inert(url: string): string {
  return url.replaceAll(/[<>|\s]/g, encodeURIComponent);
}

/** A time in Slack's notation; empty for what is none, such as an unfilled template. */
export function dated(seconds: Json | undefined): string {
  const at = Math.floor(Number(stringOf(seconds)));
  return at > 1e9 && at < 1e11 ? `<!date^${at}^{date}|${at}>` : "";
}

export function stringOf(value: Json | undefined): string {
  return typeof value === "string" || typeof value === "number" ? String(value) : "";
}

type Fields = Record<string, Json | undefined>;

/** Fields that hold more blocks, elements or texts. */
const HOLDERS = [
  "title",
  "subtitle",
  "text",
  "description",
  "fields",
  "accessory",
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
  const special = linesOfKind(value, depth);
  if (special === undefined) for (const holder of HOLDERS) collect(value[holder], lines, depth + 1);
  else lines.push(...special.filter((line) => line !== ""));
}

/** Undefined for a block or element that says what it says in its fields. */
function linesOfKind(block: Fields, depth: number): string[] | undefined {
  const { elements, title, rows, description } = block;
  const type = stringOf(block["type"]);
  if (INLINE.has(type) && Array.isArray(elements)) return [elements.map(inline).join("")];
  if (type === "rich_text_list" && Array.isArray(elements)) {
    const first = Number(stringOf(block["offset"]) || 0) + 1;
    const mark = (i: number) => (block["style"] === "ordered" ? `${first + i}.` : "•");
    return elements.map((each, i) => `${mark(i)} ${wordsWithin(each, depth)}`);
  }
  if (type === "image") {
    const alt = stringOf(block["alt_text"]) || wordsWithin(title, depth);
    return [alt === "" ? "" : `(image: ${alt})`];
  }
  if (type === "video") {
    const about = wordsWithin(description, depth);
    return [linked(wordsWithin(title, depth), block["title_url"]), about];
  }
  if (type.endsWith("table") && Array.isArray(rows)) {
    return rows.map((row) =>
      Array.isArray(row) ? row.map((cell) => wordsWithin(cell, depth)).join(" | ") : "",
    );
  }
  if (/actions$|button|overflow/.test(type)) return linesOfLinks(block);
  return undefined;
}

/** In one line. */
function wordsWithin(value: Json | undefined, depth: number): string {
  const lines: string[] = [];
  collect(value, lines, depth + 1);
  return lines.join(" ");
}

function collectLinks(value: unknown, lines: string[], depth: number): void {
  if (depth > MAX_DEPTH || lines.length >= MAX_LINES) return;
  if (Array.isArray(value)) {
    for (const each of value) collectLinks(each, lines, depth + 1);
  } else if (isJsonObject(value)) {
    const { url, text, elements, options } = value;
    // A button of an attachment has a text, one of a block a text object.
    if (typeof url === "string") lines.push(linked(wordsWithin(text, depth), url));
    collectLinks([elements, options], lines, depth + 1);
  }
}

/** An element of rich text, as it would stand in a message's `text`. */
function inline(element: Json): string {
  if (!isJsonObject(element)) return "";
  const { type, text, url, name, user_id, channel_id, usergroup_id, range, timestamp } = element;
  const fallback = escaped(stringOf(element["fallback"] ?? element["value"]));
  if (type === "text") return escaped(stringOf(text));
  if (type === "link") {
    const label = text === undefined ? "" : `|${escaped(stringOf(text))}`;
    return `<${inert(stringOf(url))}${label}>`;
  }
  if (type === "emoji") return `:${escaped(stringOf(name))}:`;
  if (type === "user") return `<@${stringOf(user_id)}>`;
  if (type === "channel") return `<#${stringOf(channel_id)}>`;
  if (type === "usergroup") return `<!subteam^${stringOf(usergroup_id)}>`;
  if (type === "broadcast") return `<!${stringOf(range)}>`;
  if (type === "date") return dated(timestamp) || fallback;
  return fallback;
}

/** Of what Slack gives as it is, such as names: nothing in it is a mention or a link. */
export function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
