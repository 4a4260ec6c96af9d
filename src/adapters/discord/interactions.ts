import {
  type APIInteraction,
  type APIMessageComponentInteraction,
  type APIModalSubmitInteraction,
  InteractionType,
} from "discord.js";
import type { Logger } from "pino";
import type { Actor } from "../../core/entry.ts";
import { BotError, isBotError } from "../../core/errors.ts";
import type { Inbound, Inbox, Queries } from "../adapter.ts";
import { openedForm, type Press, readPress, sentForm, tellDetails } from "../told.ts";
import { type Acks, placeIn, type Pressed, userIn } from "./acks.ts";
import { keptIn, MAX_FIELDS, modalOf, tellMistakes, writtenIn } from "./forms.ts";
import { nameIn } from "./people.ts";
import { accountOf, keyOf } from "./place.ts";
import type { Whispers } from "./whispers.ts";

/** Discord waits 3 s for the first answer: what is not kept by then is said not to be. */
const KEEP_MS = 2_000;

export interface InteractionParts {
  acks: Acks;
  whispers: Whispers;
  inbox: Inbox;
  queries: Queries;
  log: Logger;
}

/** Takes what is pressed: first into the journal, then it is acknowledged. Never fails. */
export type Interactions = (interaction: APIInteraction) => Promise<void>;

export function createInteractions(parts: InteractionParts): Interactions {
  const { acks, whispers, inbox, queries, log } = parts;

  async function keep(pressed: Pressed, id: string, inbound: Inbound): Promise<void> {
    const key = keyOf(placeIn(pressed));
    try {
      await within(KEEP_MS, inbox.post(key, id, inbound));
    } catch (error) {
      log.warn({ err: error, key, id }, "a click could not be kept");
      return acks.say(pressed, isBotError(error, "USAGE") ? error.message : NOT_RECORDED);
    }
    return acks.taken(pressed);
  }

  async function lookUp(pressed: Pressed, action: string) {
    return within(KEEP_MS, queries.action(keyOf(placeIn(pressed)), action));
  }

  async function openForm(
    pressed: APIMessageComponentInteraction,
    meant: Extract<Press, { kind: "form" }>,
  ): Promise<void> {
    const key = keyOf(placeIn(pressed));
    const written = meant.form === "again" ? keptIn(pressed.message) : undefined;
    const options = { maxFields: MAX_FIELDS, written };
    const form = await within(KEEP_MS, openedForm(queries, key, meant, options));
    if (form === undefined) return acks.say(pressed, UNKNOWN);
    return acks.form(pressed, modalOf(form));
  }

  async function showDetails(pressed: Pressed, action: string): Promise<void> {
    const card = await lookUp(pressed, action);
    return card === undefined ? acks.say(pressed, UNKNOWN) : acks.reply(pressed, tellDetails(card));
  }

  async function press(pressed: APIMessageComponentInteraction): Promise<void> {
    const meant = readPress(pressed.data.custom_id);
    const actor = actorIn(pressed);
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

  async function submit(pressed: APIModalSubmitInteraction): Promise<void> {
    const { custom_id: id } = pressed.data;
    const written = writtenIn(pressed);
    const sent = await within(KEEP_MS, sentForm(queries, keyOf(placeIn(pressed)), id, written));
    if (sent === undefined) return acks.say(pressed, UNKNOWN);
    if (sent.kind === "mistaken") return acks.reply(pressed, tellMistakes(sent, written));
    const actor = actorIn(pressed);
    return keep(pressed, `form:${pressed.id}`, { ...sent, actor, via: "button" });
  }

  async function handle(pressed: Pressed): Promise<void> {
    const isForm = pressed.type === InteractionType.ModalSubmit;
    try {
      await (isForm ? submit(pressed) : press(pressed));
    } catch (error) {
      log.warn({ err: error }, "what was pressed could not be answered");
      await acks.say(pressed, NO_STORE);
    }
  }

  return async (interaction) => {
    const { type, application_id: application, token } = interaction;
    if (type !== InteractionType.ModalSubmit && type !== InteractionType.MessageComponent) return;
    const answered = handle(interaction);
    const click = { application, token, answered };
    whispers.clicked(placeIn(interaction), userIn(interaction).id, click);
    await answered;
  };
}

const UNKNOWN = "There is nothing to this button any more.";
const NOT_RECORDED =
  "Not recorded: the store did not answer in time. Press again; twice does not count twice.";
const NO_STORE = "The store does not answer. Press again in a moment.";

function actorIn(pressed: Pressed): Actor {
  const user = userIn(pressed);
  return { account: accountOf(user.id), name: nameIn(user, pressed.member?.nick) };
}

/** @throws BotError STORE_UNAVAILABLE when the answer does not come within `ms`; what is asked goes on by itself */
async function within<T>(ms: number, asked: Promise<T>): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => {
    reject(new BotError("STORE_UNAVAILABLE", `The store did not answer within ${ms} ms.`));
  }, ms);
  try {
    return await Promise.race([asked, late]);
  } finally {
    clearTimeout(timer);
  }
}
