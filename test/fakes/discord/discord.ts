import { seededRandom } from "../../chaos/random.ts";
import { applicationFlags, applicationRoutes } from "./application-routes.ts";
import { CHANNEL_ROUTES } from "./channel-routes.ts";
import {
  furnishChannel,
  furnishGuild,
  furnishRole,
  leaveGuild,
  setMember,
  setOverwrite,
} from "./furnishing.ts";
import { Gateway, INTENTS } from "./gateway.ts";
import { GUILD_ROUTES } from "./guild-routes.ts";
import {
  type ChoiceSeen,
  createInteractions,
  type Interactions,
  type Outcome,
} from "./interactions.ts";
import { type Commands, createCommandStore, type Typed } from "./commands.ts";
import { createLimits, type Limits } from "./limits.ts";
import type { OpenModal } from "./modals.ts";
import { guildCreateJson, userJson } from "./payloads.ts";
import {
  removeMessage,
  tellChannel,
  tellMember,
  TIMES,
  type Ping,
  type Platform,
  type Times,
  tellMark,
  tellMessage,
} from "./platform.ts";
import { buttonsOf, isWritten, textOf, type ButtonSeen } from "./reading.ts";
import { sayAs, type SayOptions } from "./saying.ts";
import { RestServer, type Call, type Fault } from "./server.ts";
import { openThread, THREAD_ROUTES } from "./thread-routes.ts";
import {
  createWorld,
  dmWith,
  type FakeChannel,
  type FakeGuild,
  type FakeMessage,
  type FakeRole,
  type FakeUser,
} from "./world.ts";

export type { ButtonSeen, Call, Fault, OpenModal, Outcome, Ping, SayOptions };
export type { FakeChannel, FakeGuild, FakeMessage, FakeRole, FakeUser } from "./world.ts";
export { PERMISSIONS } from "./permissions.ts";

type Privileged = "GuildMembers" | "GuildPresences" | "MessageContent";

export interface FakeDiscordOptions {
  /** Privileged intents switched on in the developer portal. Default: MessageContent alone. */
  privileged?: readonly Privileged[];
  /** Real 429s: 5 messages per channel and window, 50 requests a second; one identify per 5 s. Default: false. */
  limits?: boolean;
  /** "Public Bot" is on. Default: false. */
  isPublic?: boolean;
  times?: Partial<Times>;
  /** Every event reaches each client so often; the copies come later, in any order. Default: 1. */
  copies?: number;
  /** Each client gets each event after a random time between these, in milliseconds. Default: at once. */
  delayMs?: readonly [number, number];
  /** What chance is drawn from. Default: 1. */
  seed?: number;
  /** The gateway refuses every identify with this code of a close. */
  refuseWith?: number;
  /** With fewer shards a connection is refused with 4011. `/gateway/bot` recommends as many. Default: 1. */
  minShards?: number;
  /** Sessions that may begin at once (`max_concurrency`). Default: 1. */
  concurrency?: number;
  /** Identifies left today. Default: 1 000. */
  identifies?: number;
  /** Edits of old messages per channel and `oldMs`, until 30046. Discord names no number. Default: 3. */
  oldEdits?: number;
  /** Requests that ended with 401, 403 or 429 in ten minutes, until the address is banned. Default: 10 000. */
  bannedFrom?: number;
  /** The clock of its rate limits, ms. Default: the real one. */
  now?: () => number;
}

/**
 * A Discord on 127.0.0.1 that an unmodified discord.js talks to, REST and gateway. It is as strict as the platform:
 * limits, codes, deadlines and permissions hold, and nothing is done that Discord would not do.
 */
export class FakeDiscord {
  readonly token: string;
  /** Who owns every guild. */
  readonly owner: FakeUser;
  readonly pings: Ping[] = [];
  readonly reactions: { messageId: string; emoji: string }[] = [];
  readonly typing: { channelId: string; at: number }[] = [];
  /** Milliseconds before each request is looked at. */
  latencyMs = 0;
  readonly #platform: Platform;
  readonly #rest: RestServer;
  readonly #interactions: Interactions;
  readonly #limits: Limits;
  /** The application's, for every guild. */
  readonly commands: Commands = createCommandStore();

