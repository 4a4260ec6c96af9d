import { isUtf8 } from "node:buffer";
import type { Logger } from "pino";
import * as z from "zod";
import { type FileType, fileType, MAX_FILE_BYTES } from "../../core/block.ts";
import { cleanText } from "../../core/display.ts";
import { binaryTypeOf } from "../../core/image-type.ts";
import type { InboundFile } from "../adapter.ts";

/** A file as Slack's events describe it. */
export const slackFile = z.object({
  name: z.string().nullish(),
  title: z.string().nullish(),
  mimetype: z.string().optional(),
  size: z.number().optional(),
  url_private: z.string().optional(),
});

type SlackFile = z.infer<typeof slackFile>;

/** Files of one message that are read, and what they may weigh together: a message waits in memory until it is kept. */
const MAX_FILES = 8;
const MAX_TOTAL_BYTES = 16 * 1024 * 1024;
/** Slack sends the event again long before; the first that is done is kept. */
const TIMEOUT_MS = 10_000;

const FILES_HOST = "files.slack.com";

/** Kinds of text that Slack names otherwise. */
const TEXTS = /^(?:text\/|application\/(?:json|x-ndjson|xml|yaml|x-yaml|toml|x-sh|sql)$)/;

/** What a model may be shown of a message's files, and a line for each that it may not. */
export type ReadFiles = (
  files: readonly SlackFile[],
) => Promise<{ files: InboundFile[]; notes: string[] }>;

export interface FileReaderOptions {
  botToken: string;
  apiUrl: string | undefined;
  log: Logger;
}

/** Downloads with the bot's token, which is sent to Slack's own hosts and to nobody else. */
export function createFileReader({ botToken, apiUrl, log }: FileReaderOptions): ReadFiles {
  const api = apiUrl === undefined ? undefined : new URL(apiUrl);

  function isSlack(url: URL): boolean {
    if (api !== undefined && url.origin === api.origin) return true;
    return url.protocol === "https:" && url.host === FILES_HOST;
  }

  async function download(address: string, maxBytes: number): Promise<Buffer | undefined> {
    const url = URL.parse(address);
    if (url === null || !isSlack(url)) return undefined;
    // A redirect leads to a page for people to sign in at.
    const response = await fetch(url, {
      headers: { authorization: `Bearer ${botToken}` },
      redirect: "error",
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    if (!response.ok || response.body === null) {
      await response.body?.cancel();
      return undefined;
    }
    const chunks: Uint8Array[] = [];
    let size = 0;
    for await (const chunk of response.body) {
      size += chunk.byteLength;
      // Leaving the loop ends the download.
      if (size > maxBytes) return undefined;
      chunks.push(chunk);
    }
    return Buffer.concat(chunks);
  }

  async function read(file: SlackFile, room: number): Promise<InboundFile | undefined> {
    const mediaType = typeOf(file.mimetype);
    if (mediaType === undefined || file.url_private === undefined) return undefined;
    const maxBytes = Math.min(MAX_FILE_BYTES[mediaType], room);
    if ((file.size ?? 0) > maxBytes) return undefined;
    try {
      const bytes = await download(file.url_private, maxBytes);
      if (bytes === undefined || !isOfType(bytes, mediaType)) return undefined;
      return { name: nameOf(file), mediaType, bytes };
    } catch (error) {
      log.debug({ err: error }, "a file could not be downloaded");
      return undefined;
    }
  }

  return async (attached) => {
    const files: InboundFile[] = [];
    const notes: string[] = [];
    let room = MAX_TOTAL_BYTES;
    for (const each of attached) {
      const file = files.length < MAX_FILES ? await read(each, room) : undefined;
      room -= file?.bytes.byteLength ?? 0;
      if (file === undefined) notes.push(`(file ${nameOf(each)} not read)`);
      else files.push(file);
    }
    return { files, notes };
  };
}

function nameOf({ name, title }: SlackFile): string {
  return cleanText(name || title || "without a name").slice(0, 200);
}

function typeOf(mimetype: string | undefined): FileType | undefined {
  if (mimetype !== undefined && TEXTS.test(mimetype)) return "text/plain";
  return fileType.safeParse(mimetype).data;
}

/** What is not what it says is not handed on: the inbox would refuse the whole message. */
function isOfType(bytes: Buffer, mediaType: FileType): boolean {
  if (bytes.length === 0) return false;
  if (mediaType === "text/plain") return isUtf8(bytes) && !bytes.includes(0);
  return binaryTypeOf(bytes) === mediaType;
}
