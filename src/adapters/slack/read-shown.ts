import * as z from "zod";
import { slackFile } from "./files.ts";
import { SLACKS_OWN, type Workspace } from "./place.ts";
import { joinedOnce, wordsOfAttachments } from "./read-attachments.ts";
import { wordsOfBlocks } from "./read-blocks.ts";

/** A message as it is read back: a person's, a bot's, or one of Slack's own (`subtype`). */
export const shown = z.object({
  ts: z.string().regex(/^\d+\.\d+$/),
  user: z.string().optional(),
  text: z.string().default("").catch(""),
  user_team: z.string().optional().catch(undefined),
  team: z.string().optional().catch(undefined),
  subtype: z.string().optional().catch(undefined),
  bot_id: z.string().optional().catch(undefined),
  username: z.string().optional().catch(undefined),
  app_id: z.string().optional().catch(undefined),
  bot_profile: z
    .object({ name: z.string().optional(), app_id: z.string().optional() })
    .optional()
    .catch(undefined),
  blocks: z.unknown().optional(),
  attachments: z.unknown().optional(),
  files: z.array(slackFile).default([]).catch([]),
});
export type Shown = z.infer<typeof shown>;

/** Kinds of message that say something; the others are Slack's own, as that somebody joined. */
const SPOKEN: ReadonlySet<string> = new Set([
  "bot_message",
  "file_share",
  "thread_broadcast",
  "me_message",
]);

/** Somebody's words, and not ours. */
export function isSpoken({ subtype, user, bot_id }: Shown, { botUser, botId }: Workspace): boolean {
  const isOurs = user === botUser || (bot_id !== undefined && bot_id === botId);
  return !isOurs && (subtype === undefined || SPOKEN.has(subtype));
}

/** An app's, a webhook's or Slack's own: no person's words, whoever they are shown as. */
export function isBots({ bot_id, bot_profile, subtype, user }: Shown): boolean {
  const isApps = bot_id !== undefined || bot_profile !== undefined || subtype === "bot_message";
  return isApps || user === undefined || SLACKS_OWN.has(user);
}

export function nameOfBot({ username, bot_profile, user }: Shown): string {
  const own = user !== undefined && SLACKS_OWN.has(user) ? "Slackbot" : "app";
  return username ?? bot_profile?.name ?? own;
}

/** All that a bot's message says. With blocks its text is only what notifications show, and often says less. */
export function wordsOfBot({ text, blocks, attachments }: Shown): string {
  return joinedOnce([text, wordsOfBlocks(blocks), wordsOfAttachments(attachments)]);
}
