import type { Logger } from "pino";
import { type FileType, fileType, MAX_FILE_BYTES, MAX_FILES } from "../../core/block.ts";
import { cleanText } from "../../security/sanitize.ts";
import type { UnreadFile } from "../../core/entry.ts";
import { isOfType } from "../../core/file-type.ts";
import { readCapped } from "../../core/read-capped.ts";
import { megabytes } from "../../core/text.ts";
import type { InboundFile } from "../inbox.ts";
import { platformFetch } from "./fetch.ts";

/** A file of a message, as its platform tells of it. Nothing of it is trusted. */
export interface AttachedFile {
  name: string;
  /** Its media type, parameters included. */
  type: string | undefined;
  /** Bytes; 0: not told. */
  size: number;
  url: string | undefined;
}

/** Of all files together: a message waits in memory until it is kept. */
const MAX_TOTAL_BYTES = 22 * 1024 * 1024;
/** Of one download. A platform sends its event again long before all are done; the first that is done is kept. */
const TIMEOUT_MS = 10_000;

/** Kinds of text that platforms name otherwise. */
const TEXTS = /^(?:text\/.*|application\/(?:json|x-ndjson|xml|yaml|x-yaml|toml|x-sh|sql))$/;

/** What a model may be shown of a message's files, and those that it may not be shown, with why. Never fails. */
export type ReadFiles = (
  attached: readonly AttachedFile[],
) => Promise<{ files: InboundFile[]; unread: UnreadFile[] }>;

/** A file's bytes, or why they cannot be shown to a model, in words for people. */
type Read = { file: InboundFile } | { why: string };

const NOT_DOWNLOADED = "the download failed";

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
    const response = await platformFetch(url, { headers, redirect: "error", signal });
    if (!response.ok || response.body === null) {
      await response.body?.cancel();
      return undefined;
    }
    const { bytes, isWhole, error } = await readCapped(response.body, maxBytes);
    if (error !== undefined) throw error;
    return isWhole ? bytes : undefined;
  }

  async function read(file: AttachedFile, room: number): Promise<Read> {
    const mediaType = typeOf(file.type);
    if (mediaType === undefined) return { why: "type not supported" };
    const limit = MAX_FILE_BYTES[mediaType];
    if (file.size > limit) return { why: `${megabytes(file.size)}, limit ${megabytes(limit)}` };
    if (file.size > room) {
      return { why: `the limit for all files of a message is ${megabytes(MAX_TOTAL_BYTES)}` };
    }
    if (file.url === undefined) return { why: NOT_DOWNLOADED };
    try {
      const bytes = await download(file.url, Math.min(limit, room));
      if (bytes === undefined) return { why: NOT_DOWNLOADED };
      const why = whyNotOfType(bytes, mediaType);
      return why === undefined ? { file: { name: nameOf(file), mediaType, bytes } } : { why };
    } catch (error) {
      log.debug({ err: error }, "a file could not be downloaded");
      return { why: NOT_DOWNLOADED };
    }
  }

  return async (attached) => {
    const files: InboundFile[] = [];
    const unread: UnreadFile[] = [];
    let room = MAX_TOTAL_BYTES;
    for (const each of attached) {
      const done: Read =
        files.length < MAX_FILES
          ? await read(each, room)
          : { why: `only ${MAX_FILES} files of a message are read` };
      if ("file" in done) {
        room -= done.file.bytes.byteLength;
        files.push(done.file);
      } else {
        const bytes = Number.isSafeInteger(each.size) && each.size > 0 ? each.size : undefined;
        unread.push({ name: nameOf(each), ...(bytes !== undefined && { bytes }), ...done });
      }
    }
    return { files, unread };
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
function whyNotOfType(bytes: Buffer, mediaType: FileType): string | undefined {
  if (bytes.length === 0) return "empty file";
  if (isOfType(bytes, mediaType)) return undefined;
  return mediaType === "text/plain" ? "not UTF-8 text" : `not ${mediaType}, though it says so`;
}
