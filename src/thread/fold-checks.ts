import type { Entry } from "../core/entry.ts";
import { NO_CHECK_HELP } from "./check-phrases.ts";
import { numberOfCall } from "./entry-ids.ts";
import { touch } from "./fold-actions.ts";
import { MAX_HELPS, MAX_LOOKED } from "./fold-memory.ts";
import { callKey } from "./model-run.ts";
import { type Run, talkingRuns, type Thread } from "./state.ts";

/** Runs of checks: what they are numbered by, what they tell others, and what they saw again. */

/** Its calls are numbered with those of models, which may cite them once they were told what they brought. */
export function applyChecks(thread: Thread, { started }: Run): void {
  const { checks, calls } = started;
  if (checks === undefined) return;
  thread.counts.uses += calls.length;
  for (const { call, tool, args } of calls) {
    thread.looked.delete(callKey(tool, args));
    thread.looked.add(callKey(tool, args));
    for (const { modelRun } of Object.values(talkingRuns(thread)))
      modelRun.untoldCalls.add(numberOfCall(call));
  }
  for (const key of thread.looked) {
    if (thread.looked.size <= MAX_LOOKED) break;
    thread.looked.delete(key);
  }
  const look = thread.looks.get(checks.after ?? "");
  if (look !== undefined) look.run = started.run;
  else if (checks.skills.length === 0 && checks.why !== "again") noteHelp(thread, NO_CHECK_HELP);
  const { of, group, names = [] } = checks.group ?? {};
  const alerts = thread.alerts.get(`${of} ${group}`);
  for (const name of names) alerts?.triaged.add(name);
}

/** What was broken was looked at again, or that was stopped. */
export function applySeen(thread: Thread, { started }: Run, ended: Entry<"run_ended">): void {
  const look = thread.looks.get(started.checks?.after ?? "");
  if (look === undefined || look.run !== started.run) return;
  thread.looks.delete(look.of.call);
  const { verdict } = ended.verifies ?? {};
  if (verdict === undefined) return;
  // What its own tool saw to have failed did not help.
  if (look.action.verified !== "not done") look.action.verified = verdict;
  touch(thread, look.action, ended);
  const number = numberOfCall(look.of.call);
  if (verdict === "not done" && thread.evidence.get(number) === "changed")
    thread.evidence.set(number, "unmet");
}

/** What checks brought is told to whoever is asked next. */
export function tellOthers(thread: Thread, { calls }: Run): void {
  for (const { modelRun } of Object.values(talkingRuns(thread)))
    for (const call of calls.keys()) modelRun.untoldCalls.delete(numberOfCall(call));
}

/** Nothing knew what to look at. */
function noteHelp({ counts, helps }: Thread, help: string): void {
  counts.blind += 1;
  addHelp(helps, help);
}

export function addHelp(helps: Thread["helps"], help: string): void {
  const count = helps.get(help) ?? 0;
  if (count > 0 || helps.size < MAX_HELPS) helps.set(help, count + 1);
}
