/** A disk that works answers far sooner; platforms wait three seconds for an acknowledgement. */
const STALL_MS = 1_000;
/** An operator is told of the same so often at most. */
const EVERY_MS = 60_000;

export type Stalls = ReturnType<typeof createStalls>;

/** Tells an operator that the disk has everybody wait, while it lasts and when it is over. `what`: what the disk is to do. */
export function createStalls(what: string, warn: (text: string) => void, stallMs = STALL_MS) {
  let wait: { readonly since: number; readonly timer: NodeJS.Timeout; isTold: boolean } | undefined;
  let toldAt = -Infinity;

  function tell(): void {
    if (wait === undefined || performance.now() - toldAt < EVERY_MS) return;
    toldAt = performance.now();
    wait.isTold = true;
    warn(
      `The disk has not ${what} for ${secondsSince(wait.since)}. Nothing is lost; until it has, nothing is acknowledged and no change begins. Look at the disk.`,
    );
  }

  function begin(): void {
    const since = performance.now();
    // After a busy turn of the event loop the answer may be there: it is heard before `tell`.
    const timer = setTimeout(() => setImmediate(() => wait?.since === since && tell()), stallMs);
    wait = { since, timer: timer.unref(), isTold: false };
  }

  return {
    /** The disk is asked for something. */
    asked(): void {
      if (wait === undefined) begin();
    },
    /** It has done something; `more`: not all that it was asked for. */
    answered(more: boolean): void {
      if (wait === undefined) return;
      clearTimeout(wait.timer);
      if (wait.isTold) warn(`The disk has ${what} again, after ${secondsSince(wait.since)}.`);
      wait = undefined;
      if (more) begin();
    },
  };
}

function secondsSince(since: number): string {
  return `${((performance.now() - since) / 1_000).toFixed(1)} s`;
}
