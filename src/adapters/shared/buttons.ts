import type { Edit } from "../../core/edit.ts";
import { isOverStatus } from "../../core/incident-status.ts";
import type { JournalKey } from "../../core/journal-key.ts";
import { SAVE_EVAL } from "../../core/tool-spec.ts";
import type { Click, Feedback } from "../inbox.ts";
import type { Queries } from "../queries.ts";
import type { AlertCard } from "../shown.ts";
import { alertCommand, alertForm, lookText, silenceText } from "../render/alert-forms.ts";
import { editingClick, openedClick } from "../render/buttons.ts";
import { type AlertPress, readButtonAction } from "../render/button-ids.ts";
import { renderDetails, renderOpened } from "../render/card-details.ts";
import type { RenderedMessage } from "../render/rich-text.ts";
import { type Form, loadForm, type MistakenForm, readForm, whyForm } from "../render/forms.ts";
import { incidentCommand, incidentForm } from "../render/incident-forms.ts";
import {
  NOTHING_CHANGED,
  NOTHING_OPEN,
  NOT_SILENCED,
  UNKNOWN_ALERTS,
  openAlready,
  NOT_KEPT,
  OTHER_VERSION,
  FEEDBACK_NOTED,
  resolvedIncident,
  unknownAction,
  unknownIncident,
} from "../render/phrases.ts";
import { loadFile, loadPage, type Page, type ReadFile, type ReadingParts } from "./reading.ts";

/** What a pressed button or a sent form says, without who did it: a text is the command that they could have typed. */
export type ClickOrStop =
  | Click
  | Feedback
  | { kind: "stop"; run?: string; goal?: string }
  | { kind: "text"; text: string };

/** What a platform does about a press or a sent form. Each call also acknowledges it. */
interface InteractionTarget<Reply> {
  record(click: ClickOrStop): Promise<Reply>;
  /** Says it to the person alone. */
  tell(text: string): Promise<Reply>;
}

export interface ButtonTarget<Reply> extends InteractionTarget<Reply> {
  /** `typed`: what can be typed instead. */
  openForm(form: Form, typed?: string): Promise<Reply>;
  /** Records it, and then does what acknowledges it. */
  noteFeedback(said: Feedback, then: () => Promise<Reply>): Promise<Reply>;
  show(message: RenderedMessage): Promise<Reply>;
  /** Records what may as well be lost. */
  note(click: Click): Promise<void>;
  /** Records that it was shown, and shows it. */
  open(message: RenderedMessage, opened: Click): Promise<Reply>;
  /** Shows one page of something long, to the person alone. */
  showPage(page: Page): Promise<Reply>;
  sendFile(file: ReadFile): Promise<Reply>;
}

export interface FormTarget<Reply> extends InteractionTarget<Reply> {
  showMistakes(form: MistakenForm): Promise<Reply>;
}

/** Where it was pressed, and what that says. */
interface PressedIn {
  key: JournalKey;
  queries: Pick<
    Queries,
    "action" | "incident" | "alerts" | "editForm" | "checkEdit" | "answer" | "output"
  >;
  /** Of the button or the form. */
  id: string;
}

