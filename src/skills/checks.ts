import { join } from "node:path";
import { checksSchema } from "../checks/schema.ts";
import { messageOf } from "../core/errors.ts";
import { readYaml } from "../core/yaml-file.ts";
import { CHECKS_FILE, readInside } from "./files.ts";
import type { Skill, SkillProblem } from "./skill.ts";

/** The `checks.yaml` in a skill's folder (a real path); with mistakes there are no checks, and each is a problem with its line. */
export async function readChecks(
  folder: string,
  problems: SkillProblem[],
): Promise<Pick<Skill, "checks" | "checkAt">> {
  const path = join(folder, CHECKS_FILE);
  const fail = (at: string, text: string) => void problems.push({ at, text, loaded: false });
  try {
    const mistakes: string[] = [];
    const text = await readInside(folder, CHECKS_FILE);
    const { values, at } = await readYaml({ name: path, text }, checksSchema, mistakes);
    for (const mistake of mistakes) {
      const [place = ""] = /^:\d+:\d+/.exec(mistake.slice(path.length)) ?? [];
      fail(path + place, mistake.slice(path.length + place.length + ": ".length));
    }
    return mistakes.length > 0 || values === undefined ? {} : { checks: values, checkAt: at };
  } catch (error) {
    fail(path, messageOf(error));
    return {};
  }
}
