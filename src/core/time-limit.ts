import { addAbortListener } from "node:events";
import { BotError } from "./errors.ts";

/** How long work may take to end after its signal was aborted, before it is given up on. */
const GRACE_MS = 3_000;

/**
 * Gives `work` a signal that is aborted after `ms` or with `outer`, and waits for it at most `graceMs` (3 s) longer. Does
 * not start it when `outer` is aborted already.
 * @throws BotError TIMEOUT, ABORTED, and what `work` throws by itself
 */
export async function within<T>(
  ms: number,
  outer: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
  graceMs = GRACE_MS,
): Promise<T> {
  if (outer.aborted) throw stopped();
  const controller = new AbortController();
  const { promise, resolve, reject } = Promise.withResolvers<T>();
  let grace: NodeJS.Timeout | undefined;
  const abort = (reason: BotError) => {
    controller.abort(reason);
    grace ??= setTimeout(() => reject(reason), graceMs);
  };
  const stop = () => abort(stopped());
  const timer = setTimeout(() => abort(tookLong(ms)), ms);
  outer.addEventListener("abort", stop, { once: true });
  try {
    work(controller.signal).then(resolve, reject);
    return await promise;
  } catch (error) {
    // Whatever work throws once it was told to end, it was cut.
    throw controller.signal.aborted ? controller.signal.reason : error;
  } finally {
    clearTimeout(timer);
    clearTimeout(grace);
    outer.removeEventListener("abort", stop);
  }
}

/**
 * Waits for `work` for at most `ms`, and not once `outer` is aborted. The work is not told: it goes on, and its late end is dropped.
 * An answer at hand takes no timer, which would cost more than the work.
 * @throws BotError TIMEOUT, ABORTED, and what `work` throws
 */
export async function waitFor<T>(
  ms: number,
  outer: AbortSignal,
  work: () => Promise<T>,
): Promise<T> {
  if (outer.aborted) throw stopped();
  const { promise, resolve, reject } = Promise.withResolvers<T>();
  const given = work();
  const answer = { isThere: false };
  const come = () => void (answer.isThere = true);
  given.then(come, come);
  for (let tick = 0; tick < AT_HAND_TICKS && !answer.isThere; tick++) await Promise.resolve();
  if (answer.isThere) return given;
  if (outer.aborted) throw stopped();
  // What arrived while this process was busy still counts: it is read before.
  const giveUp = (why: BotError) => setImmediate(reject, why);
  const stop = () => giveUp(stopped());
  const timer = setTimeout(() => giveUp(tookLong(ms)), ms);
  outer.addEventListener("abort", stop, { once: true });
  try {
    given.then(resolve, reject);
    return await promise;
  } finally {
    clearTimeout(timer);
    outer.removeEventListener("abort", stop);
  }
}

/** So many promises in a row, each at hand, resolve without a turn of the event loop. */
const AT_HAND_TICKS = 8;

const stopped = () => new BotError("ABORTED", "It was stopped.");
const tookLong = (ms: number) => new BotError("TIMEOUT", `It took longer than ${ms / 1000} s.`);

/**
 * Waits for `work` until the signal aborts. The work goes on, and its late end is dropped.
 * @throws the signal's reason, and what `work` throws
 */
export async function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const aborted = Promise.withResolvers<never>();
  const listener = addAbortListener(signal, () => aborted.reject(signal.reason));
  try {
    return await Promise.race([work, aborted.promise]);
  } finally {
    listener[Symbol.dispose]();
  }
}

/**
 * Waits for `work` at most `ms`; after that `late` gives the answer, or throws. The work goes on, and its late end is dropped.
 * What arrived while this process was busy still counts: it is read before `late` is asked.
 */
export async function atMost<T, L>(ms: number, work: Promise<T>, late: () => L): Promise<T | L> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(() => setImmediate(resolve), ms);
  try {
    return await Promise.race([work, promise.then(late)]);
  } finally {
    clearTimeout(timer);
  }
}

export interface TimeLimit {
  /** Aborts when the time is up, and with the call. */
  signal: AbortSignal;
  seconds: number;
}

export function limitTime(call: AbortSignal, seconds: number): TimeLimit {
  return { signal: AbortSignal.any([call, AbortSignal.timeout(seconds * 1_000)]), seconds };
}
