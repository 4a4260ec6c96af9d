import { createHash, hash } from "node:crypto";
import { createReadStream, constants, type Stats } from "node:fs";
import {
  lstat,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  realpath,
  rm,
  stat,
  symlink,
  writeFile,
} from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { pipeline } from "node:stream/promises";
import { BotError } from "../../core/errors.ts";
import { resolveExecutable, systemName } from "./executable.ts";
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
  /** What of it may be another by then, with the reason in words. */
  loose: { path: string; reason: string }[];
  /** Pinned scripts that somebody else could change in the last moment: they are run from a copy. */
  scripts: string[];
}

/** A bigger argument file is not pinned: reading it would take over a second, and scripts are smaller. */
const MAX_PINNED_BYTES = 256 * 1024 * 1024;
/** Longer files are no scripts, and are not copied. */
const MAX_SCRIPT_BYTES = 1024 * 1024;
/** Paths of one command line that are looked at. */
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

/** Programs that run the file they are given, whatever its first line says. */
const INTERPRETER =
  /^(?:(?:ba|da|z|k|mk|a|c|tc|fi|rba)?sh|busybox|python[\d.]*|perl[\d.]*|ruby[\d.]*|node(?:js)?|deno|bun|php[\d.]*|[gm]?awk|lua[\d.]*|Rscript|tclsh[\d.]*|expect|sed)$/;

/**
 * Finds the program of a command line and the files its arguments name by absolute paths, and takes their digests. What it
 * cannot fix it names.
 * @throws BotError COMMAND_UNKNOWN, PRECHECK_FAILED when a file cannot be read
 */
export async function pinCommand(argv: readonly string[], path?: string): Promise<CommandFiles> {
  const program = await resolveExecutable(argv[0] ?? "", path);
  const name = systemName(program) ?? "";
  const { file: own, isScript } = await look(program);
  const files: CommandFiles = { pinned: [own], loose: [], scripts: [] };
  if (isScript) await addScript(files, program);
  const runsFiles = INTERPRETER.test(basename(program));
  const named = namedIn(argv.slice(1));
  for (const { file, isWhole } of named.slice(0, MAX_PATHS)) {
    const info = await stat(file).catch(() => undefined);
    const loose = whyLoose(info, name);
    if (loose !== undefined) {
      // Within a text anything with a slash looks like a path.
      if (isWhole || info !== undefined) files.loose.push({ path: file, reason: loose });
      continue;
    }
    const looked = await look(file);
    files.pinned.push(looked.file);
    if (!isWhole) {
      const reason = "named within an argument: looked at right before the start, not copied";
      files.loose.push({ path: file, reason });
    } else if (runsFiles || looked.isScript) await addScript(files, file);
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
  if (DATA_PROGRAMS.has(program)) return `data to ${program}`;
  return info.size > MAX_PINNED_BYTES ? `too big to pin, ${formatBytes(info.size)}` : undefined;
}

/** Absolute paths in arguments. `isWhole`: the argument is nothing else, besides the name of an option. */
function namedIn(args: readonly string[]): { file: string; isWhole: boolean }[] {
  const found = new Map<string, boolean>();
  for (const argument of args) {
    const whole = /^(?:-[A-Za-z]|--?[\w-]+=|\w+=|file:\/\/|@)?(\/[^\0]*)$/.exec(argument)?.[1];
    if (whole !== undefined) found.set(whole, true);
    for (const [, inside = ""] of argument.matchAll(
      /(?<![\w./~])(\/[\w.][^\s"'`;|&<>(){}$,\0]*)/g,
    )) {
      found.set(inside, found.get(inside) ?? false);
    }
  }
  return [...found].map(([file, isWhole]) => ({ file, isWhole }));
}

async function addScript({ scripts, loose }: CommandFiles, file: string): Promise<void> {
  if (await isSafe(file)) return;
  const { size } = await stat(file);
  if (size <= MAX_SCRIPT_BYTES) scripts.push(file);
  else loose.push({ path: file, reason: "too big to be run from a copy" });
}

/** Only root and the user of this process can change the file, or what lies at its path. */
async function isSafe(file: string): Promise<boolean> {
  const real = await realpath(file);
  for (const path of [file, real]) {
    for (let at = path; ; at = dirname(at)) {
      const { uid, mode } = await lstat(at);
      const isLink = (mode & constants.S_IFMT) === constants.S_IFLNK;
      if (uid !== 0 && uid !== process.getuid?.()) return false;
      if (!isLink && (mode & 0o022) !== 0) return false;
      if (at === "/") break;
    }
  }
  return true;
}

/**
 * Does the work with the command line in which the scripts are private copies, exactly those that were pinned. What lies
 * beside a script lies beside its copy, as links.
 * @throws BotError PRECHECK_FAILED when one is another by now
 */
export async function withCopies<T>(
  argv: readonly string[],
  { pinned, scripts }: CommandFiles,
  work: (argv: string[]) => Promise<T>,
): Promise<T> {
  if (scripts.length === 0) return work([...argv]);
  const folder = await mkdtemp(join(tmpdir(), "watchkeeper-script-"));
  try {
    const copies = new Map<string, string>();
    for (const [at, script] of scripts.entries()) {
      const bytes = await readFile(script).catch(() => Buffer.alloc(0));
      const expected = pinned.find(({ path }) => path === script)?.sha256;
      if (hash("sha256", bytes, "hex") !== expected) throw isOther(script);
      const beside = join(folder, String(at));
      await mkdir(beside);
      const copy = join(beside, basename(script));
      await writeFile(copy, bytes, { mode: 0o700 });
      await linkNeighbours(dirname(script), beside);
      copies.set(script, copy);
    }
    const copied = (argument: string) => {
      const script = scripts.find((each) => argument.endsWith(each));
      const isNamed =
        script !== undefined &&
        namedIn([argument]).some(({ file, isWhole }) => isWhole && file === script);
      return isNamed ? argument.slice(0, -script.length) + (copies.get(script) ?? "") : argument;
    };
    return await work(argv.map(copied));
  } finally {
    await rm(folder, { recursive: true, force: true }).catch(() => {});
  }
}

/** As many as a folder of scripts has; what is left out of a bigger one is not found by its script. */
const MAX_NEIGHBOURS = 500;

async function linkNeighbours(from: string, to: string): Promise<void> {
  const names = await readdir(from).catch(() => []);
  for (const name of names.slice(0, MAX_NEIGHBOURS))
    await symlink(join(from, name), join(to, name)).catch(() => {}); // the copy itself is there
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

/** A file's digest, and whether its very content begins as a script's does. */
async function look(path: string): Promise<{ file: PinnedFile; isScript: boolean }> {
  const digest = createHash("sha256");
  let start = "";
  try {
    await pipeline(createReadStream(path), async (chunks) => {
      for await (const chunk of chunks as AsyncIterable<Buffer>) {
        if (start.length < 2) start += chunk.toString("latin1", 0, 2);
        digest.update(chunk);
      }
    });
  } catch (error) {
    const text = `${path} cannot be read, so what is approved could not be fixed.`;
    throw new BotError("PRECHECK_FAILED", text, { cause: error });
  }
  return { file: { path, sha256: digest.digest("hex") }, isScript: start.startsWith("#!") };
}
