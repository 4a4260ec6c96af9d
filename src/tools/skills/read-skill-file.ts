import * as z from "zod";
import type { Skill } from "../../skills/skill.ts";
import { defineTool } from "../tool.ts";
import { skillName } from "./activate-skill.ts";
import { skillNamed } from "./named.ts";

/** Reads one of the files that a skill has beside its instructions. */
export function createReadSkillFile(skills: readonly Skill[]) {
  return defineTool({
    name: "read_skill_file",
    summary: "reads one of a skill's files",
    description: "Reads a file of a skill, as activate_skill lists it.",
    input: z.strictObject({
      skill: skillName,
      path: z
        .string()
        .min(1)
        .max(1_000)
        .describe("As the list has it")
        .meta({ examples: ["references/checks.md"] }),
    }),
    effect: "read",
    doing: ({ skill, path }) => `Reading ${path} of the skill ${skill}`,
    ours: true,
    timeoutMs: 10_000,
    async run({ skill, path }) {
      const text = await skillNamed(skills, skill).read(path);
      return { text: `<skill_file skill="${skill}" path="${path}">\n${text}\n</skill_file>` };
    },
  });
}
