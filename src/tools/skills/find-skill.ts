import * as z from "zod";
import { matching } from "../../checks/match.ts";
import { lineOf } from "../../skills/catalog.ts";
import type { Skill } from "../../skills/skill.ts";
import { defineTool } from "../tool.ts";

const MAX_FOUND = 8;
/** One word of a description is enough: who asks reads what it is for. */
const FLOOR = 1;

/** Finds skills by what they are for, those too that requests do not describe. */
export function createFindSkill(skills: readonly Skill[]) {
  return defineTool({
    name: "find_skill",
    summary: "finds skills by what they are for",
    description:
      "Finds skills by what they are for, those too that are only named to you. activate_skill then gives their instructions.",
    input: z.strictObject({
      text: z
        .string()
        .regex(/\S/, "is empty")
        .max(500)
        .describe("What is wrong, or an alert's name, in a few words")
        .meta({ examples: ["replication lag on the database"] }),
    }),
    effect: "read",
    doing: ({ text }) => `Looking for a skill: ${text}`,
    ours: true,
    timeoutMs: 5_000,
    async run({ text }) {
      const found = matching(
        skills,
        { text, alerts: [text.trim()] },
        { most: MAX_FOUND, floor: FLOOR },
      );
      if (found.length === 0) return { text: `None of ${skills.length} skills fits these words.` };
      return { text: found.map(lineOf).join("\n") };
    },
  });
}
