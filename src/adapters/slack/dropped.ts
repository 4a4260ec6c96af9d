import { LRUCache } from "lru-cache";
import type { Logger } from "pino";
import { noticeDelivery } from "../shared/notice-ids.ts";
import { EVENTS_DROPPED } from "./phrases.ts";
import type { Place } from "./place.ts";
import type { Say } from "./say.ts";

/** Slack says it once a minute for as long as it lasts; people are told once an hour. */
const TOLD_MS = 3_600_000;

const MAX_RECENT = 5;
const RECENT_MS = 15 * 60_000;

export interface DroppedParts {
  say: Say;
  log: Logger;
}

/** Slack drops events when too many come: that is said in the log, and where people wrote lately. */
export function createDropped({ say, log }: DroppedParts) {
  const recent = new LRUCache<string, Place>({ max: MAX_RECENT, ttl: RECENT_MS });
  let toldAt = -Infinity;
  return {
    heard(place: Place): void {
      const { channel, root } = place;
      recent.set(`${channel} ${root}`, place);
    },
    /** Slack says that it drops events. Never fails. */
    async tell(): Promise<void> {
      const now = performance.now();
      if (now - toldAt < TOLD_MS) return;
      toldAt = now;
      log.error("Slack is dropping events: more than 30 000 in an hour (app_rate_limited)");
      const delivery = noticeDelivery("dropped", String(Math.floor(Date.now() / TOLD_MS)));
      for (const place of recent.rvalues()) {
        if (place !== undefined) void say(place, EVENTS_DROPPED, delivery);
      }
    },
  };
}
