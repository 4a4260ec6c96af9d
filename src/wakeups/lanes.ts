import type { JournalKey } from "../core/journal-key.ts";
import type { Lane } from "./wakeups.ts";

/** The first is served first. */
const LANES: readonly Lane[] = ["people", "runs", "found"];

/** One turn of so many is for those after the first, in turn: under a load that never ends they would have none. */
const FOR_THE_OTHERS = 8;

/** Journals that wait, each once: what people wait for before runs, these before what the sweep found; within a lane in turn. */
export function createLanes<T>() {
  const lanes = LANES.map((lane) => ({ lane, waiting: new Map<JournalKey, T>() }));
  const of = (lane: Lane) => lanes[LANES.indexOf(lane)]?.waiting;
  const laneOf = (key: JournalKey) => LANES.find((lane) => of(lane)?.has(key));
  let turns = 0;

  function add(key: JournalKey, lane: Lane, item: T): void {
    of(lane)?.set(key, item);
  }

  return {
    /** At the end of the lane. It must not wait already. */
    add,
    /** How many wait in each. */
    waiting: (): Record<Lane, number> => ({
      people: of("people")?.size ?? 0,
      runs: of("runs")?.size ?? 0,
      found: of("found")?.size ?? 0,
    }),
    isEmpty: () => lanes.every(({ waiting }) => waiting.size === 0),

    /** What waits for the journal, if anything does; from now on in this lane, unless its own is served earlier. */
    hurry(key: JournalKey, lane: Lane): T | undefined {
      const before = laneOf(key);
      const item = before && of(before)?.get(key);
      if (before === undefined || item === undefined) return undefined;
      if (LANES.indexOf(lane) < LANES.indexOf(before)) {
        of(before)?.delete(key);
        add(key, lane, item);
      }
      return item;
    },

    /** Whose turn it is, who then waits no longer. */
    take(): { lane: Lane; item: T } | undefined {
      turns += 1;
      const inUse = lanes.filter(({ waiting }) => waiting.size > 0);
      const others = Math.floor(turns / FOR_THE_OTHERS);
      const isOthers = turns % FOR_THE_OTHERS === 0 && inUse.length > 1;
      const next = inUse[isOthers ? inUse.length - 1 - (others % (inUse.length - 1)) : 0];
      for (const [key, item] of next?.waiting ?? []) {
        next?.waiting.delete(key);
        return next && { lane: next.lane, item };
      }
      return undefined;
    },
  };
}
