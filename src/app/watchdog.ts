import type { Logger } from "pino";

/** Longer than this nothing may hold the event loop: clicks, Stops and leases wait as long. */
const HELD_MS = 100;
/** How often it is looked at; a hold shows up to this much shorter than it was. */
const LOOK_MS = 20;
/** One line for each hold would be a flood of its own. */
const QUIET_MS = 1_000;

export interface WatchdogParts {
  log: Pick<Logger, "warn">;
  atWork(): string[];
  /** How long, in ms, holds are not told of: a start loads code. Default 0. */
  afterMs?: number;
  /** Ms, only forward. Default: since the process began. */
  now?: () => number;
}

/** Is called every LOOK_MS, or later when something held the loop: then it says so in the log, at most once a second. */
export function createWatchdog(parts: WatchdogParts): () => void {
  const { log, atWork, afterMs = 0, now = () => performance.now() } = parts;
  const from = now() + afterMs;
  let due = now() + LOOK_MS;
  let toldAt = -Infinity;
  /** Since the last line in the log. */
  let held = { times: 0, longestMs: 0 };
  return () => {
    const time = now();
    const heldMs = time - due;
    due = time + LOOK_MS;
    if (heldMs >= HELD_MS && time >= from) {
      held = { times: held.times + 1, longestMs: Math.max(held.longestMs, Math.round(heldMs)) };
    }
    if (held.times === 0 || time - toldAt < QUIET_MS) return;
    log.warn({ ...held, atWork: atWork() }, "the event loop was held up");
    toldAt = time;
    held = { times: 0, longestMs: 0 };
  };
}

/** Watches the loop until it is stopped; does not keep the process alive. */
export function startWatchdog(parts: WatchdogParts): { stop(): Promise<void> } {
  const timer = setInterval(createWatchdog(parts), LOOK_MS).unref();
  return { stop: async () => clearInterval(timer) };
}
