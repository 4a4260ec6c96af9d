import { readdir, stat } from "node:fs/promises";
import { basename, dirname, extname, join } from "node:path";

/** A file that a log was renamed to when a new one was begun, as logrotate does it. */
export interface Rotated {
  path: string;
  /** When its last line was written, ms since 1970. */
  endedAt: number;
  bytes: number;
}

const MAX_FILES = 10_000;

/**
 * Those of a log that hold lines of the time, the oldest first: `app.log.1`, `app.log.2.gz`, `app.log-20261122.zst`, `app-20261122.log`.
 * Each begins where the one before it ends.
 */
export async function rotatedOf(
  path: string,
  { since, until }: { since: number; until: number },
): Promise<Rotated[]> {
  const folder = dirname(path);
  const names = (await readdir(folder).catch(() => [])).slice(0, MAX_FILES);
  const isRotated = rotationOf(basename(path));
  const found = await Promise.all(
    names.filter(isRotated).map(async (name) => {
      const at = join(folder, name);
      const info = await stat(at).catch(() => undefined);
      return info?.isFile() === true
        ? { path: at, endedAt: info.mtimeMs, bytes: info.size }
        : undefined;
    }),
  );
  const all = found
    .filter((each) => each !== undefined)
    .toSorted((a, b) => a.endedAt - b.endedAt || (a.path < b.path ? 1 : -1));
  return all.filter(({ endedAt }, index) => {
    const begunAt = all[index - 1]?.endedAt ?? 0;
    return endedAt >= since && begunAt < until;
  });
}

/** Behind the name, or before its extension; there a bare number is another log's: `app-1.log`. */
function rotationOf(name: string): (other: string) => boolean {
  const extension = extname(name);
  const stem = basename(name, extension);
  return (other) => {
    const bare = other.replace(/\.(?:gz|zst)$/, "");
    if (bare.startsWith(name)) return /^[.-]\d[\d.T-]*$/.test(bare.slice(name.length));
    const isLike = extension !== "" && bare.startsWith(stem) && bare.endsWith(extension);
    return (
      isLike && /^[.-]\d{4}-?\d\d-?\d\d[\d.T-]*$/.test(bare.slice(stem.length, -extension.length))
    );
  };
}
