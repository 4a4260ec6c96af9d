import { PER_MINUTE } from "./method.ts";
import type { World } from "./world.ts";

export interface Limits {
  /** Counts a call. In how many seconds it may be repeated, when it is one too many; undefined when it may go on. */
  take(
    method: string,
    tier: keyof typeof PER_MINUTE | undefined,
    channel: unknown,
  ): number | undefined;
}

/** Slack's rate limits: so many calls of a method per minute, and one message per second in a channel. */
export function createLimits(world: World): Limits {
  const recent = new Map<string, number[]>();
  return {
    take(method, tier, channel) {
      if (!world.settings.limits || tier === undefined) return undefined;
      const isPost = method === "chat.postMessage";
      const key = isPost ? `${method} ${String(channel)}` : method;
      const windowMs = isPost ? 1_000 : 60_000;
      const most = isPost ? 1 : PER_MINUTE[tier];
      const now = world.now();
      const within = (recent.get(key) ?? []).filter((at) => now - at < windowMs);
      recent.set(key, within);
      const [oldest] = within;
      if (oldest !== undefined && within.length >= most) {
        return Math.max(1, Math.ceil((windowMs - (now - oldest)) / 1_000));
      }
      within.push(now);
      return undefined;
    },
  };
}
