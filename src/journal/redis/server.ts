import { BotError } from "../../core/errors.ts";
import type { Journal } from "../journal.ts";
import type { RedisClient } from "./connection.ts";

/** ZRANGE by score came with it, and BullMQ recommends it. */
const OLDEST = 6.2;
/** WAITAOF came with it. */
const TELLS_DISK = 7.2;
/** Redis' own default; longer, and a primary without replicas is trusted for too long. */
const MAX_LAG_S = 10;
/** How long a replica may take to confirm what must not be lost with the primary. */
const REPLICA_MS = 1_000;

const unavailable = (text: string) => new BotError("STORE_UNAVAILABLE", text);

/**
 * Looks whether the server keeps what it is given. `replicas`: how many are expected. Returns a sentence for each weakness that
 * can be lived with, and whether it can say when something is on its disk and its replicas' (WAITAOF).
 * @throws BotError STORE_UNSAFE when it may drop entries by itself; STORE_UNAVAILABLE when it cannot be written to at all
 */
export async function examineServer(
  client: RedisClient,
  name: string,
  replicas: number,
): Promise<{ weaknesses: string[]; tellsDisk: boolean }> {
  const info = fields(await client.info());
  const version = info.get("redis_version") ?? "";
  if (Number.parseFloat(version) < OLDEST) {
    throw unavailable(`${name} is version ${version}; ${OLDEST} or newer is needed.`);
  }
  if (info.get("role") === "slave") {
    throw unavailable(`${name} is a replica; point REDIS_URL at its primary.`);
  }
  if (info.get("cluster_enabled") === "1") {
    const shards = fields(await client.clusterInfo()).get("cluster_size");
    if (Number(shards) > 1) {
      throw unavailable(
        `${name} is a cluster of ${shards} shards; this version speaks to one server.`,
      );
    }
  }
  const policy = info.get("maxmemory_policy") ?? "noeviction";
  if (policy !== "noeviction" && info.get("maxmemory") !== "0") {
    const text = `${name} drops keys when its memory is full (maxmemory-policy ${policy}), approvals among them; set noeviction.`;
    throw new BotError("STORE_UNSAFE", text);
  }
  const weaknesses = [
    await keepingWeakness(client, name, info),
    await replicaWeakness(client, name, Math.max(replicas, connectedIn(info))),
  ];
  return {
    weaknesses: weaknesses.filter((text) => text !== undefined),
    tellsDisk: Number.parseFloat(version) >= TELLS_DISK && info.get("aof_enabled") === "1",
  };
}

/** A primary that goes on alone after it lost its replicas takes writes that a failover loses. */
async function replicaWeakness(
  client: RedisClient,
  name: string,
  replicas: number,
): Promise<string | undefined> {
  if (replicas === 0) return undefined;
  const fewest = await setting(client, "min-replicas-to-write");
  const lag = await setting(client, "min-replicas-max-lag");
  if (fewest === undefined || (Number(fewest) >= 1 && Number(lag) > 0 && Number(lag) <= MAX_LAG_S))
    return undefined;
  return `${name} takes writes while it has lost its replicas (min-replicas-to-write ${fewest}, min-replicas-max-lag ${lag}): a failover then loses them; set min-replicas-to-write 1 and min-replicas-max-lag ${MAX_LAG_S}.`;
}

async function keepingWeakness(
  client: RedisClient,
  name: string,
  info: Map<string, string>,
): Promise<string | undefined> {
  const save = await setting(client, "save");
  const fsync = await setting(client, "appendfsync");
  if (save === undefined || fsync === undefined) {
    return `${name} does not tell how it keeps its data (CONFIG is forbidden); make sure that it has appendonly yes and appendfsync always.`;
  }
  if (info.get("aof_enabled") === "1") {
    if (fsync === "always") return undefined;
    return `${name} has appendfsync ${fsync}: when its machine stops, it loses what it acknowledged in the last moments, and a change may then run twice; set always.`;
  }
  const kept = save === "" ? "keeps nothing over a restart" : "keeps only a snapshot now and then";
  return `${name} ${kept}: it loses what it acknowledged since, and a change may then run twice; set appendonly yes and appendfsync always.`;
}

/** A setting of the server, or undefined where it may not be asked. */
async function setting(client: RedisClient, name: string): Promise<string | undefined> {
  try {
    return (await client.configGet(name))[name];
  } catch {
    return undefined;
  }
}

function connectedIn(info: Map<string, string>): number {
  return Number(info.get("connected_slaves") ?? 0);
}

/**
 * How many replicas have to confirm a write: those that are expected, else one where any is connected.
 * @throws BotError STORE_UNAVAILABLE when fewer are connected than expected; Error when it is no primary any more
 */
export async function replicasNeeded(
  client: Pick<RedisClient, "info">,
  name: string,
  expected: number,
): Promise<number> {
  const info = fields(await client.info("replication"));
  if (info.get("role") === "slave") throw new Error(`READONLY ${name} is a replica now`);
  const connected = connectedIn(info);
  if (connected >= expected) return expected || Math.min(1, connected);
  throw unavailable(
    `${name} has ${connected} of its ${expected} replicas (redis.replicas); until it has them nothing is acknowledged or shown and no change begins, as a failover would lose it. Look at the replicas.`,
  );
}

/**
 * Waits until so many replicas have what this connection wrote, and so what anybody wrote before it; where the server can tell and replicas are expected, on
 * their disks and its own.
 * @throws BotError STORE_UNAVAILABLE when they do not confirm it in time
 */
export async function confirm(
  client: Pick<RedisClient, "wait" | "sendCommand">,
  name: string,
  replicas: number,
  onDisk: boolean,
): Promise<void> {
  if (replicas === 0) return;
  let [own, got] = [1, 0];
  if (onDisk) {
    const said = await client.sendCommand(["WAITAOF", "1", String(replicas), String(REPLICA_MS)]);
    [own = 0, got = 0] = Array.isArray(said) ? said.map(Number) : [];
  } else got = await client.wait(replicas, REPLICA_MS);
  if (own >= 1 && got >= replicas) return;
  const what = onDisk ? "wrote to their disks (they need appendonly yes)" : "confirmed";
  throw unavailable(
    `${got} of ${replicas} replicas of ${name} ${what} what was written within ${REPLICA_MS} ms; it may be lost in a failover. Look at the replicas.`,
  );
}

/** What the server's data takes, and how much more it may. */
export async function sizeOf(client: Pick<RedisClient, "info">): ReturnType<Journal["size"]> {
  const info = fields(await client.info("memory"));
  const bytes = Number(info.get("used_memory"));
  const most = Number(info.get("maxmemory") ?? 0);
  return { bytes, left: most === 0 ? undefined : Math.max(0, most - bytes) };
}

function fields(info: string): Map<string, string> {
  const lines = info.split("\r\n").map((line) => line.split(":"));
  return new Map(lines.map(([name = "", ...value]) => [name, value.join(":")]));
}
