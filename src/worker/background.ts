import { askedWaitMs } from "../core/retry-wait.ts";
import type { JournalContext, Work } from "./key-handler.ts";

/** When to repeat what the platform refused without a time. */
const RETRY_MS = 5_000;

/**
 * Starts work whose result is written down later: the loop calls what it returns or, once the loop is over, this does.
 * `work` handles its own failures. One that it throws ends the loop, and another worker takes the journal up once the lease
 * has run out.
 */
export function runInBackground(
  ctx: JournalContext,
  { key, run, kept }: { key: string } & Pick<Work, "run" | "kept">,
  work: (signal: AbortSignal) => Promise<() => Promise<void>>,
): void {
  const controller = new AbortController();
  const finish = async () => {
    const conclude = await work(controller.signal).catch((error: unknown) => () => {
      throw error;
    });
    const conclusion = async () => {
      ctx.busy.delete(key);
      await conclude();
    };
    if (ctx.over) await conclusion();
    else concludeSoon(ctx, conclusion);
  };
  const ended = finish().catch((error: unknown) => {
    ctx.log.error({ err: error, key: ctx.key }, "a late outcome could not be written");
  });
  ctx.busy.set(key, { controller, run, kept, ended });
}

/** Has the loop write something down, in its turn. */
export function concludeSoon(ctx: JournalContext, conclusion: () => Promise<void>): void {
  ctx.ready.push(conclusion);
  ctx.wakeSignal.notify();
}

/** Aborts work in progress, except what must be kept. */
export function abortWork(ctx: JournalContext, which: (work: Work) => boolean): void {
  for (const work of ctx.busy.values()) if (!work.kept && which(work)) work.controller.abort();
}

/** Defers work for as long as the platform asks, else 5 s; at most until `latest` on the store's clock. */
export function putOff(ctx: JournalContext, key: string, error: unknown, latest = Infinity): void {
  const retryMs = askedWaitMs(error) ?? RETRY_MS;
  ctx.deferred.set(key, Math.min(ctx.now() + retryMs, latest));
}

/** Waits until earlier writes on the resource are over, and returns what lets the next one go. */
export async function acquireResource(
  { writes }: JournalContext,
  resource: string,
): Promise<() => void> {
  const { promise: turn, resolve: begin } = Promise.withResolvers<void>();
  const { promise: ended, resolve: end } = Promise.withResolvers<void>();
  void writes(resource, () => {
    begin();
    return ended;
  });
  await turn;
  return end;
}
