import type { JournalKey } from "../core/journal-key.ts";
import type { Wakeups } from "./wakeups.ts";

export interface InProcessOptions {
  due(): AsyncIterable<JournalKey>;
  onError(error: unknown, key: JournalKey | undefined): void;
  /** How often the store is asked what is due. Default 1 s. */
  sweepMs?: number;
  /** Journals worked on at the same time. Default 64. */
  concurrency?: number;
}

/** setTimeout's longest delay; a later wake is left to the sweep. */
const MAX_DELAY_MS = 2 ** 31 - 1;

/** Wake-ups within one process: nothing outlives it, since the sweep finds everything again at the next start. */
export function createInProcessWakeups(options: InProcessOptions): Wakeups {
  const { due, onError, sweepMs = 1_000, concurrency = 64 } = options;
  const waiting = new Set<JournalKey>();
  const running = new Map<JournalKey, Promise<void>>();
  /** The next wake of each journal that is not due yet. */
  const timers = new Map<JournalKey, { at: number; timer: NodeJS.Timeout }>();
  let work: ((key: JournalKey) => Promise<void>) | undefined;
  let sweeping: Promise<void> | undefined;

  async function workOn(key: JournalKey, job: (key: JournalKey) => Promise<void>): Promise<void> {
    try {
      await job(key);
    } catch (error) {
      onError(error, key);
    } finally {
      running.delete(key);
      pump();
    }
  }

  function pump(): void {
    for (const key of waiting) {
      if (work === undefined || running.size >= concurrency) return;
      if (running.has(key)) continue;
      waiting.delete(key);
      running.set(key, workOn(key, work));
    }
  }

  function look(key: JournalKey): void {
    clearTimeout(timers.get(key)?.timer);
    timers.delete(key);
    waiting.add(key);
    pump();
  }

  async function sweep(): Promise<void> {
    try {
      for await (const key of due()) if (!running.has(key)) waiting.add(key);
      pump();
    } catch (error) {
      onError(error, undefined);
    } finally {
      sweeping = undefined;
    }
  }

  return {
    wake(key, at = 0) {
      const delay = at - Date.now();
      if (delay <= 0) look(key);
      if (delay <= 0 || delay > MAX_DELAY_MS) return;
      const known = timers.get(key);
      if (known !== undefined && known.at <= at) return;
      clearTimeout(known?.timer);
      timers.set(key, { at, timer: setTimeout(() => look(key), delay).unref() });
    },

    start(job) {
      work = job;
      sweeping = sweep();
      // A store that is slow to answer is not asked again before it has.
      const timer = setInterval(() => {
        sweeping ??= sweep();
      }, sweepMs).unref();
      return {
        async stop() {
          work = undefined;
          clearInterval(timer);
          for (const each of timers.values()) clearTimeout(each.timer);
          await sweeping;
          await Promise.all(running.values());
        },
      };
    },
  };
}
