import * as z from "zod";
import { count } from "./entry-fields.ts";
import { PLANNING } from "./plan.ts";

/**
 * What holds a model to its work: each gate looks before a call, after calls or before an answer, and says nothing while all is
 * well.
 */

/**
 * Whose word a `gate` entry is; `checks`: what the first look found, before the model was asked. Stores keep each by its place
 * here: new ones are added at the end.
 */
export const GATE_WORDS = [
  "evidence",
  "stuck",
  "denied",
  "limit",
  "cut",
  "checks",
  "unmade",
  "last_word",
  "known",
  "narrowed",
  "plan",
  "required",
  "verification",
  "recovery",
  "planning",
  "replan",
  "synthesis",
  "phases",
] as const;

export type GateWord = (typeof GATE_WORDS)[number];
export type GateName = Exclude<GateWord, "checks">;

/**
 * Gates that a run may do without, and whether it has them where nobody says. One is on here only if it costs nothing while
 * things go well: no tokens, no request. Without the others a turn would have no end, a call no result, or people no say.
 */
export const SWITCHED_GATES = {
  evidence: true,
  stuck: true,
  /** Speaks only where a skill or the configuration names calls. */
  required: true,
  /** Speaks only of a plan whose step fails, with a request that is made anyway. */
  replan: true,
  /** Speaks only where the configuration names phases. */
  phases: true,
  /** One more request for each act without a read-back of its own: an eval has to show that it is worth it. */
  verification: false,
  /** A look at something that is down fails too, and is a finding: an eval has to show that a word on it helps. */
  recovery: false,
  /** At least one more request for each answer. */
  planning: false,
  synthesis: false,
} as const satisfies Partial<Readonly<Record<GateName, boolean>>>;

export type SwitchedGate = keyof typeof SWITCHED_GATES;

/** Stores keep these by their places too. */
export const SWITCHED_NAMES = [
  "evidence",
  "stuck",
  "required",
  "verification",
  "recovery",
  "planning",
  "replan",
  "synthesis",
  "phases",
] as const satisfies readonly SwitchedGate[];

/** A part of a run in which only some tools may be called. */
const phase = z.strictObject({
  name: z.string(),
  /** Names of tools, `*` for anything. */
  tools: z.array(z.string()),
  /** Only what changes nothing. */
  reads: z.boolean().optional(),
  /** So many calls of it have gone well: then the next one begins. With neither this nor `after` it is the last one. */
  calls: count.optional(),
  /** One of these tools was called and it went well. */
  after: z.array(z.string()).optional(),
  /** The phase that begins after three failed calls in a row. */
  fallback: z.string().optional(),
});

export type Phase = z.infer<typeof phase>;

/** What a run's work is held to: part of what it begins with. */
export const gateTerms = z.strictObject({
  on: z.array(z.enum(SWITCHED_NAMES)),
  /** So many calls that went well have to stand behind a sure answer. */
  minEvidence: count.optional(),
  /** So often a plan has to be written down before an answer. */
  minRevisions: count.optional(),
  /** By skills' names, `*` for anything: tools that have to be called before a run that follows one is done. `*` alone: any run that looks into something. */
  requires: z.record(z.string(), z.array(z.string())).optional(),
  /** What may be called when, the first one first. */
  phases: z.array(phase).optional(),
  /** How a plan is made before the first turn; undefined: none is. */
  strategy: z.enum(PLANNING).optional(),
});

export type GateTerms = z.infer<typeof gateTerms>;

export const STANDARD_GATES: GateTerms = {
  on: SWITCHED_NAMES.filter((name) => SWITCHED_GATES[name]),
};

/** The run has it: it always does, or nobody took it away. */
export function hasGate({ on }: GateTerms, name: GateName): boolean {
  return !(name in SWITCHED_GATES) || on.some((each) => each === name);
}
