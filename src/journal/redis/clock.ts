/** What is known of a server's clock from what it says: it is never ahead of it, unless that was set back since. */
export type ServerClock = ReturnType<typeof createServerClock>;

export function createServerClock() {
  /** From this process' monotonic clock to the server's, less how long its answer took. */
  let offset: number | undefined;
  const found = (time: number) => time - performance.now();
  return {
    /** Ms since 1970, whole; undefined before it has said anything. */
    now: () => (offset === undefined ? undefined : Math.floor(performance.now() + offset)),
    /** It has said that it is as late as that. */
    saw(time: number): void {
      offset = Math.max(offset ?? -Infinity, found(time));
    },
    /** That was wrong, or may be: it is as late as that. */
    set(time: number): void {
      offset = found(time);
    },
  };
}
