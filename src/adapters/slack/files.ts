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
  token(): Promise<string>;
  apiUrl: string | undefined;
  log: Logger;
}

/** Downloads with the bot's token, which is sent to Slack's own hosts and to nobody else. */
export function createSlackFiles({ token, apiUrl, log }: SlackFilesOptions): ReadFiles {
  const origins = new Set(["https://files.slack.com"]);
  if (apiUrl !== undefined) origins.add(new URL(apiUrl).origin);
  return async (attached) => {
    const now = await token().catch(() => undefined);
    const headers: Record<string, string> =
      now === undefined ? {} : { authorization: `Bearer ${now}` };
    return createFileReader({ origins, headers, log })(attached);
  };
}
