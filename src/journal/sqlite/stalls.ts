/** A disk that works answers far sooner; platforms wait three seconds for an acknowledgement. */
const STALL_MS = 1_000;
/** An operator is told of the same so often at most. */
const EVERY_MS = 60_000;

export type Stalls = ReturnType<typeof createStalls>;

interface Wait {
  readonly since: number;
  readonly timer: NodeJS.Timeout;
  isTold: boolean;
  /** It is no fault of the disk's: another process holds the file. */
  isLocked: boolean;
}

/**
 * Tells an operator that the disk, or another process, has everybody wait, while it lasts and when it is over. `what`: what is to
 * be done.
 */
export function createStalls(what: string, warn: (text: string) => void, stallMs = STALL_MS) {
  let wait: Wait | undefined;
  let toldAt = -Infinity;

  function tell(): void {
    if (wait === undefined || performance.now() - toldAt < EVERY_MS) return;
    toldAt = performance.now();
    wait.isTold = true;
    const [why, look] = wait.isLocked
      ? [": another process holds the file's lock", "Look which other process has it open."]
      : ["", "Look at the disk."];
    warn(
      `${whoIn(wait)} has not ${what} for ${secondsSince(wait.since)}${why}. Nothing is lost; until it has, nothing is acknowledged and no change begins. ${look}`,
    );
  }

  function begin(): void {
    const since = performance.now();
    // After a busy turn of the event loop the answer may be there: it is heard before `tell`.
    const timer = setTimeout(() => setImmediate(() => wait?.since === since && tell()), stallMs);
    wait = { since, timer: timer.unref(), isTold: false, isLocked: false };
  }

  return {
    /** The disk is asked for something. */
    asked(): void {
      if (wait === undefined) begin();
    },
    /** Another process is found to hold the file: it is waited for that, also once some were refused; `more`: there are others. */
    locked(more: boolean): void {
      if (wait === undefined && more) begin();
      if (wait !== undefined) wait.isLocked = true;
    },
    /** It has done something; `more`: not all that it was asked for. */
    answered(more: boolean): void {
      if (wait === undefined) return;
      clearTimeout(wait.timer);
      if (wait.isTold) warn(`${whoIn(wait)} has ${what} again, after ${secondsSince(wait.since)}.`);
      wait = undefined;
      if (more) begin();
    },
  };
}

const whoIn = ({ isLocked }: Wait) => (isLocked ? "The program" : "The disk");

function secondsSince(since: number): string {
  return `${((performance.now() - since) / 1_000).toFixed(1)} s`;
}
