import { setTimeout as sleep } from "node:timers/promises";
import {
  ClientClosedError,
  ClientOfflineError,
  DisconnectsClientError,
  createClient,
  TimeoutError,
} from "redis";
import { BotError, type ErrorCode, messageOf } from "../../core/errors.ts";
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

function create(address: RedisAddress, isOpened: () => boolean) {
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
        if (!isOpened() && !isWorthIt) return cause;
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

/**
 * Connects, and keeps connected. Whatever is connected to later is examined before it is used: it may be another server.
 * @throws BotError STORE_UNAVAILABLE when nobody answers within 2 s or the login is refused
 */
export async function connect(
  address: RedisAddress,
  examine: (client: RedisClient) => Promise<void>,
) {
  const name = showAddress(address);
  let examined = Promise.resolve();
  /** Why the server at the other end is not one to be used. */
  let unfit: Error | undefined;
  let replacedAt = -Infinity;
  let opened = false;
  let closed = false;
  /** What is known of why there is no connection. */
  let trouble = "";
  const hearing = createHearing(ANSWER_MS);
  let client = start();

  function start(): RedisClient {
    const made = hearing.listenTo(create(address, () => opened));
    // What is wrong with the store its verbs say.
    made.on("error", (error: unknown) => {
      trouble = `: ${messageOf(error)}`;
    });
    made.on("ready", () => {
      trouble = "";
      unfit = undefined;
      hearing.heard();
      if (!opened) return;
      examined = examine(made).catch((error: unknown) => {
        unfit = error instanceof Error ? error : new Error(messageOf(error));
      });
    });
    return made;
  }

  function replace(old: RedisClient): void {
    const now = performance.now();
    if (closed || old !== client || now - replacedAt < LONGEST_RECONNECT_MS) return;
    replacedAt = now;
    old.destroy();
    client = start();
    client.connect().catch(() => {});
  }

  /**
   * Does `work`, for which the server must not be silent for 2 s. While there is no connection it is tried again until then:
   * nothing was sent. Once something was, it is up to the caller to repeat it.
   * @throws BotError STORE_UNAVAILABLE, STORE_FULL, STORE_CORRUPT
   */
  async function ask<T>(work: (client: RedisClient) => Promise<T>): Promise<T> {
    for (const until = performance.now() + ANSWER_MS; ;) {
      const asked = client;
      try {
        return await hearing.wait(
          until - performance.now(),
          examined.then(() => {
            if (unfit !== undefined) throw unfit;
            return work(asked);
          }),
        );
      } catch (error) {
        const left = until - performance.now();
        const isUnfit = error === unfit;
        // One that took a request and says nothing may be beyond a dead network, which only a new connection shows.
        if (isUnfit || isWrongServer(error) || error instanceof TimeoutError) replace(asked);
        // Nothing was sent.
        const isEarly = error instanceof ClientOfflineError || isUnfit;
        if (!isEarly || closed || left <= 0) throw translate(error, name, trouble);
        await sleep(Math.min(left, 10 + Math.random() * 40));
      }
    }
  }

  try {
    await hearing.wait(ANSWER_MS, client.connect());
    opened = true;
    return {
      ask,
      /** Connects again, at most once a second: the address may lead to another server by now. */
      renew: () => replace(client),
      close() {
        closed = true;
        client.destroy();
      },
    };
  } catch (error) {
    if (client.isOpen) client.destroy();
    throw translate(error, name, trouble);
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
