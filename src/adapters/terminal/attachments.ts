import { readFile, stat } from "node:fs/promises";
import { homedir } from "node:os";
import { basename, extname, resolve } from "node:path";
import { type FileType, MAX_FILE_BYTES, MAX_FILES } from "../../core/block.ts";
import { isOfType } from "../../core/file-type.ts";
import { codeOf, messageOf } from "../../core/errors.ts";
import type { InboundFile } from "../inbox.ts";

/** The files that a typed text names, or why it cannot be sent with them, in words for whoever typed it. */
export type Attachments = { files: InboundFile[] } | { why: string };

const TYPES: Readonly<Record<string, FileType>> = {
  ".png": "image/png",
  ".jpg": "image/jpeg",
  ".jpeg": "image/jpeg",
  ".gif": "image/gif",
  ".webp": "image/webp",
  ".pdf": "application/pdf",
  ".txt": "text/plain",
  ".log": "text/plain",
  ".md": "text/plain",
  ".json": "text/plain",
  ".yaml": "text/plain",
  ".yml": "text/plain",
  ".csv": "text/plain",
  ".conf": "text/plain",
};

/** `@path` or `@"a path with spaces"`, at the beginning of a word. */
const NAMED = /(?<=^|[\s(])@(?:"(?<quoted>[^"\n]+)"|(?<bare>[^\s"]+))/gu;

/**
 * Reads the files that a text names as `@path`, relative to `from` or to the home folder (`~/`). A word without an
 * extension is only a word, and so is one with an extension that is not known when no such file exists. Whatever else
 * cannot be read and sent whole is refused, so that nobody waits for an opinion on a file that was not seen.
 */
export async function readAttachments(text: string, from: string): Promise<Attachments> {
  const files = new Map<string, InboundFile>();
  for (const { groups } of text.matchAll(NAMED)) {
    // The end of a sentence is not the end of a name.
    const name = groups?.["quoted"] ?? groups?.["bare"]?.replace(/[,.;:!?)\]]+$/, "") ?? "";
    const path = resolve(from, name.replace(/^~(?=\/)/, homedir()));
    if (extname(name) === "" || files.has(path)) continue;
    const read = await readOne(path, name);
    if (read === undefined) continue;
    if ("why" in read) return read;
    if (files.size === MAX_FILES)
      return { why: `One message can bring at most ${MAX_FILES} files.` };
    files.set(path, read.file);
  }
  return { files: [...files.values()] };
}

/** Undefined for what is no file's name. */
async function readOne(
  path: string,
  name: string,
): Promise<{ file: InboundFile } | { why: string } | undefined> {
  const mediaType = TYPES[extname(path).toLowerCase()];
  const no = (reason: string): { why: string } => ({ why: `@${name} ${reason}` });
  try {
    const found = await stat(path);
    if (mediaType === undefined) {
      const known = Object.keys(TYPES).join(" ");
      return found.isFile() ? no(`can't be shown to the AI; these types can: ${known}`) : undefined;
    }
    if (!found.isFile()) return no("is not a regular file.");
    const most = MAX_FILE_BYTES[mediaType];
    const tooLarge = no(`is too large: ${found.size} bytes, the limit for this type is ${most}.`);
    if (found.size > most) return tooLarge;
    const bytes = await readFile(path);
    if (bytes.length > most) return tooLarge; // it grew meanwhile
    const problem = problemOf(bytes, mediaType);
    if (problem !== undefined) return no(problem);
    return { file: { name: basename(path), mediaType, bytes } };
  } catch (error) {
    if (mediaType === undefined) return undefined;
    const isMissing = codeOf(error) === "ENOENT";
    return no(isMissing ? `does not exist (${path}).` : `can't be read: ${messageOf(error)}.`);
  }
}

/** What keeps the bytes from being what the file's name says. */
function problemOf(bytes: Buffer, mediaType: FileType): string | undefined {
  if (bytes.length === 0) return "is empty.";
  if (isOfType(bytes, mediaType)) return undefined;
  return `is not ${mediaType === "text/plain" ? "UTF-8 text" : mediaType}, though its name says so.`;
}
