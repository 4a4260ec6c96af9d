import { createHash } from "node:crypto";
import { createReadStream, constants, type Stats } from "node:fs";
import { lstat, realpath, stat } from "node:fs/promises";
import { basename, dirname } from "node:path";
import { pipeline } from "node:stream/promises";
import { formatBytes } from "../../core/text.ts";
import { BotError } from "../../core/errors.ts";
import { resolveExecutable, systemName } from "../executable.ts";

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
  /** What of it may be another by then, with the reason in words. */
  loose: { path: string; reason: string }[];
  /** Pinned files that are run and that somebody else could change in the last moment: they are run from a copy. */
  copied: string[];
}

/** A bigger argument file is not pinned: reading it would take over a second, and scripts are smaller. */
const MAX_PINNED_BYTES = 256 * 1024 * 1024;
/** A bigger one is run where it lies: a copy would take seconds, and the room in the folder for temporary files. */
export const MAX_COPY_BYTES = 128 * 1024 * 1024;
const MAX_PATHS = 100;

const words = (text: string): ReadonlySet<string> => new Set(text.split(/\s+/));

/**
 * Programs that never execute or interpret a file they are given; a log that one of them is for grows every second.
 */
const DATA_PROGRAMS = words(
  "cat chmod chown cp cut du file fuser gzip head ls lsof md5sum mkdir mv readlink rm rmdir sha256sum shred stat tail touch truncate wc zcat",
);

/** Programs that load no settings and no code of others beyond the system's libraries, and start nothing, whatever they are given. */
const LOADS_NOTHING = words(
  `arch base64 basename cat chgrp chmod chown cksum comm cp cut date dd df dirname du echo expand expr false fold free
  fuser groups head hostid hostname id join kill link ln ls md5sum mkdir mkfifo mktemp mv nl nproc od paste pgrep pidof
  pkill printf ps pwd readlink realpath rm rmdir seq sha1sum sha256sum sha512sum shred sleep stat sum sync tac tail tee
  test touch tr true truncate tty uname uniq unlink uptime users vmstat wc who whoami`,
);

/** Programs that run the first file they are given, whatever it begins with, unless they are given the code itself. */
const INTERPRETER =
  /^(?:(?:ba|da|z|k|mk|a|c|tc|fi|rba)?sh|python[\d.]*|perl[\d.]*|ruby[\d.]*|node(?:js)?|deno|bun|php[\d.]*|lua[\d.]*|Rscript|tclsh[\d.]*|expect)$/;
/** `-c` of shells, `-e`, `-m`, `-p` or `-r` of others, also among other letters (`perl -pie`): then a file is data to it. */
const CODE = /^-(?:\w*[cempr]|-eval.*|-print.*)$/;

/** Programs that run the program they are given, behind options, settings and numbers. */
const WRAPPERS = words(
  "busybox chronic chroot chrt doas env flock ionice ltrace nice nohup numactl prlimit runuser setarch setpriv setsid stdbuf strace sudo systemd-run taskset time timeout unshare watch xargs",
);

/**
 * Finds the program of a command line and the files its arguments name by absolute paths, and takes their digests. What it
 * cannot fix it names.
 * @throws BotError COMMAND_UNKNOWN, PRECHECK_FAILED when a file cannot be read
 */
export async function pinCommand(argv: readonly string[], path?: string): Promise<CommandFiles> {
  const program = await resolveExecutable(argv[0] ?? "", path);
  const name = systemName(program) ?? "";
  const files: CommandFiles = { pinned: [await look(program)], loose: [], copied: [] };
  const run = new Set([program, ...(await runBy(program, argv.slice(1), path))]);
  await fix(files, program, run);
  const named = namedIn(argv.slice(1));
  for (const { file, isWhole } of named.slice(0, MAX_PATHS)) {
    const info = await stat(file).catch(() => undefined);
    const loose = whyLoose(info, name);
    if (loose !== undefined) {
      // Within a text anything with a slash looks like a path.
      if (isWhole || info !== undefined) files.loose.push({ path: file, reason: loose });
      continue;
    }
    files.pinned.push(await look(file));
    if (isWhole) await fix(files, file, run);
    else {
      const reason = "named within an argument: looked at right before the start, not copied";
      files.loose.push({ path: file, reason });
    }
  }
  if (named.length > MAX_PATHS)
    files.loose.push({ path: "…", reason: `${named.length - MAX_PATHS} more paths` });
  if (!LOADS_NOTHING.has(name))
    files.loose.push({ path: program, reason: "what it loads or starts by itself" });
  return files;
}

