import * as z from "zod";
import { richText } from "./rich-text.ts";
import type { Data } from "./types.ts";

/** Block Kit's limits (https://docs.slack.dev/reference/block-kit), counted in UTF-16 units: never fewer than Slack's. */

const id = z.string().min(1).max(255);
const plain = (max: number) =>
  z.strictObject({
    type: z.literal("plain_text"),
    text: z.string().min(1).max(max),
    emoji: z.boolean().optional(),
  });
const markup = (max: number) =>
  z.strictObject({
    type: z.literal("mrkdwn"),
    text: z.string().min(1).max(max),
    verbatim: z.boolean().optional(),
  });
const words = (max: number) => z.discriminatedUnion("type", [plain(max), markup(max)]);
const url = z.url().max(3_000);
const block = <T extends string, S extends z.ZodRawShape>(type: T, shape: S) =>
  z.strictObject({ type: z.literal(type), block_id: id.optional(), ...shape });

const confirm = z.strictObject({
  title: plain(100),
  text: words(300),
  confirm: plain(30),
  deny: plain(30),
  style: z.enum(["primary", "danger"]).optional(),
});
const button = z.strictObject({
  type: z.literal("button"),
  action_id: id,
  text: plain(75),
  value: z.string().max(2_000).optional(),
  url: url.optional(),
  style: z.enum(["primary", "danger"]).optional(),
  confirm: confirm.optional(),
  accessibility_label: z.string().max(75).optional(),
});
const option = z.strictObject({
  text: plain(75),
  value: z.string().min(1).max(150),
});
const staticSelect = z.strictObject({
  type: z.literal("static_select"),
  action_id: id,
  options: z.array(option).min(1).max(100),
  initial_option: option.optional(),
});
const textInput = z.strictObject({
  type: z.literal("plain_text_input"),
  action_id: id,
  initial_value: z.string().max(3_000).optional(),
  multiline: z.boolean().optional(),
  min_length: z.int().min(0).max(3_000).optional(),
  max_length: z.int().min(1).max(3_000).optional(),
});
/** Its values are strings; one that is no number, or out of its own bounds, is refused (docs.slack.dev). */
const numeral = z.string().regex(/^-?\d+(\.\d+)?$/);
const numberInput = z
  .strictObject({
    type: z.literal("number_input"),
    is_decimal_allowed: z.boolean(),
    action_id: id,
    initial_value: numeral.optional(),
    min_value: numeral.optional(),
    max_value: numeral.optional(),
  })
  .refine(({ is_decimal_allowed: may, initial_value: value = "" }) => may || !value.includes("."))
  .refine(({ initial_value: value, min_value: min = "-Infinity", max_value: max = "Infinity" }) => {
    const at = value === undefined ? Math.max(Number(min), -1e300) : Number(value);
    return at >= Number(min) && at <= Number(max);
  });
/** At most 5 options; what an option says and means has at most 75 characters (@slack/types, the stricter word). */
const overflow = z.strictObject({
  type: z.literal("overflow"),
  action_id: id,
  options: z
    .array(z.strictObject({ text: plain(75), value: z.string().min(1).max(75) }))
    .min(1)
    .max(5),
  confirm: confirm.optional(),
});
const actions = block("actions", {
  elements: z
    .array(z.discriminatedUnion("type", [button, overflow]))
    .min(1)
    .max(25),
});
const rating = z.strictObject({
  text: plain(75),
  value: z.string().min(1).max(2_000),
  accessibility_label: z.string().max(75).optional(),
});
/** https://docs.slack.dev/reference/block-kit/block-elements/feedback-buttons-element: no emoji's name is drawn in it. */
const contextActions = block("context_actions", {
  elements: z
    .array(
      z.strictObject({
        type: z.literal("feedback_buttons"),
        action_id: id,
        positive_button: rating,
        negative_button: rating,
      }),
    )
    .min(1)
    .max(5),
});
const divider = block("divider", {});
const section = block("section", {
  text: words(3_000).optional(),
  fields: z.array(words(2_000)).min(1).max(10).optional(),
  accessory: button.optional(),
}).refine(({ text, fields }) => text !== undefined || fields !== undefined, "missing text");
const header = block("header", { text: plain(150) });
const context = block("context", { elements: z.array(words(2_000)).min(1).max(10) });
const alert = block("alert", {
  text: words(3_000),
  level: z.enum(["default", "info", "warning", "error", "success"]).optional(),
});
const input = block("input", {
  label: plain(2_000),
  element: z.discriminatedUnion("type", [textInput, numberInput, staticSelect]),
  hint: plain(2_000).optional(),
  optional: z.boolean().optional(),
});

