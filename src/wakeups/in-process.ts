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
  const timers = new Set<NodeJS.Timeout>();
  let work: ((key: JournalKey) => Promise<void>) | undefined;

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

  async function sweep(): Promise<void> {
    try {
      for await (const key of due()) if (!running.has(key)) waiting.add(key);
      pump();
    } catch (error) {
      onError(error, undefined);
    }
  }

  return {
    wake(key, at) {
      const delay = at === undefined ? 0 : at - Date.now();
      if (delay > MAX_DELAY_MS) return;
      if (delay > 0) {
        const timer = setTimeout(() => {
          timers.delete(timer);
          waiting.add(key);
          pump();
        }, delay).unref();
        timers.add(timer);
        return;
      }
      waiting.add(key);
      pump();
    },

    start(job) {
      work = job;
      let sweeping = sweep();
      const timer = setInterval(() => {
        sweeping = sweeping.then(sweep);
      }, sweepMs).unref();
      return {
        async stop() {
          work = undefined;
          clearInterval(timer);
          for (const each of timers) clearTimeout(each);
          await sweeping;
          await Promise.all(running.values());
        },
      };
    },
  };
}
