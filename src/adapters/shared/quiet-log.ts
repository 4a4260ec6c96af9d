import { LRUCache } from "lru-cache";
import type { Logger } from "pino";

const QUIET_MS = 60_000;
const MAX_KINDS = 1_000;

/** Logs as a warning what others can cause as often as they like: the same `text` about the same `about` once a minute. */
export type QuietLog = (text: string, about: string, error?: unknown) => void;

export function createQuietLog(log: Logger): QuietLog {
  const logged = new LRUCache<string, true>({ ttl: QUIET_MS, max: MAX_KINDS });
  return (text, about, error) => {
    const key = `${text} ${about}`;
    if (logged.has(key)) return;
    logged.set(key, true);
    log.warn({ about, ...(error !== undefined && { err: error }) }, text);
  };
}
