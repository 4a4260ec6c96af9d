import { existsSync, statfsSync } from "node:fs";
import { stat, statfs } from "node:fs/promises";
import { dirname } from "node:path";
import { BotError, codeOf } from "../../core/errors.ts";
import type { Journal } from "../journal.ts";

/** The kind of the file system that a folder is on, as Linux' statfs(2) numbers it. */
export type KindOf = (folder: string) => number;

/**
 * Where SQLite's log is not safe: who shares it shares memory, which works on one machine alone, and servers answer for locks and
 * flushes that they do not keep (sqlite.org/wal.html).
 */
const NETWORK: ReadonlyMap<number, string> = new Map([
  [0x6969, "NFS"],
  [0x517b, "SMB"],
  [0xfe534d42, "SMB"],
  [0xff534d42, "SMB (CIFS)"],
  [0x5346414f, "AFS"],
  [0x6b414653, "AFS"],
  [0x73757245, "Coda"],
  [0x564c, "NCP"],
  [0x00c36400, "CephFS"],
  [0x0bd00bd0, "Lustre"],
  [0x47504653, "GPFS"],
  [0x7461636f, "OCFS2"],
  [0x01161970, "GFS2"],
]);

/** What is gone with the machine's next start, or with the container. */
const VOLATILE: ReadonlyMap<number, string> = new Map([
  [0x01021994, "in memory (tmpfs): it is gone when the machine or the container stops"],
  [0x858458f6, "in memory (ramfs): it is gone when the machine or the container stops"],
  [0x794c7630, "in a container's own layer (overlay): it is gone when the container is replaced"],
]);

/** Other systems number theirs otherwise. */
const kindHere: KindOf = (folder) => (process.platform === "linux" ? statfsSync(folder).type : 0);

/** Of the folder, or of that above it in which it will be made. Some systems give numbers with a sign. */
function kindAt(folder: string, kindOf: KindOf): number {
  const above = dirname(folder);
  return existsSync(folder) || above === folder ? kindOf(folder) >>> 0 : kindAt(above, kindOf);
}

/** @throws BotError STORE_UNSAFE where the folder is on a network's file system */
export function refuseNetwork(folder: string, kindOf = kindHere): void {
  const name = NETWORK.get(kindAt(folder, kindOf));
  if (name === undefined) return;
  const text = `${folder} is on ${name}, where SQLite can lose and mix up what it wrote; the store was not opened. Set DATA_DIR to a folder on a disk of this machine. For several machines set REDIS_URL.`;
  throw new BotError("STORE_UNSAFE", text);
}

/** Why what is kept in the folder will be lost, a sentence; undefined: no reason is known. */
export function whyLost(folder: string, kindOf = kindHere): string | undefined {
  const why = VOLATILE.get(kindAt(folder, kindOf));
  if (why === undefined) return undefined;
  return `The store in ${folder} is ${why}. Set DATA_DIR to a folder on a disk, such as a volume of the container.`;
}

/** What the store's file takes with its write-ahead log, and what is left on its disk for this account. */
export async function sizeOf(path: string): ReturnType<Journal["size"]> {
  const bytesOf = async (file: string) => {
    try {
      return (await stat(file)).size;
    } catch (error) {
      if (codeOf(error) === "ENOENT") return 0;
      throw error;
    }
  };
  const [file, log, disk] = await Promise.all([
    bytesOf(path),
    bytesOf(`${path}-wal`),
    statfs(dirname(path)),
  ]);
  return { bytes: file + log, left: disk.bavail * disk.bsize };
}
