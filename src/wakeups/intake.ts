import { setImmediate as turnOfLoop } from "node:timers/promises";
import { atMost } from "../core/time-limit.ts";

/** Runs wait no longer than this for events that keep coming: of the 3 s that a platform waits, one is left for their end. */
const MAX_MS = 2_000;
/**
 * Events of which none came or was acknowledged for so many looks, `LOOK_MS` apart, wait for something else than this process, such as
 * a platform, and hold up nothing. Looks are counted, not ms: a busy loop has few of them.
 */
const STUCK_LOOKS = 8;
const LOOK_MS = 4;

export type Intake = ReturnType<typeof createIntake>;

/**
 * Counts the events that wait for their acknowledgement. A platform waits 3 s for it and a run takes as long as it takes, so
 * while events come in no work is begun.
 */
export function createIntake() {
  let waiting = 0;
  /** When events began to come, and when the last was acknowledged after which none waited. */
  let since = 0;
  let restedAt = -Infinity;
  /** Events that came or were acknowledged, and how many had when they were found stuck. */
  let moves = 0;
  let stuckAt: number | undefined;
  let none = Promise.withResolvers<void>();
  let opening: Promise<void> | undefined;

  function isOpen(): boolean {
    return waiting === 0 || performance.now() - since >= MAX_MS || stuckAt === moves;
  }

  /** The acknowledgement itself goes out before anything else is begun. */
  async function open(): Promise<void> {
    let [seen, looks] = [moves, 0];
    do {
      await atMost(LOOK_MS, none.promise, () => {});
      await turnOfLoop();
      looks = moves === seen ? looks + 1 : 0;
      seen = moves;
      if (looks >= STUCK_LOOKS) stuckAt = moves;
    } while (!isOpen());
    opening = undefined;
  }

  return {
    /** Takes one event, until it may be acknowledged. */
    async receive<T>(take: () => Promise<T>): Promise<T> {
      moves += 1;
      waiting += 1;
      if (waiting === 1) {
        const now = performance.now();
        // Of events that come one right after another, no moment is a rest.
        if (now - restedAt >= LOOK_MS) since = now;
        none = Promise.withResolvers();
      }
      try {
        return await take();
      } finally {
        moves += 1;
        waiting -= 1;
        if (waiting === 0) {
          restedAt = performance.now();
          none.resolve();
        }
      }
    },

    /** Undefined when work may begin; else resolves when it may. */
    closed(): Promise<void> | undefined {
      if (opening === undefined && isOpen()) return undefined;
      return (opening ??= open());
    },
  };
}
