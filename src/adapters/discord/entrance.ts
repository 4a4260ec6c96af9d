import { InteractionType } from "discord.js";
import type { Logger } from "pino";
import type { QuietLog } from "../shared/quiet-log.ts";
import { readButtonAction } from "../render/buttons.ts";
import { NO_COMMANDS, OTHER_VERSION } from "../render/phrases.ts";
import type { InteractionReplies } from "./interaction-replies.ts";
import { answerWithin } from "./api.ts";
import type { Interactions } from "./interactions.ts";
import {
  type AnyInteraction,
  type Interaction,
  readAnyInteraction,
  readInteraction,
} from "./payloads.ts";
import type { DiscordPeople } from "./people.ts";
import { accountOf, keyOf } from "./place.ts";
import { NOT_LOOKED_UP, NOT_SERVED } from "./phrases.ts";
import type { Served } from "./tenants.ts";

/** Discord waits 3 s for the first answer. */
const LOOK_UP_MS = 2_000;

const PING: number = InteractionType.Ping;
const PRESSES: ReadonlySet<number> = new Set([
  InteractionType.ModalSubmit,
  InteractionType.MessageComponent,
]);

export interface EntranceParts {
  interact: Interactions;
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
  const { interact, replies, served, people, log, quietly } = parts;

  /** From another server, or by a stranger in a direct message. Clicks and Stops are judged later; the rest shows something now. */
  async function isForeign({ place, user, data }: Interaction): Promise<boolean> {
    if (place.guild !== undefined) return !served.has(place.guild);
    const kind = readButtonAction(data.custom_id)?.kind;
    if (kind === "click" || kind === "stop") return false;
    const membership = people.membership(accountOf(user.id), keyOf(place));
    return (await answerWithin(LOOK_UP_MS, membership, "Discord")) === "unknown";
  }

  async function refuse(asked: AnyInteraction, text: string, where: string): Promise<void> {
    quietly("an interaction was refused", `type ${asked.type} ${where}`);
    await replies.refuse(asked, text);
  }

  async function take(pressed: Interaction): Promise<void> {
    try {
      if (await isForeign(pressed)) return await refuse(pressed, NOT_SERVED, keyOf(pressed.place));
    } catch (error) {
      log.debug({ err: error }, "who pressed could not be looked up");
      return replies.refuse(pressed, NOT_LOOKED_UP);
    }
    return interact(pressed);
  }

  return async (interaction: unknown): Promise<void> => {
    const asked = readAnyInteraction(interaction);
    if (asked === undefined || asked.type === PING) {
      quietly("an interaction that cannot be answered was dropped", `type ${asked?.type}`);
      return;
    }
    const isPress = PRESSES.has(asked.type);
    const pressed = isPress ? readInteraction(interaction) : undefined;
    if (pressed !== undefined) return take(pressed);
    return refuse(asked, isPress ? OTHER_VERSION : NO_COMMANDS, "");
  };
}
