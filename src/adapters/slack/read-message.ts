import * as z from "zod";
import { slackFile } from "./files.ts";
import { SLACKS_OWN } from "./place.ts";
import { wordsOfAttachments } from "./read-attachments.ts";

/** The fields that a mention, a message event and a message read back share. */
export const messageSchema = z.object({
  ts: z.string(),
  thread_ts: z.string().optional(),
  user: z.string().optional(),
  text: z.string().default(""),
  /** The author's workspace; `user_team` is there for people from elsewhere only. */
  user_team: z.string().optional(),
  team: z.string().optional(),
  subtype: z.string().optional(),
  bot_id: z.string().optional(),
  bot_profile: z.unknown().optional(),
  files: z.array(slackFile).default([]),
  /** What it forwards; links' previews come later. */
  attachments: z.unknown().optional(),
});
export const eventSchema = messageSchema.extend({ channel: z.string() });

export type ReceivedMessage = z.infer<typeof eventSchema>;

/** Subtypes of messages that a person has just written. */
const WRITTEN: ReadonlySet<string> = new Set(["file_share", "thread_broadcast"]);

/** Not a bot's, an app's, a workflow's or Slack's own. */
export function isPersons(
  { user, bot_id, bot_profile, subtype }: Omit<ReceivedMessage, "channel">,
  botUser: string,
): boolean {
  const isWritten = subtype === undefined || WRITTEN.has(subtype);
  const isSomebody = user !== undefined && user !== botUser && !SLACKS_OWN.has(user);
  return isWritten && isSomebody && bot_id === undefined && bot_profile === undefined;
}

/** Neither words, nor a file, nor a forwarded message. */
export function isBlank({ text, files, attachments }: Omit<ReceivedMessage, "channel">): boolean {
  return text.trim() === "" && files.length === 0 && wordsOfAttachments(attachments) === "";
}
