import type { AppendKind, Draft, Entry } from "../core/entry.ts";
import type { Finding } from "../core/finding.ts";
import {
  type Checking,
  checksIn,
  type CheckingRun,
  firstLookOf,
  type Plan,
  type Topic,
  type Shown,
} from "./checking.ts";
import * as phrases from "./check-phrases.ts";
import { callName, citationOf, entryId, runName } from "./entry-ids.ts";
import { lookedAgain } from "./looks.ts";
import { callKey } from "./model-run.ts";
import type { LaterLook, Run, Thread } from "./state.ts";
import type { ShownAlerts } from "./shown-living.ts";
import type { Surroundings } from "./surroundings.ts";

/** Which entries follow where checks look into something, and what they came to. */

type Checks = NonNullable<Draft<"run_started">["checks"]>;

/** A plan as a run's calls, numbered behind those that models and checks made before. */
function plannedCalls(
  { counts }: Thread,
  run: string,
  { skills, calls }: Pick<Plan, "skills" | "calls">,
): Pick<Draft<"run_started">, "calls"> & Pick<Checks, "skills" | "asked"> {
  const named = calls.map((each, at) => ({ ...each, call: callName(run, counts.uses + at + 1) }));
  return {
    calls: named.map(({ call, tool, args }) => ({ call, tool, args })),
    skills: [...skills],
    asked: named.flatMap(({ call, askedBy }) =>
      askedBy.map(({ skill, check }) => ({ call, skill, check })),
    ),
  };
}

/** A run of checks. `started`: how it would begin as another. */
export function checkingDraft(
  thread: Thread,
  started: Draft<"run_started">,
  plan: Pick<Plan, "skills" | "calls">,
  more: Pick<Checks, "why"> & Partial<Checks>,
): Draft<"run_started"> {
  const { calls, ...checks } = plannedCalls(thread, started.run, plan);
  return { ...started, calls, checks: { ...checks, ...more } };
}

/** What is asked; where it names an alert of the thread, the checks for that alert are meant. */
export function topicOf({ alerts }: Thread, text: string): Topic {
  const names = [...alerts.values()].flatMap(({ state }) => namesOf(state));
  return { text, alerts: names.filter((name) => text.includes(name)) };
}

/** What a first look of a model's run calls; undefined: nothing that this thread has not looked at. */
export function firstLookIn(
  thread: Thread,
  run: string,
  text: string,
  checking: Checking | undefined,
): Pick<Draft<"run_started">, "calls" | "checks"> | undefined {
  if (checking?.firstLook !== true) return undefined;
  const { skills, calls } = checking.plan(topicOf(thread, text));
  const fresh = calls.filter(({ tool, args }) => !thread.looked.has(callKey(tool, args)));
  if (fresh.length === 0) return undefined;
  const planned = plannedCalls(thread, run, { skills, calls: fresh });
  const { calls: named, ...checks } = planned;
  return { calls: named, checks: { why: "first_look", ...checks } };
}

/** Findings are listed before what a tool wrote itself. What it only tells of, such as changes, stands in its own words alone. */
export function withoutFindings(text: string, findings: readonly Finding[]): string {
  if (findings.every(({ object }) => object.kind === "Change")) return text.trim();
  const count = findings.length;
  const end = count === 0 ? -1 : text.indexOf("\n\n");
  return count > 0 && end === -1 ? "" : text.slice(end === -1 ? 0 : end).trim();
}

/** What the checks of a run show, by the skills' rules as they are now. */
function shownBy(run: Run, checks: Checks, checking: Checking | undefined): Shown {
  const checked = checksIn(run).flatMap(({ call, finished }) => {
    const { outcome, findings = [], gaps = [], text: whole = "" } = finished ?? {};
    const text = withoutFindings(whole, findings);
    const result = { ref: citationOf(call), ok: outcome === "ok", findings, gaps, text };
    return checks.asked
      .filter((each) => each.call === call)
      .map(({ skill, check }) => ({ skill, check, ...result }));
  });
  return checking?.conclude(checks.skills, checked) ?? NOTHING_SHOWN;
}

/** A run of checks is over: what they show is the answer. */
export function checkedDrafts(run: CheckingRun, around: Surroundings): Draft<AppendKind>[] {
  const { thread } = around;
  const { checks } = run.started;
  const look = thread.looks.get(checks.after ?? "");
  if (checks.why === "again" && look !== undefined) {
    const again = lookedAgain(look, run);
    const text = around.encode(phrases.againText(look, again));
    const verifies = { call: look.of.call, verdict: again.verdict };
    return [{ ...endedDraft(run, text, "completed"), verifies }];
  }
  return [endedDraft(run, around.encode(answerOf(run, checks, around)), statusOf(checks))];
}

/** Nobody has a tool for it. */
function statusOf({ why, skills }: Checks): "completed" | "failed" {
  return skills.length === 0 && why !== "alert" ? "failed" : "completed";
}

/** `why` no model answers, where one was asked. */
function answerOf(
  run: Run,
  checks: Checks,
  { thread, run: parts }: Surroundings,
  why = checks.instead?.why,
): string {
  const calls = checksIn(run);
  const state = alertsOf(thread, checks)?.state;
  const remembered = run.above?.remembered;
  const beside = [
    phrases.markText({ checks, calls }, why),
    ...(remembered === undefined ? [] : [phrases.rememberedText(remembered)]),
  ];
  if (calls.length === 0 && state !== undefined)
    return [phrases.alertText(state, checks.skills), ...beside].join("\n\n");
  return phrases.checkedText({ checks, calls, shown: shownBy(run, checks, parts.checks) }, beside);
}

