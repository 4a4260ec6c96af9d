/** The types of what conformance.test.ts uses of the model; the model itself is plain JavaScript. */
export interface Scenario {
  posts: string;
  quorum: number;
  action: boolean;
  workers?: number;
  /** Who clicked has to be looked up, which fails now and then, or for ever. */
  judge?: "flaky" | "away";
  /** Who may stop being an approver. */
  leaves?: string[];
}
export interface State {
  journal: { entries: string; lateAt: number };
}
export interface ModelStep {
  label: string;
  kind: string;
  to: State;
}
export interface Model {
  initial: State;
  steps(state: State): Iterable<ModelStep>;
}
export const RULES: Readonly<Record<string, unknown>>;
export function createModel(scenario: Scenario, changes?: Record<string, unknown>): Model;