const image = block("image", {
  slack_file: z.strictObject({ id: z.string().regex(/^F[A-Z0-9]{8,}$/) }),
  alt_text: z.string().min(1).max(2_000),
});

/**
 * The reference names rich text among what a container may hold, and Slack refuses it (docs.rs/slack-morphism 2.31,
 * SlackContainerBlock): here is what both take.
 */
const container = block("container", {
  title: plain(150),
  child_blocks: z
    .array(z.union([actions, context, divider, header, image, section]))
    .min(1)
    .max(10),
  is_collapsible: z.boolean().optional(),
  default_collapsed: z.boolean().optional(),
}).refine(
  (made) => made.default_collapsed !== true || made.is_collapsible === true,
  "default_collapsed",
);

const rawText = z.strictObject({ type: z.literal("raw_text"), text: z.string().min(1) });
const cells = z
  .array(z.discriminatedUnion("type", [rawText, richText]))
  .min(1)
  .max(20);
/** https://docs.slack.dev/reference/block-kit/blocks/table-block */
const table = block("table", {
  rows: z.array(cells).min(1).max(100),
  column_settings: z
    .array(
      z.strictObject({
        align: z.enum(["left", "center", "right"]).optional(),
        is_wrapped: z.boolean().optional(),
      }),
    )
    .max(20)
    .optional(),
});
/** https://docs.slack.dev/reference/block-kit/blocks/data-table-block */
const dataTable = block("data_table", {
  caption: z.string().min(1),
  page_size: z.int().min(1).max(100).optional(),
  rows: z
    .array(cells)
    .min(2)
    .max(101)
    .refine((rows) => rows.every((row) => row.length === rows[0]?.length), "rows of one length")
    .refine((rows) => rows[0]?.every(({ type }) => type === "raw_text"), "header cells are raw"),
});

/** The kinds of block that this bot writes, and a section of text. Any other is refused as unknown. */
const anyBlock = z.discriminatedUnion("type", [
  actions,
  alert,
  container,
  context,
  contextActions,
  dataTable,
  divider,
  header,
  image,
  input,
  richText,
  section,
  table,
]);
/** Of the cells of a message's tables together; and there is one table in a message. */
const MAX_TABLE_TEXT = 10_000;
const NOT_IN_WINDOWS: ReadonlySet<string> = new Set([
  "container",
  "context_actions",
  "data_table",
  "table",
]);

/** Slack's words for each problem of zod's. */
function worded(problems: readonly z.core.$ZodIssue[], root: string): string[] {
  return problems.map(
    ({ message, path }) => `${message} [json-pointer:${[root, ...path.map(String)].join("/")}]`,
  );
}

/** Names that occur twice where they must not: block ids in a message, action ids in a block. */
function twice(blocks: readonly Data[]): string[] {
  const again = (names: unknown[]) =>
    names.filter((name, at) => typeof name === "string" && names.indexOf(name) !== at);
  return [
    ...again(blocks.map((made) => made["block_id"])).map(
      (name) => `block_id ${String(name)} is used twice`,
    ),
    ...blocks.flatMap((made) => {
      const elements = Array.isArray(made["elements"]) ? made["elements"] : [];
      return again(elements.map((element: Data) => element["action_id"])).map(
        (name) => `action_id ${String(name)} already exists in the block`,
      );
    }),
  ];
}

