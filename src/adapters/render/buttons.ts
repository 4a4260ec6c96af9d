import { oneLine } from "../../core/text.ts";
import { characterEnd } from "../../core/characters.ts";
import type { Choice } from "../../core/entry.ts";
import type { ActionCard } from "../shown.ts";
import type { Click, Feedback } from "../inbox.ts";
import { offerWords } from "./phrases.ts";
import { commandOf, titleOf } from "./title.ts";

export interface Button {
  /** At most `MAX_ID` characters; no two of a message are alike. */
  id: string;
  /** One line of at most 75 characters, the shorter limit of the platforms (Slack's button text). */
  label: string;
  style: "primary" | "danger" | "plain";
  /** Asked before it counts, where a platform can. Title at most 100 characters, text 300, each button 30 (Slack). */
  confirm?: { title: string; text: string; yes: string; no: string };
}

/** Of the 100 of the platforms' shorter limit (Discord's custom_id) 21 can name a conversation there. */
const MAX_ID = 79;
const MAX_LABEL = 75;

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
  | { kind: "stop"; run?: string };

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
  quiet: (run) => clickOf(run, NO_REVISION, { kind: "quiet" }),
  listen: (run) => clickOf(run, NO_REVISION, { kind: "listen" }),
  "open-incident": (offer) => clickOf(offer, NO_REVISION, { kind: "incident", opens: true }),
  "no-incident": (offer) => clickOf(offer, NO_REVISION, { kind: "incident", opens: false }),
  happened: (ref) => clickOf(ref, NO_REVISION, { kind: "settle", happened: true }),
  "not-happened": (ref) => clickOf(ref, NO_REVISION, { kind: "settle", happened: false }),
};

/** By what its button and its form are called. */
const IS_HELPFUL: Readonly<Record<string, boolean>> = { helpful: true, unhelpful: false };

const REVISED: Readonly<Record<string, (action: string, revision: number) => ButtonAction>> = {
  deny: (action, revision) => clickOf(action, revision, { kind: "deny" }),
  because: (action, revision) => ({ kind: "form", form: "deny", action, revision }),
  edit: (action, revision) => ({ kind: "form", form: "edit", action, revision }),
  again: (action, revision) => ({ kind: "form", form: "again", action, revision }),
};

function clickOf(action: string, revision: number, choice: Choice): CardClick {
  return { kind: "click", action, revision, choice };
}

/** `wk:approve:a1:2:<start of the digest>`, `wk:undo:a1:2:<the same>`, `wk:repeat:a1:2:<the same>`, `wk:deny:a1:2`, `wk:details:a1`, `wk:answer:r1.t2:<the choice>`, `wk:more:r1`, `wk:checks:r1`, `wk:output:r1.t2:<page or file>`, `wk:stop:r1`, `wk:stop`. */
const ID = /^wk:([a-z-]+)(?::([\w.-]+))?(?::([^]+))?$/;
const RUN = /^r[1-9]\d{0,8}$/;
const REVISION = /^[1-9]\d{0,8}$/;
/** Up to 0.3 a button said nothing of the digest. */
const EXACT = /^([1-9]\d{0,8})(?::([0-9a-f]{12}))?$/;

