import { setTimeout as wait } from "node:timers/promises";
import type { Logger } from "pino";
import type { Vault } from "../adapter.ts";

/*
 * Discord spreads the servers that a bot is in over as many connections as it asks for, its shards, each of which hears only its
 * own; direct messages come over the first.
 */

/** Those that this process connects, of how many there are. */
export interface Shards {
  ids: readonly number[];
  count: number;
}

/** Discord gives each about 1 000 servers. */
const MAX_COUNT = 1_000;

const FORM = /^(\d{1,4})(?:-(\d{1,4}))?\/(\d{1,4})$/;

/** Reads `0-3/8` or `2/8`. A sentence: what is wrong with it. */
export function readShards(text: string): Shards | string {
  const [whole, from, to = from, of] = FORM.exec(text.trim()) ?? [];
  if (whole === undefined)
    return "expected the shards of this process and how many there are, such as 0-3/8";
  const [first, last, count] = [Number(from), Number(to), Number(of)];
  if (count < 1 || count > MAX_COUNT) return `expected 1 to ${MAX_COUNT} shards after the slash`;
  if (last >= count)
    return `there is no shard ${last} of ${count}: they are numbered from 0 to ${count - 1}`;
  if (first > last) return `${first} comes after ${last}; write ${last}-${first}/${count}`;
  return { ids: Array.from({ length: last - first + 1 }, (_, i) => first + i), count };
}

/** The one that hears a server; of a direct message the first. */
export function shardOf(guild: string | undefined, count: number): number {
  return guild === undefined ? 0 : Number((BigInt(guild) >> 22n) % BigInt(count));
}

/** `shard 2 of 8`, `shards 0-3 of 8` */
export function showShards({ ids, count }: Shards): string {
  return `${ids.length === 1 ? "shard" : "shards"} ${listed(ids)} of ${count}`;
}

/** `0-3`, `0, 2, 5` */
function listed(ids: readonly number[]): string {
  const [first, last] = [ids[0] ?? 0, ids.at(-1) ?? 0];
  const isRange = ids.length > 1 && last - first === ids.length - 1;
  return isRange ? `${first}-${last}` : ids.join(", ");
}

/** Which of those that are to be connected are, for people. */
export function showConnected(shards: Shards, isUp: (id: number) => boolean): string {
  const down = shards.ids.filter((id) => !isUp(id));
  if (down.length === 0) return `${showShards(shards)}, connected`;
  const verb = down.length === 1 ? "is" : "are";
  return `${showShards(shards)}, of which ${listed(down)} ${verb} not connected`;
}

/** Discord lets a bot begin a session every 5 s; the clocks of machines differ a little. */
const TURN_MS = 6_000;

export interface TurnParts {
  vault: Pick<Vault, "once">;
  /** So many shards may begin a session at once, those with different remainders. */
  concurrency: number;
  onWait(): void;
  log: Logger;
  turnMs: number | undefined;
}

/**
 * Lets the processes of a store begin their sessions one after the other: Discord counts those of the bot, and refuses one that comes
 * too soon. Each takes the next span of time that nobody has taken.
 */
export function createSessionTurns({
  vault,
  concurrency,
  onWait,
  log,
  turnMs = TURN_MS,
}: TurnParts) {
  return {
    async waitForIdentify(shard: number, signal: AbortSignal): Promise<void> {
      for (;;) {
        onWait();
        const turn = Math.floor(Date.now() / turnMs) + 1;
        await wait(turn * turnMs - Date.now(), undefined, { signal });
        try {
          if (await vault.once(`discord:session:${shard % concurrency}:${turn}`)) return;
        } catch (error) {
          // Without the store Discord says when it is too soon, and the library tries again.
          log.debug({ err: error }, "a session begins without a turn");
          return;
        }
      }
    },
  };
}