/** What is wrong with blocks, in Slack's form; none when nothing is. */
export function blockProblems(blocks: unknown, max: number): string[] {
  const read = z.array(anyBlock).max(max, `no more than ${max} items allowed`).safeParse(blocks);
  if (!read.success) return worded(read.error.issues, "/blocks");
  return [...twice(read.data), ...tableProblems(read.data)];
}

function tableProblems(blocks: readonly Data[]): string[] {
  const tables = blocks.filter((made) => String(made["type"]).endsWith("table"));
  return [
    ...(tables.length > 1 ? ["only_one_table_allowed"] : []),
    ...(characters(tables.map((made) => made["rows"])) > MAX_TABLE_TEXT
      ? ["too much table text"]
      : []),
  ];
}

/** Every text under a value, added up. */
function characters(value: unknown): number {
  if (typeof value === "string") return value.length;
  if (typeof value !== "object" || value === null) return 0;
  return Object.entries(value).reduce((sum, [name, child]) => {
    const isText = typeof child === "string";
    if (isText && !["text", "title", "url", "value", "fallback"].includes(name)) return sum;
    return sum + characters(child);
  }, 0);
}

/**
 * `msg_blocks_too_long`: Slack documents no sum, but refuses from about 13 297 characters in one block on, and 125 fewer
 * with a divider beside it (https://github.com/slackapi/bolt-js/issues/2509).
 */
export function areBlocksTooLong(blocks: readonly Data[]): boolean {
  return characters(blocks) + 125 * (blocks.length - 1) > 13_200;
}

const form = z
  .strictObject({
    type: z.literal("modal"),
    title: plain(24),
    submit: plain(24).optional(),
    close: plain(24).optional(),
    callback_id: z.string().max(255).optional(),
    private_metadata: z.string().max(3_000).optional(),
    external_id: z.string().max(255).optional(),
    clear_on_close: z.boolean().optional(),
    notify_on_close: z.boolean().optional(),
    blocks: z.array(z.unknown()).max(100, "no more than 100 items allowed"),
  })
  .refine(
    (view) =>
      view.submit !== undefined ||
      !view.blocks.some(
        (made) => z.looseObject({ type: z.literal("input") }).safeParse(made).success,
      ),
    "missing required field: submit",
  );

/** What is wrong with a Home tab, in Slack's form. */
export function homeProblems(view: unknown): string[] {
  const home = z.strictObject({
    type: z.literal("home"),
    blocks: z.array(z.unknown()).max(100, "no more than 100 items allowed"),
    callback_id: z.string().max(255).optional(),
    private_metadata: z.string().max(3_000).optional(),
    external_id: z.string().max(255).optional(),
  });
  const read = home.safeParse(view);
  return read.success ? blockProblems(read.data.blocks, 100) : worded(read.error.issues, "/view");
}

/** What is wrong with a form, in Slack's form. */
export function viewProblems(view: unknown): string[] {
  const read = form.safeParse(view);
  if (!read.success) return worded(read.error.issues, "/view");
  const problems = blockProblems(read.data.blocks, 100);
  for (const made of read.data.blocks) {
    const { type } = z.looseObject({ type: z.string() }).parse(made);
    if (NOT_IN_WINDOWS.has(type)) problems.push(`unsupported type: ${type}`);
  }
  const inputs = z.array(anyBlock).safeParse(read.data.blocks).data ?? [];
  for (const made of inputs) {
    if (made.type !== "input" || made.element.type !== "plain_text_input") continue;
    const { initial_value: value = "", max_length: max = 3_000 } = made.element;
    if (value.length > max) problems.push(`initial_value is longer than max_length ${max}`);
  }
  return problems;
}
