import { createBackoff } from "../../core/backoff.ts";
import type { RedisAddress } from "./address.ts";

/** How both clients reach and log in to the server of `REDIS_URL`, and how long they wait before they try again. */

export function redisOptions({ at, database, ...login }: RedisAddress) {
  return {
    // `tls: false` tells a socket's path from a host to the client's types.
    socket:
      at.kind === "unix"
        ? { path: at.path, tls: false as const }
        : { host: at.host, port: at.port, ...(at.tls && { tls: true as const }) },
    ...loginOf(login),
    database,
  };
}

/** The same for `ioredis`, the client of BullMQ. */
export function ioredisOptions({ at, database, ...login }: RedisAddress) {
  return {
    ...(at.kind === "unix"
      ? { path: at.path }
      : { host: at.host, port: at.port, ...(at.tls && { tls: {} }) }),
    ...loginOf(login),
    db: database,
  };
}

function loginOf({ username, password }: Pick<RedisAddress, "username" | "password">) {
  return {
    ...(username !== undefined && { username }),
    ...(password !== undefined && { password }),
  };
}

export const LONGEST_RECONNECT_MS = 1_000;

/** From 50 ms doubling to a second: a server that blinks is soon asked again, one that is down not too often. */
export function createReconnects() {
  return createBackoff(50, LONGEST_RECONNECT_MS);
}
