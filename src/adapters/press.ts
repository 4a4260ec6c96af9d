import type { Choice, JsonObject } from "../core/entry.ts";
import type { ActionCard } from "./adapter.ts";
import { exactLines } from "./words.ts";

export interface Button {
  /** At most 100 characters, the shorter limit of the platforms (Discord's custom_id); no two of a message are alike. */
  id: string;
  /** One line of at most 75 characters, the shorter limit of the platforms (Slack's button text). */
  label: string;
  style: "primary" | "danger" | "plain";
}

const MAX_ID = 100;
const MAX_LABEL = 75;

interface Click {
  kind: "click";
  action: string;
  revision: number;
  choice: Choice;
}

/** What a pressed button means. */
export type Press =
  | Click
  | { kind: "form"; form: "deny" | "edit"; action: string; revision: number }
  | { kind: "details"; action: string }
  | { kind: "stop" };

/** Settling, cancelling and answering have no revision; the first one stands for it. */
const NO_REVISION = 1;

const SIMPLE: Readonly<Record<string, (ref: string) => Press>> = {
  details: (action) => ({ kind: "details", action }),
  cancel: (action) => clickOf(action, NO_REVISION, { kind: "cancel" }),
  happened: (ref) => clickOf(ref, NO_REVISION, { kind: "settle", happened: true }),
  "not-happened": (ref) => clickOf(ref, NO_REVISION, { kind: "settle", happened: false }),
};

const REVISED: Readonly<Record<string, (action: string, revision: number) => Press>> = {
  approve: (action, revision) => clickOf(action, revision, { kind: "approve" }),
  deny: (action, revision) => clickOf(action, revision, { kind: "deny" }),
  because: (action, revision) => ({ kind: "form", form: "deny", action, revision }),
  edit: (action, revision) => ({ kind: "form", form: "edit", action, revision }),
};

function clickOf(action: string, revision: number, choice: Choice): Click {
  return { kind: "click", action, revision, choice };
}

/** `wk:approve:a1:2`, `wk:details:a1`, `wk:answer:r1.t2:<the choice>`, `wk:stop`. */
const ID = /^wk:([a-z-]+)(?::([\w.-]+))?(?::([^]+))?$/;
const REVISION = /^[1-9]\d{0,8}$/;

/** What a pressed button means; undefined for an id that is none of ours, such as another version's. */
export function readPress(id: string): Press | undefined {
  const [, verb = "", ref, rest] = ID.exec(id) ?? [];
  if (verb === "stop")
    return ref === undefined && rest === undefined ? { kind: "stop" } : undefined;
  if (ref === undefined) return undefined;
  if (verb === "answer") {
    return rest === undefined
      ? undefined
      : clickOf(ref, NO_REVISION, { kind: "answer", text: rest });
  }
  if (Object.hasOwn(SIMPLE, verb)) return rest === undefined ? SIMPLE[verb]?.(ref) : undefined;
  if (!Object.hasOwn(REVISED, verb) || !REVISION.test(rest ?? "")) return undefined;
  return REVISED[verb]?.(ref, Number(rest));
}

export const STOP_BUTTON: Button = { id: "wk:stop", label: "Stop", style: "plain" };

/** What can be done with an open card. */
export function cardButtons({ action, revision }: ActionCard): Button[] {
  const which = `${action}:${revision}`;
  return [
    { id: `wk:approve:${which}`, label: "Approve", style: "primary" },
    { id: `wk:deny:${which}`, label: "Deny", style: "danger" },
    { id: `wk:because:${which}`, label: "Deny because…", style: "plain" },
    { id: `wk:edit:${which}`, label: "Edit…", style: "plain" },
    detailsButton(action),
  ];
}

export function detailsButton(action: string): Button {
  return { id: `wk:details:${action}`, label: "Details", style: "plain" };
}

