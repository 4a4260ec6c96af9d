import { type Commands, type Typed, typedOptions } from "./commands.ts";
import { isBody, stringOf } from "./components.ts";
import { FLAGS, readEdit, readNewMessage } from "./message-body.ts";
import { filledIn, readModal, type OpenModal } from "./modals.ts";
import { channelJson, memberJson, messageJson, userJson } from "./payloads.ts";
import { afterOwnTime } from "../own-time.ts";
import { permissionsIn } from "./permissions.ts";
import {
  applyEdit,
  draftMessage,
  notePings,
  publish,
  tellMessage,
  type Platform,
} from "./platform.ts";
import { invalidForm, refusal } from "./refusals.ts";
import type { Answer, Asked, Route } from "./route.ts";
import type { Body, FakeChannel, FakeMessage, FakeUser } from "./world.ts";

/** The answers that the program gives. */
type How = "reply" | "defer" | "deferUpdate" | "update" | "choices" | "modal";

/** How a press or a form ended. `failed`: nobody answered in time, and Discord said "This interaction failed". */
export type Outcome = { interaction: string } & (
  | { kind: "acked"; how: How; ms: number }
  | { kind: "failed" }
);

const HOWS: Record<number, How> = {
  4: "reply",
  5: "defer",
  6: "deferUpdate",
  7: "update",
  8: "choices",
  9: "modal",
};
const COMMAND = 2;
const COMPONENT_PRESS = 3;
const AUTOCOMPLETE = 4;
const MODAL_SUBMIT = 5;
const CHAT_INPUT = 1;
const ON_MESSAGE = 3;
const MAX_CHOICES = 25;

/** Which answers an interaction takes (Discord's reference, "Interaction Callback Type"). */
function takes(how: How, { type, message }: Interaction): boolean {
  if (type === AUTOCOMPLETE) return how === "choices";
  if (how === "choices") return false;
  if (how === "modal") return type !== MODAL_SUBMIT;
  return (how !== "deferUpdate" && how !== "update") || message !== undefined;
}

/** A choice of what is being typed. */
export interface ChoiceSeen {
  name: string;
  value: string;
}

function chatInput(commands: Commands, typed: Typed): Body {
  const found = commands.all.find((each) => each["name"] === "wk");
  const options = typedOptions(commands, "wk", typed);
  return { id: found?.["id"], name: "wk", type: CHAT_INPUT, options };
}

/** @throws Refusal 50035 */
function readChoices({ choices }: Body): ChoiceSeen[] {
  const list = Array.isArray(choices) ? choices.filter(isBody) : undefined;
  if (list === undefined || list.length > MAX_CHOICES) {
    const said = "Must be 25 or fewer in length.";
    throw invalidForm("data.choices", "BASE_TYPE_BAD_LENGTH", said);
  }
  return list.map((each, index) => ({
    name: stringOf(each, "name", `data.choices.${index}`, [1, 100]),
    value: stringOf(each, "value", `data.choices.${index}`, [1, 100]),
  }));
}

interface Interaction {
  readonly id: string;
  readonly token: string;
  readonly type: number;
  readonly user: FakeUser;
  readonly channel: FakeChannel;
  /** The message whose button was pressed, also of a form that a button opened. None of a command. */
  readonly message: FakeMessage | undefined;
  readonly startedAt: number;
  /** The form that is submitted. */
  readonly modal: OpenModal | undefined;
  readonly end: (outcome: Outcome) => void;
  how: How | undefined;
  /** The first answer, which may still be to come. */
  original: string | undefined;
  /** Nobody answered in time. */
  dead: boolean;
}

/** Presses and forms: who pressed what, how it was answered, and what only one person sees. */
export interface Interactions {
  press(user: FakeUser, message: FakeMessage, customId: string): Promise<Outcome>;
  submit(user: FakeUser, modal: OpenModal, values: Record<string, string>): Promise<Outcome>;
  /** Gives `/wk`. */
  give(user: FakeUser, channel: FakeChannel, typed: Typed): Promise<Outcome>;
  /** Types at it; what can be chosen then. Undefined: nobody answered in time. */
  type(user: FakeUser, channel: FakeChannel, typed: Typed): Promise<ChoiceSeen[] | undefined>;
  /** Picks a command in the menu of a message. */
  pick(user: FakeUser, message: FakeMessage, name: string): Promise<Outcome>;
  /** A message that only one person sees, if it still stands. */
  ephemeral(id: string): FakeMessage | undefined;
  ephemeralsOf(user: FakeUser): FakeMessage[];
  modalsOf(user: FakeUser): OpenModal[];
  /** What answers them. */
  readonly routes: readonly Route[];
  /** Everything that waits fails now. */
  stop(): void;
}

