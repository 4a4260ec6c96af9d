import type { JournalKey } from "../core/journal-key.ts";
import { createScheduler, type SchedulerOptions } from "./scheduler.ts";
import type { Lane, Wakeups } from "./wakeups.ts";

export interface InProcessOptions extends Omit<SchedulerOptions, "onError"> {
  due(): AsyncIterable<JournalKey>;
  onError(error: unknown, key: JournalKey | undefined): void;
  /** How often the store is asked what is due. Default 1 s. */
  sweepMs?: number;
}

/** setTimeout's longest delay; a later wake is left to the sweep. */
const MAX_DELAY_MS = 2 ** 31 - 1;

export type InProcessWakeups = ReturnType<typeof createInProcessWakeups>;

/** Wake-ups within one process: nothing outlives it, since the sweep finds everything again at the next start. */
export function createInProcessWakeups(options: InProcessOptions) {
  const { due, onError, sweepMs = 1_000 } = options;
  const scheduler = createScheduler(options);
  const timers = createTimers((key) => void look(key, "runs"));
  let sweeping: Promise<void> | undefined;

  /** A wake that says when it was heeded. */
  function look(key: JournalKey, lane: Lane): Promise<void> {
    timers.forget(key);
    return scheduler.look(key, lane);
  }

  async function sweep(): Promise<void> {
    try {
      for await (const key of due()) {
        if (scheduler.isFull()) return;
        if (!scheduler.isHeld(key)) void scheduler.look(key, "found");
      }
    } catch (error) {
      onError(error, undefined);
    } finally {
      sweeping = undefined;
    }
  }

  const wakeups: Wakeups = {
    load: scheduler.load,
    wake(key, at = 0, lane = "runs") {
      if (at <= Date.now()) void look(key, lane);
      else timers.set(key, at);
    },

    start(work) {
      scheduler.start(work);
      sweeping = sweep();
      // A store that is slow to answer is not asked again before it has.
      const timer = setInterval(() => {
        sweeping ??= sweep();
      }, sweepMs).unref();
      return {
        async stop() {
          clearInterval(timer);
          timers.stop();
          const ended = scheduler.stop();
          await sweeping;
          await ended;
        },
      };
    },
  };
  return { ...wakeups, look };
}

/** One timer per journal: the earliest that was set. */
function createTimers(fire: (key: JournalKey) => void) {
  const timers = new Map<JournalKey, { at: number; timer: NodeJS.Timeout }>();

  function forget(key: JournalKey): void {
    clearTimeout(timers.get(key)?.timer);
    timers.delete(key);
  }

  return {
    forget,

    set(key: JournalKey, at: number): void {
      const delay = at - Date.now();
      const known = timers.get(key);
      if (delay > MAX_DELAY_MS || (known !== undefined && known.at <= at)) return;
      clearTimeout(known?.timer);
      timers.set(key, { at, timer: setTimeout(() => fire(key), delay).unref() });
    },

    stop(): void {
      for (const { timer } of timers.values()) clearTimeout(timer);
    },
  };
}