  private constructor(options: FakeDiscordOptions) {
    const world = createWorld("Watchkeeper");
    const privileged = options.privileged ?? ["MessageContent"];
    const times = { ...TIMES, ...options.times };
    const identifies = options.identifies ?? 1_000;
    const flags = applicationFlags(privileged);
    const sharding = { minShards: options.minShards ?? 1, concurrency: options.concurrency ?? 1 };
    this.token = `${Buffer.from(world.bot.id).toString("base64url")}.Fake01.${"t".repeat(38)}`;
    this.#limits = createLimits(
      options.limits === true,
      times.windowMs,
      options.bannedFrom ?? 10_000,
      options.now ?? Date.now,
    );
    const allowedIntents =
      (privileged.includes("GuildMembers") ? INTENTS.guildMembers : 0) |
      (privileged.includes("GuildPresences") ? INTENTS.presences : 0) |
      (privileged.includes("MessageContent") ? INTENTS.messageContent : 0);
    const gateway = new Gateway(
      {
        token: this.token,
        allowedIntents,
        heartbeatMs: times.heartbeatMs,
        resumeUrl: () => `ws://${this.#rest.address}/resume`,
        refuseWith: options.refuseWith,
        limits: options.limits === true,
        ...sharding,
        copies: options.copies ?? 1,
        delayMs: options.delayMs ?? [0, 0],
        random: seededRandom(options.seed ?? 1),
        newId: world.newId,
        ready: () => ({
          user: userJson(world.bot),
          application: { id: world.applicationId, flags },
          guilds: [...world.guilds.values()].filter((each) => each.members.has(world.bot.id)),
        }),
        guildCreate: (id) => {
          const guild = world.guilds.get(id);
          return guild && guildCreateJson(world, guild);
        },
      },
      identifies,
    );
    this.#platform = {
      world,
      gateway,
      times,
      isPublic: options.isPublic === true,
      hasContent: privileged.includes("MessageContent"),
      hasMembers: privileged.includes("GuildMembers"),
      oldEdits: options.oldEdits ?? 3,
      pings: this.pings,
      reactions: this.reactions,
      typing: this.typing,
      nonces: new Map(),
      oldEditsAt: new Map(),
      origin: () => `http://${this.#rest.address}`,
    };
    this.#interactions = createInteractions(this.#platform, this.commands);
    this.#rest = new RestServer({
      token: this.token,
      routes: [
        ...applicationRoutes({
          flags,
          identifies,
          ...sharding,
          gatewayUrl: () => `ws://${this.#rest.address}`,
        }),
        ...GUILD_ROUTES,
        ...CHANNEL_ROUTES,
        ...THREAD_ROUTES,
        ...this.#interactions.routes,
        ...this.commands.routes,
      ],
      limits: this.#limits,
      files: world.files,
      upgrade: (request, socket, head) => gateway.upgrade(request, socket, head),
      platform: () => this.#platform,
      latencyMs: () => this.latencyMs,
    });
    this.owner = this.addUser({ name: "Owner" });
  }

  static async start(options: FakeDiscordOptions = {}): Promise<FakeDiscord> {
    const discord = new FakeDiscord(options);
    await discord.#rest.listen();
    return discord;
  }

  async stop(): Promise<void> {
    this.#interactions.stop();
    await this.#platform.gateway.close();
    await this.#rest.close();
  }

  /** For discord.js's `rest.api`. */
  get apiUrl(): string {
    return `http://${this.#rest.address}/api`;
  }

  get botUser(): FakeUser {
    return this.#platform.world.bot;
  }

  get application(): { id: string } {
    return { id: this.#platform.world.applicationId };
  }

  /** Every request, oldest first. */
  get calls(): readonly Call[] {
    return this.#rest.calls;
  }

  /** Of 401, 403 and 429 in the last ten minutes; from `bannedFrom` on the address is banned. */
  get invalidRequests(): number {
    return this.#limits.invalid;
  }

  /** Clients that have a session and a connection. */
  get connected(): number {
    return this.#platform.gateway.connected;
  }

  /** Resolves once so many clients have a session, its guilds and a connection. */
  async everyConnected(clients = 1): Promise<void> {
    await this.#platform.gateway.whenConnected(clients);
  }

  /** The bot is in it, with these permissions beside what everyone may. */
  addGuild(options: { id?: string; name?: string; botPermissions?: bigint } = {}): FakeGuild {
    return furnishGuild(this.#platform, this.owner, options);
  }

  /** The bot is thrown out of it. */
  removeGuild(guild: FakeGuild): void {
    leaveGuild(this.#platform, guild);
  }

  addUser(options: { name: string; bot?: boolean; refusesDms?: boolean }): FakeUser {
    const { world } = this.#platform;
    const user: FakeUser = {
      id: world.newId(),
      name: options.name,
      bot: options.bot === true,
      refusesDms: options.refusesDms === true,
    };
    world.users.set(user.id, user);
    return user;
  }

  /** Also changes a member that is there already. */
  addMember(
    guild: FakeGuild,
    user: FakeUser,
    options: { roles?: readonly FakeRole[]; pending?: boolean } = {},
  ): void {
    setMember(this.#platform, guild, user, options);
  }

  removeMember(guild: FakeGuild, user: FakeUser): void {
    const member = guild.members.get(user.id);
    if (member === undefined || !guild.members.delete(user.id)) return;
    tellMember(this.#platform, "GUILD_MEMBER_REMOVE", guild, member);
  }

  addRole(guild: FakeGuild, options: { name?: string; permissions?: bigint } = {}): FakeRole {
    return furnishRole(this.#platform, guild, options);
  }

  /** With `visibleTo` nobody sees it but they, the owner and, unless `withoutBot`, the bot. */
  addChannel(guild: FakeGuild, options: Parameters<typeof furnishChannel>[2]): FakeChannel {
    return furnishChannel(this.#platform, guild, options);
  }

  /** A thread without a message, by a person; a private one has no members but these. */
  addThread(
    channel: FakeChannel,
    options: { name: string; owner?: FakeUser; isPrivate?: boolean; members?: readonly FakeUser[] },
  ): FakeChannel {
    const owner = options.owner ?? this.owner;
    const isPrivate = options.isPrivate === true;
    const thread = openThread(this.#platform, channel, { name: options.name, owner, isPrivate });
    for (const member of options.members ?? []) thread.thread?.members.add(member.id);
    tellChannel(this.#platform, "THREAD_UPDATE", thread);
    return thread;
  }

  removeChannel(channel: FakeChannel): void {
    const event = channel.thread === undefined ? "CHANNEL_DELETE" : "THREAD_DELETE";
    tellChannel(this.#platform, event, channel);
    this.#platform.world.channels.delete(channel.id);
  }

  /** Allows or denies someone something in a channel, on top of what was set before. */
  overwrite(
    channel: FakeChannel,
    who: FakeRole | FakeUser,
    change: { allow?: bigint; deny?: bigint },
  ): void {
    setOverwrite(this.#platform, channel, who, change);
  }

  /** As time does, or a moderator, who may lock it too. */
  archive(channel: FakeChannel, options: { locked?: boolean } = {}): void {
    if (channel.thread === undefined) throw new Error(`${channel.name} is no thread`);
    channel.thread.archived = true;
    channel.thread.archivedAt = Date.now();
    channel.thread.locked = options.locked === true;
    tellChannel(this.#platform, "THREAD_UPDATE", channel);
  }

  openDm(user: FakeUser): FakeChannel {
    return dmWith(this.#platform.world, user);
  }

  /** A channel, thread or direct message. @throws Error for one that does not exist */
  channel(id: string): FakeChannel {
    const found = this.#platform.world.channels.get(id);
    if (found === undefined) throw new Error(`No channel ${id}`);
    return found;
  }

  /** The thread that was started from a message, if one was. */
  threadOf(messageId: string): FakeChannel | undefined {
    const found = this.#platform.world.channels.get(messageId);
    return found?.thread === undefined ? undefined : found;
  }

  /** A person writes; returns the message's id. A thread that nobody locked is unarchived by it. */
  say(user: FakeUser, channel: FakeChannel, text: string, options: SayOptions = {}): string {
    return sayAs(this.#platform, user, channel, text, options);
  }

  /** A person posts in a forum: a thread whose first message has its id. */
  post(user: FakeUser, forum: FakeChannel, title: string, text: string): FakeChannel {
    const thread = openThread(this.#platform, forum, { name: title, owner: user });
    sayAs(this.#platform, user, thread, text, { id: thread.id });
    return thread;
  }

  /** Its author writes it anew. */
  edit(messageId: string, text: string): void {
    const message = this.message(messageId);
    if (message === undefined) throw new Error(`No message ${messageId}`);
    Object.assign(message, { content: text, editedAt: Date.now(), edits: message.edits + 1 });
    tellMessage(this.#platform, "MESSAGE_UPDATE", message);
  }

  /** A person puts an emoji on a message. */
  mark(user: FakeUser, messageId: string, emoji: string): void {
    const message = this.#marked(user, messageId, emoji, false);
    message.marks.set(emoji, new Set([...(message.marks.get(emoji) ?? []), user]));
    tellMark(this.#platform, "MESSAGE_REACTION_ADD", { message, user, emoji });
  }

  unmark(user: FakeUser, messageId: string, emoji: string): void {
    const message = this.#marked(user, messageId, emoji, true);
    message.marks.get(emoji)?.delete(user);
    tellMark(this.#platform, "MESSAGE_REACTION_REMOVE", { message, user, emoji });
  }

  #marked(user: FakeUser, messageId: string, emoji: string, isThere: boolean): FakeMessage {
    const message = this.message(messageId);
    if (message === undefined) throw new Error(`No message ${messageId}`);
    if ((message.marks.get(emoji)?.has(user) === true) !== isThere)
      throw new Error(`${user.name} has ${isThere ? "no" : "a"} ${emoji} there`);
    return message;
  }

  /** A link in it is shown with its page's title: an update that nobody wrote. */
  embed(messageId: string, embed: Record<string, unknown>): void {
    const message = this.message(messageId);
    if (message === undefined) throw new Error(`No message ${messageId}`);
    message.embeds = [embed];
    tellMessage(this.#platform, "MESSAGE_UPDATE", message);
  }

  /** A moderator takes several away at once. */
  removeAll(messageIds: readonly string[]): void {
    const [first = ""] = messageIds;
    const channel = this.channel(this.message(first)?.channelId ?? "");
    for (const id of messageIds) {
      this.#platform.world.messages.delete(id);
      channel.messages.delete(id);
    }
    const gone = { ids: messageIds, channel_id: channel.id, guild_id: channel.guildId };
    this.#platform.gateway.dispatch("MESSAGE_DELETE_BULK", () => gone);
  }

  remove(messageId: string): void {
    const message = this.message(messageId);
    if (message === undefined) throw new Error(`No message ${messageId}`);
    removeMessage(this.#platform, message);
  }

  /** Presses a button that is there; resolves when it is answered, or nobody did in time. */
  async press(user: FakeUser, messageId: string, customId: string): Promise<Outcome> {
    const message = this.message(messageId) ?? this.#interactions.ephemeral(messageId);
    if (message === undefined) throw new Error(`No message ${messageId}`);
    const button = buttonsOf(message).find((each) => each.customId === customId);
    if (button === undefined) throw new Error(`No button ${customId} under "${textOf(message)}"`);
    if (button.disabled) throw new Error(`The button ${customId} is disabled`);
    return this.#interactions.press(user, message, customId);
  }

  /** Types `/wk` and sends it. @throws Error for what Discord's client would not let go */
  async give(user: FakeUser, channel: FakeChannel, typed: Typed): Promise<Outcome> {
    return this.#interactions.give(user, channel, typed);
  }

  /** Types at `/wk`; what can be chosen then. Undefined: nobody answered in time. */
  async type(
    user: FakeUser,
    channel: FakeChannel,
    typed: Typed,
  ): Promise<ChoiceSeen[] | undefined> {
    return this.#interactions.type(user, channel, typed);
  }

  /** Picks a command in the menu of a message. */
  async pick(user: FakeUser, messageId: string, name: string): Promise<Outcome> {
    const message = this.message(messageId);
    if (message === undefined) throw new Error(`No message ${messageId}`);
    return this.#interactions.pick(user, message, name);
  }

  /** Sends a form that is open; what is not in `values` stays as it was filled in. It closes when it is answered. */
  async submit(user: FakeUser, modal: OpenModal, values: Record<string, string>): Promise<Outcome> {
    return this.#interactions.submit(user, modal, values);
  }

  /** What people and bots wrote, as it stands, oldest first. */
  messages(channel: FakeChannel): FakeMessage[] {
    return [...channel.messages.values()].filter(isWritten);
  }

  /** Undefined for a deleted one, and one that only a person sees. */
  message(id: string): FakeMessage | undefined {
    return this.#platform.world.messages.get(id);
  }

  textOf(message: FakeMessage): string {
    return textOf(message);
  }

  buttonsOf(message: FakeMessage): ButtonSeen[] {
    return buttonsOf(message);
  }

  /** What only this person sees, oldest first. */
  ephemerals(user: FakeUser): FakeMessage[] {
    return this.#interactions.ephemeralsOf(user);
  }

  /** Forms that are open before this person. */
  modals(user: FakeUser): OpenModal[] {
    return this.#interactions.modalsOf(user);
  }

  dms(user: FakeUser): FakeMessage[] {
    return this.messages(this.openDm(user));
  }

  /** Breaks every connection off; with `resumable: false` the sessions are forgotten too. */
  dropConnections(options: { resumable?: boolean } = {}): void {
    this.#platform.gateway.drop(options.resumable === false);
  }

  /** An event to every client, with whatever as its data. */
  send(event: string, data: unknown): void {
    this.#platform.gateway.dispatch(event, () => data ?? null);
  }

  /** A whole frame to every client, whatever it is. */
  sendFrame(frame: unknown): void {
    this.#platform.gateway.sendFrame(frame);
  }

  /** `pattern` such as `POST /channels/:channel/messages`; a part with a colon, or `*`, is any. The first match counts. */
  fail(pattern: string, fault: Fault): void {
    this.#rest.fail(pattern, fault);
  }

  /** Takes back every fault. */
  mend(): void {
    this.#rest.mend();
  }
}
