import { isUtf8 } from "node:buffer";
import type { APIAttachment } from "discord.js";
import type { Logger } from "pino";
import { type FileType, fileType, MAX_FILE_BYTES } from "../../core/block.ts";
import { cleanText } from "../../core/display.ts";
import { binaryTypeOf } from "../../core/image-type.ts";
import type { InboundFile } from "../adapter.ts";
import { TIMEOUT_MS } from "./api.ts";

/** Files of one message that are read, and what they may weigh together: a message waits in memory until it is kept. */
const MAX_FILES = 8;
const MAX_TOTAL_BYTES = 16 * 1024 * 1024;

const HOSTS: ReadonlySet<string> = new Set([
  "https://cdn.discordapp.com",
  "https://media.discordapp.net",
]);

/** Kinds of text that are named otherwise. */
const TEXTS = /^(?:text\/|application\/(?:json|x-ndjson|xml|yaml|x-yaml|toml|x-sh|sql)$)/;

type Attachment = Pick<APIAttachment, "filename" | "content_type" | "size" | "url">;

/** What a model may be shown of a message's files, and a line for each that it may not. Never fails. */
export type ReadFiles = (
  attachments: readonly Attachment[],
) => Promise<{ files: InboundFile[]; notes: string[] }>;

/** Downloads from Discord's own hosts and, for another server, from that one's; without the token. */
export function createFileReader(apiUrl: string | undefined, log: Logger): ReadFiles {
  const hosts = apiUrl === undefined ? HOSTS : new Set([...HOSTS, new URL(apiUrl).origin]);

  async function download(address: string, maxBytes: number): Promise<Buffer | undefined> {
    const url = URL.parse(address);
    if (url === null || !hosts.has(url.origin)) return undefined;
    const response = await fetch(url, {
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

  async function read(file: Attachment, room: number): Promise<InboundFile | undefined> {
    const mediaType = typeOf(file.content_type);
    if (mediaType === undefined) return undefined;
    const maxBytes = Math.min(MAX_FILE_BYTES[mediaType], room);
    if (file.size > maxBytes) return undefined;
    try {
      const bytes = await download(file.url, maxBytes);
      if (bytes === undefined || !isOfType(bytes, mediaType)) return undefined;
      return { name: nameOf(file), mediaType, bytes };
    } catch (error) {
      log.debug({ err: error }, "a file could not be downloaded");
      return undefined;
    }
  }

  return async (attachments) => {
    const files: InboundFile[] = [];
    const notes: string[] = [];
    let room = MAX_TOTAL_BYTES;
    for (const each of attachments) {
      const file = files.length < MAX_FILES ? await read(each, room) : undefined;
      room -= file?.bytes.byteLength ?? 0;
      if (file === undefined) notes.push(`(file ${nameOf(each)} not read)`);
      else files.push(file);
    }
    return { files, notes };
  };
}

function nameOf({ filename }: Attachment): string {
  return cleanText(filename || "without a name").slice(0, 200);
}

/** Discord adds parameters, as in `text/plain; charset=utf-8`. */
function typeOf(type: string | undefined): FileType | undefined {
  const [bare = ""] = (type ?? "").toLowerCase().split(";");
  return TEXTS.test(bare.trim()) ? "text/plain" : fileType.safeParse(bare.trim()).data;
}

/** What is not what it says is not handed on: the inbox would refuse the whole message. */
function isOfType(bytes: Buffer, mediaType: FileType): boolean {
  if (bytes.length === 0) return false;
  if (mediaType === "text/plain") return isUtf8(bytes) && !bytes.includes(0);
  return binaryTypeOf(bytes) === mediaType;
}
