import { constants } from "node:fs";
import { access, stat } from "node:fs/promises";
import { isAbsolute, join } from "node:path";
import { BotError } from "../core/errors.ts";

/** Where programs are looked for unless configured otherwise: the usual search path of a root shell on Linux. */
export const DEFAULT_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/** Where the system keeps programs; elsewhere a program of the same name may be anything. */
const SYSTEM_FOLDERS = ["/usr/bin/", "/bin/", "/usr/sbin/", "/sbin/"];

/** The program's name where it lies in a folder of the system, or undefined. */
export function systemName(program: string): string | undefined {
  const folder = SYSTEM_FOLDERS.find((each) => program.startsWith(each));
  return folder === undefined ? undefined : program.slice(folder.length);
}

/**
 * The absolute path of the program that `name` means: an absolute path stands for itself, a bare name is looked up on
 * `path`. Symbolic links are kept, because some programs go by the name they are called by.
 * @throws BotError COMMAND_UNKNOWN, also for a name that starts with "-" and for a relative path
 */
export async function resolveExecutable(name: string, path = DEFAULT_PATH): Promise<string> {
  const quoted = JSON.stringify(name);
  if (name === "" || name.startsWith("-")) {
    throw new BotError("COMMAND_UNKNOWN", `${quoted} is an option, not the name of a program.`);
  }
  if (name.includes("/") && !isAbsolute(name)) {
    throw new BotError(
      "COMMAND_UNKNOWN",
      `${quoted} is a relative path; give an absolute one, or a name on the search path.`,
    );
  }
  const folders = path.split(":").filter((folder) => isAbsolute(folder));
  const candidates = isAbsolute(name) ? [name] : folders.map((folder) => join(folder, name));
  for (const candidate of candidates) {
    if (await isExecutable(candidate)) return candidate;
  }
  const where = isAbsolute(name) ? "" : ` on the search path (${folders.join(":")})`;
  throw new BotError("COMMAND_UNKNOWN", `There is no executable file ${quoted}${where}.`);
}

/** True for a regular file that we may execute; false for everything else, errors included. */
export async function isExecutable(file: string): Promise<boolean> {
  try {
    await access(file, constants.X_OK);
    return (await stat(file)).isFile();
  } catch {
    return false;
  }
}
