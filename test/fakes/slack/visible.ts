import type { Data, FakeEphemeral, FakeReply, FakeMessage } from "./types.ts";

export interface ShownButton {
  readonly label: string;
  readonly actionId: string;
  readonly value: string | undefined;
  readonly style: string | undefined;
}

function isData(value: unknown): value is Data {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function listOf(data: Data, name: string): Data[] {
  const value = data[name];
  return Array.isArray(value) ? value.filter(isData) : [];
}

function string(data: Data, name: string): string | undefined {
  const value = data[name];
  return typeof value === "string" ? value : undefined;
}

/** One element of a rich text line. */
function inline(element: Data): string {
  const get = (name: string) => string(element, name) ?? "";
  switch (element["type"]) {
    case "text":
      return get("text");
    case "link":
      return string(element, "text") ?? get("url");
    case "date":
      return string(element, "fallback") ?? String(element["timestamp"]);
    case "user":
      return `<@${get("user_id")}>`;
    case "usergroup":
      return `<!subteam^${get("usergroup_id")}>`;
    case "channel":
      return `<#${get("channel_id")}>`;
    case "broadcast":
      return `<!${get("range")}>`;
    case "emoji":
      return `:${get("name")}:`;
    default:
      return "";
  }
}

function richLines(element: Data): string[] {
  const children = listOf(element, "elements");
  if (element["type"] === "rich_text_list") {
    return children.map((item) => listOf(item, "elements").map(inline).join(""));
  }
  return [children.map(inline).join("")];
}

function cellText(cell: Data): string {
  if (cell["type"] !== "rich_text") return string(cell, "text") ?? "";
  return listOf(cell, "elements").flatMap(richLines).join(" ");
}

/** What a block shows once it is opened, and every page of it. */
function linesOf(block: Data): string[] {
  if (block["type"] === "container") {
    return [
      `▸ ${wordsOf(block["title"]).join("")}`,
      ...listOf(block, "child_blocks").flatMap(linesOf),
    ];
  }
  if (block["type"] === "context") {
    return [listOf(block, "elements").flatMap(wordsOf).map(withoutDates).join("")];
  }
  if (Array.isArray(block["rows"])) {
    return block["rows"].map((row: unknown) =>
      (Array.isArray(row) ? row.filter(isData) : []).map(cellText).join(" | "),
    );
  }
  if (block["type"] === "rich_text") return listOf(block, "elements").flatMap(richLines);
  if (block["type"] === "plan") {
    const tasks = listOf(block, "tasks");
    const lines = tasks.map((task) => `[${string(task, "status")}] ${string(task, "title")}`);
    return [string(block, "title") ?? "", ...lines];
  }
  if (block["type"] === "image") return [`Image: ${string(block, "alt_text") ?? ""}`];
  return [...wordsOf(block["text"]), ...listOf(block, "fields").flatMap(wordsOf)];
}

function wordsOf(text: unknown): string[] {
  return isData(text) ? [string(text, "text") ?? ""] : [];
}

/** A time as a reader without Slack's clock has it. */
function withoutDates(text: string): string {
  return text.replaceAll(/<!date\^\d+\^[^|>]*\|([^>]*)>/g, "$1");
}

type Readable = Pick<FakeMessage | FakeEphemeral | FakeReply, "blocks" | "text">;

export function blocksIn(view: Data): Data[] {
  return listOf(view, "blocks");
}

/** All that a person reads in a message, a line per line, without its buttons: they are `buttonsOf`. */
export function textOf(message: Readable): string {
  const blocks = message.blocks ?? [];
  if (blocks.length > 0) return blocks.flatMap(linesOf).join("\n");
  return message.text.replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&amp;", "&");
}

/** What can be pressed, with the block it is in. */
function elementsOf(blocks: readonly Data[]): { blockId: string; element: Data }[] {
  return blocks.flatMap((block) => {
    const { accessory } = block;
    const own = [...listOf(block, "elements"), ...(isData(accessory) ? [accessory] : [])]
      .filter((element) => "action_id" in element)
      .map((element) => ({ blockId: string(block, "block_id") ?? "", element }));
    return [...own, ...elementsOf(listOf(block, "child_blocks"))];
  });
}

/** The two of a pair, which have one id and are pressed by their values. */
function ratingsOf(element: Data): Data[] {
  return [element["positive_button"], element["negative_button"]].filter(isData);
}

/** Buttons, and what can be chosen in a menu: that is pressed by its value. */
export function buttonsOf(message: Readable): ShownButton[] {
  return elementsOf(message.blocks ?? []).flatMap(({ element }) => {
    if (element["type"] === "overflow") {
      return listOf(element, "options").map((option) => ({
        label: wordsOf(option["text"]).join(""),
        actionId: string(option, "value") ?? "",
        value: string(option, "value"),
        style: undefined,
      }));
    }
    if (element["type"] === "feedback_buttons") {
      return ratingsOf(element).map((rating) => ({
        label: wordsOf(rating["text"]).join(""),
        actionId: string(rating, "value") ?? "",
        value: string(rating, "value"),
        style: undefined,
      }));
    }
    if (element["type"] !== "button") return [];
    return [
      {
        label: wordsOf(element["text"]).join(""),
        actionId: string(element, "action_id") ?? "",
        value: string(element, "value"),
        style: string(element, "style"),
      },
    ];
  });
}

/** What Slack sends when it is pressed: the button, or the menu with what was chosen in it. */
export function pressedIn(
  blocks: readonly Data[],
  pressed: string,
): { blockId: string; element: Data } | undefined {
  for (const { blockId, element } of elementsOf(blocks)) {
    const { confirm: _confirm, options: _options, ...sent } = element;
    if (element["action_id"] === pressed) return { blockId, element: sent };
    const rating = ratingsOf(element).find((each) => each["value"] === pressed);
    if (rating !== undefined) {
      const { type, action_id } = element;
      const { text, value } = rating;
      return { blockId, element: { type, action_id, text, value } };
    }
    const chosen = listOf(element, "options").find((option) => option["value"] === pressed);
    if (chosen !== undefined) return { blockId, element: { ...sent, selected_option: chosen } };
  }
  return undefined;
}

const PING = /<!(?:channel|here|everyone|subteam\^[^>]*)[^>]*>|<@[UW][^>]*>/g;

function pingsIn(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(pingsIn);
  if (!isData(value)) return [];
  if (["user", "usergroup", "broadcast"].includes(String(value["type"]))) return [inline(value)];
  const isMarkup = value["type"] === "mrkdwn";
  const own = isMarkup ? (string(value, "text")?.match(PING) ?? []) : [];
  return [...own, ...Object.values(value).flatMap(pingsIn)];
}

/** The mentions in a message that notify people: in its text, in markup of its blocks, and as elements. */
export function pingsOf(message: { text: string; blocks?: Data[] }): string[] {
  return [...(message.text.match(PING) ?? []), ...pingsIn(message.blocks ?? [])];
}
