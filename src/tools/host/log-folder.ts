import { constants } from "node:fs";
import { type FileHandle, lstat, open, readdir, readlink, realpath, stat } from "node:fs/promises";
import { join, relative, resolve, sep } from "node:path";
import { formatBytes } from "../../core/text.ts";
import { canonicalPaths } from "../../core/canonical.ts";
import { BotError, codeOf } from "../../core/errors.ts";
import { formatMoment } from "../moment.ts";

/** An opened file or folder that is proven to lie inside one of the roots. The caller closes the handle. */
export interface Opened {
  handle: FileHandle;
  kind: "file" | "folder";
  path: string;
  bytes: number;
}

/**
 * Opens a file or folder below one of `roots` for reading; a relative path is looked for in each of them. What counts
 * is where the opened descriptor leads, not what the path said a moment before, so a link that is swapped meanwhile
 * gains nothing.
 * @throws BotError PATH_REFUSED, which for a path outside does not tell whether it exists
 */
export async function openInside(path: string, roots: readonly string[]): Promise<Opened> {
  const realRoots = await realpaths(roots);
  const candidates = candidatesOf(path, roots);
  const real = await firstInside(candidates, realRoots);
  if (real !== undefined) return openReal(real, realRoots, () => outside(path, roots));
  const named = candidates.some((candidate) => isInside(candidate, [...roots, ...realRoots]));
  if (!named) throw outside(path, roots);
  const file = JSON.stringify(path);
  throw refusal(
    `I can't read ${file} in ${roots.join(", ")}: it doesn't exist or isn't allowed. Give a folder's path to see its files.`,
  );
}

/** Where a path leads now, links followed, or undefined when that is not below one of `roots`. */
export async function realInside(
  path: string,
  roots: readonly string[],
): Promise<string | undefined> {
  return firstInside(candidatesOf(path, roots), await realpaths(roots));
}

/** A real path, and the same below each root as the root is written, which may be a link itself. */
export async function namesOf(real: string, roots: readonly string[]): Promise<string[]> {
  const names = await Promise.all(
    roots.map(async (root) => {
      const at = await tryRealpath(root);
      return at !== undefined && isInside(real, [at])
        ? resolve(root, relative(at, real))
        : undefined;
    }),
  );
  return [...new Set([real, ...names.filter(isPresent)])];
}

function candidatesOf(path: string, roots: readonly string[]): string[] {
  return path.includes("\0") ? [] : canonicalPaths(path, roots);
}

async function firstInside(
  candidates: readonly string[],
  realRoots: readonly string[],
): Promise<string | undefined> {
  for (const candidate of candidates) {
    const real = await tryRealpath(candidate);
    if (real !== undefined && isInside(real, realRoots)) return real;
  }
  return undefined;
}

async function realpaths(paths: readonly string[]): Promise<string[]> {
  return (await Promise.all(paths.map((path) => tryRealpath(path)))).filter(isPresent);
}

async function openReal(real: string, roots: string[], elsewhere: () => BotError): Promise<Opened> {
  // Opening a named pipe disturbs its writer, opening a device may do anything: so look first. O_NONBLOCK is for a
  // race.
  const before = await lstat(real).catch(() => undefined);
  if (before !== undefined && !before.isFile() && !before.isDirectory()) throw irregular(real);
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
  const handle = await open(real, flags).catch((error: unknown) => {
    if (!["EACCES", "EPERM"].includes(codeOf(error) ?? "")) throw elsewhere();
    throw refusal(`This user may not read ${real}.`, error);
  });
  try {
    const info = await handle.stat();
    const actual = await whereIs(handle, real);
    if (actual === undefined || !isInside(actual, roots)) throw elsewhere();
    if (!info.isFile() && !info.isDirectory()) throw irregular(real);
    // Who may write to a log folder can link any file into it.
    if (info.isFile() && info.nlink > 1) {
      const names = `${real} has ${info.nlink} names (hard links)`;
      throw refusal(`${names}, so it may be another file than a log; it was not read.`);
    }
    const kind = info.isFile() ? "file" : "folder";
    return { handle, kind, path: actual, bytes: info.size };
  } catch (error) {
    await handle.close();
    throw error;
  }
}

/**
 * The path of what was opened: on Linux from the descriptor itself, elsewhere by finding the same file there again.
 */
async function whereIs(handle: FileHandle, path: string): Promise<string | undefined> {
  try {
    return await readlink(`/proc/self/fd/${handle.fd}`);
  } catch {
    const [opened, found, real] = await Promise.all([handle.stat(), stat(path), realpath(path)]);
    return opened.ino === found.ino && opened.dev === found.dev ? real : undefined;
  }
}

const MAX_LISTED = 200;

/** The files and folders in an opened folder that can be read with this tool, newest first, as lines. */
export async function listFolder(folder: Opened, roots: readonly string[]): Promise<string[]> {
  const realRoots = await realpaths(roots);
  const names = await readdir(folder.path);
  const entries = await Promise.all(
    names.map(async (name) => {
      const real = await tryRealpath(join(folder.path, name));
      if (real === undefined || !isInside(real, realRoots)) return undefined;
      const info = await stat(real).catch(() => undefined);
      if (info === undefined || !(info.isFile() || info.isDirectory())) return undefined;
      return { name: info.isDirectory() ? `${name}/` : name, info };
    }),
  );
  const shown = entries.filter(isPresent).toSorted((a, b) => b.info.mtimeMs - a.info.mtimeMs);
  const lines = shown.slice(0, MAX_LISTED).map(({ name, info }) => {
    const size = info.isDirectory() ? "" : `${formatBytes(info.size)}, `;
    return `${name} (${size}changed ${formatMoment(info.mtimeMs)})`;
  });
  const more = shown.length - lines.length;
  return more === 0 ? lines : [...lines, `… and ${more} older ones`];
}

function isInside(path: string, roots: readonly string[]): boolean {
  return roots.some(
    (root) => path === root || path.startsWith(root.endsWith(sep) ? root : `${root}${sep}`),
  );
}

function isPresent<T>(value: T | undefined): value is T {
  return value !== undefined;
}

async function tryRealpath(path: string): Promise<string | undefined> {
  return realpath(path).catch(() => undefined);
}

function refusal(text: string, cause?: unknown): BotError {
  return new BotError("PATH_REFUSED", text, { cause });
}

function irregular(path: string): BotError {
  return refusal(`${path} is neither a regular file nor a folder.`);
}

function outside(path: string, roots: readonly string[]): BotError {
  const readable = roots.join(", ") || "none";
  return refusal(`${JSON.stringify(path)} is outside the folders I may read: ${readable}.`);
}
