import { isBody } from "./components.ts";
import { FLAGS, readEdit, readNewMessage, type MessageBody } from "./message-body.ts";
import { filledIn, readModal, type OpenModal } from "./modals.ts";
import { channelJson, memberJson, messageJson, userJson } from "./payloads.ts";
import { permissionsIn } from "./permissions.ts";
import {
  applyEdit,
  draftMessage,
  notePings,
  publish,
  removeMessage,
  tellMessage,
  type Platform,
} from "./platform.ts";
import { invalidForm, refusal } from "./refusals.ts";
import type { Answer, Asked, Route } from "./route.ts";
import type { Body, FakeChannel, FakeMessage, FakeUser } from "./world.ts";

type How = "reply" | "deferReply" | "deferUpdate" | "update" | "modal";

/** How a press or a form ended. `failed`: nobody answered in time, and Discord said "This interaction failed". */
export type Outcome = { interaction: string } & (
  | { kind: "acked"; how: How; ms: number }
  | { kind: "failed" }
);

const HOWS: Record<number, How> = {
  4: "reply",
  5: "deferReply",
  6: "deferUpdate",
  7: "update",
  9: "modal",
};
const COMPONENT_PRESS = 3;
const MODAL_SUBMIT = 5;

interface Interaction {
  readonly id: string;
  readonly token: string;
  readonly type: number;
  readonly user: FakeUser;
  readonly channel: FakeChannel;
  /** The message whose button was pressed, also of a form that a button opened. */
  readonly message: FakeMessage;
  readonly startedAt: number;
  /** The form that is submitted. */
  readonly modal: OpenModal | undefined;
  readonly end: (outcome: Outcome) => void;
  how: How | undefined;
  /** Nobody answered in time. */
  dead: boolean;
  /** What `@original` is. */
  original: FakeMessage | undefined;
  readonly followUps: Map<string, FakeMessage>;
}

/** Presses and forms: who pressed what, how it was answered, and what only one person sees. */
export interface Interactions {
  press(user: FakeUser, message: FakeMessage, customId: string): Promise<Outcome>;
  submit(user: FakeUser, modal: OpenModal, values: Record<string, string>): Promise<Outcome>;
  /** A message that only one person sees, if it still stands. */
  ephemeral(id: string): FakeMessage | undefined;
  ephemeralsOf(user: FakeUser): FakeMessage[];
  modalsOf(user: FakeUser): OpenModal[];
  /** What answers them. */
  readonly routes: readonly Route[];
  /** Everything that waits fails now. */
  stop(): void;
}

