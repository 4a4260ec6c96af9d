import * as z from "zod";

/** Rich text as @slack/types has it: literal elements, nothing is parsed, nothing may be empty. */

const style = z
  .strictObject({
    bold: z.boolean(),
    italic: z.boolean(),
    strike: z.boolean(),
    underline: z.boolean(),
    code: z.boolean(),
    highlight: z.boolean(),
    client_highlight: z.boolean(),
    unlink: z.boolean(),
  })
  .partial()
  .optional();

const address = z.url().max(3_000);

const text = z.strictObject({ type: z.literal("text"), text: z.string().min(1), style });
const link = z.strictObject({
  type: z.literal("link"),
  url: address,
  text: z.string().min(1).optional(),
  unsafe: z.boolean().optional(),
  style,
});

/** https://docs.slack.dev/reference/block-kit/blocks/rich-text-block#date-element-type: tokens in braces. */
const DATE_TOKENS =
  /^(?:[^{}]|\{(?:day_divider_pretty|date_num|date_slash|date_long|date_long_full|date_long_pretty|date|date_pretty|date_short|date_short_pretty|time|time_secs|ago)\})+$/;

const inline = z.discriminatedUnion("type", [
  text,
  link,
  z.strictObject({
    type: z.literal("date"),
    timestamp: z.int().positive(),
    format: z.string().regex(DATE_TOKENS),
    url: address.optional(),
    fallback: z.string().min(1).optional(),
    style,
  }),
  z.strictObject({
    type: z.literal("emoji"),
    name: z.string().min(1),
    unicode: z.string().optional(),
    url: address.optional(),
    style,
  }),
  z.strictObject({ type: z.literal("user"), user_id: z.string().regex(/^[UW]/), style }),
  z.strictObject({ type: z.literal("usergroup"), usergroup_id: z.string().regex(/^S/), style }),
  z.strictObject({ type: z.literal("channel"), channel_id: z.string().regex(/^[CDG]/), style }),
  z.strictObject({ type: z.literal("team"), team_id: z.string().regex(/^T/), style }),
  z.strictObject({
    type: z.literal("broadcast"),
    range: z.enum(["here", "channel", "everyone"]),
    style,
  }),
  z.strictObject({ type: z.literal("color"), value: z.string().min(1), style }),
]);

const section = z.strictObject({
  type: z.literal("rich_text_section"),
  elements: z.array(inline).min(1),
});
const border = z.union([z.literal(0), z.literal(1)]).optional();

export const richText = z.strictObject({
  type: z.literal("rich_text"),
  block_id: z.string().min(1).max(255).optional(),
  elements: z
    .array(
      z.discriminatedUnion("type", [
        section,
        z.strictObject({
          type: z.literal("rich_text_list"),
          style: z.enum(["bullet", "ordered"]),
          elements: z.array(section).min(1),
          indent: z.int().min(0).max(8).optional(),
          offset: z.int().min(0).optional(),
          border,
        }),
        z.strictObject({
          type: z.literal("rich_text_quote"),
          elements: z.array(inline).min(1),
          border,
        }),
        z.strictObject({
          type: z.literal("rich_text_preformatted"),
          elements: z.array(z.discriminatedUnion("type", [text, link])).min(1),
          border,
          language: z.string().optional(),
        }),
      ]),
    )
    .min(1),
});