/** `maxFields`: of one form. `written`: what stands in a form that is opened again. */
export async function handleButton<Reply>(
  { key, queries, id }: PressedIn,
  form: { maxFields: number; written(): Edit["written"] | undefined },
  reading: Omit<ReadingParts, "key" | "queries">,
  target: ButtonTarget<Reply>,
): Promise<Reply> {
  const action = readButtonAction(id);
  switch (action?.kind) {
    case undefined:
      return target.tell(OTHER_VERSION);
    case "click":
      return target.record({ ...action, via: "button" });
    case "stop":
      return target.record(action);
    case "feedback":
      return target.noteFeedback(action, () =>
        action.helpful ? target.tell(FEEDBACK_NOTED) : target.openForm(whyForm(action.run)),
      );
    case "form": {
      const written = action.form === "again" ? form.written() : undefined;
      const loaded = await loadForm(queries, key, action, { maxFields: form.maxFields, written });
      if (loaded === undefined) return target.tell(unknownAction(action.action));
      const opened = await target.openForm(loaded, `${TYPED[action.form]} ${action.action} …`);
      if (action.form === "edit") await target.note(editingClick(action));
      return opened;
    }
    case "open": {
      const card = await queries.action(key, action.action);
      if (card === undefined) return target.tell(unknownAction(action.action));
      return target.open(renderOpened(card), openedClick(card));
    }
    case "details": {
      const card = await queries.action(key, action.action);
      if (card === undefined) return target.tell(unknownAction(action.action));
      return target.show(renderDetails(card));
    }
    case "incident": {
      const card = await queries.incident(key, action.incident);
      if (card === undefined) return target.tell(unknownIncident(action.incident));
      if (isOverStatus(card.status)) return target.tell(resolvedIncident(action.incident));
      const verb = action.what === "resolve" ? "resolve" : "update";
      return target.openForm(incidentForm(action, card), `incident ${verb} ${card.id} …`);
    }
    case "save":
      return target.record({ kind: "text", text: `/run ${SAVE_EVAL} run=${action.run}` });
    case "alerts":
      return pressAlerts({ key, queries }, action, target);
    case "read": {
      const { page } = action;
      const where = { key, queries, ...reading };
      if (page === "file") {
        const file = await loadFile(where, action);
        return file === undefined ? target.tell(NOT_KEPT) : target.sendFile(file);
      }
      const found = await loadPage(where, { ...action, page });
      return found === undefined ? target.tell(NOT_KEPT) : target.showPage(found);
    }
  }
}

async function pressAlerts<Reply>(
  { key, queries }: Pick<PressedIn, "key" | "queries">,
  press: AlertPress,
  target: ButtonTarget<Reply>,
): Promise<Reply> {
  const { what } = press;
  const card = await queries.alerts(key, press.alerts);
  if (card === undefined) return target.tell(UNKNOWN_ALERTS);
  if (what === "look") return target.record(lookText(card));
  if (what === "silence") {
    const said = silenceText(card);
    return said === undefined ? target.tell(NOT_SILENCED) : target.record(said);
  }
  const why = whyNotOf(what, card);
  if (why !== undefined) return target.tell(why);
  const typed = what === "open" ? "incident open …" : `incident resolve ${card.incident ?? "…"}`;
  return target.openForm(alertForm({ ...press, what }, card), typed);
}

/** Why the form makes no sense any more. */
function whyNotOf(what: AlertPress["what"], { incident }: AlertCard): string | undefined {
  if (what === "open") return incident === undefined ? undefined : openAlready(incident);
  return incident === undefined ? NOTHING_OPEN : undefined;
}

/** What is typed instead of each form. */
const TYPED = {
  deny: "deny",
  edit: "edit",
  again: "edit",
  confirm: "confirm",
  break: "break-glass",
} as const;

/** Takes a form that was sent. An edit is checked before it is recorded. */
export async function handleForm<Reply>(
  { key, queries, id }: PressedIn,
  written: Edit["written"],
  target: FormTarget<Reply>,
): Promise<Reply> {
  const press = readButtonAction(id);
  if (press?.kind === "incident") {
    const card = await queries.incident(key, press.incident);
    if (card === undefined) return target.tell(unknownIncident(press.incident));
    const said = incidentCommand(press, card, written);
    return said === undefined ? target.tell(NOTHING_CHANGED) : target.record(said);
  }
  if (press?.kind === "alerts") {
    const card = await queries.alerts(key, press.alerts);
    if (card === undefined) return target.tell(UNKNOWN_ALERTS);
    const why = whyNotOf(press.what, card);
    if (why !== undefined) return target.tell(why);
    const said = alertCommand(press, card, written);
    return said === undefined ? target.tell(NOTHING_CHANGED) : target.record(said);
  }
  const sent = await readForm(queries, key, id, written);
  if (sent === undefined) return target.tell(OTHER_VERSION);
  if (sent.kind === "mistaken") return target.showMistakes(sent);
  return target.record(sent.kind === "feedback" ? sent : { ...sent, via: "button" });
}
