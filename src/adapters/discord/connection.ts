import {
  ChannelType,
  Client,
  Events,
  GatewayCloseCodes as Close,
  GatewayDispatchEvents as Dispatch,
  GatewayIntentBits as Intents,
  Options,
  Partials,
  Status,
} from "discord.js";
import type { Logger } from "pino";
import { BotError } from "../../core/errors.ts";
import type { ChatParts } from "../adapter.ts";
import { API_URL, REST_OPTIONS } from "./api.ts";
import { platformError } from "./errors.ts";
import { createQuietLog, type QuietLog } from "../shared/quiet-log.ts";
import { createSessionTurns, shardOf, type Shards, showConnected } from "./shards.ts";
import { ShieldedStrategy, shieldEvents } from "./shield.ts";
import type { Guild } from "./tenants.ts";
import { commandLine } from "../../core/installation.ts";

/** Logging in waits so long for the next shard, also for a gateway that is away and comes back. */
const LOGIN_MS = 30_000;

/** Failed attempts, half a second apart, before one is logged: Discord asks for a new connection now and then. */
const NOTABLE_ATTEMPTS = 20;

/** The library keeps few people: they are looked up each time. */
const MAX_KEPT = 200;

interface Listener {
  onMessage(event: unknown): void;
  /** A message is different now, or `isGone`: one, or several at once. */
  onChanged(event: unknown, isGone: boolean): void;
  /** Somebody's reaction came or went. */
  onReaction(event: unknown): void;
  onInteraction(event: unknown): void;
  onJoined(guild: Guild, owner: string): void;
  /**
   * A session has begun that is not an earlier one resumed: events of the servers for which `hears` is true, or of direct
   * messages, may have been missed before it.
   */
  onSession(hears: (guild: string | undefined) => boolean): void;
}

export interface ConnectionOptions {
  /** The bot's. */
  token: string;
  /** Without the version and a slash at its end. Default: Discord's own. */
  apiUrl?: string | undefined;
  /** Those that this process connects. Default: all, as many as Discord recommends. */
  shards?: Shards | undefined;
  /** So far apart processes with shards of their own begin their sessions. Default 6 s. */
  turnMs?: number | undefined;
  log: Logger;
}

type ConnectionParts = ConnectionOptions & Pick<ChatParts, "vault"> & { bot: string };

