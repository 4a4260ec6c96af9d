import { BotError } from "./errors.ts";

/** How long work may take to end after its signal was aborted, before it is given up on. */
const GRACE_MS = 3_000;

/**
 * Gives `work` a signal that is aborted after `ms` or with `outer`, and waits for it at most `graceMs` (3 s) longer; not even begun where
 * `outer` is aborted already.
 * @throws BotError TIMEOUT, ABORTED, and what `work` throws by itself
 */
export async function within<T>(
  ms: number,
  outer: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
  graceMs = GRACE_MS,
): Promise<T> {
  if (outer.aborted) throw new BotError("ABORTED", "It was stopped.");
  const controller = new AbortController();
  const { promise: given, reject: giveUp } = Promise.withResolvers<never>();
  let grace: NodeJS.Timeout | undefined;
  const abort = (reason: BotError) => {
    controller.abort(reason);
    grace ??= setTimeout(() => giveUp(reason), graceMs);
  };
  const stop = () => abort(new BotError("ABORTED", "It was stopped."));
  const timer = setTimeout(
    () => abort(new BotError("TIMEOUT", `It took longer than ${ms / 1000} s.`)),
    ms,
  );
  outer.addEventListener("abort", stop, { once: true });
  try {
    return await Promise.race([work(controller.signal), given]);
  } catch (error) {
    // Whatever a tool throws once it was told to end, it was cut.
    throw controller.signal.aborted ? controller.signal.reason : error;
  } finally {
    clearTimeout(timer);
    clearTimeout(grace);
    outer.removeEventListener("abort", stop);
  }
}