/** Why the file that an argument names is not pinned, or undefined. */
function whyLoose(info: Stats | undefined, program: string): string | undefined {
  if (info === undefined) return "not there now";
  if (info.isDirectory()) return "a folder: what is in it may change";
  if (!info.isFile()) return "no ordinary file";
  if (DATA_PROGRAMS.has(program)) return `data for ${program}`;
  return info.size > MAX_PINNED_BYTES ? `too big to pin, ${formatBytes(info.size)}` : undefined;
}

/** Absolute paths in arguments. `isWhole`: the argument is nothing else, besides the name of an option. */
function namedIn(args: readonly string[]): { file: string; isWhole: boolean }[] {
  const found = new Map<string, boolean>();
  for (const argument of args) {
    const whole = wholePath(argument);
    if (whole !== undefined) found.set(whole, true);
    for (const [, inside = ""] of argument.matchAll(
      /(?<![\w./~])(\/[\w.][^\s"'`;|&<>(){}$,\0]*)/g,
    )) {
      found.set(inside, found.get(inside) ?? false);
    }
  }
  return [...found].map(([file, isWhole]) => ({ file, isWhole }));
}

/** The absolute path that an argument is, besides the name of an option. */
export function wholePath(argument: string): string | undefined {
  return /^(?:-[A-Za-z]|--?[\w-]+=|\w+=|file:\/\/|@)?(\/[^\0]*)$/.exec(argument)?.[1];
}

/**
 * The files among the arguments that the program runs, as far as it is known to: those may be run from a copy. What is only
 * read or changed may not: the change would be made to the copy.
 */
async function runBy(program: string, args: readonly string[], path?: string): Promise<string[]> {
  const name = basename(program);
  if (INTERPRETER.test(name)) {
    const at = args.findIndex((each) => each.startsWith("/"));
    const isShell = name.endsWith("sh");
    const options = args.slice(0, Math.max(0, at)).filter((each) => CODE.test(each));
    // A shell's `-e` ends it at the first failure.
    const hasCode = options.some((each) => !isShell || each.endsWith("c"));
    return at < 0 || hasCode ? [] : args.slice(at, at + 1);
  }
  if (!WRAPPERS.has(name)) return [];
  for (const [at, each] of args.entries()) {
    if (/^(?:-|\w+=|[\d.]+\w?$)/.test(each)) continue;
    const inner = await resolveExecutable(each, path).catch(() => undefined);
    if (inner === undefined) continue;
    return [
      ...(each.startsWith("/") ? [each] : []),
      ...(await runBy(inner, args.slice(at + 1), path)),
    ];
  }
  return [];
}

/** Sees to a file that was looked at: what others could change afterwards is run from a copy, or not fixed. */
async function fix(files: CommandFiles, file: string, run: ReadonlySet<string>): Promise<void> {
  if (files.copied.includes(file) || (await isSafe(file))) return;
  if (!run.has(file)) {
    const reason = "others can change it: looked at right before the start, not copied";
    files.loose.push({ path: file, reason });
    return;
  }
  const { size } = await stat(file);
  if (size <= MAX_COPY_BYTES) files.copied.push(file);
  else
    files.loose.push({
      path: file,
      reason: `others can change it: too big for a copy, ${formatBytes(size)}`,
    });
}

/** Only root and the user of this process can change the file, or what lies at its path. */
async function isSafe(file: string): Promise<boolean> {
  const real = await realpath(file);
  for (const at of new Set([...pathsTo(file), ...pathsTo(real)])) {
    const { uid, mode } = await lstat(at);
    if (uid !== 0 && uid !== process.getuid?.()) return false;
    const isLink = (mode & constants.S_IFMT) === constants.S_IFLNK;
    // In a folder such as /tmp nobody but its owner removes or replaces a file.
    const isSticky = (mode & constants.S_IFMT) === constants.S_IFDIR && (mode & 0o1000) !== 0;
    if (!isLink && (mode & 0o022) !== 0 && !isSticky) return false;
  }
  return true;
}

function pathsTo(path: string): string[] {
  return path === "/" ? [path] : [path, ...pathsTo(dirname(path))];
}

/** What a command throws that is no longer what was proposed. */
export function isOther(path: string): BotError {
  const text = `${path} is not what it was when this was proposed. Propose the command again.`;
  return new BotError("PRECHECK_FAILED", text);
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

/** A file and the digest of its content. @throws BotError PRECHECK_FAILED when it cannot be read */
export async function look(path: string): Promise<PinnedFile> {
  const digest = createHash("sha256");
  try {
    await pipeline(createReadStream(path), digest);
  } catch (error) {
    const text = `${path} cannot be read, so what is approved could not be fixed.`;
    throw new BotError("PRECHECK_FAILED", text, { cause: error });
  }
  return { path, sha256: digest.digest("hex") };
}
