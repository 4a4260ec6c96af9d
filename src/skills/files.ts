import { constants } from "node:fs";
import { type FileHandle, lstat, open, readdir, readlink, realpath, stat } from "node:fs/promises";
import { join, sep } from "node:path";
import { cleanText } from "../security/sanitize.ts";
import { BotError, codeOf } from "../core/errors.ts";
import type { SkillFile } from "./skill.ts";

/** No model should read a longer text. */
const MAX_FILE_BYTES = 256 * 1024;
const MAX_FILES = 100;
const MAX_DEPTH = 4;
const MAX_FOLDERS = 200;

/** Hidden folders and other people's programs, which are not searched. */
export function isSkipped(name: string): boolean {
  return name.startsWith(".") || name === "node_modules";
}

export function sorted<T extends { name: string }>(named: readonly T[]): T[] {
  return named.toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

export function isSkillFile(name: string): boolean {
  return name === "SKILL.md" || name === "skill.md";
}

/** The program reads it; models read what it finds. */
export const CHECKS_FILE = "checks.yaml";

/** Models read it with the instructions. */
export const HINTS_FILE = "hints.yaml";

const OWN_FILES: ReadonlySet<string> = new Set([CHECKS_FILE, HINTS_FILE]);

/**
 * The files in a skill's folder (a real path) without SKILL.md, its checks and hints, by their paths in it: at most 100, four folders deep, in
 * order. Leaves out hidden files, names that cannot be shown as they are, and files that lead out of the folder; does not
 * follow links to folders.
 */
export async function listFiles(folder: string): Promise<SkillFile[]> {
  const found: SkillFile[] = [];
  let folders = 0;
  const walk = async (inner: string, depth: number): Promise<void> => {
    folders += 1;
    if (folders > MAX_FOLDERS) return;
    const entries = await readdir(join(folder, inner), { withFileTypes: true }).catch(() => []);
    for (const entry of sorted(entries)) {
      if (found.length === MAX_FILES) return;
      const id = inner === "" ? entry.name : `${inner}/${entry.name}`;
      if (isSkipped(entry.name) || isSkillFile(id) || OWN_FILES.has(id)) continue;
      if (!isShowable(entry.name)) continue;
      if (entry.isDirectory()) {
        if (depth < MAX_DEPTH) await walk(id, depth + 1);
        continue;
      }
      const bytes = await sizeInside(folder, id);
      if (bytes !== undefined) found.push({ id, bytes });
    }
  };
  await walk("", 0);
  return found;
}

/** True if a model can read the name and give it back unchanged, and the name cannot end its tag or line. */
function isShowable(name: string): boolean {
  return cleanText(name) === name && !/["<>&\\]|[^\S ]/.test(name);
}

/** Undefined if it is not a regular file, or not inside. */
async function sizeInside(folder: string, id: string): Promise<number | undefined> {
  try {
    const real = await realpath(join(folder, id));
    const info = await stat(real);
    return isInside(real, folder) && info.isFile() ? info.size : undefined;
  } catch {
    return undefined;
  }
}

/**
 * The text of a file in `folder` (a real path). Checks where the opened file is, because its path may have changed since.
 * @throws BotError PATH_REFUSED
 */
export async function readInside(folder: string, id: string): Promise<string> {
  const refuse = (why: string, cause?: unknown) =>
    new BotError("PATH_REFUSED", `${id} ${why}.`, cause === undefined ? {} : { cause });
  try {
    const real = await realpath(join(folder, id));
    if (!isInside(real, folder)) throw refuse("leads out of its skill's folder");
    // Opening a device may do anything, so look first. O_NONBLOCK: a named pipe may take its place in between.
    if (!(await lstat(real)).isFile()) throw refuse("is not a regular file");
    const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
    await using file = await open(real, flags);
    const info = await file.stat();
    if (!info.isFile()) throw refuse("is not a regular file");
    if (!isInside((await whereIs(file, real)) ?? "", folder))
      throw refuse("leads out of its skill's folder");
    // It may have grown since.
    const buffer = Buffer.alloc(Math.min(info.size, MAX_FILE_BYTES) + 1);
    const { bytesRead } = await file.read(buffer, 0, buffer.length, 0);
    if (bytesRead > MAX_FILE_BYTES) throw refuse(`is larger than ${MAX_FILE_BYTES} bytes`);
    const text = textOf(buffer.subarray(0, bytesRead));
    if (text === undefined) throw refuse("is not UTF-8 text");
    return text;
  } catch (error) {
    if (error instanceof BotError) throw error;
    throw refuse(`cannot be read (${codeOf(error) ?? "no code"})`, error);
  }
}

/** On Linux from the descriptor itself, elsewhere by looking the same file up again. */
async function whereIs(file: FileHandle, path: string): Promise<string | undefined> {
  try {
    return await readlink(`/proc/self/fd/${file.fd}`);
  } catch {
    const [opened, found, real] = await Promise.all([file.stat(), stat(path), realpath(path)]);
    return opened.ino === found.ino && opened.dev === found.dev ? real : undefined;
  }
}

function textOf(bytes: Uint8Array): string | undefined {
  if (bytes.includes(0)) return undefined;
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

function isInside(path: string, folder: string): boolean {
  return path.startsWith(folder.endsWith(sep) ? folder : `${folder}${sep}`);
}
