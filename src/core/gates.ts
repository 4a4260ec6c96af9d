import * as z from "zod";

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
] as const;

export type GateName = Exclude<(typeof GATE_WORDS)[number], "checks">;

/**
 * Gates that a run may do without, and whether it has them where nobody says. One is on here only if it costs nothing while
 * things go well: no tokens, no request. Without the others a turn would have no end, a call no result, or people no say.
 */
export const SWITCHED_GATES = {
  evidence: true,
  stuck: true,
} as const satisfies Partial<Readonly<Record<GateName, boolean>>>;

export type SwitchedGate = keyof typeof SWITCHED_GATES;

/** Stores keep these by their places too. */
export const SWITCHED_NAMES = ["evidence", "stuck"] as const satisfies readonly SwitchedGate[];

/** What a run's work is held to: part of what it begins with. */
export const gateTerms = z.strictObject({ on: z.array(z.enum(SWITCHED_NAMES)) });

export type GateTerms = z.infer<typeof gateTerms>;

export const STANDARD_GATES: GateTerms = {
  on: SWITCHED_NAMES.filter((name) => SWITCHED_GATES[name]),
};

/** The run has it: it always does, or nobody took it away. */
export function hasGate({ on }: GateTerms, name: GateName): boolean {
  return !(name in SWITCHED_GATES) || on.some((each) => each === name);
}
