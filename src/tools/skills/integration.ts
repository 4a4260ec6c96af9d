import { isAbsolute, normalize } from "node:path";
import * as z from "zod";
import { fromYaml } from "../../core/settings.ts";
import { defineIntegration } from "../integration.ts";
import { createActivateSkill } from "./activate-skill.ts";
import { createReadSkillFile } from "./read-skill-file.ts";

const skillFolder = z
  .string()
  .refine(isAbsolute, "expected an absolute path such as /srv/skills")
  .transform((path) => normalize(path))
  .refine((path) => path !== "/", "expected a folder of skills, not /");

/** The skills' instructions and files, for the model. */
export const skills = defineIntegration({
  name: "skills",
  settings: z.object({
    folders: fromYaml(
      "skills.folders",
      z.array(skillFolder).max(20).prefault([]),
      "Absolute folders, at most 20, with [skills](skills.md) to load besides the program's own. If two have one name, the last folder's wins.",
    ),
  }),
  unavailable: (_, parts) => (parts.skills.length === 0 ? "There are no skills." : undefined),
  tools: (_, parts) => [createActivateSkill(parts.skills), createReadSkillFile(parts.skills)],
});
