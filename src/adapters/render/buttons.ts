import { oneLine } from "../../core/text.ts";
import { characterEnd } from "../../core/characters.ts";
import type { Estimate } from "../../core/budget.ts";
import type { ActionCard } from "../shown.ts";
import type { Click } from "../inbox.ts";
import { estimateWords } from "./budget-words.ts";
import { offerWords } from "./phrases.ts";
import { commandOf, titleOf } from "./title.ts";
import {
  type IncidentPress,
  type AlertPress,
  type Reading,
  clickOf,
  typedFormId,
  incidentFormId,
  alertFormId,
  digestStart,
} from "./button-ids.ts";

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

export function incidentButton(
  what: IncidentPress["what"],
  incident: string,
  label: string,
  style: Button["style"] = "plain",
): Button {
  return { id: incidentFormId({ what, incident }), label, style };
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

/** On a run's own message: it stops that run. Where nobody can say which one it is, everything. */
export function stopButton(run: string | undefined): Button {
  const id = run === undefined ? "wk:stop" : `wk:stop:${run}`;
  return { id, label: "Stop", style: "plain" };
}

/** On the message of work near a limit. `number`: which extension of it that would be. */
export function extendButton(of: string, number: number, more: Estimate): Button {
  const label = labelOf(`Extend: ${estimateWords(more)}`);
  return { id: `wk:extend:${of}:${number}`, label, style: "plain" };
}

/** Below an answer that a limit cut short. */
export function continueButton(run: string, upTo: Estimate): Button {
  const label = labelOf(`Continue: ${estimateWords(upTo)}`);
  return { id: `wk:continue:${run}`, label, style: "plain" };
}

/** On a goal's message. */
export function goalButton(to: "pause" | "resume", goal: string): Button {
  const style = to === "resume" ? "primary" : "plain";
  return { id: `wk:goal-${to}:${goal}`, label: to === "pause" ? "Pause" : "Resume", style };
}

/** On a goal's message: nothing of it can be gone on with afterwards. */
export function stopGoalButton(goal: string): Button {
  const confirm = {
    title: "Stop this goal?",
    text: "What is done stays in its report. A stopped goal can't be resumed; a paused one can.",
    yes: "Stop it",
    no: "Go on",
  };
  return { id: `wk:stop:${goal}`, label: "Stop", style: "danger", confirm };
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

/** Below a model's answer: keeps it as a case of an evaluation. */
export function saveButton(run: string): Button {
  return { id: `wk:save:${run}`, label: "Save as eval", style: "plain" };
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
