import type { Checks } from "../checks/schema.ts";
import { globMatches } from "../core/glob.ts";
import { suggest } from "../core/suggest.ts";
import { holesIn } from "../core/templates.ts";
import { mistakeText } from "../core/zod-issues.ts";
import type { Skill } from "../skills/skill.ts";
import { checkArguments } from "../tools/arguments.ts";
import { argumentNames } from "../tools/input-schema.ts";
import type { Tool } from "../tools/tool.ts";

/** A check that cannot be run as it is written, or a tool that is named and is none. */
interface CheckProblem {
  /** The file with line and column. */
  at: string;
  text: string;
  /** False: the tool's system is only not set up here. */
  isMistake: boolean;
}

/** `missing`: the integrations whose tools are not offered. */
export function checkProblems(
  skills: readonly Pick<
    Skill,
    "folder" | "checks" | "checkAt" | "hints" | "hintAt" | "allowed" | "requires"
  >[],
  tools: readonly Tool[],
  missing: readonly { name: string; why: string }[],
): CheckProblem[] {
  const named = namedTools(skills).flatMap(({ name, at, subject }): CheckProblem[] => {
    if (tools.some((tool) => globMatches(name, tool.name))) return [];
    const system = systemOf(name, missing);
    const why = system === undefined ? noTool(name, tools) : `not here: ${system.why}`;
    return [{ at, text: `${subject}: ${name}: ${why}`, isMistake: system === undefined }];
  });
  return [...problemsOfChecks(skills, tools, missing), ...named];
}

/** The tools that hints, `allowed-tools` and `requires` speak of. */
function namedTools(
  skills: readonly Pick<Skill, "folder" | "hints" | "hintAt" | "allowed" | "requires">[],
): { name: string; at: string; subject: string }[] {
  return skills.flatMap(({ folder, hints = [], hintAt, allowed, requires = [] }) => [
    ...hints.flatMap((hint, i) =>
      (["use", "leave_out"] as const).flatMap((field) =>
        hint[field].map((name, j) => ({
          name,
          at: hintAt?.(["hints", i, field, j]) ?? folder,
          subject: "hint",
        })),
      ),
    ),
    // Scripts are run only where the operators have skills of their own, which these are.
    ...(allowed?.calls ?? [])
      .filter(({ tool }) => tool !== "run_skill_script")
      .map(({ tool: name }) => ({ name, at: allowed?.at ?? folder, subject: "allowed-tools" })),
    ...requires.map((name) => ({ name, at: folder, subject: "metadata.requires" })),
  ]);
}

function problemsOfChecks(
  skills: readonly Pick<Skill, "folder" | "checks" | "checkAt">[],
  tools: readonly Tool[],
  missing: readonly { name: string; why: string }[],
): CheckProblem[] {
  return skills.flatMap(({ checks, checkAt, folder }) =>
    Object.entries(checks?.checks ?? {}).flatMap(([id, check]): CheckProblem[] => {
      const at = (path: string[]) => checkAt?.(["checks", id, ...path]) ?? folder;
      const tool = tools.find(({ name }) => name === check.tool);
      if (tool !== undefined)
        return problemsWith(check, tool).map(({ path, text }) => ({
          at: at(path),
          text: `check ${id}: ${text}`,
          isMistake: true,
        }));
      const system = systemOf(check.tool, missing);
      const why = system === undefined ? noTool(check.tool, tools) : `not here: ${system.why}`;
      const text = `check ${id}: ${check.tool}: ${why}`;
      return [{ at: at(["tool"]), text, isMistake: system === undefined }];
    }),
  );
}

/** The integration that a tool is of, as its name says: `redis_diagnose`, `search_logs`. */
function systemOf<S extends { name: string }>(tool: string, systems: readonly S[]): S | undefined {
  return systems.find(({ name }) => tool.startsWith(`${name}_`) || tool === `search_${name}`);
}

function noTool(name: string, tools: readonly Tool[]): string {
  const meant = suggest(
    name,
    tools.map((tool) => tool.name),
  );
  return `no tool has this name${meant === undefined ? "" : `; did you mean ${meant}?`}`;
}

function problemsWith(
  { with: args }: Checks["checks"][string],
  tool: Tool,
): { path: string[]; text: string }[] {
  if (tool.effect !== "read" || (tool.question ?? tool.delegates) !== undefined)
    return [{ path: ["tool"], text: `${tool.name} does more than read, so no check may call it` }];
  const checked = checkArguments(tool, args);
  if (checked.ok) return [];
  const known = argumentNames(tool);
  const isFilled = (name: string) => holesIn(String(args[name])).length > 0;
  // What a hole is filled with is known only when it runs.
  return checked.mistakes
    .filter(({ argument }) =>
      argument === undefined
        ? !Object.keys(args).some(isFilled)
        : !known.includes(argument) || !isFilled(argument),
    )
    .map(({ argument = "", where, text }) => ({
      path: argument in args ? ["with", argument] : ["tool"],
      text: mistakeText(`argument ${where}`, text),
    }));
}
