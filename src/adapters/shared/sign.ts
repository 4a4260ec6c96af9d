import { LRUCache } from "lru-cache";

/** What a thread is doing, for the platform's own status line. `answered`: nothing more, and its message stands below the status. */
export type ThreadStatus = "working" | "waiting" | "answered" | "idle";

/** An answer that is there by then needs no sign before it. */
const SIGN_AFTER_MS = 500;
/** A run that says nothing for so long is not kept alive here: another process may have it by now. */
const MAX_SILENCE_MS = 180_000;
/** Threads whose status is remembered; each is small. */
const MAX_THREADS = 1_000;
/** Statuses under way. When more threads begin at once, the others wait, and what is answered meanwhile needs none. */
const AT_ONCE = 4;

export interface SignParts<Place> {
  keyOf(place: Place): string;
  /**
   * Shows the status once or not at all; never fails. Of one thread they come one after the other. `isSure`: what was shown before
   * was shown here.
   */
  show(place: Place, status: ThreadStatus, isSure: boolean): Promise<void>;
  /** How often a platform has to be told again that work goes on. */
  renewMs: number;
}

interface Sign<Place> {
  readonly place: Place;
  /** The runs at work, and when each was last heard of. */
  readonly runs: Map<string, number>;
  timer: NodeJS.Timeout | undefined;
  /** What was shown last; undefined: nothing by this process. */
  shown: ThreadStatus | undefined;
  /** What is to be shown next. */
  next: { status: ThreadStatus; isSure: boolean } | undefined;
  isUnderWay: boolean;
  /** When the last was through. */
  throughAt: number;
}

/** Shows of each thread what is to be shown last, a few threads at a time. */
function createShowing<Place>(show: SignParts<Place>["show"]) {
  const waiting = new Set<Sign<Place>>();
  let underWay = 0;

  function pump(): void {
    for (const sign of waiting) {
      if (underWay >= AT_ONCE) return;
      if (!sign.isUnderWay) void showNext(sign);
    }
  }

  async function showNext(sign: Sign<Place>): Promise<void> {
    const { next } = sign;
    drop(sign);
    if (next === undefined) return;
    const { status, isSure } = next;
    Object.assign(sign, { shown: status, isUnderWay: true });
    underWay += 1;
    await show(sign.place, status, isSure);
    underWay -= 1;
    Object.assign(sign, { isUnderWay: false, throughAt: performance.now() });
    pump();
  }

  function drop(sign: Sign<Place>): void {
    sign.next = undefined;
    waiting.delete(sign);
  }

  return {
    add(sign: Sign<Place>, next: NonNullable<Sign<Place>["next"]>): void {
      sign.next = next;
      waiting.add(sign);
      pump();
    },
    drop,
    stop: () => waiting.clear(),
  };
}

/**
 * The sign of life that is no message: a thread's status while its runs are at work. An ornament: it may be lost, and
 * nothing waits for it.
 */
export function createSign<Place>({ keyOf, show, renewMs }: SignParts<Place>) {
  const signs = new LRUCache<string, Sign<Place>>({
    max: MAX_THREADS,
    dispose: ({ timer }) => clearTimeout(timer),
  });
  const showing = createShowing(show);
  let stopped = false;

  function signOf(place: Place): Sign<Place> {
    const key = keyOf(place);
    const known = signs.get(key);
    if (known !== undefined) return known;
    const sign: Sign<Place> = {
      place,
      runs: new Map(),
      timer: undefined,
      shown: undefined,
      next: undefined,
      isUnderWay: false,
      throughAt: -Infinity,
    };
    signs.set(key, sign);
    return sign;
  }

  function change(sign: Sign<Place>, status: ThreadStatus, isSure = true): void {
    clearTimeout(sign.timer);
    sign.timer = undefined;
    if (!stopped) showing.add(sign, { status, isSure });
  }

  function renew(sign: Sign<Place>): void {
    const oldest = performance.now() - MAX_SILENCE_MS;
    for (const [run, heardAt] of sign.runs) if (heardAt < oldest) sign.runs.delete(run);
    sign.timer = undefined;
    if (sign.runs.size === 0 || stopped) return;
    change(sign, "working");
    later(sign, renewMs);
  }

  function later(sign: Sign<Place>, ms: number): void {
    sign.timer = setTimeout(() => renew(sign), ms);
    sign.timer.unref();
  }

  return {
    /** The run is at work: half a second later its thread says so. */
    works(place: Place, run: string): void {
      if (stopped) return;
      const sign = signOf(place);
      sign.runs.set(run, performance.now());
      if (sign.timer === undefined) later(sign, SIGN_AFTER_MS);
    },
    /** People are asked; what else is at work says so with its next step. */
    waits(place: Place, run?: string): void {
      const sign = signOf(place);
      if (run === undefined) sign.runs.clear();
      else sign.runs.delete(run);
      const last = sign.next?.status ?? sign.shown;
      if (sign.runs.size === 0 && last !== "waiting") change(sign, "waiting");
    },
    /**
     * The run is over. `saidAt`: its message was sent then; undefined: it has none. `isSure`: no other process can have shown a status
     * for it.
     */
    ends(place: Place, run: string, saidAt: number | undefined, isSure: boolean): void {
      const sign = signOf(place);
      sign.runs.delete(run);
      if (sign.runs.size > 0) return;
      clearTimeout(sign.timer);
      sign.timer = undefined;
      showing.drop(sign);
      const isShown = sign.shown === "working" || sign.shown === "waiting";
      // The message takes no status away that comes after it.
      const isAnswered = saidAt !== undefined && !sign.isUnderWay && sign.throughAt < saidAt;
      if (isShown || !isSure) change(sign, isAnswered ? "answered" : "idle", isSure);
    },
    stop(): void {
      stopped = true;
      showing.stop();
      signs.clear();
    },
  };
}

export type ThreadSign<Place> = ReturnType<typeof createSign<Place>>;
