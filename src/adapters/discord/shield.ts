import { type Client, GatewayDispatchEvents as Dispatch, SimpleShardingStrategy } from "discord.js";
import type { QuietLog } from "../shared/quiet-log.ts";

/**
 * The library (14.28) handles events outside of any awaited promise: an exception there, as for an interaction without
 * `entitlements`, ends the process. Here the event is dropped and logged.
 */

const DROPPED = "an event that the library could not handle was dropped";

/** Interactions are handled here, so the library does not get them. */
const OURS: ReadonlySet<unknown> = new Set([Dispatch.InteractionCreate]);

/** For the client's options: every frame that comes over the gateway. */
export class ShieldedStrategy extends SimpleShardingStrategy {
  readonly #log: QuietLog;

  constructor(manager: ConstructorParameters<typeof SimpleShardingStrategy>[0], log: QuietLog) {
    super(manager);
    this.#log = log;
  }

  override async spawn(shardIds: number[]): Promise<void> {
    await super.spawn(shardIds);
    const shards: unknown = Reflect.get(this, "shards");
    if (!(shards instanceof Map)) return;
    for (const shard of shards.values()) {
      wrap(shard, "onMessage", async (handle) => {
        try {
          await handle();
        } catch (error) {
          this.#log(DROPPED, "gateway", error);
        }
      });
    }
  }
}

/** For the client itself: events that it keeps until it is ready. */
export function shieldEvents({ ws }: Client, log: QuietLog): void {
  wrap(ws, "handlePacket", (handle, packet) => {
    const kind: unknown =
      typeof packet === "object" && packet !== null ? Reflect.get(packet, "t") : undefined;
    if (OURS.has(kind)) return true;
    try {
      return handle();
    } catch (error) {
      log(DROPPED, String(kind), error);
      return true;
    }
  });
}

/** Puts `around` round a method of this object. */
function wrap(
  target: unknown,
  name: string,
  around: (handle: () => unknown, first: unknown) => unknown,
): void {
  if (typeof target !== "object" || target === null) return;
  const method: unknown = Reflect.get(target, name);
  if (typeof method !== "function") return;
  const own = (...args: unknown[]) => around(() => Reflect.apply(method, target, args), args[0]);
  Object.assign(target, { [name]: own });
}
