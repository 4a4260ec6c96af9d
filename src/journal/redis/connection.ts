import { setTimeout as sleep } from "node:timers/promises";
import {
  ClientClosedError,
  ClientOfflineError,
  DisconnectsClientError,
  createClient,
  TimeoutError,
} from "redis";
import { BotError, type ErrorCode, isBotError, messageOf } from "../../core/errors.ts";
import { type RedisAddress, showAddress } from "./address.ts";
import { createReconnects, LONGEST_RECONNECT_MS, redisOptions } from "./clients.ts";
import { createHearing } from "./hearing.ts";
import type { Script } from "./scripts.ts";

/** How long Redis may say nothing before STORE_UNAVAILABLE, as the port promises. */
const ANSWER_MS = 2_000;
/** A connection on which nothing moves for this long is given up; a ping moves something well before. */
const SILENT_MS = 10_000;
const PING_MS = 3_000;
export type RedisClient = ReturnType<typeof create>;

/** One connection, made again for as long as it takes. While it is down, nothing waits in a queue. */
export type Connection = Awaited<ReturnType<typeof connect>>;

function create(address: RedisAddress, isKept: () => boolean) {
  const began = performance.now();
  const waits = createReconnects();
  const { socket, ...login } = redisOptions(address);
  return createClient({
    ...login,
    socket: {
      ...socket,
      socketTimeout: SILENT_MS,
      connectTimeout: ANSWER_MS,
      reconnectStrategy(tries: number, cause: Error) {
        const isWorthIt = performance.now() - began < ANSWER_MS && !isRefusal(cause);
        if (!isKept() && !isWorthIt) return cause;
        if (tries === 0) waits.reset();
        return waits.next();
      },
    },
    name: "watchkeeper",
    disableOfflineQueue: true,
    pingInterval: PING_MS,
    // Its own limit is on sending; ours is on the answer.
    commandOptions: { timeout: 0 },
  });
}

/** A client and what is known of the server at its other end. */
interface Link {
  readonly client: RedisClient;
  readonly hearing: ReturnType<typeof createHearing>;
  /** Whether it connects again for as long as it takes. */
  isKept: boolean;
  examined: Promise<void>;
  /** Why the server is not one to be used. */
  unfit: Error | undefined;
  /** What is known of why there is no connection. */
  trouble: string;
}

/** `onReady` examines the server, each time that it is connected to. */
function createLink(address: RedisAddress, onReady: (client: RedisClient) => Promise<void>): Link {
  const hearing = createHearing(ANSWER_MS);
  const client = hearing.listenTo(create(address, () => link.isKept));
  const examined = Promise.resolve();
  const link: Link = { client, hearing, isKept: false, examined, unfit: undefined, trouble: "" };
  // What is wrong with the store its verbs say.
  client.on("error", (error: unknown) => {
    link.trouble = `: ${messageOf(error)}`;
  });
  client.on("ready", () => {
    link.trouble = "";
    link.unfit = undefined;
    hearing.heard();
    link.examined = onReady(client).catch((error: unknown) => {
      link.unfit = error instanceof Error ? error : new Error(messageOf(error));
    });
  });
  return link;
}

/**
 * Connects, and keeps connected. Whatever is connected to later is examined before it is used: it may be another server.
 * `warn` is told when one that was away answers again.
 * @throws BotError STORE_UNAVAILABLE when nobody answers within 2 s or the login is refused
 */
