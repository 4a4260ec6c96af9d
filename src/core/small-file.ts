import { closeSync, constants, fstatSync, openSync, readFileSync } from "node:fs";

/** A thousand times what a certificate or a token takes. */
const MAX_BYTES = 1024 * 1024;

/** The text of a file that the configuration names. @throws Error for what is no file, is larger than 1 MiB, or cannot be read */
export function readSmallFile(path: string): string {
  // Non-blocking, so that a named pipe is refused instead of waited for.
  const file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const stat = fstatSync(file);
    if (!stat.isFile()) throw new Error("expected a regular file");
    if (stat.size > MAX_BYTES) throw new Error("larger than 1 MiB");
    return readFileSync(file, "utf8");
  } finally {
    closeSync(file);
  }
}