export function createInteractions(platform: Platform, commands: Commands): Interactions {
  const { world, times } = platform;
  const known = new Map<string, Interaction>();
  const byToken = new Map<string, Interaction>();
  const waiting = new Set<() => void>();
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
      ...(interaction.message !== undefined && {
        message: messageJson(world, interaction.message, true),
      }),
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
    message: FakeMessage | undefined,
    modal: OpenModal | undefined,
    data: Body,
    where = message?.channelId ?? "",
  ): Promise<Outcome> => {
    const channel = world.channels.get(where);
    if (channel === undefined) throw new Error("The message's channel is gone");
    if (permissionsIn(world, channel, user.id) === 0n)
      throw new Error(`${user.name} does not see it`);
    return new Promise((resolve) => {
      const id = world.newId();
      const token = Buffer.from(`interaction:${id}:${world.newId()}`).toString("base64url");
      const fail = (): void => {
        interaction.dead = true;
        interaction.end({ interaction: id, kind: "failed" });
      };
      const callOff = afterOwnTime(times.responseMs, fail);
      waiting.add(fail);
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
          callOff();
          waiting.delete(fail);
          resolve(outcome);
        },
        how: undefined,
        original: undefined,
        dead: false,
      };
      known.set(id, interaction);
      byToken.set(token, interaction);
      platform.gateway.dispatch("INTERACTION_CREATE", () => payload(interaction, data));
    });
  };

  const deferred = new Map<string, boolean>();
  const choices = new Map<string, ChoiceSeen[]>();

  /** A message in answer to an interaction: for one person, or in the channel. */
  const answer = (interaction: Interaction, data: Body, isPrivate = false): FakeMessage => {
    const { channel, user } = interaction;
    const body = readNewMessage(data, true);
    const message = draftMessage(platform, channel, { author: world.bot, body });
    if (isPrivate) message.flags |= FLAGS.ephemeral;
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
      interaction.original = answer(interaction, data).id;
    } else if (how === "defer") {
      const flags = data["flags"] ?? 0;
      // Components V2 come with what is written later.
      if (
        Object.keys(data).some((key) => key !== "flags") ||
        (flags !== 0 && flags !== FLAGS.ephemeral)
      )
        throw invalidForm("data.flags", "BASE_TYPE_CHOICES", "Only the flag EPHEMERAL can be set.");
      deferred.set(interaction.id, flags === FLAGS.ephemeral);
    } else if (how === "update" && interaction.message !== undefined) {
      applyEdit(platform, interaction.message, readEdit(data, interaction.message));
      if ((interaction.message.flags & FLAGS.ephemeral) === 0)
        tellMessage(platform, "MESSAGE_UPDATE", interaction.message);
    } else if (how === "modal") {
      const modal = readModal(interaction.id, data);
      modals.set(modal.id, { user: interaction.user, from: interaction, modal });
    } else if (how === "choices") choices.set(interaction.id, readChoices(data));
  };

  /** What the first answer was put off to; it is written by an edit, of the flag COMPONENTS V2 too. */
  const editOriginal = (asked: Asked): Answer => {
    const interaction = tokenOf(asked);
    const isPrivate = deferred.get(interaction.id);
    // The program edits only what it put off.
    if (isPrivate === undefined || interaction.original !== undefined)
      throw refusal("unknownMessage");
    const message = answer(interaction, asked.body, isPrivate);
    interaction.original = message.id;
    return messageJson(world, message, true);
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
    if (how === undefined || !takes(how, interaction)) {
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
    give: (user, channel, typed) =>
      begin(COMMAND, user, undefined, undefined, chatInput(commands, typed), channel.id),
    async type(user, channel, typed) {
      const data = chatInput(commands, typed);
      const outcome = await begin(AUTOCOMPLETE, user, undefined, undefined, data, channel.id);
      return choices.get(outcome.interaction);
    },
    pick(user, message, name) {
      const found = commands.all.find(
        (each) => each["name"] === name && each["type"] === ON_MESSAGE,
      );
      if (found === undefined) throw new Error(`No message has ${name} in its menu`);
      const shown = messageJson(world, message, true);
      const data = {
        id: found["id"],
        name,
        type: ON_MESSAGE,
        target_id: message.id,
        resolved: { messages: { [message.id]: shown } },
      };
      return begin(COMMAND, user, undefined, undefined, data, message.channelId);
    },
    press: (user, message, customId) =>
      begin(COMPONENT_PRESS, user, message, undefined, {
        custom_id: customId,
        component_type: 2,
      }),
    submit(user, modal, values) {
      const open = modals.get(modal.id);
      if (open?.user !== user) throw new Error(`${user.name} has no such form open`);
      const data = { custom_id: modal.customId, components: filledIn(modal, values) };
      return begin(MODAL_SUBMIT, user, open.from.message, modal, data, open.from.channel.id);
    },
    ephemeral: (id) => ephemeral.get(id)?.message,
    ephemeralsOf: (user) =>
      [...ephemeral.values()].filter((each) => each.user === user).map((each) => each.message),
    modalsOf: (user) =>
      [...modals.values()].filter((each) => each.user === user).map((each) => each.modal),
    routes: [
      { method: "POST", pattern: callbackPath, open: true, run: callback },
      { method: "POST", pattern: "/webhooks/:application/:token", open: true, run: followUp },
      {
        method: "PATCH",
        pattern: "/webhooks/:application/:token/messages/@original",
        open: true,
        run: editOriginal,
      },
    ],
    stop() {
      for (const fail of waiting) fail();
    },
  };
}
