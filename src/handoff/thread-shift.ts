import { totalTokens } from "../core/block.ts";
import type { Entry, Outcome, StoredEntry } from "../core/entry.ts";
import type { Gap } from "../core/finding.ts";
import { addMoney, type Money, moneyOf, NO_MONEY } from "../core/money.ts";
import { REMOVED, withoutRemoved } from "../core/removed.ts";
import { oneLine, shortened } from "../core/text.ts";
import { type Action, isOpen } from "../thread/action.ts";
import { fold } from "../thread/fold.ts";
import { brokenIn } from "../thread/looks.ts";
import { silencesIn } from "../thread/silences.ts";
import { isInner, Thread } from "../thread/state.ts";
import { type Call, doingOf, refOf } from "../thread/call.ts";

/** From `from` until just before `to`, ms since 1970. */
export interface Span {
  from: number;
  to: number;
}

/** A change that was made in the span, or may have been. */
export interface Deed {
  /** When it ended. */
  at: number;
  /** Such as `a1`. */
  ref: string;
  what: string;
  tool: string;
  outcome: Outcome;
  /** Those who approved it, by name. */
  by: string[];
  /** It takes back an earlier one. */
  isUndo: boolean;
  undone: boolean;
  /** What was seen when it was looked at again. */
  seen: "done" | "not done" | "unknown" | undefined;
  /** When it is to be looked at again, where that is still to come. */
  lookAt: number | undefined;
}

/** A card that waited at the span's end. */
interface Waiting {
  ref: string;
  what: string;
  askedAt: number;
  expiresAt: number;
}

/** What calls of the span could not see for one reason. */
export interface Missed extends Gap {
  /** How many calls met it. */
  calls: number;
}

/** What one thread has to say of a span. Its texts are as they were written: encode them before they are shown. */
export interface ThreadShift {
  /** Its places now, besides its own: who may read it is judged by them, whatever the span. */
  views: string[];
  deeds: Deed[];
  waiting: Waiting[];
  /** Those that were made here, hold at the span's end and were not ended from here, by when they end. */
  silences: { ref: string; what: string; until: number }[];
  /** What people asked without a model and no check and no tool could answer. */
  unanswered: string[];
  /** Questions of a model's that wait for an answer. */
  questions: string[];
  /** Calls whose outcome nobody knows. */
  unsettled: { ref: string; what: string; at: number }[];
  /** How each group of its alerts stood at the end. */
  alerts: Entry<"alert_state">[];
  missed: Missed[];
  /** What was found to be broken, a line for each thing and cause. */
  broken: string[];
  /** Runs that began in the span, and those of it that failed. */
  runs: number;
  failed: number;
  /** What models used, as their providers counted it, and what that cost. */
  tokens: number;
  money: Money;
}

/** Folds a thread as it stood when the span ended. `isOwn`: the tool changes only records of the program's. */
export function threadShift(
  entries: readonly StoredEntry[],
  span: Span,
  isOwn: (tool: string) => boolean,
): ThreadShift {
  const end = entries.findIndex(({ at }) => at >= span.to);
  // What was taken away after the span is shown to nobody either.
  const known = withoutRemoved(entries).slice(0, end === -1 ? entries.length : end);
  const thread = fold(new Thread({ keepsAll: true }), known);
  const within = known.filter(({ at }) => at >= span.from);
  const calls = [...thread.runs.values()].flatMap((run) => [...run.calls.values()]);
  const spent = within.flatMap(spentBy);
  const typed = typedIn(known);
  const lately = calls.filter(({ finished }) => finished !== undefined && finished.at >= span.from);
  return {
    views: viewsNow(entries),
    deeds: lately
      .filter((call) => acted(call) && !isOwn(call.tool))
      .map((call) => deedOf(call, thread)),
    waiting: [...thread.live].filter(isOpen).map(waitingOf),
    silences: silencesAt(thread, calls, span.to),
    unanswered: unansweredIn(within, known, typed),
    questions: [...thread.going].flatMap((run) =>
      [...run.open.values()].flatMap(({ asked }) => (asked === undefined ? [] : [asked.text])),
    ),
    unsettled: [...thread.unknown.values()]
      .filter(({ settled }) => settled === undefined)
      .map((call) => ({ ref: refOf(call), what: whatOf(call), at: call.finished?.at ?? 0 })),
    alerts: alertsSince(thread, span.from),
    missed: missedIn(lately),
    broken: brokenLines(lately),
    runs: within.filter((each) => each.kind === "run_started" && !isInner({ started: each }))
      .length,
    failed: within.filter(
      (each) =>
        each.kind === "run_ended" &&
        each.status === "failed" &&
        !isInnerEnd(thread, each) &&
        !isHint(thread.runs.get(each.run)?.started, typed),
    ).length,
    tokens: spent.reduce((sum, { usage }) => sum + totalTokens(usage), 0),
    money: spent.map(moneyOf).reduce(addMoney, NO_MONEY),
  };
}

/** What an entry says that a model used. */
function spentBy(entry: StoredEntry): Pick<Entry<"assistant">, "usage" | "microdollars">[] {
  if (entry.kind === "assistant" || entry.kind === "condensed") return [entry];
  const isThought =
    entry.kind === "plan" || entry.kind === "goal_planned" || entry.kind === "goal_judged";
  return isThought && entry.thought !== undefined ? [entry.thought] : [];
}

/** Besides its own place. */
function viewsNow(entries: readonly StoredEntry[]): string[] {
  const views = new Set<string>();
  for (const entry of entries) {
    if (entry.kind === "view_added") views.add(entry.view);
    else if (entry.kind === "view_removed") views.delete(entry.view);
  }
  return [...views];
}

