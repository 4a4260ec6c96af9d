import { isAbsolute, normalize } from "node:path";
import * as z from "zod";
import { fromYaml } from "../../core/settings.ts";
import { defineIntegration } from "../integration.ts";
import { createActivateSkill } from "./activate-skill.ts";
import { createFindSkill } from "./find-skill.ts";
import { createProposeSkillChange } from "./propose-skill-change.ts";
import { createRunSkillScript } from "./run-skill-script.ts";
import { createReadSkillFile } from "./read-skill-file.ts";

const skillFolder = z
  .string()
  .refine(isAbsolute, "expected an absolute path such as /srv/skills")
  .transform((path) => normalize(path))
  .refine((path) => path !== "/", "expected a folder of skills, not /");

/** What git is given is no option, and has no password in it that `ps` or a log would show. */
const gitUrl = z
  .string()
  .max(1_000)
  .regex(
    /^(?:https:\/\/[\w.-]+(?::\d+)?|ssh:\/\/(?:\w[\w.-]*@)?\w[\w.-]*(?::\d+)?)\/[\w.~/+-]+$/,
    "expected https://host/path or ssh://user@host/path, without a password",
  );

const gitSkills = z.strictObject({
  url: gitUrl,
  commit: z.string().regex(/^[0-9a-f]{40}$/, "expected the 40 digits of a commit, in lower case"),
  path: z
    .string()
    .regex(
      /^(?!\.{1,2}(?:\/|$))[\w.-]+(?:\/(?!\.{1,2}(?:\/|$))[\w.-]+)*$/,
      "expected a folder in the repository, such as skills/web",
    )
    .optional(),
  name: z.string().min(1).max(100).optional(),
});

/** The skills' instructions and files, for the model. */
export const skills = defineIntegration({
  name: "skills",
  settings: z.object({
    folders: fromYaml(
      "skills.folders",
      z.array(skillFolder).max(20).prefault([]),
      "Absolute folders, at most 20, with [skills](skills.md) to load besides the program's own, looked at again while the program runs. If two have one name, the last folder's wins.",
    ),
    git: fromYaml(
      "skills.git",
      z.array(gitSkills).max(20).prefault([]),
      "[Skills from git](skills.md#skills-from-git) at a commit that never moves, at most 20: `url` (https or ssh), `commit` (40 digits), and if need be `path` (a folder of it) and `name` (what the log calls it).",
    ),
    proposals: fromYaml(
      "skills.proposals",
      z.boolean().default(false),
      "Whether [changes to skills](skills.md#proposed-changes) in `skills.folders` may be proposed, each shown as a diff and asked for.",
    ),
    described: fromYaml(
      "skills.described",
      z.int().min(0).max(200).default(20),
      "How many [skills](skills.md) each request describes, 0 to 200, about 100 tokens each. The others are named, and the model finds them by `find_skill`.",
    ),
    pinned: fromYaml(
      "skills.pinned",
      z.array(z.string().min(1).max(128)).max(200).prefault([]),
      "Names of [skills](skills.md) that each request describes first.",
    ),
  }),
  unavailable: (_, parts) => (parts.skills.length === 0 ? "There are no skills." : undefined),
  tools: ({ folders, git, proposals }, { skills: loaded }) => [
    createActivateSkill(loaded),
    createFindSkill(loaded),
    createReadSkillFile(loaded),
    // None that comes with the program has a script.
    ...(folders.length + git.length === 0 ? [] : [createRunSkillScript(loaded)]),
    ...(proposals && folders.length > 0 ? [createProposeSkillChange(loaded, folders)] : []),
  ],
});
