import {
  type APIModalInteractionResponseCallbackData,
  InteractionResponseType as Response,
  InteractionType,
  MessageFlags,
  RESTJSONErrorCodes as Code,
  Routes,
} from "discord.js";
import type { Logger } from "pino";
import { atMost } from "../../core/time-limit.ts";
import { renderText } from "../render/message.ts";
import type { RenderedMessage } from "../render/rich-text.ts";
import type { Api } from "./api.ts";
import { prefixed } from "./conversations.ts";
import { discordFile, type DiscordMessage, discordMessages } from "./encode.ts";
import { isCode } from "./errors.ts";
import type { Acted, AnyInteraction, Interaction } from "./payloads.ts";
import { noticeOf } from "./say.ts";
import { ephemeral } from "./ephemeral.ts";
import { bodyOf } from "./posting.ts";

/** Discord waits 3 s, of which looking up who it is may have taken 2 s. */
const DEFER_MS = 800;

/** At most 25 of them, each of at most 100 characters. */
export interface Choice {
  name: string;
  value: string;
}

const AUTOCOMPLETE: number = InteractionType.ApplicationCommandAutocomplete;

/**
 * The first responses to interactions; Discord shows "This interaction failed" without one within 3 s. If several processes try,
 * one succeeds, which is no failure for the others. None throws.
 */
export function createInteractionReplies(api: Api, log: Logger) {
  const answer = createAnswer(api, log);

  /**
   * False: the person does not see all of it. `deferred`: they were told to wait; `update`: in place of the message whose
   * button was pressed, which only they see.
   */
  async function show(
    pressed: Acted,
    told: RenderedMessage,
    as: "new" | "deferred" | "update" = "new",
  ): Promise<boolean> {
    const { application_id: application, token, place } = pressed;
    const messages = discordMessages(told);
    const [first, ...rest] = messages.map((each) => ephemeral(each, place));
    const answered =
      as === "update"
        ? await answer(pressed, Response.UpdateMessage, messages[0] && bodyOf(messages[0], place))
        : as === "deferred" || (await answer(pressed, Response.ChannelMessageWithSource, first));
    if (!answered) return false;
    try {
      if (as === "deferred") {
        const route = Routes.webhookMessage(application, token);
        await api.ask("patch", route, { body: first, auth: false });
      }
      const route = Routes.webhook(application, token);
      for (const body of rest) await api.ask("post", route, { body, auth: false });
      return true;
    } catch (error) {
      log.warn({ err: error }, "a reply was not shown whole");
      return false;
    }
  }

  return {
    show,
    replace: (pressed: Interaction, told: RenderedMessage) => show(pressed, told, "update"),
    /** A file for this person alone. */
    async sendFile(pressed: Interaction, file: { name: string; text: string }): Promise<void> {
      const message = discordFile(file);
      const body = ephemeral(message, pressed.place);
      await answer(pressed, Response.ChannelMessageWithSource, body, message.files);
    },
    /** Acknowledges it without words: the person sees the result in the thread. */
    async taken(pressed: Interaction): Promise<void> {
      await answer(pressed, Response.DeferredMessageUpdate);
    },
    /** Shows what comes of the work; when that takes longer, Discord shows until then that it is awaited. */
    async showWhenDone(given: Acted, work: Promise<RenderedMessage>): Promise<void> {
      const early = await atMost(DEFER_MS, work, () => undefined);
      if (early !== undefined) return void (await show(given, early));
      const flags = MessageFlags.Ephemeral;
      const type = Response.DeferredChannelMessageWithSource;
      if (await answer(given, type, { flags })) await show(given, await work, "deferred");
    },
    /** What can be chosen for what is being typed. */
    async choices(typed: AnyInteraction, choices: readonly Choice[]): Promise<void> {
      await answer(typed, Response.ApplicationCommandAutocompleteResult, { choices });
    },
    async form(pressed: Acted, form: APIModalInteractionResponseCallbackData): Promise<void> {
      const custom_id = prefixed(form.custom_id, pressed.place);
      await answer(pressed, Response.Modal, { ...form, custom_id });
    },
    /** A sentence to this person alone. */
    async tell(pressed: Acted, text: string): Promise<void> {
      await show(pressed, await noticeOf(text, pressed.place));
    },
    /** The same for a command, or an interaction that cannot be read. */
    async refuse(asked: AnyInteraction, text: string): Promise<void> {
      if (asked.type === AUTOCOMPLETE) {
        await answer(asked, Response.ApplicationCommandAutocompleteResult, { choices: [] });
        return;
      }
      const told = discordMessages(await renderText(text, () => false));
      const [message] = told.map((each) => ephemeral(each, {}));
      await answer(asked, Response.ChannelMessageWithSource, message);
    },
  };
}

/** Sends a first response. False when this process must say no more, such as when another has answered. */
function createAnswer(api: Api, log: Logger) {
  return async (
    pressed: AnyInteraction,
    type: Response,
    data?: unknown,
    files?: DiscordMessage["files"],
  ): Promise<boolean> => {
    const { id, token } = pressed;
    try {
      const body = { type, ...(data !== undefined && { data }) };
      await api.ask("post", Routes.interactionCallback(id, token), {
        body,
        auth: false,
        ...(files !== undefined && { files }),
      });
      return true;
    } catch (error) {
      const isUsual = isCode(
        error,
        Code.InteractionHasAlreadyBeenAcknowledged,
        Code.UnknownInteraction,
      );
      log[isUsual ? "debug" : "warn"](
        { err: error },
        "what was pressed was not answered from here",
      );
      return false;
    }
  };
}

export type InteractionReplies = ReturnType<typeof createInteractionReplies>;
