import type { Choice } from "../../core/entry.ts";
import {
  type Bounds,
  type Edit,
  type EditField,
  type EditForm,
  MAX_ARGS_BYTES,
  type Mistake,
  WHOLE_FIELD,
} from "../../core/edit.ts";
import type { JournalKey } from "../../core/journal-key.ts";
import type { ActionCard } from "../shown.ts";
import type { Queries } from "../queries.ts";
import type { Feedback } from "../inbox.ts";
import { feedbackButtons } from "./buttons.ts";
import {
  type ButtonAction,
  type CardClick,
  readButtonAction,
  type TypedForm,
  typedFormId,
} from "./button-ids.ts";

export interface FormField {
  /** At most 100 characters (Discord's custom_id). */
  name: string;
  /** At most 45 characters (Discord). */
  label: string;
  /** At most 100 characters (Discord). */
  hint: string;
  kind: "line" | "paragraph" | "choice";
  /** A number, where a platform has a field for these. */
  bounds?: Bounds | undefined;
  /** What a `choice` can be; at most 25 (Discord), each at most 75 characters (Slack). */
  choices: readonly string[];
  value: string;
  maxLength: number;
  optional: boolean;
}

export interface Form {
  /** Says the action and its revision; for `readForm`. */
  id: string;
  /** At most 24 characters (Slack). */
  title: string;
  /** On the button that sends it, where a platform has words of ours there. At most 24 characters (Slack). */
  submit: string;
  fields: FormField[];
}

const MAX_REASON = 500;
const MAX_TITLE = 24;
const MAX_LABEL = 45;
const MAX_HINT = 100;
const MAX_CHOICES = 25;
const MAX_CHOICE = 75;
/** What is longer gets several lines. */
const MAX_LINE = 60;

function denyForm({ action, revision }: Pick<ActionCard, "action" | "revision">): Form {
  const field: FormField = {
    name: "text",
    label: "Reason",
    hint: "Visible to everyone in the thread and to the AI.",
    kind: "paragraph",
    choices: [],
    value: "",
    maxLength: MAX_REASON,
    optional: true,
  };
  const title = `Deny ${action}`.slice(0, MAX_TITLE);
  return { id: `wk:because:${action}:${revision}`, title, submit: "Deny", fields: [field] };
}

/** Sent or not, that it did not help is kept. */
export function whyForm(run: string): Form {
  const [, { id }] = feedbackButtons(run);
  const field: FormField = {
    name: "text",
    label: "What was wrong?",
    hint: "Whoever may read this thread can see it with `feedback`. The AI isn't instructed by it.",
    kind: "paragraph",
    choices: [],
    value: "",
    maxLength: MAX_REASON,
    optional: true,
  };
  return { id, title: "Not helpful", submit: "Send", fields: [field] };
}

/** What a press alone does not say: the name that a card asks for, and for break-glass why. */
function typedForm(press: TypedForm, { confirm }: ActionCard): Form {
  const isBreak = press.form === "break";
  const line = { kind: "line", choices: [], value: "", optional: false } as const;
  const name = {
    ...line,
    name: "typed",
    label: "Type this to approve it",
    hint: (confirm ?? "").slice(0, MAX_HINT),
    maxLength: MAX_HINT,
  };
  const reason: FormField = {
    ...line,
    name: "reason",
    label: "Why it can't wait",
    hint: "At least 10 characters. Everyone in the thread sees it, and the audit keeps it.",
    kind: "paragraph",
    maxLength: MAX_REASON,
  };
  const what = isBreak ? "Break glass" : "Approve";
  return {
    id: typedFormId(press),
    title: `${what}: ${press.action}`.slice(0, MAX_TITLE),
    submit: what,
    fields: [...(confirm === undefined ? [] : [name]), ...(isBreak ? [reason] : [])],
  };
}

function typedChoice({ form }: TypedForm, { typed, reason = "" }: Edit["written"]): Choice {
  const said = typed === undefined ? {} : { typed };
  return form === "break" ? { kind: "break", reason, ...said } : { kind: "approve", ...said };
}

/**
 * The form in which the arguments are edited. It has a field for each, or one for all as JSON where there are more than
 * `maxFields`, or a name does not fit. `written` is what stands in it instead of the arguments as they are; left out
 * where it was written for other fields.
 */
function editFormOf(
  { action, revision, fields }: EditForm,
  maxFields: number,
  written: Edit["written"] = {},
): Form {
  const isWhole =
    fields.length === 0 || fields.length > maxFields || fields.some((field) => !fits(field));
  const shown = isWhole ? [wholeField(fields)] : fields.map(fieldOf);
  return {
    id: `wk:edit:${action}:${revision}`,
    title: `Edit ${action}`.slice(0, MAX_TITLE),
    submit: "Save and ask again",
    fields: shown.map((field) => {
      const value = written[field.name];
      const isKept = value !== undefined && value.length <= field.maxLength;
      return isKept ? { ...field, value } : field;
    }),
  };
}

