/** Lets one loop sleep until somebody rings or a time has passed. A ring while nobody sleeps is kept. */
export interface WakeSignal {
  notify(): void;
  /** Returns at once after an unheard ring, else at the next one or after `ms`. */
  wait(ms?: number): Promise<void>;
}

export function createWakeSignal(): WakeSignal {
  let unheard = false;
  let wake: (() => void) | undefined;
  return {
    notify() {
      unheard = true;
      wake?.();
    },
    async wait(ms) {
      if (!unheard) {
        await new Promise<void>((resolve) => {
          const timer =
            ms === undefined
              ? undefined
              : setTimeout(resolve, Math.max(0, Math.min(ms, 2 ** 31 - 1)));
          wake = () => {
            clearTimeout(timer);
            resolve();
          };
        });
      }
      wake = undefined;
      unheard = false;
    },
  };
}
