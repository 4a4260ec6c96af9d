import { setTimeout as sleep } from "node:timers/promises";
import { createBackoff } from "../core/backoff.ts";
import { BotError } from "../core/errors.ts";
import { type GenerateOptions, type Model, ModelError, type ModelRequest } from "./model.ts";

export interface RetryingOptions {
  /** Requests in all. Default 3. */
  attempts?: number;
  /** Before the second request; then twice as long each time, ±25 %. Default 200. */
  firstDelayMs?: number;
  /** Default 10 000. */
  maxDelayMs?: number;
  /** The longest wait that a provider may ask for. Default 60 000. */
  maxRetryAfterMs?: number;
  /** From the first failure to the end, whatever the outcome. Default 120 000. */
  deadlineMs?: number;
}

function isRetryable(error: unknown): error is ModelError {
  const codes = ["MODEL_RATE_LIMITED", "MODEL_OVERLOADED", "MODEL_UNREACHABLE", "MODEL_CUT"];
  return error instanceof ModelError && codes.includes(error.code);
}

const SPREAD = 0.25;

function failedFor(error: ModelError, addition: string): ModelError {
  const { code, message, retryAfterMs } = error;
  return new ModelError(code, `${message} ${addition}`, { cause: error, retryAfterMs });
}

/**
 * The one place that repeats requests: after a rate limit, an overload, a cut response or a failed connection. It waits as
 * long as the provider asks, else with backoff. It ends within 120 s after the first failure, and at once with ABORTED when
 * the signal aborts. `onDelta(undefined)` takes back a failed attempt's text before the next attempt.
 */
export function createRetryingModel(model: Model, options: RetryingOptions = {}): Model {
  const { attempts = 3, maxRetryAfterMs = 60_000, deadlineMs = 120_000 } = options;
  const { firstDelayMs = 200, maxDelayMs = 10_000 } = options;
  async function generate(request: ModelRequest, { signal, onDelta }: GenerateOptions) {
    const deadline = new AbortController();
    let timer: NodeJS.Timeout | undefined;
    let firstFailedAt: number | undefined;
    // Many callers must not come back at the same moment.
    const waits = createBackoff(firstDelayMs, maxDelayMs, SPREAD);
    let last: ModelError | undefined;
    let hasDelivered = false;
    try {
      for (let attempt = 1; ; attempt += 1) {
        if (hasDelivered) onDelta?.(undefined);
        hasDelivered = false;
        try {
          return await model.generate(request, {
            signal: AbortSignal.any([signal, deadline.signal]),
            onDelta(text) {
              hasDelivered = text !== undefined;
              onDelta?.(text);
            },
          });
        } catch (error) {
          if (last !== undefined && deadline.signal.aborted && !signal.aborted) {
            throw failedFor(last, `I tried for ${deadlineMs / 1000} s.`);
          }
          if (!isRetryable(error)) throw error;
          last = error;
        }
        firstFailedAt ??= Date.now();
        timer ??= setTimeout(() => deadline.abort(), deadlineMs);
        if (attempt >= attempts) throw failedFor(last, `I tried ${attempt} times.`);
        const waitMs = last.retryAfterMs ?? waits.next();
        if (waitMs > Math.min(maxRetryAfterMs, firstFailedAt + deadlineMs - Date.now())) {
          const until = new Date(Date.now() + waitMs).toISOString();
          const text = `The provider asks to wait until ${until}; I don't wait that long.`;
          throw failedFor(last, text);
        }
        await pause(waitMs, signal);
      }
    } finally {
      clearTimeout(timer);
    }
  }

  return { id: model.id, contextWindow: model.contextWindow, generate };

  async function pause(ms: number, signal: AbortSignal): Promise<void> {
    try {
      await sleep(ms, undefined, { signal });
    } catch (cause) {
      const text = `${model.id}: stopped while waiting to try again.`;
      throw new BotError("ABORTED", text, { cause });
    }
  }
}
