import { isBody } from "./components.ts";
import { FLAGS, readNewMessage } from "./message-body.ts";
import { filledIn, readModal, type OpenModal } from "./modals.ts";
import { channelJson, memberJson, messageJson, userJson } from "./payloads.ts";
import { permissionsIn } from "./permissions.ts";
import { draftMessage, notePings, publish, type Platform } from "./platform.ts";
import { invalidForm, refusal } from "./refusals.ts";
import type { Answer, Asked, Route } from "./route.ts";
import type { Body, FakeChannel, FakeMessage, FakeUser } from "./world.ts";

/** The answers that the program gives. */
type How = "reply" | "deferUpdate" | "modal";

/** How a press or a form ended. `failed`: nobody answered in time, and Discord said "This interaction failed". */
export type Outcome = { interaction: string } & (
  | { kind: "acked"; how: How; ms: number }
  | { kind: "failed" }
);

const HOWS: Record<number, How> = {
  4: "reply",
  6: "deferUpdate",
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
      };
      known.set(id, interaction);
      byToken.set(token, interaction);
      platform.gateway.dispatch("INTERACTION_CREATE", () => payload(interaction, data));
    });
  };

  /** A message in answer to an interaction: for one person, or in the channel. */
  const answer = (interaction: Interaction, data: Body): FakeMessage => {
    const { channel, user } = interaction;
    const body = readNewMessage(data, true);
    const message = draftMessage(platform, channel, { author: world.bot, body });
    if ((message.flags & FLAGS.ephemeral) === 0) publish(platform, channel, message);
    else ephemeral.set(message.id, { user, message });
    // Without allowed_mentions an interaction's answer may mention people, and nobody else.
    notePings(platform, message, body.allowed ?? { parse: ["users"] });
    return message;
  };

  /** The first answer, by its type. @throws Refusal */
  const respond = (interaction: Interaction, how: How, data: Body): void => {
    if (how === "reply") {
      if (interaction.channel.thread?.archived === true) throw refusal("threadArchived");
      answer(interaction, data);
    } else if (how === "modal") {
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
    const named = isBody(asked.body["data"]) ? asked.body["data"] : {};
    // Files come beside the JSON.
    const sent = asked.body["attachments"];
    const data = sent === undefined ? named : { ...named, attachments: sent };
    respond(interaction, how, data);
    interaction.how = how;
    if (interaction.modal !== undefined) modals.delete(interaction.modal.id);
    const ms = Date.now() - interaction.startedAt;
    interaction.end({ interaction: interaction.id, kind: "acked", how, ms });
    return undefined;
  };

  const followUp = (asked: Asked): Answer =>
    messageJson(world, answer(tokenOf(asked), asked.body), true);

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
    ],
    stop() {
      for (const [timer, fail] of timers) {
        clearTimeout(timer);
        fail();
      }
    },
  };
}
