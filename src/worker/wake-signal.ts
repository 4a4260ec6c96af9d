/** Lets one loop sleep until it is notified or a time has passed. A notification while nobody sleeps is kept. */
export function createWakeSignal() {
  let unheard = false;
  let wake: (() => void) | undefined;
  return {
    notify(): void {
      unheard = true;
      wake?.();
    },
    /** Returns at once if it was notified meanwhile, else at the next notification or after `ms`. */
    async wait(ms?: number): Promise<void> {
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