/** The bot's connection to Discord's gateway, and what it has been told of servers and channels. */
export function createConnection(parts: ConnectionParts) {
  const { token, bot, shards, log } = parts;
  const quietly = createQuietLog(log);
  let onProgress = () => {};
  const client = createClient(parts, quietly, () => onProgress());
  shieldEvents(client, quietly);
  const { channels, guilds, ws } = client;
  const guildOf = (role: string) => guilds.cache.find(({ roles }) => roles.cache.has(role));

  /** Until there was no progress for too long. @throws BotError PLATFORM_UNREACHABLE, and what the library throws */
  async function logIn(): Promise<void> {
    const { promise: silent, reject } = Promise.withResolvers<never>();
    const timer = setTimeout(() => {
      const text = `Discord's gateway did not answer within ${LOGIN_MS / 1_000} s.`;
      reject(new BotError("PLATFORM_UNREACHABLE", text));
    }, LOGIN_MS);
    onProgress = () => void timer.refresh();
    try {
      await Promise.race([client.login(token), silent]);
    } finally {
      onProgress = () => {};
      clearTimeout(timer);
    }
  }

  /** Resolves once events arrive; from then on it reconnects by itself. @throws BotError PLATFORM_REFUSED, PLATFORM_UNREACHABLE */
  async function open(listener: Listener): Promise<void> {
    let closed: number | undefined;
    let isUp = false;
    listen(client, listener, log);
    client.on(Events.ShardReady, () => onProgress());
    client.on(Events.ShardDisconnect, ({ code }, shard) => {
      closed = code;
      if (isUp)
        log.error(
          { err: closeReason(code, shards), code, shard },
          "Discord ended the connection for good",
        );
    });
    try {
      await logIn();
      isUp = true;
    } catch (error) {
      await end(client);
      if (closed !== undefined) throw closeReason(closed, shards, error);
      throw platformError(error, "the bot's login at the gateway");
    }
  }

  return {
    open,
    close: () => end(client),
    /** A shard of this process is connected. */
    isUp: () => ws.shards.some(({ status }) => status === Status.Ready),
    /** Which of this process's shards are connected, for people. Undefined where it is to connect all. */
    about: () =>
      shards && showConnected(shards, (id) => ws.shards.get(id)?.status === Status.Ready),
    /** The kind of channel; undefined for one that it has not told of, such as a thread that was archived. */
    kindOf: (id: string): number | undefined => channels.cache.get(id)?.type,
    isOwnThread(id: string): boolean {
      const found = channels.cache.get(id);
      return found?.isThread() === true && found.ownerId === bot;
    },
    role: (id: string) => guildOf(id)?.roles.cache.get(id)?.name,
    /** The role that Discord made for the bot when it was added to the server. */
    isOwnRole: (id: string) => guildOf(id)?.roles.cache.get(id)?.tags?.botId === bot,
    channel(id: string): string | undefined {
      const found = channels.cache.get(id);
      return found !== undefined && "name" in found ? (found.name ?? undefined) : undefined;
    },
    /** The bot's own threads that are not archived, with the newest message of each. */
    ownThreads: () =>
      [...channels.cache.values()].flatMap((found) =>
        found.isThread() && found.ownerId === bot && found.archived !== true
          ? [{ id: found.id, guild: found.guildId, newest: found.lastMessageId ?? undefined }]
          : [],
      ),
    /** Channels with messages of their own, with the newest of each. */
    textChannels: () =>
      [...channels.cache.values()].flatMap((found) =>
        found.type === ChannelType.GuildText || found.type === ChannelType.GuildAnnouncement
          ? [{ id: found.id, guild: found.guildId, newest: found.lastMessageId ?? undefined }]
          : [],
      ),
  };
}

export type Connection = ReturnType<typeof createConnection>;

function listen(client: Client, listener: Listener, log: Logger): void {
  // The events as they are, not as the library's objects: those need every thread to be known beforehand, and an
  // archived one that is written in again is not.
  client.ws.on(Dispatch.MessageCreate, (event: unknown) => listener.onMessage(event));
  client.ws.on(Dispatch.MessageUpdate, (event: unknown) => listener.onChanged(event, false));
  client.ws.on(Dispatch.MessageDelete, (event: unknown) => listener.onChanged(event, true));
  client.ws.on(Dispatch.MessageDeleteBulk, (event: unknown) => listener.onChanged(event, true));
  client.ws.on(Dispatch.MessageReactionAdd, (event: unknown) => listener.onReaction(event));
  client.ws.on(Dispatch.MessageReactionRemove, (event: unknown) => listener.onReaction(event));
  client.ws.on(Dispatch.InteractionCreate, (event: unknown) => listener.onInteraction(event));
  client.on(Events.GuildCreate, ({ id, name, ownerId }) =>
    listener.onJoined({ id, name }, ownerId),
  );
  let attempts = 0;
  const isBack = () => {
    if (attempts >= NOTABLE_ATTEMPTS) log.info("connected to Discord again");
    attempts = 0;
  };
  client.on(Events.ShardReady, (shard) => {
    isBack();
    const { shardCount = 1 } = client.options;
    listener.onSession((guild) => shardOf(guild, shardCount) === shard);
  });
  client.on(Events.ShardResume, isBack);
  client.on(Events.ShardReconnecting, () => {
    attempts += 1;
    const level = attempts % NOTABLE_ATTEMPTS === 0 ? "warn" : "debug";
    log[level]({ attempts }, "connecting to Discord again");
  });
  client.on(Events.ShardError, (error) => log.debug({ err: error }, "the connection had an error"));
  client.on(Events.Error, (error) => log.warn({ err: error }, "the library had an error"));
}

