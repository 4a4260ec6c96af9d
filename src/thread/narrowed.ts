import type { Json, JsonObject } from "../core/entry.ts";
import { globMatches } from "../core/glob.ts";
import type { AllowedCall, RunTerms } from "../core/run-terms.ts";
import { DELEGATE, UPDATE_PLAN } from "../core/tool-spec.ts";
import { askedFor } from "./family.ts";
import type { Run } from "./state.ts";
import type { Call } from "./call.ts";

/** The skills that a run follows narrow what it may call (`allowed-tools` of Agent Skills). They never widen it: policy decides as ever. */

/** They read skills and what the run itself has, or ask people. */
const ALWAYS: ReadonlySet<string> = new Set([
  "activate_skill",
  "find_skill",
  "read_skill_file",
  "read_artifact",
  "find_tools",
  "ask_user",
  // What a helper may call is narrowed likewise.
  DELEGATE,
  UPDATE_PLAN,
]);

/** Why a skill that the run follows does not allow the call, for the model to read; undefined: each of them does. */
export function whyNarrowed(
  { tool, args }: Pick<Call, "tool" | "args">,
  run: Pick<Run, "calls" | "parent">,
  { allowed = {} }: Pick<RunTerms, "allowed">,
): string | undefined {
  if (ALWAYS.has(tool)) return undefined;
  const calls = [run, ...askedFor(run)].flatMap((each) => [...each.calls.values()]);
  for (const skill of followed(calls)) {
    const list = Object.hasOwn(allowed, skill) ? allowed[skill] : undefined;
    if (list === undefined || list.some((each) => isAllowed(each, tool, args))) continue;
    const names = list.map(allowedText);
    const only = names.length === 0 ? "no tool that there is here" : `only ${names.join(", ")}`;
    return `The skill ${skill}, which this run follows, allows ${only}, so ${tool} was not executed. That holds until this run ends. Go on with what is allowed, or answer with what you have.`;
  }
  return undefined;
}

/** No mask of tools holds it back. */
export function isAlwaysAllowed(tool: string): boolean {
  return ALWAYS.has(tool);
}

/** The skills that these calls took up. */
export function followed(calls: Iterable<Call>): Set<string> {
  const names = [...calls].flatMap(({ tool, args, finished }) =>
    tool === "activate_skill" && finished?.outcome === "ok" && typeof args["name"] === "string"
      ? [args["name"]]
      : [],
  );
  return new Set(names);
}

function isAllowed({ tool: glob, argv, isWhole }: AllowedCall, tool: string, args: JsonObject) {
  if (!globMatches(glob, tool)) return false;
  if (argv === undefined) return true;
  const words = wordsOf(args["argv"]);
  const isLongEnough = isWhole === true ? words.length === argv.length : true;
  return isLongEnough && argv.every((word, at) => word === words[at]);
}

/** A program in a folder of the system is meant by its name. */
function wordsOf(argv: Json | undefined): string[] {
  const [program = "", ...rest] = Array.isArray(argv) ? argv.map(String) : [];
  return [program.replace(/^\/(?:usr\/)?(?:local\/)?s?bin\//, ""), ...rest];
}

function allowedText({ tool, argv, isWhole }: AllowedCall): string {
  if (argv === undefined) return tool;
  return `${tool} with ${argv.join(" ")}${isWhole === true ? "" : " …"}`;
}
