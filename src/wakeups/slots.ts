import type { JournalKey } from "../core/journal-key.ts";
import type { Intake } from "./intake.ts";
import { createLanes } from "./lanes.ts";
import type { Lane } from "./wakeups.ts";

/** Journals that are worked on at the same time; one that only waits is not counted. */
export const SLOTS = 64;

export interface SlotOptions {
  /** Holds work back while events wait for their acknowledgement. Default: nothing does. */
  intake?: Pick<Intake, "closed"> | undefined;
  /** Default `SLOTS`. */
  slots?: number | undefined;
}

/** Gives slots to those that wait for one, in their turn. `begin`: it has one now; false: it needs none any more. */
export function createSlots<T>(
  { intake, slots = SLOTS }: SlotOptions,
  begin: (item: T, lane: Lane) => boolean,
) {
  const lanes = createLanes<T>();
  let isStarted = false;
  let isHeldBack = false;
  let taken = 0;

  function pump(): void {
    for (;;) {
      if (!isStarted || taken === slots || lanes.isEmpty() || mustWait()) return;
      const next = lanes.take();
      taken += 1;
      if (next === undefined || !begin(next.item, next.lane)) taken -= 1;
    }
  }

  function mustWait(): boolean {
    const opened = isHeldBack ? undefined : intake?.closed();
    if (opened !== undefined) void holdBack(opened);
    return isHeldBack;
  }

  async function holdBack(opened: Promise<void>): Promise<void> {
    isHeldBack = true;
    await opened;
    isHeldBack = false;
    pump();
  }

  return {
    hurry: lanes.hurry,
    load: () => ({ slots, busy: taken, waiting: lanes.waiting() }),
    isWanted: () => !lanes.isEmpty(),

    /** Waits for a slot, from when they are given out. */
    wait(key: JournalKey, lane: Lane, item: T): void {
      lanes.add(key, lane, item);
      pump();
    },

    giveBack(): void {
      taken -= 1;
      pump();
    },

    start(): void {
      isStarted = true;
      pump();
    },
  };
}
