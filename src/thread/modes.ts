import { type GateTerms, STANDARD_GATES, type SwitchedGate } from "../core/gates.ts";
import { hashTerms, type RunTerms } from "../core/run-terms.ts";
import {
  ASK_USER,
  DELEGATE,
  FIND_TOOLS,
  STAY_SILENT,
  UPDATE_PLAN,
  USE_TOOL,
} from "../core/tool-spec.ts";
import type { Draft } from "../core/entry.ts";
import type { Run } from "./state.ts";
import { depthOf } from "./family.ts";

/** What a run is, of the configurations of one core. */
export type Mode =
  | { kind: "main" }
  /** `tools`: the only ones it has, where the task names some. `depth`: 1 where the main run asked for it. */
  | { kind: "helper"; tools: readonly string[] | undefined; depth: number }
  /** It does a task of a goal. */
  | { kind: "goal" }
  /** It only reads, with few tools. */
  | { kind: "triage" }
  /** It has no tools. */
  | { kind: "chat" };

export function modeOf(run: Pick<Run, "parent"> & { started: Draft<"run_started"> }): Mode {
  const { parent, talk, goal } = run.started;
  if (goal !== undefined) return { kind: "goal" };
  if (parent === undefined) return { kind: isOwn(talk?.mode) ? talk.mode : "main" };
  return { kind: "helper", tools: run.started.task?.tools, depth: depthOf(run) };
}

function isOwn(mode: string | undefined): mode is "triage" | "chat" {
  return mode === "triage" || mode === "chat";
}

/** The mode of a run that nothing asked for but what was said. `isAsked`: a person asked for it. `channels`: those that it is in. */
export function modeFor(
  { modes }: RunTerms,
  { isAsked, channels }: { isAsked: boolean; channels: readonly string[] },
): Mode {
  if (modes?.chat?.channels.some((each) => channels.includes(each)) === true)
    return { kind: "chat" };
  return !isAsked && modes?.triage !== undefined ? { kind: "triage" } : { kind: "main" };
}

/**
 * People answer the main run and see its plan; a helper, and the run of a goal, puts what it needs to know into its report, which is
 * never nothing.
 */
const NOT_BESIDE: ReadonlySet<string> = new Set([ASK_USER, STAY_SILENT, UPDATE_PLAN]);

/**
 * The terms of a run in that mode. `base`: those of the run that asked for it, else the main ones. The same always give the same, so
 * every process knows them after a restart. Undefined where the configuration has no such mode.
 */
export function termsFor(base: RunTerms, mode: Mode): RunTerms | undefined {
  switch (mode.kind) {
    case "main":
      return base;
    case "helper": {
      const { helper } = base.modes ?? {};
      if (helper === undefined) return undefined;
      const { tools, depth } = mode;
      const mayAsk = depth < helper.depth;
      const isTheirs = (name: string) =>
        !NOT_BESIDE.has(name) &&
        (name !== DELEGATE || mayAsk) &&
        (tools === undefined || tools.includes(name));
      const gates = gatesOf(base, ["stuck", "phases"]);
      return narrowed({ ...base, system: helper.system, gates }, isTheirs);
    }
    case "goal": {
      const { goal } = base.modes ?? {};
      if (goal === undefined) return undefined;
      const gates = gatesOf(base, GOAL_GATES);
      const { minRevisions: _plan, strategy: _before, ...held } = base.gates ?? STANDARD_GATES;
      const tools = [...base.tools, ...goal.tools];
      return narrowed(
        { ...base, system: goal.system, tools, gates: { ...held, ...gates } },
        (name) => !NOT_BESIDE.has(name),
      );
    }
    case "triage": {
      const { triage } = base.modes ?? {};
      const isKept = (name: string) =>
        name === STAY_SILENT || triage?.tools.includes(name) === true;
      return triage && narrowed(base, isKept);
    }
    case "chat": {
      const { chat } = base.modes ?? {};
      const isKept = (name: string) => name === STAY_SILENT;
      const gates = gatesOf(base, ["stuck"]);
      return chat && narrowed({ ...base, system: chat.system, gates }, isKept);
    }
  }
}

/**
 * A report is no answer, and talk rests on no call: they are held to their limits, and where the main run is, to a way on. A helper is
 * held to the phase that the main run is in, so it needs no list of its own.
 */
function gatesOf({ gates = STANDARD_GATES }: RunTerms, kept: readonly SwitchedGate[]): GateTerms {
  return { on: gates.on.filter((name) => kept.includes(name)) };
}

/** What is planned is the goal's, and so is what is put together in the end. */
const GOAL_GATES: readonly SwitchedGate[] = [
  "evidence",
  "stuck",
  "required",
  "phases",
  "verification",
  "recovery",
];

/** With some of the tools; what calls those that are not described stays while there are any. */
function narrowed(
  { foundTools = [], ...base }: RunTerms,
  isKept: (name: string) => boolean,
): RunTerms {
  const found = foundTools.filter(isKept);
  const isSearch = (name: string) => name === FIND_TOOLS || name === USE_TOOL;
  const tools = base.tools.filter(({ name }) => (isSearch(name) ? found.length > 0 : isKept(name)));
  return hashTerms({ ...base, tools, ...(found.length > 0 && { foundTools: found }) });
}

/** Names that a run with these terms has no tool for. */
export function unknownTools({ tools, foundTools = [] }: RunTerms, names: readonly string[]) {
  const known = new Set([...tools.map(({ name }) => name), ...foundTools]);
  return names.filter((name) => !known.has(name));
}
