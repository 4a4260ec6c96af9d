import { BotError } from "../../core/errors.ts";
import { nearest } from "../../core/nearest.ts";
import type { Skill } from "../../skills/skill.ts";

/** The skill of this name. @throws BotError INPUT_INVALID that says which may have been meant */
export function skillNamed(skills: readonly Skill[], name: string): Skill {
  const found = skills.find((skill) => skill.name === name);
  if (found !== undefined) return found;
  const meant = nearest(
    name,
    skills.map((skill) => skill.name),
  );
  const hint =
    meant.length === 0 ? "find_skill finds others." : `Did you mean ${meant.join(", ")}?`;
  throw new BotError("INPUT_INVALID", `There is no skill ${name}. ${hint}`);
}
