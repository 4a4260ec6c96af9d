import {
  type APIInteraction,
  type APIMessageComponentInteraction,
  type APIModalInteractionResponseCallbackData,
  type APIModalSubmitInteraction,
  ComponentType,
  InteractionType,
  TextInputStyle,
} from "discord.js";
import type { Logger } from "pino";
import type { Actor } from "../../core/entry.ts";
import { BotError, isBotError } from "../../core/errors.ts";
import type { Inbound, Inbox, Queries } from "../adapter.ts";
import { type Form, formOf, type Press, readForm, readPress, tellDetails } from "../told.ts";
import { type Acks, placeIn, type Pressed, userIn } from "./acks.ts";
import { nameIn } from "./people.ts";
import { accountOf, keyOf } from "./place.ts";
import type { Whispers } from "./whispers.ts";

/** Discord waits 3 s for the first answer: what is not kept by then is said not to be. */
const KEEP_MS = 2_000;

/** The one field of a form. */
const FIELD = "text";

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
    const card = await lookUp(pressed, meant.action);
    if (card === undefined) return acks.say(pressed, UNKNOWN);
    return acks.form(pressed, modalOf(formOf(meant, card)));
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
    const meant = readForm(pressed.data.custom_id, writtenIn(pressed));
    if (meant === undefined) return acks.say(pressed, UNKNOWN);
    if (meant.kind === "problem") return acks.say(pressed, meant.text);
    const actor = actorIn(pressed);
    return keep(pressed, `form:${pressed.id}`, { ...meant, actor, via: "button" });
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

function modalOf(form: Form): APIModalInteractionResponseCallbackData {
  const input = {
    type: ComponentType.TextInput,
    custom_id: FIELD,
    style: TextInputStyle.Paragraph,
    max_length: form.maxLength,
    required: !form.optional,
    ...(form.value !== "" && { value: form.value }),
  } as const;
  const label = {
    type: ComponentType.Label,
    label: form.label,
    ...(form.hint !== "" && { description: form.hint }),
    component: input,
  } as const;
  return { custom_id: form.id, title: form.title, components: [label] };
}

function writtenIn({ data }: APIModalSubmitInteraction): string {
  for (const row of data.components) {
    const field = "component" in row ? row.component : undefined;
    if (field?.type === ComponentType.TextInput && field.custom_id === FIELD) return field.value;
  }
  return "";
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
