import { onTestFinished } from "vitest";
import type { Change, Ledger, Saying } from "../../src/incidents/incident.ts";
import { createLedger } from "../fakes/ledger.ts";
import type { Journal } from "../../src/journal/journal.ts";
import { openMemoryJournal } from "../fakes/memory-journal.ts";

export const START = Date.parse("2026-11-20T12:00:00Z");
export const MINUTE = 60_000;

export interface Stage {
  journal: Journal;
  ledger: Ledger;
  /** The store's clock. */
  clock: { now: number };
  /** A new call, made now. */
  saying(changes?: Partial<Saying>): Saying;
  /** Opens one, and returns its id. */
  open(title?: string, change?: Change, from?: Partial<Saying>): Promise<string>;
}

/** A ledger over a store in memory, whose clock the test moves. */
export async function createStage(encode = (text: string) => text): Promise<Stage> {
  const clock = { now: START };
  const journal = openMemoryJournal({ now: () => clock.now });
  onTestFinished(() => journal.close());
  const ledger = createLedger(journal, encode);
  let calls = 0;
  const saying = (changes: Partial<Saying> = {}): Saying => ({
    actor: { account: "test:ana", name: "Ana" },
    thread: "test:thread",
    call: `r1.t${++calls}`,
    link: undefined,
    audience: undefined,
    tenants: ["test"],
    at: clock.now,
    ...changes,
  });
  return {
    journal,
    ledger,
    clock,
    saying,
    async open(title = "Checkout fails", change = {}, from = {}) {
      const { id } = await ledger.open(saying(from), { ...change, title });
      return id;
    },
  };
}
