import { lstat } from "node:fs/promises";
import { resolve } from "node:path";
import type * as z from "zod";
import { codeOf } from "../core/errors.ts";
import { readTextFile, readYaml } from "../core/yaml-file.ts";
import { fileSchema } from "./table.ts";

export interface ConfigFile {
  /** Absolute. */
  readonly path: string;
  /** Undefined when there were mistakes. */
  readonly settings: z.infer<typeof fileSchema> | undefined;
  /** Where the value at a path stands: `watchkeeper.yaml:7:14`, counted from 1. */
  at(path: readonly PropertyKey[]): string;
}

/**
 * Reads `named`, or, when that is empty, `watchkeeper.yaml` if there is one. Every mistake is added to `mistakes` as
 * `file:line:column: key: what is wrong and what is expected`. Undefined: no file was read, which is a mistake only of one that
 * was named.
 */
export async function readConfigFile(
  named: string,
  cwd: string,
  mistakes: string[],
): Promise<ConfigFile | undefined> {
  const name = named === "" ? "watchkeeper.yaml" : named;
  const path = resolve(cwd, name);
  const label = named === "" ? name : `WATCHKEEPER_CONFIG: ${name}`;
  if (named === "" && !(await exists(path))) {
    // A policy that is silently not read would be worse than none.
    if (!(await exists(resolve(cwd, "watchkeeper.yml")))) return undefined;
    mistakes.push("watchkeeper.yml: this name is not read; rename it to watchkeeper.yaml");
    return undefined;
  }
  const source = await readTextFile({ name, path, label }, mistakes);
  if (source === undefined) return undefined;
  const { values, at } = await readYaml(source, fileSchema, mistakes);
  return { path, settings: values, at };
}

/** True also of what cannot be looked at, such as a link to nowhere: someone meant it to be read. */
async function exists(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    (error: unknown) => codeOf(error) !== "ENOENT",
  );
}
