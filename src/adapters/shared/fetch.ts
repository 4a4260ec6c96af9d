import { BotError } from "../../core/errors.ts";
import { createFetch } from "../../net/fetch.ts";

/** One for all clients of chat platforms: they share connections. */
export const platformFetch = createFetch();
/** The same, which sends nothing twice. */
export const onceFetch = createFetch({ resends: false });

/** What "fetch failed" hides: a name, a port, a certificate, or what a proxy says. `next` finds the cause. */
export function rootOf(error: unknown, next = (each: Error): unknown => each.cause): unknown {
  let root = error;
  for (let depth = 0; depth < 5 && root instanceof Error; depth += 1) {
    const deeper = next(root);
    if (root instanceof BotError || !(deeper instanceof Error) || deeper.message === "") break;
    root = deeper;
  }
  return root;
}
