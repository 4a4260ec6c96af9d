import { stat, statfs } from "node:fs/promises";
import { dirname } from "node:path";
import { codeOf } from "../../core/errors.ts";
import type { Journal } from "../journal.ts";

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
