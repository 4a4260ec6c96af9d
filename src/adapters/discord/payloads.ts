import * as z from "zod";
import { withoutNulls } from "../shared/payload.ts";
import { readPrefixed } from "./conversations.ts";
import type { Place } from "./place.ts";

/** The fields of Discord's payloads that are used; a payload of another form is not taken. */

const id = z.string().regex(/^\d{1,20}$/);
const text = z.string().optional();

export const user = z.object({
  id,
  username: z.string().default(""),
  global_name: text,
  bot: z.boolean().optional(),
});
export type User = z.infer<typeof user>;

const member = z.object({ nick: text });

export const attachment = z.object({
  filename: z.string().default(""),
  content_type: text,
  size: z.number().nonnegative().default(0),
  url: text,
});

export const message = z.object({
  id,
  channel_id: id,
  guild_id: id.optional(),
  channel_type: z.number().optional(),
  type: z.number().default(0),
  webhook_id: text,
  application_id: text,
  author: user,
  member: member.optional(),
  content: z.string().default(""),
  mentions: z.array(user.extend({ member: member.optional() })).default([]),
  mention_roles: z.array(z.string()).default([]),
  attachments: z.array(attachment).default([]),
  /** What it forwards. */
  message_snapshots: z.array(z.unknown()).default([]).catch([]),
  /** The message that it replies to, unless that was deleted. */
  referenced_message: z
    .looseObject({ id, author: user, webhook_id: text })
    .optional()
    .catch(undefined),
});

/** A message event from the gateway, or a message read back. */
export type ReceivedMessage = z.infer<typeof message>;

export function readMessage(event: unknown): ReceivedMessage | undefined {
  return message.safeParse(withoutNulls(event)).data;
}

const edited = message.extend({ edited_timestamp: z.iso.datetime({ offset: true }) });

/** A message as its author changed it, and when; undefined for every other update, such as an embed that was added. */
export function readEdited(event: unknown): { said: ReceivedMessage; at: number } | undefined {
  const said = edited.safeParse(withoutNulls(event)).data;
  return said && { said, at: Date.parse(said.edited_timestamp) };
}

const removed = z.object({
  id: id.optional(),
  ids: z.array(id).optional(),
  channel_id: id,
  guild_id: id.optional(),
});

/** Messages that are gone, one or several. */
export function readRemoved(
  event: unknown,
): { ids: readonly string[]; channel_id: string; guild_id: string | undefined } | undefined {
  const gone = removed.safeParse(withoutNulls(event)).data;
  if (gone === undefined) return undefined;
  const { id: one, ids = one === undefined ? [] : [one], channel_id, guild_id } = gone;
  return { ids, channel_id, guild_id };
}

const reaction = z.object({
  user_id: id,
  channel_id: id,
  message_id: id,
  guild_id: id.optional(),
  /** Not with one that was taken away. */
  member: member.extend({ user: user.optional() }).optional(),
  emoji: z.object({ name: text }),
});
export type Reaction = z.infer<typeof reaction>;

/** Somebody's reaction to a message. */
export function readReaction(event: unknown): Reaction | undefined {
  return reaction.safeParse(withoutNulls(event)).data;
}

/** What is needed to answer any interaction. */
const asked = z.object({ id, token: z.string().min(1), type: z.number() });
export type AnyInteraction = z.infer<typeof asked>;

const field = z.object({
  type: z.number(),
  custom_id: z.string(),
  value: z.string().default(""),
  values: z.array(z.string()).default([]),
});

const button = z.object({ custom_id: z.string().default(""), label: z.string().default("") });

/** A component of the message that holds the pressed button; a row has the buttons. */
const shown = z.object({
  type: z.number(),
  content: z.string().default(""),
  components: z.array(button.catch({ custom_id: "", label: "" })).default([]),
});

/** Permissions, as bits. */
const bits = z
  .string()
  .regex(/^\d{1,40}$/)
  .transform(BigInt)
  .optional()
  .catch(undefined);

/** Who did something where; the event says which thread it is, never what was pressed. */
const acted = asked.extend({
  application_id: z.string(),
  guild_id: id.optional(),
  channel: z.object({ id, type: z.number().optional() }).optional(),
  channel_id: id.optional(),
  member: member.extend({ user: user.optional(), permissions: bits }).optional(),
  user: user.optional(),
  /** What the bot may there. */
  app_permissions: bits,
});

function placed<T extends z.infer<typeof acted>>(
  { channel, channel_id, member: by, user: alone, guild_id: guild, ...rest }: T,
  ctx: z.RefinementCtx,
) {
  const who = by?.user ?? alone;
  const where = channel?.id ?? channel_id;
  if (who !== undefined && where !== undefined) {
    const place: Place = { guild, channel: where };
    const may = by?.permissions;
    return { ...rest, user: who, nick: by?.nick, may, place, channelType: channel?.type };
  }
  ctx.addIssue({ code: "custom", message: "names nobody, or no place" });
  return z.NEVER;
}

export const pressed = acted
  .extend({
    message: z
      .object({
        flags: z.number().default(0),
        components: z.array(shown.catch({ type: 0, content: "", components: [] })).default([]),
      })
      .optional()
      .catch(undefined),
    data: z.object({
      custom_id: z.string(),
      components: z.array(z.object({ component: field.optional() }).catch({})).default([]),
    }),
  })
  .transform(placed)
  .transform((said) => {
    if (said.place.guild !== undefined) return said;
    const { id: custom_id, ...conversation } = readPrefixed(said.data.custom_id);
    return {
      ...said,
      place: { ...said.place, ...conversation },
      data: { ...said.data, custom_id },
    };
  });
export type Interaction = z.infer<typeof pressed>;

/** An option as it was given; a subcommand is one too, with options of its own. */
const option = z.object({
  name: z.string(),
  value: z.union([z.string(), z.number(), z.boolean()]).optional(),
  /** It is being typed right now. */
  focused: z.boolean().default(false),
  get options() {
    return z.array(option).default([]);
  },
});

const given = acted
  .extend({
    data: z.object({
      name: z.string(),
      type: z.number(),
      options: z.array(option).default([]),
      target_id: id.optional(),
      resolved: z
        .object({ messages: z.record(z.string(), z.unknown()).default({}) })
        .optional()
        .catch(undefined),
    }),
  })
  .transform(placed);
/** A command that was given, or is being typed. */
export type Given = z.infer<typeof given>;

/** Undefined for anything else. */
export function readGiven(event: unknown): Given | undefined {
  return given.safeParse(withoutNulls(event)).data;
}

/** Who did something where, whatever it was. */
export type Acted = Omit<Given, "data">;

/** Undefined for one that cannot be answered. */
export function readAnyInteraction(event: unknown): AnyInteraction | undefined {
  return asked.safeParse(withoutNulls(event)).data;
}

/** A pressed button or a sent form; undefined for anything else. */
export function readInteraction(event: unknown): Interaction | undefined {
  return pressed.safeParse(withoutNulls(event)).data;
}
