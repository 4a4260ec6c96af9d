import { ExponentialBackoff, type GeneratorFn, noJitterGenerator } from "cockatiel";

export type Backoff = ReturnType<typeof createBackoff>;

/**
 * Waits that double from the first to the longest, both in ms. `spread`: up to this part more or less at random, so that
 * what failed together does not come back together.
 */
export function createBackoff(firstMs: number, longestMs: number, spread = 0) {
  const generator: GeneratorFn<number> = (state, options) => {
    const [delay, next] = noJitterGenerator(state, options);
    return [Math.min(longestMs, delay * (1 - spread + 2 * spread * Math.random())), next];
  };
  const waits = new ExponentialBackoff({ generator, initialDelay: firstMs, maxDelay: longestMs });
  let wait = waits.next();
  return {
    next(): number {
      const { duration } = wait;
      wait = wait.next(undefined);
      return duration;
    },
    /** It worked: the next wait is the first again. */
    reset(): void {
      wait = waits.next();
    },
  };
}
