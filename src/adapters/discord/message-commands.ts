import type { APIModalInteractionResponseCallbackData } from "discord.js";
import { ComponentType } from "discord.js";
import type { Logger } from "pino";
import { isBotError } from "../../core/errors.ts";
import type { OpenIncident } from "../overview.ts";
import type { RenderedMessage } from "../render/rich-text.ts";
import {
  incidentChoices,
  investigationOf,
  noteOf,
  updateOf,
  WHICH_INCIDENT,
} from "../shared/about-message.ts";
import { failed, INVESTIGATING, NO_INCIDENT } from "../shared/phrases.ts";
import { answerWithin } from "./api.ts";
import type { WriteInto } from "./commands.ts";
import { INVESTIGATE } from "./command-definitions.ts";
import type { LookOutIn } from "./completion.ts";
import { writtenIn } from "./forms.ts";
import type { InteractionReplies } from "./interaction-replies.ts";
import type { Acted, Given, Interaction } from "./payloads.ts";
import * as phrases from "./phrases.ts";
import { accountOf, linkOf, type Place, timeOf } from "./place.ts";

/** A form must be shown within Discord's 3 s. */
const LOOK_MS = 2_000;
/** Options of a select, and characters of one (Discord's reference, "String Select"). */
const OPTIONS = { most: 25, longest: 100 };

/** The form that asks which incident; the message's id stands behind it. */
const FORM = "note:";
const FIELD = "incident";

export interface MessageCommandParts {
  replies: InteractionReplies;
  lookOut: LookOutIn;
  /** The thread that the message is in, or one that begins with it. @throws BotError with why there is none */
  threadOf(acted: Acted, message: string, seen: unknown): Promise<Place>;
  /** Writes it in the thread in their name, once for each id. False: later, when the store is back. */
  say(acted: Acted, place: Place, id: string, text: string): Promise<boolean>;
  write: WriteInto;
  render(text: string): Promise<RenderedMessage>;
  log: Logger;
}

/** Takes the commands in the menu of a message. Each is acknowledged once it is in the journal of that message's thread. */
export function createMessageCommands(parts: MessageCommandParts) {
  const { replies, lookOut, threadOf, say, render, log } = parts;

  async function whyNot(work: () => Promise<string>): Promise<RenderedMessage> {
    try {
      return await render(await work());
    } catch (error) {
      if (!isBotError(error)) log.error({ err: error }, "a message's command could not be taken");
      return render(failed(error));
    }
  }

  async function investigate(given: Given, message: string): Promise<string> {
    const place = await threadOf(given, message, given.data.resolved?.messages[message]);
    const text = investigationOf(timeOf(message), place.channel === message);
    return (await say(given, place, `${given.id}:on:${message}`, text))
      ? INVESTIGATING
      : phrases.ASKED_LATER;
  }

  /** `seen`: the message, as far as it is known. */
  async function note(acted: Acted, message: string, incident: string, seen?: unknown) {
    const link = linkOf(acted.place, message);
    const text = updateOf(incident, noteOf(timeOf(message), link));
    const { incidents } = await lookOut(accountOf(acted.user.id), acted.place);
    const told = await parts.write(acted, { incident, seen: incidents }, text);
    if (told !== undefined) return told;
    const place = await threadOf(acted, message, seen);
    return (await say(acted, place, acted.id, text))
      ? phrases.addedTo(incident)
      : phrases.ASKED_LATER;
  }

  async function addToIncident(given: Given, message: string): Promise<void> {
    const asked = lookOut(accountOf(given.user.id), given.place);
    const { incidents } = await answerWithin(LOOK_MS, asked, "Discord");
    const [first, ...others] = incidents;
    if (first === undefined) return replies.tell(given, NO_INCIDENT);
    if (others.length > 0) return replies.form(given, formOf(message, incidents));
    const seen = given.data.resolved?.messages[message];
    const noted = whyNot(() => note(given, message, first.id, seen));
    return replies.showWhenDone(given, noted);
  }

  return {
    /** Never fails. */
    async take(given: Given): Promise<void> {
      const { name, target_id: message } = given.data;
      if (message === undefined) return replies.tell(given, phrases.UNKNOWN_COMMAND);
      if (name === INVESTIGATE) {
        return replies.showWhenDone(
          given,
          whyNot(() => investigate(given, message)),
        );
      }
      try {
        await addToIncident(given, message);
      } catch (error) {
        log.debug({ err: error }, "open incidents could not be looked up");
        await replies.tell(given, failed(error));
      }
    },

    /** Takes the form that says which incident; false for any other. Never fails. */
    async choose(sent: Interaction): Promise<boolean> {
      const [, message] = /^note:(\d{17,20})$/.exec(sent.data.custom_id) ?? [];
      if (message === undefined) return false;
      const { [FIELD]: incident = "" } = writtenIn(sent);
      await replies.showWhenDone(
        sent,
        whyNot(() => note(sent, message, incident)),
      );
      return true;
    },
  };
}

function formOf(
  message: string,
  incidents: readonly OpenIncident[],
): APIModalInteractionResponseCallbackData {
  const options = incidentChoices(incidents, OPTIONS).map(({ text: label, value }) => ({
    label,
    value,
  }));
  return {
    custom_id: `${FORM}${message}`,
    title: WHICH_INCIDENT.title,
    components: [
      {
        type: ComponentType.Label,
        label: WHICH_INCIDENT.label,
        component: { type: ComponentType.StringSelect, custom_id: FIELD, options },
      },
    ],
  };
}
