import { existsSync, mkdirSync } from "node:fs";
import { dirname } from "node:path";
import { BotError, messageOf } from "./errors.ts";

/**
 * Makes a folder and those above it, for their owner only. Not with `recursive`: Node then tries for ever where the system
 * takes no folder, such as in `/proc`.
 * @throws BotError STORE_UNAVAILABLE
 */
export function makeFolder(path: string): void {
  if (existsSync(path)) return;
  makeFolder(dirname(path));
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    // Another process may have made it meanwhile.
    if (existsSync(path)) return;
    const text = `I can't make the folder ${path} (${messageOf(error)}). Set DATA_DIR to a folder that can be written.`;
    throw new BotError("STORE_UNAVAILABLE", text, { cause: error });
  }
}
