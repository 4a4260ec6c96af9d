import { setTimeout as sleep } from "node:timers/promises";
import { ExponentialBackoff, type GeneratorFn, noJitterGenerator } from "cockatiel";
import { BotError, isBotError } from "../core/errors.ts";
import { type GenerateOptions, type Model, ModelError, type ModelRequest } from "./model.ts";

export interface RetryingOptions {
  /** Requests in all; 3. */
  attempts?: number;
  /** Before the second request, then twice as long each time, ±25 %; 200. */
  firstDelayMs?: number;
  /** 10 000. */
  maxDelayMs?: number;
  /** A provider that asks for a longer wait than this is not waited for; 60 000. */
  maxRetryAfterMs?: number;
  /** From the first failure to the end, whatever it is; 120 000. */
  deadlineMs?: number;
}

const RETRYABLE = [
  "MODEL_RATE_LIMITED",
  "MODEL_OVERLOADED",
  "MODEL_UNREACHABLE",
  "MODEL_CUT",
] as const;

interface Retryable extends ModelError {
  readonly code: (typeof RETRYABLE)[number];
}

function isRetryable(error: unknown): error is Retryable {
  return error instanceof ModelError && isBotError(error, ...RETRYABLE);
}

/** Keeps many callers from coming back at the same moment. */
const jittered: GeneratorFn<number> = (state, options) => {
  const [delay, next] = noJitterGenerator(state, options);
  return [Math.min(options.maxDelay, delay * (0.75 + Math.random() / 2)), next];
};

function failedFor(error: Retryable, addition: string): ModelError {
  const { code, message, retryAfterMs } = error;
  return new ModelError(code, `${message} ${addition}`, { cause: error, retryAfterMs });
}

/**
 * The model with patience: the one place where a request is repeated, namely after a rate limit, an overload, a cut
 * response or without a connection. A time that the provider asks for is waited for instead of the usual one. It ends
 * within 120 s after the first failure, and at once with ABORTED when the signal was aborted. What was delivered of a
 * failed attempt is taken back by `onDelta(undefined)` before the next one.
 */
export function createRetryingModel(model: Model, options: RetryingOptions = {}): Model {
  const { attempts = 3, maxRetryAfterMs = 60_000, deadlineMs = 120_000 } = options;
  const { firstDelayMs = 200, maxDelayMs = 10_000 } = options;
  const backoff = new ExponentialBackoff({
    generator: jittered,
    initialDelay: firstDelayMs,
    maxDelay: maxDelayMs,
  });

  async function generate(request: ModelRequest, { signal, onDelta }: GenerateOptions) {
    const deadline = new AbortController();
    let timer: NodeJS.Timeout | undefined;
    let firstFailedAt: number | undefined;
    let delay = backoff.next();
    let last: Retryable | undefined;
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
            throw failedFor(last, `Tried for ${deadlineMs / 1000} s.`);
          }
          if (!isRetryable(error)) throw error;
          last = error;
        }
        firstFailedAt ??= Date.now();
        timer ??= setTimeout(() => deadline.abort(), deadlineMs);
        if (attempt >= attempts) throw failedFor(last, `Tried ${attempt} times.`);
        const waitMs = last.retryAfterMs ?? delay.duration;
        delay = delay.next(undefined);
        if (waitMs > Math.min(maxRetryAfterMs, firstFailedAt + deadlineMs - Date.now())) {
          const until = new Date(Date.now() + waitMs).toISOString();
          throw failedFor(last, `The provider asks to wait until ${until}, which was not done.`);
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
      throw new BotError("ABORTED", `${model.id}: the wait for another try was stopped.`, {
        cause,
      });
    }
  }
}
