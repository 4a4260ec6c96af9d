/** Lets one loop sleep until it is notified or a time has passed. A notification while nobody sleeps is kept. */
export interface WakeSignal {
  notify(): void;
  /** Returns at once if it was notified meanwhile, else at the next notification or after `ms`. */
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