/** What a pressed button means; undefined for an unknown id, such as another version's. */
export function readButtonAction(id: string): ButtonAction | undefined {
  const [, verb = "", ref, rest] = ID.exec(id) ?? [];
  if (verb === "stop")
    return rest === undefined && RUN.test(ref ?? "r1")
      ? { kind: "stop", ...(ref !== undefined && { run: ref }) }
      : undefined;
  if (ref === undefined) return undefined;
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
  if (Object.hasOwn(SIMPLE, verb)) return rest === undefined ? SIMPLE[verb]?.(ref) : undefined;
  if (!Object.hasOwn(REVISED, verb) || !REVISION.test(rest ?? "")) return undefined;
  return REVISED[verb]?.(ref, Number(rest));
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

export function incidentButton(
  what: IncidentPress["what"],
  incident: string,
  label: string,
  style: Button["style"] = "plain",
): Button {
  return { id: incidentFormId({ what, incident }), label, style };
}

/** As the form has it that the button opens. */
export function alertFormId({ what, alerts }: Omit<AlertPress, "kind">): string {
  return `wk:alert-${what}:${alerts}`;
}

export function alertButton(
  what: AlertPress["what"],
  alerts: string,
  label: string,
  style: Button["style"] = "plain",
): Button {
  return { id: alertFormId({ what, alerts }), label, style };
}

/** `ref`: a run, or a call of one. */
export function readButton(
  what: Reading["what"],
  ref: string,
  label: string,
  page: Reading["page"] = 1,
): Button {
  const verb = what === "answer" ? "more" : what;
  const id = `wk:${verb}:${ref}${page === 1 ? "" : `:${page}`}`;
  return { id, label: labelOf(label), style: "plain" };
}

/**
 * As much of an action's digest as an Approve carries: after the store lost entries the same number and revision may be
 * another action's.
 */
export function digestStart(digest: string): string {
  return digest.slice(0, 12);
}

/** On a run's own message: it stops that run. Where nobody can say which one it is, everything. */
export function stopButton(run: string | undefined): Button {
  const id = run === undefined ? "wk:stop" : `wk:stop:${run}`;
  return { id, label: "Stop", style: "plain" };
}

/** All of an action, as its card stands, was shown to whoever makes it. */
export function openedClick({ action, revision, digest }: ActionCard): Click {
  const click = clickOf(action, revision, { kind: "open" });
  return { ...click, digest: digestStart(digest), via: "button" };
}

/** Others see on the card that its maker has the edit form open. */
export function editingClick({ action, revision }: { action: string; revision: number }): Click {
  return { ...clickOf(action, revision, { kind: "editing" }), via: "button" };
}

/** Below a model's answer: whether it helped. The second's id is its form's too. */
export function feedbackButtons(run: string): [helpful: Button, unhelpful: Button] {
  return [
    { id: `wk:helpful:${run}`, label: "Helpful", style: "plain" },
    { id: `wk:unhelpful:${run}`, label: "Not helpful", style: "plain" },
  ];
}

/** Below an answer: whether the bot speaks in this thread only when it is mentioned. */
export function quietButton(to: "quiet" | "listen", run: string): Button {
  const label = to === "quiet" ? "Answer only when mentioned" : "Listen again";
  return { id: `wk:${to}:${run}`, label, style: "plain" };
}

/** `label` says of a button away from its card which one it is. */
function approveButton(
  { action, revision, digest }: Pick<ActionCard, "action" | "revision" | "digest">,
  label = `Approve ${action}`,
): Button {
  const id = `wk:approve:${action}:${revision}:${digestStart(digest)}`;
  return { id, label, style: "primary" };
}

/** Below an open card: what decides it, and what is needed less often. */
export function cardButtons(card: ActionCard): { buttons: Button[]; more: Button[] } {
  const { action, revision, undoes, mustOpen } = card;
  const which = `${action}:${revision}`;
  return {
    buttons: [
      mustOpen === true ? openButton(action) : yesButton(card, "Approve"),
      ...grantButtons(card),
      { id: `wk:because:${which}`, label: "Deny…", style: "danger" },
    ],
    more: [
      // What takes another action back does so exactly.
      ...(undoes === undefined
        ? [{ id: `wk:edit:${which}`, label: "Edit…", style: "plain" } as const]
        : []),
      detailsButton(action),
      ...(card.breakable === true
        ? [
            {
              id: typedFormId({ ...card, form: "break" }),
              label: "Break glass…",
              style: "plain",
            } as const,
          ]
        : []),
      cancelButton(action, "Withdraw"),
    ],
  };
}

function openButton(action: string, label = "Open to read all"): Button {
  return { id: `wk:open:${action}`, label, style: "primary" };
}

/** Away from its card: approves an action, or opens one that is too long for that. */
export function decideButton(card: ActionCard): Button {
  return card.mustOpen === true
    ? openButton(card.action, `Open ${card.action} to read all`)
    : yesButton(card, `Approve ${card.action}`);
}

/** Says yes, or opens the form in which that is typed. */
export function yesButton(card: ActionCard, label: string): Button {
  if (card.confirm === undefined) return { ...approveButton(card, label), ...confirmed(card) };
  return { id: typedFormId({ ...card, form: "confirm" }), label: `${label}…`, style: "primary" };
}

/** Also says yes to the very same again; what that means is asked once more where a platform can. */
function grantButtons(card: ActionCard): Button[] {
  const { action, revision, offer, mustOpen } = card;
  if (offer === undefined || mustOpen === true) return [];
  const label = `Approve + ${offer.minutes} min`;
  const title = cut(`${titleOf(card)}?`, MAX_CONFIRM_TITLE);
  const text = cut(`${commandOf(card)}\n${offerWords(card)}`, MAX_CONFIRM_TEXT);
  const id = `wk:grant:${action}:${revision}:${digestStart(offer.digest)}`;
  return [{ id, label, style: "plain", confirm: { title, text, yes: "Approve", no: "Cancel" } }];
}

const MAX_CONFIRM_TITLE = 100;
const MAX_CONFIRM_TEXT = 300;

/** One tap on a phone is not enough for what may destroy something. */
function confirmed(card: ActionCard): Pick<Button, "confirm"> {
  if (card.effect !== "destructive") return {};
  const title = cut(`${titleOf(card)}?`, MAX_CONFIRM_TITLE);
  const text = cut(`${commandOf(card)}\n${card.preview.undo}`, MAX_CONFIRM_TEXT);
  return { confirm: { title, text, yes: "Approve", no: "Cancel" } };
}

/** Below a card that is settled. */
export function settledButtons({ action, revision, digest, undo, grant, repeat }: ActionCard): {
  buttons: Button[];
  more: Button[];
} {
  const which = `${action}:${revision}:${digestStart(digest)}`;
  const isOffered = undo?.state === "offered";
  const undoing = isOffered
    ? [{ id: `wk:undo:${which}`, label: "Undo", style: "plain" } as const]
    : [];
  const revoking =
    grant?.isLeft === true
      ? [{ id: `wk:revoke:${action}`, label: "Revoke", style: "plain" } as const]
      : [];
  const repeating =
    repeat?.state === "offered"
      ? [{ id: `wk:repeat:${which}`, label: "Ask again", style: "plain" } as const]
      : [];
  return { buttons: [...revoking, ...undoing, ...repeating, detailsButton(action)], more: [] };
}

function detailsButton(action: string): Button {
  return { id: `wk:details:${action}`, label: "Details", style: "plain" };
}

/** Opens the edit form once more, with what was written in it. */
export function againButton(action: string, revision: number): Button {
  return { id: `wk:again:${action}:${revision}`, label: "Edit again…", style: "primary" };
}

export function settleButtons(ref: string): Button[] {
  return [
    { id: `wk:happened:${ref}`, label: "It happened", style: "plain" },
    { id: `wk:not-happened:${ref}`, label: "It did not happen", style: "plain" },
  ];
}

/** Below the offer to record a thread as an incident. */
export function offerButtons(offer: string): Button[] {
  return [
    { id: `wk:open-incident:${offer}`, label: "Open incident", style: "primary" },
    { id: `wk:no-incident:${offer}`, label: "Not an incident", style: "plain" },
  ];
}

export function cancelButton(action: string, label = `Withdraw ${action}`): Button {
  return { id: `wk:cancel:${action}`, label, style: "plain" };
}

/** For whoever did not ask for it. */
export function withdrawButton(action: string): Button {
  return { id: `wk:withdraw:${action}`, label: `Withdraw ${action} for everyone`, style: "danger" };
}

/** A button for a choice; undefined when its id cannot hold the choice whole, which then has to be written. */
export function tryAnswerButton(call: string, choice: string): Button | undefined {
  const id = `wk:answer:${call}:${choice}`;
  // A platform may trim an id: what is not the same then is not offered.
  const isKept = id.length <= MAX_ID && choice !== "" && choice.trim() === choice;
  return isKept ? { id, label: labelOf(choice), style: "plain" } : undefined;
}

/** One line of at most 75 characters. */
function labelOf(text: string): string {
  return cut(oneLine(text), MAX_LABEL);
}

function cut(text: string, max: number): string {
  return text.length <= max ? text : `${text.slice(0, characterEnd(text, max - 1))}…`;
}
