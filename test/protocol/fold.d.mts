import type { Scenario } from "./protocol-model.mjs";

export interface Folded {
  started: boolean;
  proposed: boolean;
  closed: boolean;
  /** F, U or none. */
  outcome: string;
  answers: number;
  delivered: number;
}
export type Next =
  | { do: "append"; entry: string }
  | { do: "start" | "recover" | "expire" }
  | { do: "judge"; clicks: string[] }
  | { do: "send"; answer: number }
  | { do: "release"; at: string };
export function createFold(
  scenario: Scenario,
  rules: Readonly<Record<string, unknown>>,
): (prefix: string, lateAt: number) => Folded;
export function next(
  folded: Folded,
  late: boolean,
  scenario: Scenario,
  rules: Readonly<Record<string, unknown>>,
): Next;
