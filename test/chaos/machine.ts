import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { BotError } from "../../src/core/errors.ts";
import type { Journal } from "../../src/journal/journal.ts";
import { openSqliteJournal } from "../../src/journal/sqlite/journal.ts";
import { cutPower, flushTo, keepFlushed, watchLog } from "./power.ts";

/** The machine of a batch: it may die, with its processes and what was not flushed, and is started again. */
export interface Machine {
  /** The store's file since it was started last. */
  readonly store: string;
  /** The parent's own handle on it. */
  readonly journal: Journal;
  /** When it died, ms since 1970. */
  readonly deaths: readonly number[];
  /**
   * What is asked of the store while the machine is up.
   * @throws BotError STORE_UNAVAILABLE when it died meanwhile, and until it is up
   */
  ask<T>(work: (journal: Journal) => Promise<T>): Promise<T>;
  cutPower(): void;
  /** Starts it again, once all its processes are dead, with what was flushed. */
  restart(): Promise<void>;
  close(): Promise<void>;
}

interface Life {
  store: string;
  journal: Journal;
  watch: { close(): void } | undefined;
  isUp: boolean;
  death: PromiseWithResolvers<never>;
}

/** `mortal`: it is to die at some time. Without that SQLite keeps house as usual. */
export async function startMachine(folder: string, mortal: boolean): Promise<Machine> {
  const deaths: number[] = [];
  let life = await start(join(folder, "watchkeeper.db"), mortal);

  return {
    get store() {
      return life.store;
    },
    get journal() {
      return life.journal;
    },
    deaths,
    async ask(work) {
      const { journal, isUp, death } = life;
      return Promise.race([isUp ? work(journal) : death.promise, death.promise]);
    },
    cutPower() {
      cutPower(life.store);
      life.isUp = false;
      life.death.reject(new BotError("STORE_UNAVAILABLE", "The machine is dead."));
    },
    async restart() {
      deaths.push(Date.now());
      const next = join(folder, `life-${deaths.length + 1}`, "watchkeeper.db");
      await mkdir(join(next, ".."));
      keepFlushed(life.store, next);
      await end(life);
      life = await start(next, mortal);
    },
    close: () => end(life),
  };
}

async function start(store: string, mortal: boolean): Promise<Life> {
  const journal = await openSqliteJournal({ path: store, sync: flushTo(store) });
  const death = Promise.withResolvers<never>();
  death.promise.catch(() => {}); // whoever waits for it hears of it
  return { store, journal, watch: mortal ? watchLog(store) : undefined, isUp: true, death };
}

async function end({ journal, watch }: Life): Promise<void> {
  watch?.close();
  await journal.close();
}