function alertsOf({ alerts }: Thread, { group }: Checks): ShownAlerts | undefined {
  return group && alerts.get(`${group.of} ${group.group}`);
}

function endedDraft(
  { started: { run } }: Run,
  text: string,
  status: "completed" | "failed",
): Draft<"run_ended"> {
  return { id: entryId.runEnded(run), kind: "run_ended", run, status, text };
}

/** What the first look found, for the model that is asked next. */
export function firstLookDraft(run: Run, around: Surroundings): Draft<"gate">[] | undefined {
  const checks = firstLookOf(run);
  if (checks === undefined || run.modelRun === undefined) return undefined;
  const shown = shownBy(run, checks, around.run.checks);
  const text = around.encode(phrases.firstLookText({ checks, shown, calls: checksIn(run) }));
  const name = run.started.run;
  const id = entryId.gate(name, run.modelRun.gates.length + 1);
  return [{ id, kind: "gate", run: name, gate: "checks", text }];
}

/**
 * The model cannot answer, and nothing was looked at but by checks: they answer in its place. Undefined where none fits. `why`: a
 * sentence.
 */
export function insteadDrafts(
  run: Run,
  { why, code }: { why: string; code: string | undefined },
  around: Surroundings,
): Draft<AppendKind>[] | undefined {
  const { thread, run: parts, encode } = around;
  const { modelRun, started } = run;
  const { checks: checking } = parts;
  if (modelRun === undefined || checking === undefined || !mayCheck(run)) return undefined;
  const first = firstLookOf(run);
  // A call that could not be made looked at nothing.
  const looked = [...run.calls.values()].filter(({ problem }) => problem === undefined);
  if (looked.length > checksIn(run).length || run.stopped) return undefined;
  const failed = { ...(code !== undefined && { error: code }) };
  if (first !== undefined) {
    const text = encode(answerOf(run, first, around, why));
    return [{ ...endedDraft(run, text, "completed"), ...failed }];
  }
  const said = askedIn(started, [...modelRun.told, ...modelRun.unseen]);
  const plan = checking.plan(topicOf(thread, said.map(({ text }) => text).join("\n")));
  if (plan.calls.length === 0) return undefined;
  const { answers, principals, app } = started;
  const asked = { answers, principals, ...(app !== undefined && { app }) };
  const next = { ...nextRun(thread), ...asked };
  const instead = { of: started.run, why: encode(why) };
  return [
    checkingDraft(thread, next, plan, { why: "model_failed", instead }),
    { ...endedDraft(run, encode(why), "failed"), ...failed, instead: next.run },
  ];
}

/** A helper's report is no answer, and where a model only talks nothing is looked at. */
function mayCheck({ parent, started }: Run): boolean {
  return parent === undefined && started.talk?.mode !== "chat";
}

/** What the run's own people said, or the bot where none of them did: others' words choose nothing that is looked at for them. */
function askedIn(
  { principals }: Pick<Run["started"], "principals">,
  said: readonly Entry<"message">[],
): Entry<"message">[] {
  return said.filter(({ app, actor }) =>
    principals.length === 0 ? app === true : app !== true && principals.includes(actor.account),
  );
}

/** A run that nobody asked for. */
function nextRun({ counts }: Thread): Draft<"run_started"> {
  const run = runName(counts.runs + 1);
  const nobody = { answers: [], principals: [] };
  return { id: entryId.runStarted(run), kind: "run_started", run, ...nobody, calls: [] };
}

/** Names of a group's alerts, as far as they were told. */
export function namesOf({ name, folded, alerts }: Entry<"alert_state">): string[] {
  return [...new Set([name, ...folded, ...alerts.map((alert) => alert.name)])];
}

/** A group of alerts is looked into. Nobody asked: it only reads. */
export function triageDrafts(
  { state }: ShownAlerts,
  { thread, run: parts }: Surroundings,
): Draft<"run_started">[] {
  const firing = state.alerts.filter(({ status }) => status !== "resolved");
  const alerts = firing.length > 0 ? firing : state.alerts;
  const names = namesOf(state);
  const text = alerts
    .flatMap(({ name, summary = "", description = "" }) => [name, summary, description])
    .join("\n");
  const labels = alerts.map((alert) => alert.labels);
  const time = new Date(state.startedAt).toISOString();
  const plan = parts.checks?.plan({ alerts: names, text, labels, time }) ?? NOTHING;
  const { of, group } = state;
  return [
    checkingDraft(thread, nextRun(thread), plan, { why: "alert", group: { of, group, names } }),
  ];
}

/** What was broken before an action is looked at again, by the same calls. */
export function againDrafts({ of, calls }: LaterLook, { thread }: Surroundings) {
  const skills = [...new Set(calls.flatMap(({ askedBy }) => askedBy.map(({ skill }) => skill)))];
  return [
    checkingDraft(thread, nextRun(thread), { skills, calls }, { why: "again", after: of.call }),
  ];
}

const NOTHING_SHOWN: Shown = { statements: [], answers: [], others: [], gaps: [] };

const NOTHING: Plan = { skills: [], calls: [], needs: [] };
