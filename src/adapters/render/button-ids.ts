import type { Choice } from "../../core/entry.ts";
import type { Click, Feedback } from "../inbox.ts";

/** What the ids of buttons and forms mean, as cards show them and presses bring them back. */

/** What a pressed button or a sent form decides. */
export type CardClick = Omit<Click, "via">;

/** What a pressed button means. The form `again` is an edit that had mistakes. */
export type ButtonAction =
  | CardClick
  | { kind: "form"; form: "deny" | "edit" | "again"; action: string; revision: number }
  /** In which a word is typed that a press alone does not say. */
  | TypedForm
  | { kind: "details"; action: string }
  /** Shows all of a long action, with the button that approves it. */
  | { kind: "open"; action: string }
  | Reading
  /** Also of the form that asks why it did not help. */
  | Feedback
  | IncidentPress
  | AlertPress
  /** Keeps the run's answer as a case of an evaluation. */
  | { kind: "save"; run: string }
  | { kind: "stop"; run?: string; goal?: string };

/** Opens the form in which that is said of an incident. */
export interface IncidentPress {
  kind: "incident";
  what: "update" | "resolve" | "severity";
  incident: string;
}

/** Asks for something about a group of alerts; `open` and `resolve` open a form about an incident. */
export interface AlertPress {
  kind: "alerts";
  what: "look" | "silence" | "open" | "resolve";
  alerts: string;
}

/** `digest`: the beginning of the one that was on the pressed card. */
export interface TypedForm {
  kind: "form";
  form: "confirm" | "break";
  action: string;
  revision: number;
  digest: string;
}

/**
 * Something long, for one person: the whole answer of a run, the checks behind it, or what a call returned. `page` counts
 * from 1; `file`: all of it, as a file.
 */
export interface Reading {
  kind: "read";
  what: "answer" | "checks" | "output";
  ref: string;
  page: number | "file";
}

const READ: Readonly<Record<string, Reading["what"]>> = {
  more: "answer",
  checks: "checks",
  output: "output",
};
const PAGE = /^[1-9]\d{0,4}$/;

/** Settling, cancelling and answering have no revision; the first one stands for it. */
const NO_REVISION = 1;

const SIMPLE: Readonly<Record<string, (ref: string) => ButtonAction>> = {
  details: (action) => ({ kind: "details", action }),
  open: (action) => ({ kind: "open", action }),
  cancel: (action) => clickOf(action, NO_REVISION, { kind: "cancel" }),
  revoke: (action) => clickOf(action, NO_REVISION, { kind: "revoke" }),
  withdraw: (action) => clickOf(action, NO_REVISION, { kind: "cancel", sure: true }),
  "incident-update": (incident) => ({ kind: "incident", what: "update", incident }),
  "incident-resolve": (incident) => ({ kind: "incident", what: "resolve", incident }),
  "incident-severity": (incident) => ({ kind: "incident", what: "severity", incident }),
  "alert-look": (alerts) => ({ kind: "alerts", what: "look", alerts }),
  "alert-silence": (alerts) => ({ kind: "alerts", what: "silence", alerts }),
  "alert-open": (alerts) => ({ kind: "alerts", what: "open", alerts }),
  "alert-resolve": (alerts) => ({ kind: "alerts", what: "resolve", alerts }),
  continue: (run) => clickOf(run, NO_REVISION, { kind: "continue" }),
  quiet: (run) => clickOf(run, NO_REVISION, { kind: "quiet" }),
  listen: (run) => clickOf(run, NO_REVISION, { kind: "listen" }),
  "open-incident": (offer) => clickOf(offer, NO_REVISION, { kind: "incident", opens: true }),
  "no-incident": (offer) => clickOf(offer, NO_REVISION, { kind: "incident", opens: false }),
  "goal-pause": (goal) => clickOf(goal, NO_REVISION, { kind: "goal", do: "pause" }),
  "goal-resume": (goal) => clickOf(goal, NO_REVISION, { kind: "goal", do: "resume" }),
  happened: (ref) => clickOf(ref, NO_REVISION, { kind: "settle", happened: true }),
  "not-happened": (ref) => clickOf(ref, NO_REVISION, { kind: "settle", happened: false }),
};

/** By what its button and its form are called. */
const IS_HELPFUL: Readonly<Record<string, boolean>> = { helpful: true, unhelpful: false };

const REVISED: Readonly<Record<string, (action: string, revision: number) => ButtonAction>> = {
  deny: (action, revision) => clickOf(action, revision, { kind: "deny" }),
  because: (action, revision) => ({ kind: "form", form: "deny", action, revision }),
  edit: (action, revision) => ({ kind: "form", form: "edit", action, revision }),
  extend: (of, number) => clickOf(of, number, { kind: "extend" }),
  again: (action, revision) => ({ kind: "form", form: "again", action, revision }),
};

