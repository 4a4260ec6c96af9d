import type { Entry, JsonObject } from "../core/entry.ts";
import type { Finding, Gap } from "../core/finding.ts";
import type { Run } from "./state.ts";
import type { Call } from "./call.ts";

/** Skills' checks, as a thread uses them: reads that are planned without a model, and what they show. */

/** What is to be looked into. */
export interface Topic {
  /** Names of alerts. */
  readonly alerts?: readonly string[];
  /** All that is said of it. */
  readonly text: string;
  /** Of the alerts, the one that matters most first. */
  readonly labels?: readonly Readonly<Record<string, string>>[];
  /** When it began, ISO 8601. */
  readonly time?: string;
}

interface AskedBy {
  readonly skill: string;
  readonly check: string;
}

/** A call that checks ask for, with checked arguments. */
interface PlannedCheck {
  readonly tool: string;
  readonly args: JsonObject;
  readonly askedBy: readonly AskedBy[];
}

export interface Plan {
  /** Those that fit, the best first; none: nothing is known of the topic. */
  readonly skills: readonly string[];
  /** None though skills fit: what to look at was not said. */
  readonly calls: readonly PlannedCheck[];
  /** Where there are no calls, what the skills' checks would have to be told, such as `host`. None: their systems are not set up. */
  readonly needs: readonly string[];
}

/** What one check came to. */
interface Checked extends AskedBy {
  /** How people find its output, such as `T1`. */
  readonly ref: string;
  /** False: it says nothing of what it looked at. */
  readonly ok: boolean;
  readonly findings: readonly Finding[];
  readonly gaps: readonly Gap[];
  /** What the tool wrote, without its findings. */
  readonly text: string;
}

/** A sentence with the calls that show it. */
interface Said {
  readonly text: string;
  readonly refs: readonly string[];
  readonly fix?: string | undefined;
}

/** What checks show. */
export interface Shown {
  /** What is broken by the rules of the skills, the most likely cause first. */
  readonly statements: readonly Said[];
  /** What was asked is well, or is so; with lines that say more. None where there are statements. */
  readonly answers: readonly (Said & { readonly lines: readonly string[] })[];
  /** What else is broken: no rule knows whether it is what was asked for. */
  readonly others: readonly Said[];
  readonly gaps: readonly Gap[];
}

/** The checks of the skills as they are now. */
export interface Checking {
  plan(topic: Topic): Plan;
  /** `skills`: the best first. */
  conclude(skills: readonly string[], checked: readonly Checked[]): Shown;
  /** They look before a model is asked. */
  readonly firstLook: boolean;
  /** So long after an action what was broken is looked at again; undefined: it is not. */
  readonly verifyAfterMs?: number | undefined;
}

type Checks = NonNullable<Entry<"run_started">["checks"]>;

/** A run that is checks and nothing else: no model is asked. */
export type CheckingRun = Run & {
  readonly started: Run["started"] & { readonly checks: Checks };
  readonly modelRun: undefined;
};

export function isChecking(run: Run): run is CheckingRun {
  return run.started.checks !== undefined && run.modelRun === undefined;
}

/** The call is a check: it only reads, whatever its run may do. */
export function isCheck(run: Pick<Run, "started"> | undefined, call: string): boolean {
  return run?.started.checks !== undefined && run.started.calls.some((each) => each.call === call);
}

/** The run's checks, in the order in which they were asked for. */
export function checksIn(run: Run): Call[] {
  return [...run.calls.values()].filter(({ call }) => isCheck(run, call));
}

/** What a model's run looked at before its model was asked. */
export function firstLookOf(run: Run): Checks | undefined {
  return run.modelRun === undefined ? undefined : run.started.checks;
}

/** So long a check may take, from when it begins here: an alert has its answer within 10 s. */
const LIMIT_MS: Readonly<Record<Checks["why"], number>> = {
  no_model: 30_000,
  model_failed: 30_000,
  alert: 7_000,
  first_look: 5_000,
  again: 30_000,
};

/** Undefined for a call that is no check. */
export function checkLimit(
  run: Pick<Run, "started"> | undefined,
  call: string,
): number | undefined {
  const why = run?.started.checks?.why;
  return why !== undefined && isCheck(run, call) ? LIMIT_MS[why] : undefined;
}
