import type { Logger } from "pino";
import * as z from "zod";
import { type AttachedFile, createFileReader, type ReadFiles } from "../shared/inbound-files.ts";

export const slackFile = z
  .object({
    name: z.string().nullish(),
    title: z.string().nullish(),
    mimetype: z.string().optional(),
    size: z.number().optional(),
    url_private: z.string().optional(),
  })
  .transform(({ name, title, mimetype: type, size = 0, url_private: url }): AttachedFile => ({
    name: name || title || "",
    type,
    size,
    url,
  }));

export interface SlackFilesOptions {
  botToken: string;
  apiUrl: string | undefined;
  log: Logger;
}

/** Downloads with the bot's token, which is sent to Slack's own hosts and to nobody else. */
export function createSlackFiles({ botToken, apiUrl, log }: SlackFilesOptions): ReadFiles {
  const origins = new Set(["https://files.slack.com"]);
  if (apiUrl !== undefined) origins.add(new URL(apiUrl).origin);
  return createFileReader({ origins, headers: { authorization: `Bearer ${botToken}` }, log });
}
