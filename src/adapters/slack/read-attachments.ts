import { isJsonObject } from "../../core/json.ts";
import type { Json } from "../../core/entry.ts";
import { dated, escaped, linesOfLinks, linked, stringOf, wordsOfBlocks } from "./read-blocks.ts";

/** What Slack writes where a client cannot show the rest. */
const PLACEHOLDER =
  /^(?:\[no preview available\]|This (?:message contains interactive elements|content can't be displayed)\.?)$/;

/** The words of attachments, in the order that Slack shows them: what an alert says, a link's preview, a forwarded message. */
export function wordsOfAttachments(attachments: unknown): string {
  if (!Array.isArray(attachments)) return "";
  return joinedOnce(
    attachments.map((each: unknown) => (isJsonObject(each) ? wordsOfAttachment(each) : "")),
  );
}

/** The texts that say something, each in lines of its own; one whose words another has as well is left out. */
export function joinedOnce(texts: readonly string[]): string {
  const kept: { text: string; words: string }[] = [];
  for (const text of texts) {
    if (text.trim() === "" || PLACEHOLDER.test(text.trim())) continue;
    const words = wordsIn(text);
    if (kept.some((other) => other.words.includes(words))) continue;
    for (const [i, other] of [...kept.entries()].toReversed())
      if (words.includes(other.words)) kept.splice(i, 1);
    kept.push({ text, words });
  }
  return kept.map(({ text }) => text).join("\n");
}

/** Without what only formats it: a message's text and its blocks mark bold words and lists in different ways. */
function wordsIn(text: string): string {
  const words = text.match(/[\p{L}\p{N}]+/gu);
  return words === null ? text : ` ${words.join(" ")} `;
}

type Attachment = Record<string, Json | undefined>;

function wordsOfAttachment(attachment: Attachment): string {
  const { blocks, message_blocks, fields, files, actions } = attachment;
  const says = (name: string) => stringOf(attachment[name]);
  const isMessage = attachment["is_share"] === true || attachment["is_msg_unfurl"] === true;
  const when = dated(attachment["ts"]);
  const channel = says("channel_name") && `#${says("channel_name")}`;
  const by = listed(says("service_name"), says("author_name"), channel, isMessage ? when : "");
  const body = joinedOnce([says("text"), wordsOfBlocks([blocks, blocksOfShared(message_blocks)])]);
  const rows = rowsOf(fields);
  const footer = listed(says("footer"), isMessage ? "" : when);
  const own = [says("pretext"), by, says("title"), body, ...rows, says("footer")];
  const isBare = own.every((line) => line === "");
  const fallback = isBare ? joinedOnce([says("fallback")]) : "";
  const title = linked(
    says("title") || fallback,
    attachment["title_link"] ?? attachment["from_url"],
  );
  const image = says("image_url") && "(image)";
  const below = [...namesOf(files), ...linesOfLinks(actions), footer];
  return [says("pretext"), by, title, body, ...rows, image, ...below]
    .filter((line) => line !== "")
    .join("\n");
}

/** A forwarded message's blocks, each with where it stands. */
function blocksOfShared(shared: Json | undefined): Json[] {
  if (!Array.isArray(shared)) return [];
  return shared.map((each) => {
    const message = isJsonObject(each) ? each["message"] : undefined;
    return isJsonObject(message) ? (message["blocks"] ?? null) : each;
  });
}

function rowsOf(fields: Json | undefined): string[] {
  if (!Array.isArray(fields)) return [];
  return fields.map((field) => {
    const { title, value } = isJsonObject(field) ? field : {};
    return [stringOf(title), stringOf(value)].filter((each) => each !== "").join(": ");
  });
}

function namesOf(files: Json | undefined): string[] {
  if (!Array.isArray(files)) return [];
  const names = files.map((file) => (isJsonObject(file) ? stringOf(file["name"]) : ""));
  return names.filter((name) => name !== "").map((name) => `(file: ${escaped(name)})`);
}

function listed(...parts: string[]): string {
  return parts.filter((part) => part !== "").join(", ");
}
