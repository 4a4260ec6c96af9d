import { BotError } from "../core/errors.ts";
import type { RedisClient } from "./redis-connection.ts";

/** ZRANGE by score came with it, and BullMQ recommends it. */
const OLDEST = 6.2;

/**
 * Looks whether the server keeps what it is given, and returns a sentence for each weakness that can be lived with.
 * @throws BotError STORE_UNSAFE when it may drop entries by itself; STORE_UNAVAILABLE when it cannot be written to at all
 */
export async function examineServer(client: RedisClient, name: string): Promise<string[]> {
  const info = fields(await client.info());
  const version = info.get("redis_version") ?? "";
  if (Number.parseFloat(version) < OLDEST) {
    throw new BotError(
      "STORE_UNAVAILABLE",
      `${name} is version ${version}; ${OLDEST} or newer is needed.`,
    );
  }
  if (info.get("role") === "slave") {
    throw new BotError(
      "STORE_UNAVAILABLE",
      `${name} is a replica; point REDIS_URL at its primary.`,
    );
  }
  if (info.get("cluster_enabled") === "1") {
    const shards = fields(await client.clusterInfo()).get("cluster_size");
    if (Number(shards) > 1) {
      throw new BotError(
        "STORE_UNAVAILABLE",
        `${name} is a cluster of ${shards} shards; this version speaks to one server.`,
      );
    }
  }
  const policy = info.get("maxmemory_policy") ?? "noeviction";
  if (policy !== "noeviction" && info.get("maxmemory") !== "0") {
    throw new BotError(
      "STORE_UNSAFE",
      `${name} drops keys when its memory is full (maxmemory-policy ${policy}), approvals among them; set noeviction.`,
    );
  }
  return weaknesses(client, name, info);
}

async function weaknesses(
  client: RedisClient,
  name: string,
  info: Map<string, string>,
): Promise<string[]> {
  const [save, fsync] = await Promise.all([
    setting(client, "save"),
    setting(client, "appendfsync"),
  ]);
  if (save === undefined || fsync === undefined) {
    return [
      `${name} does not tell how it keeps its data (CONFIG is forbidden); make sure that it has appendonly yes and appendfsync always.`,
    ];
  }
  if (info.get("aof_enabled") === "1") {
    if (fsync === "always") return [];
    return [
      `${name} has appendfsync ${fsync}: when its machine stops, what was acknowledged in the last moments is lost, and a change may then be made twice; set always.`,
    ];
  }
  const kept = save === "" ? "keeps nothing over a restart" : "keeps only a snapshot now and then";
  return [
    `${name} ${kept}: what was acknowledged since is lost with it, and a change may then be made twice; set appendonly yes and appendfsync always.`,
  ];
}

/** A setting of the server, or undefined where it may not be asked. */
async function setting(client: RedisClient, name: string): Promise<string | undefined> {
  try {
    return (await client.configGet(name))[name];
  } catch {
    return undefined;
  }
}

/** How many replicas are connected, from `INFO replication`. */
export function replicasIn(info: string): number {
  return Number(fields(info).get("connected_slaves") ?? 0);
}

function fields(info: string): Map<string, string> {
  const lines = info.split("\r\n").map((line) => line.split(":"));
  return new Map(lines.map(([name = "", ...value]) => [name, value.join(":")]));
}
