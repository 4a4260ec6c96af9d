import { ErrorReply, TimeoutError } from "redis";
import { atMost } from "../../core/time-limit.ts";

const LATE: unique symbol = Symbol("late");

/** Knows when a server last answered anything, and waits for it for as long as it is not silent for `silentMs`. */
export function createHearing(silentMs: number) {
  let heardAt = performance.now();
  const heard = () => {
    heardAt = performance.now();
  };
  const refused = (error: unknown) => error instanceof ErrorReply && heard();

  return {
    heard,
    hasHeardSince: (time: number) => heardAt >= time,
    /** The same client, whose every reply is heard: what the server refuses, too. */
    listenTo<C extends object>(client: C): C {
      return new Proxy(client, {
        get(_, name) {
          const found: unknown = Reflect.get(client, name);
          if (typeof found !== "function") return found;
          return (...args: unknown[]) => {
            const reply: unknown = found.apply(client, args);
            if (reply instanceof Promise) reply.then(heard, refused);
            return reply;
          };
        },
      });
    },
    /**
     * Waits for `work` for `ms`, and then on while anything is answered: a server answers in order, so this answer comes too.
     * Giving up on a slow one would fail all that it is about to answer, and have it asked again.
     * @throws TimeoutError when it is silent, and what `work` throws
     */
    async wait<T>(ms: number, work: Promise<T>): Promise<T> {
      let left = Math.max(0, ms);
      do {
        const reply = await atMost(left, work, (): typeof LATE => LATE);
        if (reply !== LATE) return reply;
        left = heardAt + silentMs - performance.now();
      } while (left > 0);
      throw new TimeoutError();
    },
  };
}
