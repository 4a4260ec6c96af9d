import { createReadStream, createWriteStream } from "node:fs";
import { mkdir, mkdtemp, readdir, realpath, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { pipeline } from "node:stream/promises";
import {
  type CommandFiles,
  type PinnedFile,
  isOther,
  look,
  MAX_COPY_BYTES,
  wholePath,
} from "./pinned-files.ts";

/**
 * Does the work with the command line in which what others could change is run from private copies, exactly those bytes that
 * were pinned. A copy lies at its file's path below a folder of its own, among links to what lies beside the file and its
 * folder: `$(dirname "$0")/../lib` is what it is for the file itself.
 * @throws BotError PRECHECK_FAILED when one is another by now
 */
export async function withCopies<T>(
  argv: readonly string[],
  { pinned, copied }: CommandFiles,
  work: (argv: string[]) => Promise<T>,
): Promise<T> {
  if (copied.length === 0) return work([...argv]);
  const folder = await mkdtemp(join(tmpdir(), "watchkeeper-copy-"));
  try {
    const copies = new Map<string, string>();
    for (const [at, file] of copied.entries()) {
      const expected = pinned.find(({ path }) => path === file)?.sha256;
      const copy = await copyTo(join(folder, String(at)), file);
      if (copy.sha256 !== expected) throw isOther(file);
      copies.set(file, copy.path);
    }
    const replaced = (argument: string) => {
      const file = wholePath(argument) ?? "";
      const copy = copies.get(file);
      return copy === undefined ? argument : argument.slice(0, -file.length) + copy;
    };
    return await work(argv.map(replaced));
  } finally {
    await rm(folder, { recursive: true, force: true }).catch(() => {});
  }
}

/** Copies the file to its place below `root`; where its path is a link, there too. The digest is that of what was written. */
async function copyTo(root: string, file: string): Promise<PinnedFile> {
  const real = await realpath(file).catch(() => {
    throw isOther(file);
  });
  const [path, copy] = [join(root, file), join(root, real)];
  for (const each of [copy, path]) await mkdir(dirname(each), { recursive: true, mode: 0o700 });
  await pipeline(
    createReadStream(real, { end: MAX_COPY_BYTES }),
    createWriteStream(copy, { flags: "wx", mode: 0o700 }),
  ).catch(() => {
    throw isOther(file);
  });
  if (path !== copy) await symlink(copy, path);
  await linkNeighbours(root, new Set([real, join(file)].flatMap(foldersOf)));
  return { path, sha256: (await look(copy)).sha256 };
}

/** Of one folder, as many as most have; what is left out of a bigger one is not found by the copy. */
const MAX_NEIGHBOURS = 500;

/** Below `root`, links to all that is in the folders, where nothing is there yet. */
async function linkNeighbours(root: string, folders: ReadonlySet<string>): Promise<void> {
  for (const folder of folders) {
    const names = await readdir(folder).catch(() => []);
    const links = names
      .slice(0, MAX_NEIGHBOURS)
      .map((name) => symlink(join(folder, name), join(root, folder, name)).catch(() => {}));
    await Promise.all(links);
  }
}

/** Its own and the one above: scripts look for what they need beside them or at `../lib`. */
function foldersOf(path: string): string[] {
  const folder = dirname(path);
  return [folder, dirname(folder)];
}
