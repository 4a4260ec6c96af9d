import type { BotMessage, MessagePart } from "../../core/bot-message.ts";
import { isRecord } from "../../core/json.ts";
import { partOf } from "../shared/bot-message.ts";
import { withoutNulls } from "../shared/payload.ts";
import { content } from "./read-content.ts";

/** Discord takes at most so many. */
const MAX_EMBEDS = 10;
const MAX_DEPTH = 6;

/** A bot's message in the neutral form: its text, each embed, and what its components say. Undefined for what is no message. */
export function botMessageOf(event: unknown, author: string): BotMessage | undefined {
  const said = content.safeParse(withoutNulls(event)).data;
  if (said === undefined) return undefined;
  const found = componentsIn(said.components);
  const own = plain([said.content, ...found.texts].filter((text) => text !== "").join("\n"));
  const { buttons } = found;
  return {
    author,
    parts: [
      partOf({
        text: own.text,
        links: [...own.links, ...found.links],
        buttons,
        color: found.color,
      }),
      ...said.embeds.slice(0, MAX_EMBEDS).map((embed) => ofEmbed(embed, buttons)),
    ].filter((part) => part !== undefined),
  };
}

/** Buttons stand below all embeds, and are about them. */
function ofEmbed(embed: unknown, buttons: readonly string[]): MessagePart | undefined {
  if (!isRecord(embed)) return undefined;
  const [title, text] = [plain(stringOf(embed["title"])), plain(stringOf(embed["description"]))];
  const url = stringOf(embed["url"]);
  const fields = (Array.isArray(embed["fields"]) ? embed["fields"] : []).filter(isRecord);
  const footer = isRecord(embed["footer"]) ? stringOf(embed["footer"]["text"]) : "";
  const values = fields.map(
    ({ name, value }) => [plain(stringOf(name)), plain(stringOf(value))] as const,
  );
  return partOf({
    title: title.text,
    url: url === "" ? undefined : url,
    text: text.text,
    color: typeof embed["color"] === "number" && embed["color"] > 0 ? embed["color"] : undefined,
    fields: values.map(([name, value]) => ({ name: name.text, value: value.text })),
    links: [title, text, ...values.flat()].flatMap(({ links }) => links),
    buttons,
    footer,
  });
}

interface Found {
  texts: string[];
  links: { label: string; url: string }[];
  buttons: string[];
  color: number | undefined;
}

function componentsIn(components: unknown): Found {
  const found: Found = { texts: [], links: [], buttons: [], color: undefined };
  collect(components, found, 0);
  return found;
}

function collect(value: unknown, found: Found, depth: number): void {
  if (depth > MAX_DEPTH) return;
  if (Array.isArray(value)) {
    for (const each of value) collect(each, found, depth + 1);
    return;
  }
  if (!isRecord(value)) return;
  const { content: text, label, url, accent_color } = value;
  if (typeof text === "string") found.texts.push(text);
  if (typeof url === "string") found.links.push({ label: stringOf(label), url });
  if (typeof label === "string" && label !== "") found.buttons.push(label);
  if (typeof accent_color === "number") found.color ??= accent_color;
  for (const inner of ["components", "accessory"]) collect(value[inner], found, depth + 1);
}

/** Discord's Markdown as words: what is bold or code is not marked, and links are aside. */
function plain(text: string): { text: string; links: { label: string; url: string }[] } {
  const links: { label: string; url: string }[] = [];
  const words = text.replaceAll(
    /\[([^[\]\n]{1,300})\]\(<?(https?:\/\/[^\s<>()]{1,2000})>?\)/g,
    (_whole, label: string, url: string) => {
      links.push({ label, url });
      return label;
    },
  );
  for (const [url] of words.matchAll(/https?:\/\/[^\s<>()]{1,2000}/g))
    links.push({ label: "", url });
  const bare = words
    .replaceAll(/```(?:[a-z]{1,20}\n)?/g, "")
    .replaceAll(/`([^`\n]*)`/g, "$1")
    .replaceAll("**", "")
    .replaceAll(/(?<![\p{L}\p{N}_])__([^_\n]+)__(?![\p{L}\p{N}_])/gu, "$1")
    .replaceAll(/^#{1,3} /gm, "")
    .replaceAll(/\\([^\p{L}\p{N}\s])/gu, "$1");
  return { text: bare, links };
}

function stringOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}
