import type { BotMessage, MessagePart } from "../../core/bot-message.ts";
import type { Json } from "../../core/entry.ts";
import { isJsonObject } from "../../core/json.ts";
import { partOf } from "../shared/bot-message.ts";
import { stringOf, wordsOfBlocks } from "./read-blocks.ts";
import { nameOfBot, type Shown } from "./read-shown.ts";

/** Slack shows at most so many of each. */
const MAX_ATTACHMENTS = 100;
const MAX_BLOCKS = 50;

/** What Slack's names for colors are; it sends them to others as `a30200`. */
const COLORS: Readonly<Record<string, number>> = {
  good: 0x2eb886,
  warning: 0xdaa038,
  danger: 0xa30200,
};

/** A bot's message in the neutral form: its text, its blocks, and each attachment. */
export function botMessageOf(said: Shown): BotMessage {
  const { text, blocks, attachments } = said;
  const own = plain(text);
  const others = Array.isArray(attachments) ? attachments.slice(0, MAX_ATTACHMENTS) : [];
  return {
    author: nameOfBot(said),
    parts: [
      partOf({ text: own.text, links: own.links }),
      partOf(draftOfBlocks(blocks)),
      ...others.map((each: unknown) => (isJsonObject(each) ? ofAttachment(each) : undefined)),
    ].filter((part) => part !== undefined),
  };
}

type Fields = Record<string, Json | undefined>;
function ofAttachment(attachment: Fields): MessagePart | undefined {
  const { fields, actions, color } = attachment;
  const read = (name: string) => plain(stringOf(attachment[name]));
  const [title, pretext, text, footer] = [
    read("title"),
    read("pretext"),
    read("text"),
    read("footer"),
  ];
  const within = draftOfBlocks(attachment["blocks"]);
  const above = [title, pretext, text];
  const isBare = [...above, within].every((each) => each.text === "") && within.title === undefined;
  // Shown where the rest cannot be shown; some apps have nothing else.
  const said = isBare ? [read("fallback")] : above;
  const url = stringOf(attachment["title_link"]);
  return partOf({
    title: title.text || within.title,
    url: url === "" ? undefined : url,
    text: [...(isBare ? said : [pretext, text]), within].map((each) => each.text).join("\n"),
    color: colorOf(color),
    fields: [...fieldsOf(fields), ...within.fields],
    links: [...said.flatMap(({ links }) => links), ...within.links, ...linksOf(actions)],
    buttons: [...within.buttons, ...labelsOf(actions)],
    footer: `${footer.text}\n${within.footer}`,
  });
}

interface Within {
  title: string | undefined;
  text: string;
  fields: MessagePart["fields"][number][];
  links: MessagePart["links"][number][];
  buttons: string[];
  footer: string;
}

/** What blocks say: a heading, texts, fields, what stands small below, and buttons. */
function draftOfBlocks(blocks: unknown): Within {
  const found: Within = {
    title: undefined,
    text: "",
    fields: [],
    links: [],
    buttons: [],
    footer: "",
  };
  for (const block of Array.isArray(blocks) ? blocks.slice(0, MAX_BLOCKS) : [])
    if (isJsonObject(block)) noteBlock(found, block);
  return found;
}

function noteBlock(found: Within, block: Fields): void {
  const { type, elements, fields, accessory } = block;
  const buttons = [type === "actions" ? elements : undefined, accessory && [accessory]];
  if (type === "context") {
    const said = plain(wordsOfBlocks(elements));
    found.footer += `\n${said.text}`;
    found.links.push(...said.links);
  } else if (type !== "actions") {
    const said = plain(wordsOfBlocks(type === "section" ? block["text"] : [block]));
    if (type === "header" && found.title === undefined) found.title = said.text;
    else found.text += `\n${said.text}`;
    found.links.push(...said.links);
    if (Array.isArray(fields)) found.fields.push(...fields.flatMap(ofField));
  }
  for (const each of buttons) {
    found.links.push(...linksOf(each));
    found.buttons.push(...labelsOf(each));
  }
}

/** `*Service:*\nshop`: its first line is its name. */
function ofField(field: Json): MessagePart["fields"] {
  const { text } = plain(wordsOfBlocks([field]));
  const [, name = "", value = ""] = /^([^\n:]{1,100}):?[ \t]*\n?([^]*)$/.exec(text.trim()) ?? [];
  return name === "" || value === "" ? [] : [{ name, value: value.trim() }];
}

function fieldsOf(fields: Json | undefined): MessagePart["fields"] {
  if (!Array.isArray(fields)) return [];
  return fields.flatMap((field) => {
    const { title, value } = isJsonObject(field) ? field : {};
    return [{ name: plain(stringOf(title)).text, value: plain(stringOf(value)).text }];
  });
}

function linksOf(buttons: Json | undefined): MessagePart["links"] {
  return buttonsIn(buttons).flatMap(({ url, label }) => (url === "" ? [] : [{ label, url }]));
}

function labelsOf(buttons: Json | undefined): string[] {
  return buttonsIn(buttons).flatMap(({ label }) => (label === "" ? [] : [label]));
}

/** A button of an attachment has a text, one of a block a text object. */
function buttonsIn(buttons: Json | undefined): { label: string; url: string }[] {
  if (!Array.isArray(buttons)) return [];
  return buttons.flatMap((each) => {
    if (!isJsonObject(each) || each["type"] !== "button") return [];
    return [{ label: wordsOfBlocks(each["text"]), url: stringOf(each["url"]) }];
  });
}

function colorOf(color: Json | undefined): number | undefined {
  const said = stringOf(color).toLowerCase();
  const [, hex] = /^#?([0-9a-f]{6}|[0-9a-f]{3})$/.exec(said) ?? [];
  const six = hex?.length === 3 ? hex.replaceAll(/./g, "$&$&") : hex;
  return COLORS[said] ?? (six === undefined ? undefined : Number.parseInt(six, 16));
}

/** Slack's notation as words: what is bold or code is not marked, and links are aside. */
function plain(text: string): { text: string; links: { label: string; url: string }[] } {
  const links: { label: string; url: string }[] = [];
  const words = text.replaceAll(
    /<([^<>|]*)(?:\|([^<>]*))?>/g,
    (_whole, target: string, label?: string) => {
      const said = unescaped(label ?? "");
      const address = unescaped(target);
      if (/^https?:\/\//i.test(address)) {
        links.push({ label: said, url: address });
        return said || address;
      }
      return said || address.replace(/^!(?:date\^\d+\^?)?/, "@");
    },
  );
  const bare = words
    .replaceAll("```", "")
    .replaceAll(/`([^`\n]*)`/g, "$1")
    .replaceAll(/(?<![\p{L}\p{N}*])\*(?!\s)([^*\n]+)\*(?![\p{L}\p{N}*])/gu, "$1");
  return { text: unescaped(bare), links };
}

function unescaped(text: string): string {
  return text.replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&amp;", "&");
}
