import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { basename, isAbsolute } from "node:path";
import { pipeline } from "node:stream/promises";
import { BotError } from "../../core/errors.ts";
import { resolveExecutable } from "./executable.ts";
import { formatBytes } from "./units.ts";

/** A file as it was when it was looked at. */
export interface PinnedFile {
  path: string;
  /** Of its content, hexadecimal. */
  sha256: string;
}

/** What a command line consists of, besides words. */
export interface CommandFiles {
  /** First the program, then every file that an argument names. */
  pinned: PinnedFile[];
  /** Files that an argument names and that are not pinned, with the reason in words. */
  loose: { path: string; reason: string }[];
}

/** A bigger argument file is not pinned: reading it would take over a second, and scripts are smaller. */
const MAX_PINNED_BYTES = 256 * 1024 * 1024;

/**
 * Programs that never execute or interpret a file they are given; a log that one of them is for grows every second.
 */
const DATA_PROGRAMS = new Set(
  "cat chmod chown cp cut du file fuser gzip head ls lsof md5sum mv readlink rm sha256sum shred stat tail touch truncate wc zcat".split(
    " ",
  ),
);

/**
 * Finds the program of a command line and the files its arguments name, as an absolute path or as `--option=<absolute
 * path>`, and takes their digests.
 * @throws BotError COMMAND_UNKNOWN, PRECHECK_FAILED when a file cannot be read
 */
export async function pinCommand(argv: readonly string[], path?: string): Promise<CommandFiles> {
  const program = await resolveExecutable(argv[0] ?? "", path);
  const files: CommandFiles = { pinned: [await digest(program)], loose: [] };
  const named = new Set(argv.slice(1).flatMap((argument) => pathIn(argument) ?? []));
  for (const file of named) {
    const info = await stat(file).catch(() => undefined);
    if (info === undefined || !info.isFile()) continue;
    if (DATA_PROGRAMS.has(basename(program))) {
      files.loose.push({ path: file, reason: `data to ${basename(program)}` });
    } else if (info.size > MAX_PINNED_BYTES) {
      files.loose.push({ path: file, reason: `too big to pin, ${formatBytes(info.size)}` });
    } else {
      files.pinned.push(await digest(file));
    }
  }
  return files;
}

/**
 * The path of a file that is missing in one of two lists or differs between them, or undefined when they are the
 * same.
 */
export function findChange(
  then: readonly PinnedFile[],
  now: readonly PinnedFile[],
): string | undefined {
  const key = (file: PinnedFile | undefined) => `${file?.sha256} ${file?.path}`;
  const length = Math.max(then.length, now.length);
  const index = Array.from({ length }).findIndex((_, at) => key(then[at]) !== key(now[at]));
  return index < 0 ? undefined : (then[index] ?? now[index])?.path;
}

function pathIn(argument: string): string | undefined {
  const path = argument.startsWith("-") ? argument.slice(argument.indexOf("=") + 1) : argument;
  return isAbsolute(path) && !path.includes("\0") ? path : undefined;
}

async function digest(path: string): Promise<PinnedFile> {
  const hash = createHash("sha256");
  try {
    await pipeline(createReadStream(path), hash);
  } catch (error) {
    const text = `${path} cannot be read, so what is approved could not be fixed.`;
    throw new BotError("PRECHECK_FAILED", text, { cause: error });
  }
  return { path, sha256: hash.digest("hex") };
}
