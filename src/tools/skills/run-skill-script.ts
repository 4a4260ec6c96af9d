import { access, constants, open, realpath } from "node:fs/promises";
import { extname, join, sep } from "node:path";
import * as z from "zod";
import { formatElapsed } from "../../core/instant.ts";
import { BotError } from "../../core/errors.ts";
import type { Skill } from "../../skills/skill.ts";
import {
  blastOf,
  checkedFiles,
  commandLines,
  pinnedField,
  runPinned,
  shownResult,
} from "../host/command.ts";
import { hostArgument } from "../host/host-argument.ts";
import { pinCommand } from "../host/pinned-files.ts";
import { commandText } from "../host/run-command.ts";
import { defineTool, type Tool } from "../tool.ts";
import { skillName } from "./activate-skill.ts";
import { skillNamed } from "./named.ts";

/** What runs a script that does not say so in its first line. */
const INTERPRETERS: Readonly<Record<string, string>> = {
  ".sh": "sh",
  ".bash": "bash",
  ".py": "python3",
  ".js": "node",
  ".mjs": "node",
  ".rb": "ruby",
  ".pl": "perl",
};
/** A longer first line is none (Linux takes 255 bytes). */
const MAX_FIRST_LINE = 255;

const input = z.strictObject({
  skill: skillName,
  script: z
    .string()
    .regex(/^scripts\/[^\0]+$/, "must be a file in scripts/, as activate_skill lists it")
    .max(1_000)
    .describe("As the list has it")
    .meta({ examples: ["scripts/failover.sh"] }),
  args: z
    .array(
      z
        .string()
        .max(10_000)
        .regex(/^[^\0]*$/, "must not hold a NUL byte"),
    )
    .max(63)
    .default([])
    .describe("Its arguments, one item each"),
  timeoutSeconds: z.int().min(1).max(600).default(60).describe("Stop it after this many seconds"),
  host: hostArgument,
  pinned: pinnedField,
});
type Input = z.infer<typeof input>;

/**
 * Runs a file of a skill's `scripts/`, as `run_command` runs a program: without a shell, in a clean environment, and only if it and
 * what interprets it are, byte by byte, what was approved.
 */
export function createRunSkillScript(skills: readonly Skill[]): Tool<Input> {
  const argvOf = (given: Input) => commandOf(skillNamed(skills, given.skill), given);
  return defineTool<Input>({
    name: "run_skill_script",
    summary: "runs a script of a skill, as `run_command` runs a program",
    description:
      "Runs a script that a skill has in scripts/, when its instructions say so, on this machine. There is no shell; each item of args is one argument as it is.",
    input,
    effect: "destructive",
    title: ({ skill, script, args }) =>
      `Run ${commandText([script, ...args])} of the skill ${skill}`,
    hostBound: true,
    timeoutMs: 615_000,
    async pin(given) {
      return { ...given, pinned: (await pinCommand(await argvOf(given))).pinned };
    },
    async precheck(given) {
      await checkedFiles(await argvOf(given), given.pinned);
    },
    async preview(given) {
      const argv = await argvOf(given);
      return {
        command: commandText(argv),
        lines: [
          { label: "Skill", value: given.skill },
          ...(await commandLines(argv)),
          {
            label: "Runs in",
            value:
              "an empty directory, with a clean environment: only PATH, LANG and an empty HOME",
            detail: true,
          },
          { label: "Time limit", value: formatElapsed(given.timeoutSeconds * 1000), detail: true },
        ],
        blastRadius: blastOf(given.host ?? "this machine"),
        undo: "Can't be undone automatically.",
      };
    },
    async run(given, ctx) {
      const argv = await argvOf(given);
      const files = await checkedFiles(argv, given.pinned);
      const limits = { maxBytes: 128 * 1024, timeoutMs: given.timeoutSeconds * 1000 };
      return shownResult(await runPinned(argv, files, ctx, limits));
    },
  });
}

/** The command line that runs the script. @throws BotError PATH_REFUSED for what the skill does not list or what leads out of it */
async function commandOf(
  skill: Skill,
  { script, args }: Pick<Input, "script" | "args">,
): Promise<string[]> {
  const { folder, name } = skill;
  const scripts = (await skill.files())
    .map(({ id }) => id)
    .filter((id) => id.startsWith("scripts/"));
  if (!scripts.includes(script)) {
    const text = `The skill ${name} has no script ${JSON.stringify(script)}. Its scripts: ${scripts.join(", ") || "none"}.`;
    throw new BotError("PATH_REFUSED", text);
  }
  const path = await realpath(join(folder, script)).catch(() => "");
  if (!path.startsWith(`${folder}${sep}`))
    throw new BotError("PATH_REFUSED", `${script} leads out of its skill's folder.`);
  return [...(await interpreterOf(path)), path, ...args];
}

/** By its first line, else by its name; none where the file is a program itself. @throws BotError INPUT_INVALID */
async function interpreterOf(path: string): Promise<string[]> {
  const [, line] = /^#!\s*([^\n]+)\n/.exec(await firstBytes(path)) ?? [];
  if (line !== undefined) {
    const words = line.trim().split(/\s+/);
    const isEnv = words[0] === "/usr/bin/env" || words[0] === "/bin/env";
    return isEnv ? words.slice(words[1] === "-S" ? 2 : 1) : words;
  }
  const known = INTERPRETERS[extname(path)];
  if (known !== undefined) return [known];
  const isProgram = await access(path, constants.X_OK).then(
    () => true,
    () => false,
  );
  if (isProgram) return [];
  const names = Object.keys(INTERPRETERS).join(", ");
  const text = `Nothing says what runs ${path}: begin it with a line such as #!/bin/sh, or name it with one of ${names}.`;
  throw new BotError("INPUT_INVALID", text);
}

async function firstBytes(path: string): Promise<string> {
  await using file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  const { buffer, bytesRead } = await file.read(Buffer.alloc(MAX_FIRST_LINE + 1), 0);
  return buffer.toString("latin1", 0, bytesRead);
}
