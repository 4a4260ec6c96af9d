import * as z from "zod";
import type { Skill } from "../../skills/skill.ts";
import { defineTool } from "../tool.ts";

/** Reads one of the files that a skill has beside its instructions. Needs at least one skill. */
export function createReadSkillFile(skills: readonly Skill[]) {
  const byName = new Map(skills.map((skill) => [skill.name, skill]));
  return defineTool({
    name: "read_skill_file",
    summary: "reads one of those files",
    description: "Reads a file of a skill, as activate_skill lists it.",
    input: z.strictObject({
      skill: z.enum([...byName.keys()]),
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
      const text = (await byName.get(skill)?.read(path)) ?? "";
      return { text: `<skill_file skill="${skill}" path="${path}">\n${text}\n</skill_file>` };
    },
  });
}
