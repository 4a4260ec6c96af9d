import * as z from "zod";
import { hintText } from "../../checks/hints.ts";
import type { Skill } from "../../skills/skill.ts";
import { defineTool } from "../tool.ts";
import { skillNamed } from "./named.ts";

/** Hands a skill's instructions to the model, with the list of its files. */
export function createActivateSkill(skills: readonly Skill[]) {
  return defineTool({
    name: "activate_skill",
    summary: "loads a skill's instructions and the list of its files",
    description:
      "Gives a skill's instructions and the list of its files. Once in a thread is enough.",
    // No choice of names: they may be many, and they change while the program runs.
    input: z.strictObject({ name: skillName }),
    effect: "read",
    doing: ({ name }) => `Reading the skill ${name}`,
    ours: true,
    timeoutMs: 10_000,
    async run({ name }) {
      const skill = skillNamed(skills, name);
      const files = await skill.files();
      const list = files.map(({ id, bytes }) => `- ${id} (${bytes} bytes)`);
      const lines = [
        `<skill_content name="${name}">`,
        skill.body,
        ...(skill.hints === undefined
          ? []
          : ["", ...skill.hints.map((each) => `- ${hintText(each)}`)]),
        ...(list.length === 0 ? [] : ["", "Its files, for read_skill_file:", ...list]),
        "</skill_content>",
      ];
      return { text: lines.join("\n") };
    },
  });
}

/** As lists have it. */
export const skillName = z
  .string()
  .min(1)
  .max(128)
  .meta({ examples: ["http-5xx"] });