export function settleButtons(ref: string): Button[] {
  return [
    { id: `wk:happened:${ref}`, label: "It happened", style: "plain" },
    { id: `wk:not-happened:${ref}`, label: "It did not happen", style: "plain" },
  ];
}

export function cancelButton(action: string): Button {
  return { id: `wk:cancel:${action}`, label: `Cancel ${action} and answer me`, style: "plain" };
}

/** A button for a choice; undefined when its id cannot hold the choice whole, which then has to be written. */
export function tryAnswerButton(call: string, choice: string): Button | undefined {
  const id = `wk:answer:${call}:${choice}`;
  // A platform may trim an id: what is not the same then is not offered.
  const isKept = id.length <= MAX_ID && choice !== "" && choice.trim() === choice;
  return isKept ? { id, label: labelOf(choice), style: "plain" } : undefined;
}

/** One line, cut at 75 characters with `…` where that was needed. */
function labelOf(text: string): string {
  const line = text.replaceAll(/\s+/g, " ").trim();
  return line.length <= MAX_LABEL
    ? line
    : `${line.slice(0, MAX_LABEL - 1).replace(/[\ud800-\udbff]$/, "")}…`;
}

/** A form with one text field. */
export interface Form {
  /** Says the action and its revision; for `readForm`. */
  id: string;
  /** At most 24 characters (Slack). */
  title: string;
  /** At most 45 characters (Discord). */
  label: string;
  /** At most 100 characters (Discord). */
  hint: string;
  value: string;
  maxLength: number;
  optional: boolean;
}

/** As long as a text field may be on Slack; an action's canonical form is no longer. */
const MAX_ARGS = 3_000;
const MAX_REASON = 500;

/** The form that a press opens: why it is denied, or the arguments as JSON to be edited. */
export function formOf(
  { form, action, revision }: Extract<Press, { kind: "form" }>,
  card: ActionCard,
): Form {
  if (form === "deny") {
    return {
      id: `wk:because:${action}:${revision}`,
      title: `Deny ${action}`.slice(0, 24),
      label: "Reason",
      hint: "Everybody in the thread sees it, the model too.",
      value: "",
      maxLength: MAX_REASON,
      optional: true,
    };
  }
  return {
    id: `wk:edit:${action}:${revision}`,
    title: `Edit ${action}`.slice(0, 24),
    label: "All arguments as one JSON object",
    hint: "It becomes a new revision, which has to be approved anew.",
    value: editable(card),
    maxLength: MAX_ARGS,
    optional: false,
  };
}

/** JSON with line breaks where it fits so, in which nothing is invisible. */
function editable({ args, canonical }: ActionCard): string {
  const pretty = exactLines(JSON.stringify(args, undefined, 2));
  return pretty.length <= MAX_ARGS ? pretty : canonical.slice(0, MAX_ARGS);
}

/** What a sent form says. A text that is none is a problem, in words for whoever sent it; undefined for a foreign id. */
export function readForm(
  id: string,
  text: string,
): Click | { kind: "problem"; text: string } | undefined {
  const press = readPress(id);
  if (press?.kind !== "form") return undefined;
  const { form, action, revision } = press;
  if (form === "deny") {
    const reason = text.trim();
    return clickOf(action, revision, { kind: "deny", ...(reason !== "" && { reason }) });
  }
  const args = tryArgs(text);
  if (args !== undefined) return clickOf(action, revision, { kind: "edit", args });
  const curly = /[“”„]/.test(text) ? ' It has curly quotes (“); JSON needs straight ones (").' : "";
  const problem = `This is not one JSON object such as {"name": "value"}; please correct it.${curly}`;
  return { kind: "problem", text: problem };
}

function tryArgs(text: string): JsonObject | undefined {
  try {
    const args: unknown = JSON.parse(text);
    return isJsonObject(args) ? args : undefined;
  } catch {
    return undefined;
  }
}

/** True for what JSON.parse gave and that is neither a list nor a bare value. */
function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