function fits({ name, value }: EditField): boolean {
  return name.length <= MAX_LABEL && value.length <= MAX_ARGS_BYTES;
}

const NOTES: Readonly<Record<EditField["kind"], string>> = {
  text: "",
  lines: "One per line. ",
  number: "",
  choice: "",
  json: "JSON. ",
};

/** `A whole number from 1 to 16. ` */
function boundsWords({ isWhole, min, max }: Bounds): string {
  const most = max === undefined ? "" : ` up to ${max}`;
  const range =
    min === undefined ? most : max === undefined ? `, ${min} or more` : ` from ${min} to ${max}`;
  return `A ${isWhole ? "whole " : ""}number${range}. `;
}

function fieldOf(field: EditField): FormField {
  const { name, hint, kind, choices, value, optional, bounds } = field;
  const isList =
    kind === "choice" && choices.length <= MAX_CHOICES && choices.every((each) => isShort(each));
  const isLong = kind === "lines" || kind === "json" || value.length > MAX_LINE;
  const told = bounds === undefined ? NOTES[kind] : boundsWords(bounds);
  const note = kind === "choice" && !isList ? `${choices.join(", ")}. ` : told;
  return {
    name,
    label: name,
    hint: `${note}${hint}`.trim().slice(0, MAX_HINT),
    kind: isList ? "choice" : isLong || value.includes("\n") ? "paragraph" : "line",
    choices: isList ? choices : [],
    value,
    maxLength: MAX_ARGS_BYTES,
    optional,
    ...(bounds !== undefined && { bounds }),
  };
}

function isShort(choice: string): boolean {
  return choice !== "" && choice.length <= MAX_CHOICE;
}

/** All arguments as JSON, with line breaks where it fits so. */
function wholeField(fields: readonly EditField[]): FormField {
  const given = fields.filter(({ value }) => value !== "");
  const members = given.map((field) => `${JSON.stringify(field.name)}: ${jsonOf(field)}`);
  const pretty = members.length === 0 ? "{}" : `{\n  ${members.join(",\n  ")}\n}`;
  return {
    name: WHOLE_FIELD,
    label: "All arguments, as one JSON object",
    hint: "",
    kind: "paragraph",
    choices: [],
    value: (pretty.length <= MAX_ARGS_BYTES ? pretty : `{${members.join(",")}}`).slice(
      0,
      MAX_ARGS_BYTES,
    ),
    maxLength: MAX_ARGS_BYTES,
    optional: false,
  };
}

function jsonOf({ kind, value, choices }: EditField): string {
  if (kind === "json" || kind === "number") return value;
  if (kind === "lines") return JSON.stringify(value.split("\n"));
  return choices.includes("true") && choices.includes("false") ? value : JSON.stringify(value);
}

type Looking = Pick<Queries, "action" | "editForm" | "checkEdit">;
type Asking = Extract<ButtonAction, { kind: "form" }>;

/** The form that a press opens, as the action stands now; undefined when there is no such action any more. */
export async function loadForm(
  queries: Looking,
  key: JournalKey,
  press: Asking,
  { maxFields, written }: { maxFields: number; written?: Edit["written"] | undefined },
): Promise<Form | undefined> {
  if (press.form === "deny") {
    const card = await queries.action(key, press.action);
    return card && denyForm(press);
  }
  if (press.form === "confirm" || press.form === "break") {
    const card = await queries.action(key, press.action);
    return card && typedForm(press, card);
  }
  const form = await queries.editForm(key, press.action);
  return form && editFormOf(form, maxFields, written);
}

/** A sent edit that has mistakes: nothing comes of it. */
export type MistakenForm = {
  kind: "mistaken";
  action: string;
  revision: number;
  mistakes: Mistake[];
};

/** What a sent form says, an edit checked before it is sent on. Undefined for a foreign id. */
export async function readForm(
  queries: Looking,
  key: JournalKey,
  id: string,
  written: Edit["written"],
): Promise<CardClick | MistakenForm | Feedback | undefined> {
  const press = readButtonAction(id);
  const said = Object.values(written).join("\n").trim();
  if (press?.kind === "feedback") return { ...press, ...(said !== "" && { reason: said }) };
  if (press?.kind !== "form" || press.form === "again") return undefined;
  const { form, action, revision } = press;
  const which = { action, revision };
  if (form === "confirm" || form === "break")
    return { kind: "click", ...which, digest: press.digest, choice: typedChoice(press, written) };
  if (form === "deny") {
    const choice: Choice = { kind: "deny", ...(said !== "" && { reason: said }) };
    return { kind: "click", ...which, choice };
  }
  const checked = await queries.checkEdit(key, { ...which, written });
  if (!checked.ok) return { kind: "mistaken", ...which, mistakes: [...checked.mistakes] };
  return { kind: "click", ...which, choice: { kind: "edit", args: checked.args } };
}