/** It changed something, or may have. */
function acted({ action, started, finished }: Call): boolean {
  const isWrite = started !== undefined && started.effect !== "read";
  const happened =
    finished?.outcome === "ok" || finished?.outcome === "unknown" || finished?.outcome === "error";
  return happened && (isWrite || action?.started === true);
}

function deedOf(call: Call, thread: Thread): Deed {
  const { action, finished, undoes, settled } = call;
  const check = thread.checks.get(call.call) ?? thread.looks.get(call.call);
  return {
    at: finished?.at ?? 0,
    ref: refOf(call),
    what: whatOf(call),
    tool: call.tool,
    outcome: outcomeOf(finished?.outcome ?? "unknown", settled),
    by: (action?.votes ?? []).filter(({ approve }) => approve).map(({ name }) => name),
    isUndo: undoes !== undefined,
    undone: action !== undefined && isUndone(action, thread),
    seen: action?.verified,
    lookAt: check?.dueAt,
  };
}

/** A person's word on it counts. */
function outcomeOf(outcome: Outcome, settled: Entry<"settled"> | undefined): Outcome {
  if (outcome !== "unknown" || settled === undefined) return outcome;
  return settled.happened ? "ok" : "cancelled";
}

function isUndone({ action }: Action, { actions }: Thread): boolean {
  return [...actions.values()].some(
    ({ undoes, finished }) => undoes === action && finished?.outcome === "ok",
  );
}

function whatOf(call: Call): string {
  return doingOf(call) ?? call.tool;
}

function waitingOf({ action, openedAt, proposal }: Action): Waiting {
  const { preview, tool, expiresAt } = proposal;
  return { ref: action, what: preview.title ?? tool, askedAt: openedAt, expiresAt };
}

/** Those that hold beyond the span. */
function silencesAt(thread: Thread, calls: readonly Call[], end: number): ThreadShift["silences"] {
  return silencesIn(thread).flatMap(({ call: name, until }) => {
    const call = calls.find((each) => each.call === name);
    return call === undefined || until <= end
      ? []
      : [{ ref: refOf(call), what: whatOf(call), until }];
  });
}

/** Runs that no model answered, and that had nothing to look at. */
function unansweredIn(
  within: readonly StoredEntry[],
  known: readonly StoredEntry[],
  typed: ReadonlySet<string>,
): string[] {
  const failed = new Set(
    known.flatMap((each) =>
      each.kind === "run_ended" && each.status === "failed" ? [each.run] : [],
    ),
  );
  const asked = within.flatMap((each) => {
    if (each.kind !== "run_started" || each.talk !== undefined) return [];
    const isAsked = each.calls.length === 0 && !isHint(each, typed);
    return isAsked && failed.has(each.run) ? each.answers : [];
  });
  if (asked.length === 0) return [];
  const ids = new Set(asked);
  return known.flatMap((each) => (each.kind === "message" && ids.has(each.id) ? [each.text] : []));
}

/** Names of what is no question: commands, and words alone, which may be halves of commands. */
function typedIn(known: readonly StoredEntry[]): ReadonlySet<string> {
  const isWord = (text: string) => /^\S+$/.test(text.trim()) && text !== REMOVED;
  const typed = known.filter(
    (each) => each.kind === "command" || (each.kind === "message" && isWord(each.text)),
  );
  return new Set(typed.map(({ id }) => id));
}

/** It only told somebody how to type what they may have meant. */
function isHint(started: Entry<"run_started"> | undefined, typed: ReadonlySet<string>): boolean {
  if (started === undefined || started.talk !== undefined || started.calls.length > 0) return false;
  return started.answers.length > 0 && started.answers.every((id) => typed.has(id));
}

/** A helper's run is a part of another's, and a goal's of that. */
function isInnerEnd({ runs }: Thread, { run: name }: Entry<"run_ended">): boolean {
  const run = runs.get(name);
  return run !== undefined && isInner(run);
}

/** Without those that were over before the span began. */
function alertsSince({ alerts }: Thread, from: number): Entry<"alert_state">[] {
  return [...alerts.values()]
    .map(({ state }) => state)
    .filter(
      ({ firing, acknowledged, overAt, at }) => firing + acknowledged > 0 || (overAt ?? at) >= from,
    );
}

/** Each gap once for each call that had it; what rules did not allow is one. */
function missedIn(calls: readonly Call[]): Missed[] {
  const found = new Map<string, Missed>();
  for (const call of calls) {
    const gaps = [...(call.finished?.gaps ?? []), ...refusalOf(call)];
    const own = new Map(gaps.map((gap) => [gapKey(gap), gap]));
    for (const [key, gap] of own) {
      const known = found.get(key);
      found.set(key, { ...gap, calls: (known?.calls ?? 0) + 1 });
    }
  }
  return [...found.values()];
}

const MAX_WHY = 200;

function refusalOf({ tool, finished }: Call): Gap[] {
  const { deniedBy, text } = finished ?? {};
  if (deniedBy === undefined || text === undefined) return [];
  const why = shortened(oneLine(text), MAX_WHY).replace(/\.$/, "");
  const help = `If people here should have ${tool}, allow it in ${deniedBy} of watchkeeper.yaml.`;
  return [{ what: `what ${tool} shows`, why, help }];
}

/** Gaps with the same key are one: nothing else of them would help. */
export function gapKey({ what, help }: Gap): string {
  return JSON.stringify([what, help]);
}

function brokenLines(calls: readonly Call[]): string[] {
  const broken = calls.flatMap(({ finished }) => brokenIn(finished?.findings ?? []));
  return [...new Set(broken.map(({ object, cause }) => `${object}: ${cause}`))];
}
