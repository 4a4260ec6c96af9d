import { join } from "node:path";
import type * as z from "zod";
import { hintsSchema } from "../checks/hints.ts";
import { checksSchema } from "../checks/schema.ts";
import { messageOf } from "../core/errors.ts";
import { readYaml } from "../core/yaml-file.ts";
import { CHECKS_FILE, HINTS_FILE, readInside } from "./files.ts";
import type { Skill, SkillProblem } from "./skill.ts";

/** The `checks.yaml` in a skill's folder (a real path); with mistakes there are no checks, and each is a problem with its line. */
export async function readChecks(
  folder: string,
  problems: SkillProblem[],
): Promise<Pick<Skill, "checks" | "checkAt">> {
  const { values, at } = await readBeside(folder, CHECKS_FILE, checksSchema, problems);
  return values === undefined ? {} : { checks: values, checkAt: at };
}

/** The same of its `hints.yaml`. */
export async function readHints(
  folder: string,
  problems: SkillProblem[],
): Promise<Pick<Skill, "hints" | "hintAt">> {
  const { values, at } = await readBeside(folder, HINTS_FILE, hintsSchema, problems);
  return values === undefined ? {} : { hints: values.hints, hintAt: at };
}

async function readBeside<T>(
  folder: string,
  file: string,
  schema: z.ZodType<T>,
  problems: SkillProblem[],
): Promise<{ values: T | undefined; at(path: readonly PropertyKey[]): string }> {
  const path = join(folder, file);
  const fail = (at: string, text: string) => void problems.push({ at, text, loaded: false });
  try {
    const mistakes: string[] = [];
    const text = await readInside(folder, file);
    const { values, at } = await readYaml({ name: path, text }, schema, mistakes);
    for (const mistake of mistakes) {
      const [place = ""] = /^:\d+:\d+/.exec(mistake.slice(path.length)) ?? [];
      fail(path + place, mistake.slice(path.length + place.length + ": ".length));
    }
    return { values: mistakes.length > 0 ? undefined : values, at };
  } catch (error) {
    fail(path, messageOf(error));
    return { values: undefined, at: () => path };
  }
}
