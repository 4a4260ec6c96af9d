import {
  ActionRowBuilder,
  ButtonBuilder,
  ButtonStyle,
  Client,
  DiscordAPIError,
  Events,
  GatewayIntentBits,
  MessageFlags,
  Partials,
  TextDisplayBuilder,
  type ClientOptions,
  type Interaction,
  type Message,
  type TextChannel,
} from "discord.js";
import { afterEach, beforeEach } from "vitest";
import {
  FakeDiscord,
  type FakeChannel,
  type FakeDiscordOptions,
  type FakeGuild,
  type FakeUser,
} from "./discord.ts";

export const INTENTS = [
  GatewayIntentBits.Guilds,
  GatewayIntentBits.GuildMessages,
  GatewayIntentBits.MessageContent,
  GatewayIntentBits.DirectMessages,
];

/** Components V2. */
export const v2 = { flags: MessageFlags.IsComponentsV2 } as const;

export const text = (content: string): TextDisplayBuilder =>
  new TextDisplayBuilder().setContent(content);

/** A row of buttons, each labelled with its id. */
export const row = (...ids: string[]): ActionRowBuilder<ButtonBuilder> =>
  new ActionRowBuilder<ButtonBuilder>().addComponents(
    ids.map((id) => new ButtonBuilder().setCustomId(id).setLabel(id).setStyle(ButtonStyle.Primary)),
  );

/** Every message the client tells of. */
export function heard(client: Client): Message[] {
  const messages: Message[] = [];
  client.on(Events.MessageCreate, (message) => messages.push(message));
  return messages;
}

/** What Discord refused with: its code; whatever else went wrong as it is. */
export async function codeOf(promise: Promise<unknown>): Promise<unknown> {
  const error: unknown = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  return error instanceof DiscordAPIError ? error.code : error;
}

/** A Discord with a guild, a channel and a person in it, new for each test, and the clients that talk to it. */
export interface Desk {
  readonly discord: FakeDiscord;
  readonly guild: FakeGuild;
  readonly channel: FakeChannel;
  readonly ana: FakeUser;
  /** Another Discord than the one of before. */
  reopen(options: FakeDiscordOptions): Promise<void>;
  createClient(options?: Partial<ClientOptions>): Client<true>;
  /** A client that is ready. */
  login(options?: Partial<ClientOptions>): Promise<Client<true>>;
  /** The channel as the client has it. */
  textChannel(client: Client): TextChannel;
  /** Posts a message with a button `go` and returns its id; `onPress` hears of every interaction. */
  withButton(client: Client, onPress: (interaction: Interaction) => void): Promise<string>;
}

type Place = Pick<Desk, "discord" | "guild" | "channel" | "ana">;

async function open(options: FakeDiscordOptions): Promise<Place> {
  const discord = await FakeDiscord.start(options);
  const guild = discord.addGuild();
  const channel = discord.addChannel(guild, { name: "ops" });
  const ana = discord.addUser({ name: "Ana" });
  discord.addMember(guild, ana);
  return { discord, guild, channel, ana };
}

export function useDesk(): Desk {
  let place: Place;
  let clients: Client[] = [];
  beforeEach(async () => {
    clients = [];
    place = await open({});
  });
  afterEach(async () => {
    for (const client of clients) await client.destroy();
    await place.discord.stop();
  });
  const desk: Desk = {
    get discord() {
      return place.discord;
    },
    get guild() {
      return place.guild;
    },
    get channel() {
      return place.channel;
    },
    get ana() {
      return place.ana;
    },
    async reopen(options) {
      await place.discord.stop();
      place = await open(options);
    },
    createClient(options = {}) {
      const client = new Client({
        intents: INTENTS,
        partials: [Partials.Channel],
        allowedMentions: { parse: [], repliedUser: false },
        // A new identify is not held back for five seconds.
        ws: { buildIdentifyThrottler: async () => ({ waitForIdentify: async () => {} }) },
        ...options,
        rest: { api: place.discord.apiUrl, retries: 0, ...options.rest },
      });
      clients.push(client);
      return client as Client<true>;
    },
    async login(options) {
      const client = desk.createClient(options);
      const ready = new Promise((resolve) => client.once(Events.ClientReady, resolve));
      await client.login(place.discord.token);
      await ready;
      return client;
    },
    textChannel: (client) => client.channels.cache.get(place.channel.id) as TextChannel,
    async withButton(client, onPress) {
      client.on(Events.InteractionCreate, onPress);
      const message = { ...v2, components: [text("Restart?"), row("go")] };
      return (await desk.textChannel(client).send(message)).id;
    },
  };
  return desk;
}