export function clickOf(action: string, revision: number, choice: Choice): CardClick {
  return { kind: "click", action, revision, choice };
}

/** `wk:approve:a1:2:<start of the digest>`, `wk:undo:a1:2:<the same>`, `wk:repeat:a1:2:<the same>`, `wk:deny:a1:2`, `wk:details:a1`, `wk:answer:r1.t2:<the choice>`, `wk:more:r1`, `wk:checks:r1`, `wk:output:r1.t2:<page or file>`, `wk:save:r1`, `wk:stop:r1`, `wk:stop:g1`, `wk:stop`, `wk:extend:r1:<number of the extension>`, `wk:continue:r1`. */
const ID = /^wk:([a-z-]+)(?::([\w.-]+))?(?::([^]+))?$/;
const RUN = /^r[1-9]\d{0,8}$/;
const GOAL = /^g[1-9]\d{0,8}$/;
const REVISION = /^[1-9]\d{0,8}$/;
/** Up to 0.3 a button said nothing of the digest. */
const EXACT = /^([1-9]\d{0,8})(?::([0-9a-f]{12}))?$/;

/** What a pressed button means; undefined for an unknown id, such as another version's. */
export function readButtonAction(id: string): ButtonAction | undefined {
  const [, verb = "", ref, rest] = ID.exec(id) ?? [];
  if (verb === "stop") return rest === undefined ? stopOf(ref) : undefined;
  if (ref === undefined) return undefined;
  if (verb === "save")
    return rest === undefined && RUN.test(ref) ? { kind: "save", run: ref } : undefined;
  if (verb === "answer") {
    return rest === undefined
      ? undefined
      : clickOf(ref, NO_REVISION, { kind: "answer", text: rest });
  }
  if (verb === "approve") return exactOf(ref, rest ?? "", { kind: "approve" });
  if (verb === "grant") return exactOf(ref, rest ?? "", { kind: "approve", grants: true });
  if (verb === "confirm" || verb === "break") return typedOf(verb, ref, rest ?? "");
  if (verb === "undo" || verb === "repeat") return exactOf(ref, rest ?? "", { kind: verb });
  if (Object.hasOwn(READ, verb)) return readingOf(verb, ref, rest ?? "1");
  if (Object.hasOwn(IS_HELPFUL, verb))
    return rest === undefined ? feedbackOf(verb, ref) : undefined;
  if (rest === undefined && Object.hasOwn(SIMPLE, verb)) return SIMPLE[verb]?.(ref);
  if (!Object.hasOwn(REVISED, verb) || !REVISION.test(rest ?? "")) return undefined;
  return REVISED[verb]?.(ref, Number(rest));
}

function stopOf(ref: string | undefined): ButtonAction | undefined {
  if (ref === undefined) return { kind: "stop" };
  if (GOAL.test(ref)) return { kind: "stop", goal: ref };
  return RUN.test(ref) ? { kind: "stop", run: ref } : undefined;
}

function feedbackOf(verb: string, run: string): Feedback | undefined {
  return RUN.test(run) ? { kind: "feedback", run, helpful: IS_HELPFUL[verb] === true } : undefined;
}

function readingOf(verb: string, ref: string, page: string): Reading | undefined {
  const what = READ[verb];
  if (what === undefined) return undefined;
  const isPage = page === "file" || PAGE.test(page);
  return isPage
    ? { kind: "read", what, ref, page: page === "file" ? page : Number(page) }
    : undefined;
}

/** It means the very action that its card showed. */
function exactOf(action: string, rest: string, choice: Choice): ButtonAction | undefined {
  const [, revision, digest] = EXACT.exec(rest) ?? [];
  if (revision === undefined) return undefined;
  const click = clickOf(action, Number(revision), choice);
  return digest === undefined ? click : { ...click, digest };
}

function typedOf(form: TypedForm["form"], action: string, rest: string): TypedForm | undefined {
  const [, revision, digest] = EXACT.exec(rest) ?? [];
  if (digest === undefined) return undefined;
  return { kind: "form", form, action, revision: Number(revision), digest };
}

/** As its form has it too. */
export function typedFormId({ form, action, revision, digest }: Omit<TypedForm, "kind">): string {
  return `wk:${form}:${action}:${revision}:${digestStart(digest)}`;
}

/** As the form has it that the button opens. */
export function incidentFormId({ what, incident }: Omit<IncidentPress, "kind">): string {
  return `wk:incident-${what}:${incident}`;
}

/** As the form has it that the button opens. */
export function alertFormId({ what, alerts }: Omit<AlertPress, "kind">): string {
  return `wk:alert-${what}:${alerts}`;
}

/**
 * As much of an action's digest as an Approve carries: after the store lost entries the same number and revision may be
 * another action's.
 */
export function digestStart(digest: string): string {
  return digest.slice(0, 12);
}
