import type { JournalKey } from "../core/journal-key.ts";
import { createSlots, type SlotOptions } from "./slots.ts";
import type { Lane, Load, Slot, Work } from "./wakeups.ts";

/**
 * Journals held at the same time, also by what only waits: each takes some 40 KB and, every two seconds, a renewal of its lease.
 * Above it journals are opened for people alone; whatever else is due stays in the store, where the sweep finds it again.
 */
const MAX_HELD = 1_000;

/** After so many steps a journal goes to the end of its lane: a busy thread does not keep the others waiting. */
const STEPS_IN_A_ROW = 16;

export interface SchedulerOptions extends SlotOptions {
  onError(error: unknown, key: JournalKey): void;
  /** Default `MAX_HELD`. */
  maxHeld?: number | undefined;
}

/** Resolved once the journal was looked at, or is left to the sweep. */
type Look = PromiseWithResolvers<void>;

type Waiting = { key: JournalKey; look: Look } | { held: Held; goOn(): void };

interface Held {
  readonly look: Look;
  hasSlot: boolean;
  /** It waits, and reads on before it goes on: a wake needs no look of its own. */
  readsOn: boolean;
  /** Woken while it was worked on. */
  again: { lane: Lane; look: Look } | undefined;
}

/** Says which journal is worked on next, and has none worked on twice at once. */
export function createScheduler(options: SchedulerOptions) {
  const { onError, maxHeld = MAX_HELD } = options;
  const held = new Map<JournalKey, Held>();
  const running = new Set<Promise<void>>();
  const slots = createSlots(options, begin);
  let work: Work = async () => {};
  let isStopped = false;

  const isFull = () => held.size >= maxHeld;

  function begin(waiting: Waiting, lane: Lane): boolean {
    if ("held" in waiting) {
      Object.assign(waiting.held, { hasSlot: true, readsOn: false });
      waiting.goOn();
      return true;
    }
    const { key, look } = waiting;
    if (isStopped || (isFull() && lane !== "people")) {
      look.resolve();
      return false;
    }
    const journal: Held = { look, hasSlot: true, readsOn: false, again: undefined };
    held.set(key, journal);
    const done = workOn(key, journal).finally(() => running.delete(done));
    running.add(done);
    return true;
  }

  async function workOn(key: JournalKey, journal: Held): Promise<void> {
    try {
      await work(key, createSlot(key, journal, slots));
    } catch (error) {
      onError(error, key);
    } finally {
      held.delete(key);
      leave(journal, slots);
      const { again } = journal;
      if (again !== undefined) slots.wait(key, again.lane, { key, look: again.look });
    }
  }

  return {
    isFull,
    load: (): Load => ({ ...slots.load(), held: held.size }),
    isHeld: (key: JournalKey) => held.has(key),

    /**
     * Has the journal looked at. Resolves once it was, up to where it only waits; at once when it is held and sees by itself what
     * came, and when there is no room for it.
     */
    async look(key: JournalKey, lane: Lane): Promise<void> {
      const waiting = slots.hurry(key, lane);
      const journal = held.get(key);
      if (isStopped || journal?.readsOn === true) return;
      if (journal !== undefined) {
        journal.again ??= { lane, look: Promise.withResolvers() };
        if (lane === "people") journal.again.lane = lane;
        return journal.again.look.promise;
      }
      if (waiting !== undefined) return "look" in waiting ? waiting.look.promise : undefined;
      if (isFull() && lane !== "people") return;
      const look: Look = Promise.withResolvers();
      slots.wait(key, lane, { key, look });
      return look.promise;
    },

    start(job: Work): void {
      work = job;
      isStopped = false;
      slots.start();
    },

    /** Begins nothing more, and waits for what is held. */
    async stop(): Promise<void> {
      isStopped = true;
      await Promise.all(running);
    },
  };
}

type Slots = ReturnType<typeof createSlots<Waiting>>;

function leave(journal: Held, slots: Slots): void {
  journal.look.resolve();
  if (!journal.hasSlot) return;
  journal.hasSlot = false;
  slots.giveBack();
}

function createSlot(key: JournalKey, journal: Held, slots: Slots): Slot {
  let steps = 0;

  async function lendWhile(waiting: Promise<void>, lane: () => Lane): Promise<void> {
    journal.readsOn = true;
    journal.again?.look.resolve();
    journal.again = undefined;
    leave(journal, slots);
    await waiting;
    const { promise, resolve } = Promise.withResolvers<void>();
    slots.wait(key, lane(), { held: journal, goOn: resolve });
    await promise;
    steps = 0;
  }

  return {
    lendWhile,
    async pass(lane) {
      steps += 1;
      if (steps >= STEPS_IN_A_ROW && slots.isWanted()) await lendWhile(Promise.resolve(), lane);
    },
    giveBack: () => leave(journal, slots),
  };
}
