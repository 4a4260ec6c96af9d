import { InteractionType } from "discord.js";
import type { Logger } from "pino";
import { isBotError } from "../../core/errors.ts";
import type { Inbound, Inbox, Queries } from "../adapter.ts";
import { loadForm, readForm } from "../render/forms.ts";
import { readButtonAction, type ButtonAction } from "../render/buttons.ts";
import { renderDetails } from "../render/card.ts";
import type { InteractionReplies } from "./interaction-replies.ts";
import { within } from "./api.ts";
import { keptIn, MAX_FIELDS, modalOf, tellMistakes, writtenIn } from "./forms.ts";
import type { Pressed } from "./payloads.ts";
import { actorOf } from "./people.ts";
import { keyOf } from "./place.ts";
import type { EphemeralMessages } from "./ephemeral.ts";

/** Discord waits 3 s for the first answer: what is not kept by then is said not to be. */
const KEEP_MS = 2_000;

export interface InteractionParts {
  acks: InteractionReplies;
  whispers: EphemeralMessages;
  inbox: Inbox;
  queries: Queries;
  log: Logger;
}

/** Takes what is pressed: first into the journal, then it is acknowledged. Never fails. */
export type Interactions = (pressed: Pressed) => Promise<void>;

export function createInteractions(parts: InteractionParts): Interactions {
  const { acks, whispers, inbox, queries, log } = parts;

  async function keep(pressed: Pressed, id: string, inbound: Inbound): Promise<void> {
    const key = keyOf(pressed.place);
    try {
      await inTime(inbox.post(key, id, inbound));
    } catch (error) {
      log.warn({ err: error, key, id }, "a click could not be kept");
      return acks.say(pressed, isBotError(error, "USAGE") ? error.message : NOT_RECORDED);
    }
    return acks.taken(pressed);
  }

  async function lookUp(pressed: Pressed, action: string) {
    return inTime(queries.action(keyOf(pressed.place), action));
  }

  async function openForm(
    pressed: Pressed,
    meant: Extract<ButtonAction, { kind: "form" }>,
  ): Promise<void> {
    const key = keyOf(pressed.place);
    const written = meant.form === "again" ? keptIn(pressed) : undefined;
    const options = { maxFields: MAX_FIELDS, written };
    const form = await inTime(loadForm(queries, key, meant, options));
    if (form === undefined) return acks.say(pressed, UNKNOWN);
    return acks.form(pressed, modalOf(form));
  }

  async function showDetails(pressed: Pressed, action: string): Promise<void> {
    const card = await lookUp(pressed, action);
    return card === undefined
      ? acks.say(pressed, UNKNOWN)
      : acks.reply(pressed, renderDetails(card));
  }

  async function press(pressed: Pressed): Promise<void> {
    const meant = readButtonAction(pressed.data.custom_id);
    const actor = actorOf(pressed.user, pressed.nick);
    switch (meant?.kind) {
      case "click":
        return keep(pressed, `click:${pressed.id}`, { ...meant, actor, via: "button" });
      case "stop":
        return keep(pressed, `stop:${pressed.id}`, { kind: "stop", actor });
      case "form":
        return openForm(pressed, meant);
      case "details":
        return showDetails(pressed, meant.action);
      case undefined:
        return acks.say(pressed, UNKNOWN);
    }
  }

  async function submit(pressed: Pressed): Promise<void> {
    const { custom_id: id } = pressed.data;
    const written = writtenIn(pressed);
    const sent = await inTime(readForm(queries, keyOf(pressed.place), id, written));
    if (sent === undefined) return acks.say(pressed, UNKNOWN);
    if (sent.kind === "mistaken") return acks.reply(pressed, tellMistakes(sent, written));
    const actor = actorOf(pressed.user, pressed.nick);
    return keep(pressed, `form:${pressed.id}`, { ...sent, actor, via: "button" });
  }

  async function handle(pressed: Pressed): Promise<void> {
    const isForm = pressed.type === FORM;
    try {
      await (isForm ? submit(pressed) : press(pressed));
    } catch (error) {
      log.warn({ err: error }, "what was pressed could not be answered");
      await acks.say(pressed, NO_STORE);
    }
  }

  return async (pressed) => {
    const { application_id: application, token } = pressed;
    const answered = handle(pressed);
    whispers.clicked(pressed.place, pressed.user.id, { application, token, answered });
    await answered;
  };
}

const FORM: number = InteractionType.ModalSubmit;

export const UNKNOWN = "There is nothing to this button any more.";
const NOT_RECORDED =
  "Not recorded: the store did not answer in time. Press again; twice does not count twice.";
const NO_STORE = "The store does not answer. Press again in a moment.";

function inTime<T>(asked: Promise<T>): Promise<T> {
  return within(KEEP_MS, asked, "The store");
}
