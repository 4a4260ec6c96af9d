import { createHash } from "node:crypto";
import { estimateTokens } from "./block.ts";
import type { Entry } from "./entry.ts";
import type { GateTerms } from "./gates.ts";
import { gatesWithin } from "./gates-within.ts";
import type { ToolSpec } from "./tool-spec.ts";

/** Tokens of a day, in UTC. */
interface DayShares {
  /** What one full member's words may use. */
  person: number;
  /** What the threads of one channel may use together. */
  place: number;
  /** What the words of anybody else may use, each. */
  guest: number;
}

/** Cents of a US dollar that a day may cost, in UTC. What is absent has no limit. */
interface DayCents {
  all?: number | undefined;
  /** What the words of one person may cost. */
  person?: number | undefined;
  /** What the threads of one channel may cost together. */
  place?: number | undefined;
}

/** A call that a skill allows. */
export interface AllowedCall {
  /** A tool's name; `*` stands for anything. */
  readonly tool: string;
  /** How the command line begins; undefined: any. */
  readonly argv?: readonly string[];
  /** It has no more words than these. */
  readonly isWhole?: boolean;
}

/** What else than a thread's main run the same configuration makes. */
interface Modes {
  /** Runs that others ask for; absent: nothing asks for any. */
  readonly helper?: {
    readonly system: string;
    /** How deep they may have others of their own. */
    readonly depth: number;
    /** How many work for one run in all. */
    readonly perRun: number;
  };
  /** Runs that do tasks of goals, and the tools that they have besides; absent: goals are off. */
  readonly goal?: { readonly system: string; readonly tools: readonly ToolSpec[] };
  /** Runs that no person asked for: these tools alone; absent: they have all. */
  readonly triage?: { readonly tools: readonly string[] };
  /** Runs in these channels, which have no tools; absent: there are none. */
  readonly chat?: { readonly system: string; readonly channels: readonly string[] };
}

/** What a model's run is made of: with other values it is a helper's, a goal's, a triage with few tools, or a chat with none (`termsFor`). */
export interface RunTerms {
  /** The model unless a thread has chosen another. */
  model: string;
  system: string;
  /** What every request describes. */
  tools: readonly ToolSpec[];
  /** What may be called besides by its name, once it was found. Anything else is refused, whatever the model writes. */
  foundTools?: readonly string[];
  /** By the names of skills: the only calls that a run may make once it follows them. */
  allowed?: Readonly<Record<string, readonly AllowedCall[]>>;
  /** What its work is held to; undefined: the standard gates. */
  gates?: GateTerms;
  budget: NonNullable<Entry<"run_started">["talk"]>["budget"];
  maxOutputTokens: number;
  /** Tokens that all runs of a day may use, in UTC. */
  tokensPerDay: number;
  /** What of them is one person's or place's; without it nobody's part is limited. */
  shares?: DayShares;
  cents?: DayCents;
  /** SHA-256, hexadecimal, over what every request of a run begins with, what skills allow in it and its gates. */
  prefix: string;
  modes?: Modes;
  /** Tokens that `model` takes. */
  contextWindow: number;
  /** About what of them the system prompt and the tools use. */
  fixedTokens: number;
}

/** The terms with the hash of their system prompt and tools, held to no gate that waits for a tool which they lack. */
export function hashTerms({
  gates: all,
  ...terms
}: Omit<RunTerms, "prefix" | "fixedTokens">): RunTerms {
  const { system, tools, foundTools, allowed } = terms;
  const names = [...tools.map(({ name }) => name), ...(foundTools ?? [])];
  const gates = all && gatesWithin(all, names);
  const prefix = createHash("sha256")
    .update(JSON.stringify({ system, tools, foundTools, allowed, gates }))
    .digest("hex");
  return {
    ...terms,
    ...(gates && { gates }),
    prefix,
    fixedTokens: estimateTokens(JSON.stringify({ system, tools })),
  };
}
