import type { JournalKey } from "../core/journal-key.ts";
import type { Wakeups } from "./wakeups.ts";

export interface InProcessOptions {
  due(): AsyncIterable<JournalKey>;
  onError(error: unknown, key: JournalKey | undefined): void;
  /** How often the store is asked what is due. Default 1 s. */
  sweepMs?: number;
  /** Journals worked on at the same time. Default `DEFAULT_CONCURRENCY`. */
  concurrency?: number;
}

export const DEFAULT_CONCURRENCY = 64;

/** setTimeout's longest delay; a later wake is left to the sweep. */
const MAX_DELAY_MS = 2 ** 31 - 1;

export type InProcessWakeups = ReturnType<typeof createInProcessWakeups>;

/** Wake-ups within one process: nothing outlives it, since the sweep finds everything again at the next start. */
export function createInProcessWakeups(options: InProcessOptions) {
  const { due, onError, sweepMs = 1_000, concurrency = DEFAULT_CONCURRENCY } = options;
  const waiting = new Map<JournalKey, PromiseWithResolvers<void>>();
  const running = new Map<JournalKey, Promise<void>>();
  const timers = createTimers((key) => void look(key));
  let work: ((key: JournalKey) => Promise<void>) | undefined;
  let sweeping: Promise<void> | undefined;
  let stopped = false;

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
    for (const [key, { resolve }] of waiting) {
      if (work === undefined || running.size >= concurrency) return;
      if (running.has(key)) continue;
      waiting.delete(key);
      running.set(key, workOn(key, work).finally(resolve));
    }
  }

  function wait(key: JournalKey): Promise<void> {
    const looked = waiting.get(key) ?? Promise.withResolvers<void>();
    if (stopped) looked.resolve();
    else waiting.set(key, looked);
    return looked.promise;
  }

  /** A wake that says when it was heeded: after a look that began later than this call, or when stopped. */
  function look(key: JournalKey): Promise<void> {
    timers.forget(key);
    const looked = wait(key);
    pump();
    return looked;
  }

  async function sweep(): Promise<void> {
    try {
      for await (const key of due()) if (!running.has(key)) void wait(key);
      pump();
    } catch (error) {
      onError(error, undefined);
    } finally {
      sweeping = undefined;
    }
  }

  const wakeups: Wakeups = {
    wake(key, at = 0) {
      if (at <= Date.now()) void look(key);
      else timers.set(key, at);
    },

    start(job) {
      work = job;
      stopped = false;
      sweeping = sweep();
      // A store that is slow to answer is not asked again before it has.
      const timer = setInterval(() => {
        sweeping ??= sweep();
      }, sweepMs).unref();
      return {
        async stop() {
          work = undefined;
          stopped = true;
          clearInterval(timer);
          timers.stop();
          await sweeping;
          await Promise.all(running.values());
          for (const { resolve } of waiting.values()) resolve();
          waiting.clear();
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
