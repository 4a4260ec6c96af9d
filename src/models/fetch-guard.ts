import { createFetch, type Fetch } from "../net/fetch.ts";
import { type Caller, failure, failureOf } from "./errors.ts";
import { ModelError } from "./model.ts";

export type { Fetch };

/** Providers send at least a ping every few seconds; a proxy or a dead peer sends nothing. */
const IDLE_MS = 60_000;
/** About 30 000 tokens if each comes in its own event. */
const MAX_RESPONSE_BYTES = 8 * 1024 * 1024;

/**
 * `fetch` for the SDKs. It gives up when no byte arrives for `idleMs`, before or within the response, and when the
 * response is longer than 8 MB. It follows no redirect: that would send the key along.
 */
export function watchedFetch(id: string, idleMs = IDLE_MS): Fetch {
  const seconds = idleMs / 1_000;
  const send = createFetch({
    idleMs,
    maxBytes: MAX_RESPONSE_BYTES,
    silence(hasBegun) {
      const silence = `${id}: no byte arrived for ${seconds} s`;
      return hasBegun
        ? new ModelError("MODEL_CUT", `${silence} within the response; I used nothing of it.`)
        : new ModelError("MODEL_UNREACHABLE", `${silence} after the request. Check the network.`);
    },
    excess() {
      const text = `I stopped reading the response at ${MAX_RESPONSE_BYTES / 1024 / 1024} MB and used nothing of it.`;
      return new ModelError("MODEL_CUT", `${id}: ${text}`);
    },
  });
  return (input, init) => send(input, { ...init, redirect: "manual" });
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
