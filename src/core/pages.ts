import { setImmediate as turnOfLoop } from "node:timers/promises";

/** Reading, checking or folding as many entries takes a few milliseconds. */
const PAGE = 256;

/** The items in order, a page at a time, with a turn of the event loop between two pages: a long journal holds nobody up. */
export async function* inPages<T>(items: readonly T[]): AsyncGenerator<readonly T[]> {
  for (let start = 0; start < items.length; start += PAGE) {
    if (start > 0) await turnOfLoop();
    yield items.slice(start, start + PAGE);
  }
}
