import { codeOf } from "../core/errors.ts";
import { readSmallFile } from "../core/small-file.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * The environment with those of the variables whose value stands in a file that `<NAME>_FILE` names, as Docker and Kubernetes hand out secrets;
 * line breaks at its end are not part of the value. Each mistake is added to `mistakes` with the variable's name and neither path nor value.
 */
export function withFiles(
  env: Environment,
  names: readonly string[],
  mistakes: string[],
): Environment {
  const read: Record<string, string> = {};
  for (const name of names) {
    const variable = `${name}_FILE`;
    const path = env[variable]?.trim() ?? "";
    if (path === "") continue;
    if ((env[name] ?? "").trim() !== "") {
      mistakes.push(`${variable}: ${name} is set too; set one of the two`);
      continue;
    }
    try {
      read[name] = readSmallFile(path).replace(/[\r\n]+$/, "");
      if (read[name] === "") mistakes.push(`${variable}: the file is empty`);
    } catch (error) {
      const why = codeOf(error) ?? "expected a regular file of at most 1 MiB";
      mistakes.push(`${variable}: the file can't be read (${why})`);
    }
  }
  return { ...env, ...read };
}
