import type { DatabaseSync } from "node:sqlite";
import { MAX_IDLE_MS, type Reservation } from "../journal.ts";
import { checkAmount, newReservation } from "../reservations.ts";

/**
 * A counter's `used` holds what was settled and what is set aside; a reservation's row is there until it is settled, so
 * that settling again finds nothing. Each verb runs inside the caller's transaction; `now` is the store's clock.
 */
export function createCounters(db: DatabaseSync) {
  const use = db.prepare(
    `INSERT INTO counter (name, used, at) SELECT ?1, ?2, ?4 WHERE ?2 <= ?3
     ON CONFLICT DO UPDATE SET used = used + ?2, at = ?4 WHERE used + ?2 <= ?3`,
  );
  const count = db.prepare("SELECT used FROM counter WHERE name = ?");
  const keep = db.prepare("INSERT INTO reservation (id, counter, amount, at) VALUES (?, ?, ?, ?)");
  const take = db.prepare("DELETE FROM reservation WHERE id = ? RETURNING counter, amount");
  const correct = db.prepare("UPDATE counter SET used = used + ?, at = ? WHERE name = ?");
  const oldCounters = db.prepare("DELETE FROM counter WHERE at < ?");
  const oldReservations = db.prepare("DELETE FROM reservation WHERE at < ?");
  return {
    reserve(counter: string, amount: number, limit: number, now: number): Reservation | undefined {
      const made = newReservation(counter, amount);
      if (use.run(counter, amount, limit, now).changes === 0) return undefined;
      keep.run(made.id, counter, amount, now);
      return made;
    },
    used: (counter: string): number => Number(count.get(counter)?.["used"] ?? 0),
    settle({ id }: Reservation, actual: number, now: number): void {
      const settled = checkAmount(actual);
      const row = take.get(id);
      if (row !== undefined)
        correct.run(settled - Number(row["amount"]), now, row["counter"] ?? "");
    },
    /** Drops what nobody used for `MAX_IDLE_MS`, so that the store does not grow for ever. */
    forget(now: number): void {
      oldCounters.run(now - MAX_IDLE_MS);
      oldReservations.run(now - MAX_IDLE_MS);
    },
  };
}
