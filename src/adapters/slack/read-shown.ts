import * as z from "zod";
import { slackFile } from "./files.ts";
import type { Workspace } from "./place.ts";
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

export function nameOfBot({ username, bot_profile }: Shown): string {
  return username ?? bot_profile?.name ?? "app";
}

/** With blocks the text is only what notifications show, and often says less. */
export function textOfBot({ text, blocks }: Shown): string {
  const shownText = wordsOfBlocks(blocks);
  return shownText.includes(text) ? shownText : joined(text, shownText);
}

export function joined(...texts: string[]): string {
  return texts.filter((text) => text.trim() !== "").join("\n");
}
