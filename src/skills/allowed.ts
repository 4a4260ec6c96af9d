import type { AllowedCall } from "../core/run-terms.ts";

/** What `allowed-tools` of Agent Skills means here. Other agents call their shell `Bash`. */

const SHELL = "Bash";
/** What a skill may read in any case: its own files, and what was kept of results. */
const READS = new Set(["Read", "Glob", "Grep", "LS"]);

/** The calls that the words allow: names, `Bash(git:*)`, `kubernetes_*`, separated by spaces or commas. */
export function allowedCalls(text: string): AllowedCall[] {
  return (text.match(/[^\s,()]+(?:\([^)]*\))?/g) ?? []).flatMap((word) => {
    const [, name = "", inner] = /^([^(]+)(?:\((.*)\))?$/s.exec(word) ?? [];
    if (READS.has(name)) return [];
    if (name !== SHELL && name !== "run_command") return [{ tool: name }];
    const { argv, isWhole } = commandOf(inner ?? "");
    const runs = {
      tool: "run_command",
      ...(argv.length > 0 && { argv, ...(isWhole && { isWhole }) }),
    };
    return argv.length > 0 || name !== SHELL ? [runs] : [runs, { tool: "run_skill_script" }];
  });
}

/** `git status:*`, `git status *`: it begins so; without a star it is the whole. */
function commandOf(text: string): { argv: string[]; isWhole: boolean } {
  const begin = text.trim().replace(/(?::\*|\s\*|^\*)$/, "");
  const isWhole = begin === text.trim();
  return { argv: begin.split(/\s+/).filter((word) => word !== ""), isWhole };
}
