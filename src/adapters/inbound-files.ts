import { isUtf8 } from "node:buffer";
import type { Logger } from "pino";
import { type FileType, fileType, MAX_FILE_BYTES } from "../core/block.ts";
import { cleanText } from "../core/display.ts";
import { binaryTypeOf } from "../core/image-type.ts";
import type { InboundFile } from "./adapter.ts";

/** A file of a message, as its platform tells of it. Nothing of it is trusted. */
export interface AttachedFile {
  name: string;
  /** Its media type, parameters included. */
  type: string | undefined;
  /** Bytes; 0: not told. */
  size: number;
  url: string | undefined;
}

/** Files of one message that are read, and what they may weigh together: a message waits in memory until it is kept. */
const MAX_FILES = 8;
const MAX_TOTAL_BYTES = 16 * 1024 * 1024;
/** Of one download. A platform sends its event again long before all are done; the first that is done is kept. */
const TIMEOUT_MS = 10_000;

/** Kinds of text that platforms name otherwise. */
const TEXTS = /^(?:text\/.*|application\/(?:json|x-ndjson|xml|yaml|x-yaml|toml|x-sh|sql))$/;

/** What a model may be shown of a message's files, and a line for each that it may not. Never fails. */
export type ReadFiles = (
  attached: readonly AttachedFile[],
) => Promise<{ files: InboundFile[]; notes: string[] }>;

export interface FileReaderOptions {
  /** Where files may be fetched from, as in `https://files.slack.com`; nothing is asked of any other server. */
  origins: ReadonlySet<string>;
  headers?: Readonly<Record<string, string>>;
  log: Logger;
}

export function createFileReader({ origins, headers = {}, log }: FileReaderOptions): ReadFiles {
  async function download(address: string, maxBytes: number): Promise<Buffer | undefined> {
    const url = URL.parse(address);
    if (url === null || !origins.has(url.origin)) return undefined;
    // A redirect leads to another server, or to a page for people to sign in at.
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    const response = await fetch(url, { headers, redirect: "error", signal });
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

  async function read(file: AttachedFile, room: number): Promise<InboundFile | undefined> {
    const mediaType = typeOf(file.type);
    if (mediaType === undefined || file.url === undefined) return undefined;
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

function nameOf({ name }: AttachedFile): string {
  return cleanText(name || "without a name").slice(0, 200);
}

/** Without parameters, as in `text/plain; charset=utf-8`. */
function typeOf(type = ""): FileType | undefined {
  const bare = type.replace(/;[^]*/, "").trim().toLowerCase();
  return TEXTS.test(bare) ? "text/plain" : fileType.safeParse(bare).data;
}

/** What is not what it says is not handed on: the inbox would refuse the whole message. */
function isOfType(bytes: Buffer, mediaType: FileType): boolean {
  if (bytes.length === 0) return false;
  if (mediaType === "text/plain") return isUtf8(bytes) && !bytes.includes(0);
  return binaryTypeOf(bytes) === mediaType;
}