export async function connect(
  address: RedisAddress,
  examine: (client: RedisClient) => Promise<void>,
  warn: (text: string) => void = () => {},
) {
  const name = showAddress(address);
  const watched = watchAbsence(name, warn);
  let replacedAt = -Infinity;
  let closed = false;
  let second: Link | undefined;
  let current = createLink(address, async (client) => {
    if (current.isKept) await examine(client);
  });

  /** At most once a second. */
  function replace(old: Link): void {
    const now = performance.now();
    if (closed || old !== current || now - replacedAt < LONGEST_RECONNECT_MS) return;
    replacedAt = now;
    old.client.destroy();
    current = createLink(address, examine);
    current.isKept = true;
    current.client.connect().catch(() => {});
  }

  /**
   * A server that took a request and says nothing may be beyond a dead network, which only a second connection shows. When
   * neither says anything it is only slow: the first is kept, with all that the server is about to answer.
   */
  async function compare(first: Link): Promise<void> {
    if (closed || first !== current || second !== undefined) return;
    const made = createLink(address, examine);
    second = made;
    const began = performance.now();
    await made.client.connect().catch(() => {});
    await made.examined;
    second = undefined;
    const isDead = !closed && first === current && !first.hearing.hasHeardSince(began);
    if (isDead && made.client.isReady) {
      current = made;
      made.isKept = true;
      first.client.destroy();
    } else if (made.client.isOpen) made.client.destroy();
  }

  /**
   * Does `work`, for which the server must not be silent for 2 s. While there is no connection it is tried again until then:
   * nothing was sent. Once something was, it is up to the caller to repeat it.
   * @throws BotError STORE_UNAVAILABLE, STORE_FULL, STORE_CORRUPT
   */
  async function ask<T>(work: (client: RedisClient) => Promise<T>): Promise<T> {
    for (const until = performance.now() + ANSWER_MS; ;) {
      const link = current;
      try {
        return await link.hearing.wait(
          until - performance.now(),
          link.examined.then(() => {
            if (link.unfit !== undefined) throw link.unfit;
            return work(link.client);
          }),
        );
      } catch (error) {
        const left = until - performance.now();
        const isUnfit = error === link.unfit;
        if (isUnfit || isWrongServer(error)) replace(link);
        // Nothing was sent.
        const isEarly = error instanceof ClientOfflineError || isUnfit;
        if (!isEarly || closed || left <= 0) {
          if (error instanceof TimeoutError) void compare(link);
          throw translate(error, name, link.trouble);
        }
        await sleep(Math.min(left, 10 + Math.random() * 40));
      }
    }
  }

  try {
    await current.hearing.wait(ANSWER_MS, current.client.connect());
    current.isKept = true;
    return {
      ask: <T>(work: (client: RedisClient) => Promise<T>) => watched(() => ask(work)),
      /** Connects again, at most once a second: the address may lead to another server by now. */
      renew: () => replace(current),
      close() {
        closed = true;
        for (const link of [current, second]) if (link?.client.isOpen) link.client.destroy();
      },
    };
  } catch (error) {
    if (current.client.isOpen) current.client.destroy();
    throw translate(error, name, current.trouble);
  }
}

/** Runs a script by its hash, with its text where the server does not know it. */
export async function evaluate(
  client: Pick<RedisClient, "eval" | "evalSha">,
  { text, sha }: Script,
  keys: string[],
  args: (string | Buffer)[],
): Promise<unknown> {
  const options = { keys, arguments: args };
  try {
    return await client.evalSha(sha, options);
  } catch (error) {
    if (!messageOf(error).startsWith("NOSCRIPT")) throw error;
    return client.eval(text, options);
  }
}

/** What is wrong with a server its verbs say; that it answers again, `warn` is told. */
function watchAbsence(name: string, warn: (text: string) => void) {
  let awaySince: number | undefined;
  return async function watched<T>(ask: () => Promise<T>): Promise<T> {
    const began = performance.now();
    try {
      const reply = await ask();
      if (awaySince !== undefined) {
        const seconds = (performance.now() - awaySince) / 1_000;
        awaySince = undefined;
        warn(`${name} answers again, after ${seconds.toFixed(1)} s.`);
      }
      return reply;
    } catch (error) {
      if (isBotError(error, "STORE_UNAVAILABLE")) awaySince ??= began;
      throw error;
    }
  };
}

/** It was a primary when it was connected to, and is not now; a new connection may lead to the one that is. */
function isWrongServer(error: unknown): boolean {
  return /^(?:READONLY|MASTERDOWN|LOADING|UNBLOCKED)\b/.test(messageOf(error));
}

/** Trying again does not help. */
function isRefusal(error: unknown): boolean {
  return /^(?:NOAUTH|WRONGPASS|NOPERM|ERR|DENIED)\b/.test(messageOf(error));
}

/** Redis' errors as errors an operator can act on. */
function translate(error: unknown, name: string, trouble: string): unknown {
  if (error instanceof BotError || error instanceof TypeError) return error;
  const fail = (code: ErrorCode, text: string) => new BotError(code, text, { cause: error });
  const said = messageOf(error);
  if (/^(?:OOM|MISCONF)\b/.test(said)) {
    const text = `${name} refused to write (${said}); nothing was written. Give it memory or disk space, then repeat.`;
    return fail("STORE_FULL", text);
  }
  if (/^WRONGTYPE\b|^ERR\b.*user_script/.test(said)) {
    const text = `${name} does not hold what this program wrote there (${said}); restore a backup or use a database of its own.`;
    return fail("STORE_CORRUPT", text);
  }
  const found =
    error instanceof TimeoutError
      ? `no answer within 2 s${trouble}`
      : error instanceof ClientOfflineError
        ? `there was no connection for 2 s${trouble}`
        : error instanceof ClientClosedError || error instanceof DisconnectsClientError
          ? "the connection was ended"
          : said;
  const text = `${name} could not be used (${found}); check that it runs, can be reached, and lets the user of REDIS_URL in.`;
  return fail("STORE_UNAVAILABLE", text);
}
