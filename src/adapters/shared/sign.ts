import { LRUCache } from "lru-cache";

/** What a thread is doing, for the platform's own status line. */
export type ThreadStatus = "working" | "waiting" | "idle";

/** An answer that is there by then needs no sign before it. */
const SIGN_AFTER_MS = 500;
/** A run that says nothing for so long is not kept alive here: another process may have it by now. */
const MAX_SILENCE_MS = 180_000;
/** Threads whose status is remembered; each is small. */
const MAX_THREADS = 1_000;

export interface SignParts<Place> {
  keyOf(place: Place): string;
  /** Shows the status at once or not at all; never fails. */
  show(place: Place, status: ThreadStatus): void;
  /** How often a platform has to be told again that work goes on. */
  renewMs: number;
}

interface Sign {
  /** The runs at work, and when each was last heard of. */
  readonly runs: Map<string, number>;
  timer: NodeJS.Timeout | undefined;
  /** What was shown last; undefined: nothing by this process. */
  shown: ThreadStatus | undefined;
}

/**
 * The sign of life that is no message: a thread's status while its runs are at work. An ornament: it may be lost, and
 * nothing waits for it.
 */
export function createSign<Place>({ keyOf, show, renewMs }: SignParts<Place>) {
  const signs = new LRUCache<string, Sign>({
    max: MAX_THREADS,
    dispose: ({ timer }) => clearTimeout(timer),
  });
  let stopped = false;

  function signOf(place: Place): Sign {
    const key = keyOf(place);
    const known = signs.get(key);
    if (known !== undefined) return known;
    const sign: Sign = { runs: new Map(), timer: undefined, shown: undefined };
    signs.set(key, sign);
    return sign;
  }

  function change(place: Place, sign: Sign, status: ThreadStatus): void {
    clearTimeout(sign.timer);
    sign.timer = undefined;
    sign.shown = status;
    if (!stopped) show(place, status);
  }

  function renew(place: Place, sign: Sign): void {
    const oldest = performance.now() - MAX_SILENCE_MS;
    for (const [run, heardAt] of sign.runs) if (heardAt < oldest) sign.runs.delete(run);
    sign.timer = undefined;
    if (sign.runs.size === 0 || stopped) return;
    change(place, sign, "working");
    later(place, sign, renewMs);
  }

  function later(place: Place, sign: Sign, ms: number): void {
    sign.timer = setTimeout(() => renew(place, sign), ms);
    sign.timer.unref();
  }

  return {
    /** The run is at work: half a second later its thread says so. */
    works(place: Place, run: string): void {
      if (stopped) return;
      const sign = signOf(place);
      sign.runs.set(run, performance.now());
      if (sign.timer === undefined) later(place, sign, SIGN_AFTER_MS);
    },
    /** People are asked; what else is at work says so with its next step. */
    waits(place: Place, run?: string): void {
      const sign = signOf(place);
      if (run === undefined) sign.runs.clear();
      else sign.runs.delete(run);
      if (sign.runs.size === 0 && sign.shown !== "waiting") change(place, sign, "waiting");
    },
    /** The run is answered. `isSure`: no other process can have shown a status for it. */
    ends(place: Place, run: string, isSure: boolean): void {
      const sign = signOf(place);
      sign.runs.delete(run);
      if (sign.runs.size > 0) return;
      clearTimeout(sign.timer);
      sign.timer = undefined;
      const isShown = sign.shown !== undefined && sign.shown !== "idle";
      if (isShown || !isSure) change(place, sign, "idle");
    },
    stop(): void {
      stopped = true;
      signs.clear();
    },
  };
}

export type ThreadSign<Place> = ReturnType<typeof createSign<Place>>;
