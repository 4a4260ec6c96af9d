import { ApplicationCommandType, InteractionType } from "discord.js";
import type { Logger } from "pino";
import type { QuietLog } from "../shared/quiet-log.ts";
import { readButtonAction } from "../render/button-ids.ts";
import { OTHER_VERSION } from "../render/phrases.ts";
import type { InteractionReplies } from "./interaction-replies.ts";
import { answerWithin } from "./api.ts";
import { isKnown } from "./command-definitions.ts";
import type { Doors } from "./doors.ts";
import type { Interactions } from "./interactions.ts";
import {
  type Acted,
  type AnyInteraction,
  type Given,
  type Interaction,
  readAnyInteraction,
  readGiven,
  readInteraction,
} from "./payloads.ts";
import type { DiscordPeople } from "./people.ts";
import { accountOf, keyOf } from "./place.ts";
import { NOT_LOOKED_UP, NOT_SERVED, UNKNOWN_COMMAND } from "./phrases.ts";
import type { Served } from "./tenants.ts";

/** Discord waits 3 s for the first answer. */
const LOOK_UP_MS = 2_000;

const PING: number = InteractionType.Ping;
const FORM: number = InteractionType.ModalSubmit;
const AUTOCOMPLETE: number = InteractionType.ApplicationCommandAutocomplete;
const ON_MESSAGE: number = ApplicationCommandType.Message;
const PRESSES: ReadonlySet<number> = new Set([
  InteractionType.ModalSubmit,
  InteractionType.MessageComponent,
]);

export interface EntranceParts {
  interact: Interactions;
  doors: Doors;
  replies: InteractionReplies;
  served: Served;
  people: Pick<DiscordPeople, "membership">;
  log: Logger;
  quietly: QuietLog;
}

/**
 * Checks every interaction: a pressed button, a sent form, a typed command. One that is not for the bot is refused in words, if
 * Discord waits for an answer, and logged. Never fails.
 */
export function createEntrance(parts: EntranceParts) {
  const { interact, doors, replies, served, people, log, quietly } = parts;

  /** From another server, or by a stranger in a direct message. Clicks and Stops are judged later; the rest shows something now. */
  async function isForeign({ place, user }: Acted, button?: string): Promise<boolean> {
    if (place.guild !== undefined) return !served.has(place.guild);
    const kind = button === undefined ? undefined : readButtonAction(button)?.kind;
    if (kind === "click" || kind === "stop") return false;
    const membership = people.membership(accountOf(user.id), keyOf(place));
    return (await answerWithin(LOOK_UP_MS, membership, "Discord")) === "unknown";
  }

  async function refuse(asked: AnyInteraction, text: string, where: string): Promise<void> {
    quietly("an interaction was refused", `type ${asked.type} ${where}`);
    await replies.refuse(asked, text);
  }

  /** Undefined: it may go on. */
  async function whyRefused(acted: Acted, button?: string): Promise<string | undefined> {
    try {
      return (await isForeign(acted, button)) ? NOT_SERVED : undefined;
    } catch (error) {
      log.debug({ err: error }, "who pressed could not be looked up");
      return NOT_LOOKED_UP;
    }
  }

  /** True where it may go on; else it was answered. */
  async function admit(acted: Acted, button?: string): Promise<boolean> {
    const why = await whyRefused(acted, button);
    if (why === undefined) return true;
    await refuse(acted, why, keyOf(acted.place));
    return false;
  }

  async function press(pressed: Interaction): Promise<void> {
    if (!(await admit(pressed, pressed.data.custom_id))) return;
    if (pressed.type === FORM && (await doors.messageCommands.choose(pressed))) return;
    return interact(pressed);
  }

  async function give(given: Given): Promise<void> {
    if (!(await admit(given))) return;
    const { name, type } = given.data;
    if (!isKnown(name, type)) return refuse(given, UNKNOWN_COMMAND, name);
    if (given.type === AUTOCOMPLETE) return doors.completion.complete(given);
    return type === ON_MESSAGE ? doors.messageCommands.take(given) : doors.commands.take(given);
  }

  return async (interaction: unknown): Promise<void> => {
    const asked = readAnyInteraction(interaction);
    if (asked === undefined || asked.type === PING) {
      quietly("an interaction that cannot be answered was dropped", `type ${asked?.type}`);
      return;
    }
    if (PRESSES.has(asked.type)) {
      const pressed = readInteraction(interaction);
      return pressed === undefined ? refuse(asked, OTHER_VERSION, "") : press(pressed);
    }
    const given = readGiven(interaction);
    return given === undefined ? refuse(asked, UNKNOWN_COMMAND, "") : give(given);
  };
}
