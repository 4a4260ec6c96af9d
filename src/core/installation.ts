import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";

/** How this program lies on its machine: a checkout, which npm starts, or an installed package with a command of its own. */

/** The path of a file or folder that ships with the program, whether the sources run or what was built from them. */
export function shipped(name: string): string {
  let folder = import.meta.dirname;
  while (!existsSync(join(folder, "package.json"))) folder = dirname(folder);
  return join(folder, name);
}

/** The program's own version. */
export function programVersion(): string {
  const { version }: { version: string } = JSON.parse(
    readFileSync(shipped("package.json"), "utf8"),
  );
  return version;
}

/** What a person types to start the program with these words. */
export function commandLine(words: string): string {
  if (!existsSync(shipped("src"))) return `npx watchkeeper ${words}`.trimEnd();
  if (words === "") return "npm start";
  // A command's output is for scripts too, so npm says nothing of its own.
  return `npm start ${words.startsWith("-") ? "" : "-s "}-- ${words}`;
}
