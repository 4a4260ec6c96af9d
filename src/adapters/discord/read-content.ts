import * as z from "zod";
import { isRecord } from "../../core/json.ts";
import { attachment, user } from "./payloads.ts";

/** Components nest a few levels; a payload that somebody made up may have any number. */
const MAX_DEPTH = 12;

/** The parts of a message that say something. */
export const content = z.object({
  content: z.string().default("").catch(""),
  embeds: z.array(z.unknown()).default([]).catch([]),
  components: z.unknown().optional(),
  poll: z.unknown().optional(),
  sticker_items: z.unknown().optional(),
  attachments: z.array(attachment).default([]).catch([]),
  mentions: z.array(user).default([]).catch([]),
  timestamp: z.string().optional().catch(undefined),
});
export type Content = z.infer<typeof content>;

/** What a message says, with its embeds, components, poll and stickers, in Discord's own notation (`readDiscordText` reads it). */
export function wordsOf({
  content: text,
  embeds,
  components,
  poll,
  sticker_items,
}: Content): string {
  const lines: string[] = [];
  collect(components, lines, 0);
  const stickers = recordsOf(sticker_items).map(({ name }) => marked("sticker", stringOf(name)));
  return joined(text, ...embeds.map(wordsOfEmbed), ...lines, wordsOfPoll(poll), ...stickers);
}

/** A forwarded message: when it was written, what it says, the names of its files. */
export function wordsOfForwarded(message: Content): string {
  const files = message.attachments.map(({ filename }) => marked("file", filename));
  return joined(dated(message.timestamp), wordsOf(message), ...files);
}

/** The texts that say something, each in lines of its own. */
export function joined(...texts: string[]): string {
  return texts.filter((text) => text.trim() !== "").join("\n");
}

function wordsOfEmbed(embed: unknown): string {
  if (!isRecord(embed)) return "";
  const { title, url, description, fields, author, provider, footer, image, timestamp } = embed;
  const rows = recordsOf(fields).map(({ name, value }) => listed(": ", name, value));
  const by = listed(", ", within(provider, "name"), within(author, "name"));
  const below = listed(", ", within(footer, "text"), dated(timestamp));
  const picture = isRecord(image) ? "(image)" : "";
  return joined(by, linked(stringOf(title), url), stringOf(description), ...rows, picture, below);
}

function wordsOfPoll(poll: unknown): string {
  if (!isRecord(poll)) return "";
  const answers = recordsOf(poll["answers"]).map((each) => within(each["poll_media"], "text"));
  return joined(within(poll["question"], "text"), ...answers.map((answer) => `• ${answer}`));
}

/** The texts of components, and where a button leads; one that only does something cannot be pressed from here. */
function collect(value: unknown, lines: string[], depth: number): void {
  if (depth > MAX_DEPTH) return;
  if (Array.isArray(value)) {
    for (const each of value) collect(each, lines, depth + 1);
    return;
  }
  if (!isRecord(value)) return;
  const { content: text, url, label, media, description, file, name } = value;
  if (typeof text === "string") lines.push(text);
  if (typeof url === "string") lines.push(linked(stringOf(label) || url, url));
  if (isRecord(media)) lines.push(marked("image", stringOf(description)) || "(image)");
  if (isRecord(file)) lines.push(marked("file", stringOf(name)));
  for (const inner of ["components", "accessory", "items"]) collect(value[inner], lines, depth + 1);
}

/** A title without an address, or with one that is none of the web's, stands alone; an address without a title is not shown. */
function linked(text: string, url: unknown): string {
  const isShown = typeof url === "string" && /^https?:\/\//i.test(url) && text !== "";
  return isShown && url !== text ? `${text} (${url})` : text;
}

function dated(timestamp: unknown): string {
  const at = Date.parse(stringOf(timestamp));
  return Number.isNaN(at) ? "" : `<t:${Math.floor(at / 1_000)}>`;
}

function marked(what: string, name: string): string {
  return name === "" ? "" : `(${what}: ${name})`;
}

/** Those that say something: an empty one is sent as a space without width. */
function listed(separator: string, ...parts: unknown[]): string {
  const told = parts.map(stringOf).filter((part) => part.replaceAll("\u200B", "").trim() !== "");
  return told.join(separator);
}

function within(value: unknown, field: string): string {
  return isRecord(value) ? stringOf(value[field]) : "";
}

function recordsOf(value: unknown): Record<string, unknown>[] {
  return Array.isArray(value) ? value.filter(isRecord) : [];
}

function stringOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}