function createClient(
  { apiUrl, shards, vault, turnMs, log }: ConnectionParts,
  quietly: QuietLog,
  onWait: () => void,
): Client {
  return new Client({
    intents: [
      Intents.Guilds,
      Intents.GuildMessages,
      Intents.MessageContent,
      Intents.DirectMessages,
      Intents.GuildMessageReactions,
      Intents.DirectMessageReactions,
    ],
    partials: [Partials.Channel],
    ...(shards === undefined
      ? { shards: "auto" }
      : { shards: [...shards.ids], shardCount: shards.count }),
    ws: {
      buildStrategy: (manager) => new ShieldedStrategy(manager, quietly),
      // The library's own knows of one process.
      ...(shards !== undefined &&
        vault !== undefined && {
          async buildIdentifyThrottler(manager) {
            const { session_start_limit: limit } = await manager.fetchGatewayInformation();
            const concurrency = limit.max_concurrency;
            return createSessionTurns({ vault, concurrency, onWait, log, turnMs });
          },
        }),
    },
    allowedMentions: { parse: [], repliedUser: false },
    rest: { ...REST_OPTIONS, api: apiUrl ?? API_URL },
    makeCache: Options.cacheWithLimits({
      ...Options.DefaultMakeCacheSettings,
      MessageManager: 0,
      ReactionManager: 0,
      PresenceManager: 0,
      VoiceStateManager: 0,
      ThreadMemberManager: 0,
      GuildEmojiManager: 0,
      GuildStickerManager: 0,
      GuildMemberManager: {
        maxSize: MAX_KEPT,
        keepOverLimit: ({ id, client }) => id === client.user.id,
      },
      UserManager: { maxSize: MAX_KEPT, keepOverLimit: ({ id, client }) => id === client.user.id },
    }),
  });
}

/** Ends the client, also while it is connecting. */
async function end(client: Client): Promise<void> {
  client.removeAllListeners();
  client.on(Events.Error, () => {});
  client.ws.removeAllListeners();
  for (const shard of client.ws.shards.values()) {
    // The library (14.28) connects once more after `destroy` if it was about to; it then waits for this first, for ever.
    Object.assign(shard, { sessionInfo: new Promise(() => {}) });
  }
  await client.destroy();
}

const REFUSALS: Readonly<Partial<Record<number, string>>> = {
  [Close.AuthenticationFailed]:
    "the token in DISCORD_TOKEN is not valid (any more); copy it again from the application's page (Bot, Reset Token).",
  [Close.InvalidShard]:
    "it does not know this shard; start again, so that the number of shards is asked for again.",
  [Close.ShardingRequired]:
    "the bot is in too many servers for one connection; start again, so that the number of shards is asked for again.",
  [Close.InvalidIntents]:
    "it does not know what is asked for; look for a newer version of Watchkeeper.",
  [Close.DisallowedIntents]:
    'the privileged intent MessageContent is off; switch on "Message Content Intent" (Bot, Privileged Gateway Intents) at discord.com/developers/applications.',
};

/** Where the number of shards is set: starting again would change nothing. */
const REFUSALS_OF_SET: typeof REFUSALS = {
  [Close.InvalidShard]: "it does not know one of these shards; see DISCORD_SHARDS.",
  [Close.ShardingRequired]: `the bot is in too many servers for so few shards; \`${commandLine("doctor")}\` says how many Discord recommends. Set that many in DISCORD_SHARDS of every process.`,
};

function closeReason(code: number, shards: Shards | undefined, cause?: unknown): BotError {
  const why =
    (shards && REFUSALS_OF_SET[code]) ??
    REFUSALS[code] ??
    "it does not say why; look for a newer version of Watchkeeper.";
  const text = `Discord's gateway closed the connection (${code}): ${why}`;
  return new BotError("PLATFORM_REFUSED", text, { cause });
}
