import {
  appendFileSync,
  copyFileSync,
  existsSync,
  readFileSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { BotError } from "../../src/core/errors.ts";
import type { Journal } from "../../src/journal/journal.ts";
import type { Sync } from "../../src/journal/sqlite/flush.ts";
import { openSqliteJournal } from "../../src/journal/sqlite/journal.ts";

/** Beside a store: how much of its log was on the disk after each flush, and whether the power is off. */
const flushedOf = (store: string) => `${store}.flushed`;
const offOf = (store: string) => `${store}.off`;
const logOf = (store: string) => `${store}-wal`;

/** How every process of a machine flushes: it notes what the disk has from then on. Once the power is off no flush ends. */
export function flushTo(store: string): Sync {
  return async (log) => {
    const { size } = await log.stat();
    appendFileSync(flushedOf(store), `${size}\n`);
    // Looked at last: what ended before the power went is on the disk.
    if (existsSync(offOf(store))) await Promise.withResolvers().promise;
  };
}

/** From now on nothing reaches the disk, whoever runs on for another moment. */
export function cutPower(store: string): void {
  writeFileSync(offOf(store), "");
}

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
  /** Keeps SQLite from moving its log into the file, so that its length says all. */
  pin: DatabaseSync | undefined;
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
      copyFileSync(life.store, next);
      writeFileSync(logOf(next), readFileSync(logOf(life.store)).subarray(0, flushed(life.store)));
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
  const life: Life = { store, journal, pin: undefined, isUp: true, death };
  if (!mortal) return life;
  life.pin = new DatabaseSync(store, { readOnly: true });
  life.pin.exec("BEGIN; SELECT count(*) FROM journal");
  // The empty store is there for good.
  appendFileSync(flushedOf(store), `${statSync(logOf(store)).size}\n`);
  return life;
}

async function end({ journal, pin }: Life): Promise<void> {
  pin?.close();
  await journal.close();
}

function flushed(store: string): number {
  return Math.max(...readFileSync(flushedOf(store), "utf8").split("\n").map(Number));
}
