import type { DatabaseSync } from "node:sqlite";
import { setImmediate as turnOfLoop, setTimeout as sleep } from "node:timers/promises";
import { BUSY_MS, isLocked, translate } from "./connection.ts";

interface Change {
  readonly asked: number;
  work(): void;
  /** It is committed. */
  done(): void;
  fail(error: unknown): void;
}

interface Ended {
  readonly change: Change;
  readonly failed?: { readonly error: unknown };
}

/** Limits what one transaction holds back: so many changes, or so many ms. */
const MOST = 256;
const LONGEST_MS = 8;

/** Returns what commits as many of some changes as fit, in one transaction. */
function createCommit(db: DatabaseSync): (changes: readonly Change[]) => Ended[] {
  const sql = {
    begin: db.prepare("BEGIN IMMEDIATE"),
    commit: db.prepare("COMMIT"),
    rollback: db.prepare("ROLLBACK"),
    save: db.prepare("SAVEPOINT change"),
    keep: db.prepare("RELEASE change"),
    undo: db.prepare("ROLLBACK TO change"),
  };
  /** @throws what ended the whole transaction: then none of its changes is written */
  function perform(change: Change): Ended {
    sql.save.run();
    try {
      change.work();
      sql.keep.run();
      return { change };
    } catch (error) {
      // A full disk, or one that fails, makes SQLite take all of it back.
      if (!db.isTransaction) throw error;
      sql.undo.run();
      sql.keep.run();
      return { change, failed: { error } };
    }
  }

  return (changes) => {
    const ended: Ended[] = [];
    sql.begin.run();
    try {
      const began = performance.now();
      for (const change of changes) {
        ended.push(perform(change));
        if (ended.length === MOST || performance.now() - began > LONGEST_MS) break;
      }
      sql.commit.run();
      return ended;
    } catch (error) {
      if (db.isTransaction) sql.rollback.run();
      throw error;
    }
  };
}

/**
 * Group commit: what was asked for during the last transaction shares the next one. Each change is
 * all there or not at all, whatever becomes of the others, and is answered when it is committed. `onLocked` is told once
 * each time that another process is found to hold the file.
 */
export function createGroup(db: DatabaseSync, path: string, onLocked: () => void) {
  const commit = createCommit(db);
  let waiting: Change[] = [];
  let isHeld = false;
  let committing: Promise<void> | undefined;

  /** One transaction; where another process holds the file, those that have waited for their time are refused. */
  async function commitSome(): Promise<void> {
    try {
      const ended = commit(waiting);
      isHeld = false;
      waiting = waiting.slice(ended.length);
      for (const { change, failed } of ended) {
        if (failed === undefined) change.done();
        else change.fail(translate(failed.error, path));
      }
    } catch (error) {
      const wasHeld = isHeld;
      isHeld = isLocked(error);
      if (isHeld && !wasHeld) onLocked();
      const since = isHeld ? performance.now() - BUSY_MS : Infinity;
      for (const each of waiting) if (each.asked <= since) each.fail(translate(error, path));
      waiting = waiting.filter(({ asked }) => asked > since);
      if (waiting.length > 0) await sleep(1 + Math.random() * 4);
    }
  }

  async function commitAll(): Promise<void> {
    while (waiting.length > 0) {
      // What has arrived meanwhile is in it.
      await turnOfLoop();
      await commitSome();
    }
    committing = undefined;
  }

  return {
    /**
     * Runs `work`, which must not wait, in a transaction. Another process that holds the file is waited for, 2 s at most.
     * @throws what `work` throws; BotError STORE_UNAVAILABLE, STORE_FULL
     */
    run<T>(work: () => T): Promise<T> {
      return new Promise((resolve, fail) => {
        let done = () => {};
        waiting.push({
          asked: performance.now(),
          work() {
            const value = work();
            done = () => resolve(value);
          },
          done: () => done(),
          fail,
        });
        committing ??= commitAll();
      });
    },
    /** Another process held the file when it was last tried. */
    isLocked: () => isHeld,
    /** Waits until nothing waits. */
    idle: async () => committing,
  };
}
