import { type Caller, failure, failureOf } from "./errors.ts";
import { ModelError } from "./model.ts";

export type Fetch = (input: string | URL | Request, init?: RequestInit) => Promise<Response>;

/** Providers send at least a ping every few seconds; a proxy or a dead peer sends nothing. */
const IDLE_MS = 60_000;
/** About 30 000 tokens if each comes in its own event. */
const MAX_RESPONSE_BYTES = 8 * 1024 * 1024;

/**
 * `fetch` for the SDKs. It gives up when no byte arrives for `idleMs`, before or within the response, and when the
 * response is longer than 8 MB. It follows no redirect: that would send the key along.
 */
export function watchedFetch(id: string, fetch: Fetch = globalThis.fetch, idleMs = IDLE_MS): Fetch {
  return async (input, init = {}) => {
    const giveUp = new AbortController();
    let hasBegun = false;
    const timer = setTimeout(() => {
      const silence = `${id}: no byte arrived for ${idleMs / 1000} s`;
      giveUp.abort(
        hasBegun
          ? new ModelError("MODEL_CUT", `${silence} within the response; I used nothing of it.`)
          : new ModelError("MODEL_UNREACHABLE", `${silence} after the request. Check the network.`),
      );
    }, idleMs);
    const signals = init.signal ? [init.signal, giveUp.signal] : [giveUp.signal];
    let response: Response;
    try {
      response = await fetch(input, {
        ...init,
        signal: AbortSignal.any(signals),
        redirect: "manual",
      });
    } catch (error) {
      clearTimeout(timer);
      throw error;
    }
    hasBegun = true;
    if (response.body === null) {
      clearTimeout(timer);
      return response;
    }
    let bytes = 0;
    const watch = new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        timer.refresh();
        bytes += chunk.byteLength;
        if (bytes <= MAX_RESPONSE_BYTES) return controller.enqueue(chunk);
        throw new ModelError(
          "MODEL_CUT",
          `${id}: I stopped reading the response at ${MAX_RESPONSE_BYTES / 1024 / 1024} MB and used nothing of it.`,
        );
      },
      flush: () => clearTimeout(timer),
      cancel: () => clearTimeout(timer),
    });
    return new Response(response.body.pipeThrough(watch), response);
  };
}

/**
 * Runs one request to its end.
 * @throws ModelError for everything that goes wrong in it, and BotError ABORTED if the signal aborted
 */
export async function exchange<T>(caller: Caller, work: () => Promise<T>): Promise<T> {
  // An error about an invalid header would quote the key.
  if (!/^[ -~]*$/.test(caller.apiKey.trim())) {
    throw failure("MODEL_AUTH", "it has characters that no key has, such as a line break", caller);
  }
  try {
    return await work();
  } catch (error) {
    throw failureOf(error, caller);
  }
}
