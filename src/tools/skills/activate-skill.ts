import * as z from "zod";
import type { Skill } from "../../skills/skill.ts";
import { defineTool } from "../tool.ts";

/** Hands a skill's instructions to the model, with the list of its files. Needs at least one skill. */
export function createActivateSkill(skills: readonly Skill[]) {
  const byName = new Map(skills.map((skill) => [skill.name, skill]));
  return defineTool({
    name: "activate_skill",
    summary: "loads a skill's instructions and the list of its files",
    description:
      "Gives a skill's instructions and the list of its files. Once in a thread is enough.",
    input: z.strictObject({ name: z.enum([...byName.keys()]) }),
    effect: "read",
    doing: ({ name }) => `Reading the skill ${name}`,
    ours: true,
    timeoutMs: 10_000,
    async run({ name }) {
      const skill = byName.get(name);
      const files = (await skill?.files()) ?? [];
      const list = files.map(({ id, bytes }) => `- ${id} (${bytes} bytes)`);
      const lines = [
        `<skill_content name="${name}">`,
        skill?.body ?? "",
        ...(list.length === 0 ? [] : ["", "Its files, for read_skill_file:", ...list]),
        "</skill_content>",
      ];
      return { text: lines.join("\n") };
    },
  });
}
