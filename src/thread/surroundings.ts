import type { Command, JsonObject } from "../core/entry.ts";
import type { Budget } from "../core/budget.ts";
import type { AnsweredBy } from "../core/tool-spec.ts";
import type { RunTerms } from "../core/run-terms.ts";
import type { Checking } from "./checking.ts";
import type { Machines } from "./machines.ts";
import type { Run, Thread } from "./state.ts";
import { modeOf, termsFor } from "./modes.ts";

/** What one command comes to: a tool call, or a text to answer at once. */
export type DirectAnswer =
  | { kind: "call"; tool: string; args: JsonObject }
  | { kind: "text"; text: string; failed: boolean };

export interface RunParts {
  /** Reads a typed command against the tools there are. `frozen`: what of that may be seen in the thread, a sentence each. */
  direct(command: Command, thread: Thread, frozen?: readonly string[]): DirectAnswer;
  /** The answer to plain language that no model and no check answers: it says so, and what can be done instead. */
  plain(text: string): string;
  /** Looks into things without a model; undefined: nothing does. */
  readonly checks?: Checking | undefined;
  /** The only model that may answer here, whatever people chose. */
  readonly model?: string;
  /** What a new run begins with. */
  readonly terms: RunTerms | undefined;
  /** What a goal begins with; undefined: goals are off. `replan` as of `goal_started`. */
  readonly goals?: { readonly budget: Budget; readonly replan: number } | undefined;
  /** Tokens that a model takes which is not that of the terms; without it that one's. */
  windowOf?(model: string): number;
  /** What a run with this prefix began with, where tools were changed since; without it only the newest terms are known. */
  termsOf?(prefix: string): RunTerms | undefined;
}

/** The terms of a model's run: those it began with, as long as this process knows them. */
export function termsIn(
  parts: Pick<RunParts, "terms" | "termsOf">,
  run: Pick<Run, "modelRun" | "parent" | "started"> | undefined,
): RunTerms | undefined {
  const { prefix } = run?.modelRun?.terms ?? {};
  if (run?.parent !== undefined) {
    const base = termsIn(parts, run.parent);
    return base && termsFor(base, modeOf(run));
  }
  const known = (prefix === undefined ? undefined : parts.termsOf?.(prefix)) ?? parts.terms;
  return run === undefined ? known : known && termsFor(known, modeOf(run));
}

/** What entries are made from besides what was learned: the thread, the clock, the configuration, this process. */
export interface Surroundings extends Pick<Machines, "here" | "isBound" | "heard"> {
  readonly thread: Thread;
  /** The store's clock, ms since 1970. */
  readonly now: number;
  readonly run: RunParts;
  /** Who is behind an account. */
  personOf(account: string): string;
  /** The channels that the thread is in, its own first; empty where nothing here depends on them. */
  readonly channels: readonly string[];
  /** What is said in place of the output of a call that people gave. */
  answeredBy(tool: string): AnsweredBy | undefined;
  /** Redacts and cleans text that came from outside. */
  encode(text: string): string;
}