export function createInteractions(platform: Platform): Interactions {
  const { world, times } = platform;
  const known = new Map<string, Interaction>();
  const byToken = new Map<string, Interaction>();
  const timers = new Map<NodeJS.Timeout, () => void>();
  const ephemeral = new Map<string, { user: FakeUser; message: FakeMessage }>();
  const modals = new Map<string, { user: FakeUser; from: Interaction; modal: OpenModal }>();

  const payload = (interaction: Interaction, data: Body): Body => {
    const { channel, user } = interaction;
    const guild = channel.guildId === undefined ? undefined : world.guilds.get(channel.guildId);
    const member = guild?.members.get(user.id);
    const base: Body = {
      id: interaction.id,
      application_id: world.applicationId,
      type: interaction.type,
      token: interaction.token,
      version: 1,
      channel_id: channel.id,
      channel: {
        ...channelJson(world, channel),
        permissions: String(permissionsIn(world, channel, user.id)),
      },
      message: messageJson(world, interaction.message, true),
      data,
      locale: "en-US",
      app_permissions: String(permissionsIn(world, channel, world.bot.id)),
      entitlements: [],
      attachment_size_limit: 10_485_760,
      context: guild === undefined ? 1 : 0,
    };
    if (guild === undefined || member === undefined) {
      return { ...base, user: userJson(user), authorizing_integration_owners: { "0": "0" } };
    }
    const permissions = String(permissionsIn(world, channel, user.id));
    return {
      ...base,
      guild_id: guild.id,
      guild: { id: guild.id, locale: "en-US", features: [] },
      guild_locale: "en-US",
      member: { ...memberJson(member), permissions },
      authorizing_integration_owners: { "0": guild.id },
    };
  };

  const begin = (
    type: number,
    user: FakeUser,
    message: FakeMessage,
    modal: OpenModal | undefined,
    data: Body,
  ): Promise<Outcome> => {
    const channel = world.channels.get(message.channelId);
    if (channel === undefined) throw new Error("The message's channel is gone");
    if (permissionsIn(world, channel, user.id) === 0n)
      throw new Error(`${user.name} does not see it`);
    return new Promise((resolve) => {
      const id = world.newId();
      const token = Buffer.from(`interaction:${id}:${world.newId()}`).toString("base64url");
      const fail = (): void => {
        timers.delete(timer);
        interaction.dead = true;
        resolve({ interaction: id, kind: "failed" });
      };
      const timer = setTimeout(fail, times.responseMs);
      timers.set(timer, fail);
      const interaction: Interaction = {
        id,
        token,
        type,
        user,
        channel,
        message,
        modal,
        startedAt: Date.now(),
        end(outcome) {
          clearTimeout(timer);
          timers.delete(timer);
          resolve(outcome);
        },
        how: undefined,
        dead: false,
        original: undefined,
        followUps: new Map(),
      };
      known.set(id, interaction);
      byToken.set(token, interaction);
      platform.gateway.dispatch("INTERACTION_CREATE", () => payload(interaction, data));
    });
  };

  /** A message in answer to an interaction: for one person, or in the channel. */
  const answer = (
    interaction: Interaction,
    body: MessageBody,
    flags: number,
    allowed: Body | undefined,
  ): FakeMessage => {
    const message = draftMessage(platform, interaction.channel, { author: world.bot, body, flags });
    if ((message.flags & FLAGS.ephemeral) === 0) publish(platform, interaction.channel, message);
    else ephemeral.set(message.id, { user: interaction.user, message });
    // Without allowed_mentions an interaction's answer may mention people, and nobody else.
    notePings(platform, message, allowed ?? { parse: ["users"] });
    return message;
  };

  const change = (asked: Asked, message: FakeMessage, body: Body): void => {
    applyEdit(platform, message, readEdit(body, asked.uploads, message));
    if ((message.flags & FLAGS.ephemeral) === 0) tellMessage(platform, "MESSAGE_UPDATE", message);
  };

  /** The first answer, by its type. @throws Refusal */
  const respond = (asked: Asked, interaction: Interaction, how: How, data: Body): void => {
    if (
      (how === "reply" || how === "deferReply") &&
      interaction.channel.thread?.archived === true
    ) {
      throw refusal("threadArchived");
    }
    if (how === "reply") {
      const body = readNewMessage(data, asked.uploads, true);
      interaction.original = answer(interaction, body, 0, body.allowed);
    } else if (how === "deferReply") {
      const flags = Number(data["flags"] ?? 0);
      if ((flags & FLAGS.componentsV2) !== 0) {
        const said = "IS_COMPONENTS_V2 cannot be set on a deferred response";
        throw invalidForm("data.flags", "INTERACTION_DEFERRED_FLAGS_INVALID", said);
      }
      const empty = {
        content: "",
        components: [],
        embeds: [],
        flags: flags & FLAGS.ephemeral,
        uploads: [],
        allowed: undefined,
      };
      interaction.original = answer(interaction, empty, FLAGS.loading, undefined);
    } else if (how === "update") {
      change(asked, interaction.message, data);
      interaction.original = interaction.message;
    } else if (how === "deferUpdate") {
      interaction.original = interaction.message;
    } else {
      const modal = readModal(interaction.id, data);
      modals.set(modal.id, { user: interaction.user, from: interaction, modal });
    }
  };

  /** @throws Refusal 10015, 50027 */
  const tokenOf = ({ param }: Asked): Interaction => {
    const found = byToken.get(param("token"));
    if (found === undefined || param("application") !== world.applicationId)
      throw refusal("unknownWebhook");
    if (Date.now() - found.startedAt > times.tokenMs) throw refusal("invalidWebhookToken");
    if (found.how === undefined) throw refusal("unknownWebhook");
    return found;
  };

  const stands = (message: FakeMessage | undefined): message is FakeMessage =>
    message !== undefined && (world.messages.has(message.id) || ephemeral.has(message.id));

  const messageOf = (asked: Asked): FakeMessage => {
    const interaction = tokenOf(asked);
    const id = asked.param("message");
    const found = id === "@original" ? interaction.original : interaction.followUps.get(id);
    if (!stands(found)) throw refusal("unknownMessage");
    return found;
  };

  const edit = (asked: Asked): Answer => {
    const message = messageOf(asked);
    change(asked, message, asked.body);
    message.flags &= ~FLAGS.loading;
    return messageJson(world, message, true);
  };

  const callback = (asked: Asked): Answer => {
    const interaction = known.get(asked.param("interaction"));
    if (interaction === undefined || interaction.token !== asked.param("token")) {
      throw refusal("unknownInteraction");
    }
    if (interaction.how !== undefined) throw refusal("alreadyAcknowledged");
    if (interaction.dead) throw refusal("unknownInteraction");
    const how = HOWS[Number(asked.body["type"])];
    if (how === undefined || (how === "modal" && interaction.type === MODAL_SUBMIT)) {
      throw invalidForm("type", "BASE_TYPE_CHOICES", "Value must be one of the types of callback.");
    }
    const data = isBody(asked.body["data"]) ? asked.body["data"] : {};
    respond(asked, interaction, how, data);
    interaction.how = how;
    if (interaction.modal !== undefined) modals.delete(interaction.modal.id);
    const ms = Date.now() - interaction.startedAt;
    interaction.end({ interaction: interaction.id, kind: "acked", how, ms });
    if (asked.query.get("with_response") !== "true") return undefined;
    const message = how === "reply" || how === "update" ? interaction.original : undefined;
    const about = {
      id: interaction.id,
      type: interaction.type,
      response_message_id: interaction.original?.id,
    };
    const type = Number(asked.body["type"]);
    const resource =
      message === undefined ? { type } : { type, message: messageJson(world, message, true) };
    return { interaction: about, resource };
  };

  const followUp = (asked: Asked): Answer => {
    const interaction = tokenOf(asked);
    const { original } = interaction;
    if (stands(original) && (original.flags & FLAGS.loading) !== 0) {
      // The first follow-up takes the place of what was deferred, and is as private as that.
      change(asked, original, asked.body);
      original.flags &= ~FLAGS.loading;
      return messageJson(world, original, true);
    }
    const body = readNewMessage(asked.body, asked.uploads, true);
    const message = answer(interaction, body, 0, body.allowed);
    interaction.followUps.set(message.id, message);
    return messageJson(world, message, true);
  };

  const remove = (asked: Asked): Answer => {
    const message = messageOf(asked);
    if (!ephemeral.delete(message.id)) removeMessage(platform, message);
    return undefined;
  };

  const whole = "/webhooks/:application/:token/messages/:message";
  const get = (asked: Asked): Answer => messageJson(world, messageOf(asked), true);
  const callbackPath = "/interactions/:interaction/:token/callback";
  return {
    press: (user, message, customId) =>
      begin(COMPONENT_PRESS, user, message, undefined, {
        custom_id: customId,
        component_type: 2,
      }),
    submit(user, modal, values) {
      const open = modals.get(modal.id);
      if (open?.user !== user) throw new Error(`${user.name} has no such form open`);
      const data = { custom_id: modal.customId, components: filledIn(modal, values) };
      return begin(MODAL_SUBMIT, user, open.from.message, modal, data);
    },
    ephemeral: (id) => ephemeral.get(id)?.message,
    ephemeralsOf: (user) =>
      [...ephemeral.values()].filter((each) => each.user === user).map((each) => each.message),
    modalsOf: (user) =>
      [...modals.values()].filter((each) => each.user === user).map((each) => each.modal),
    routes: [
      { method: "POST", pattern: callbackPath, open: true, run: callback },
      { method: "POST", pattern: "/webhooks/:application/:token", open: true, run: followUp },
      { method: "GET", pattern: whole, open: true, run: get },
      { method: "PATCH", pattern: whole, open: true, run: edit },
      { method: "DELETE", pattern: whole, open: true, run: remove },
    ],
    stop() {
      for (const [timer, fail] of timers) {
        clearTimeout(timer);
        fail();
      }
    },
  };
}
