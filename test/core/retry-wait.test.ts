import { expect, test } from "vitest";
import { BotError } from "../../src/core/errors.ts";
import { askedWaitMs, nextWaitMs } from "../../src/core/retry-wait.ts";

const limited = new BotError("PLATFORM_RATE_LIMITED", "Slow down.", { retryAfterMs: 90_000 });

test("the wait that the other side asks for is found, of any error or of one kind", () => {
  expect(askedWaitMs(limited)).toBe(90_000);
  expect(askedWaitMs(limited, "PLATFORM_RATE_LIMITED")).toBe(90_000);
  expect(askedWaitMs(limited, "PLATFORM_UNREACHABLE")).toBeUndefined();
  expect(askedWaitMs(new BotError("TIMEOUT", "Late."))).toBeUndefined();
  expect(askedWaitMs(new Error("other"))).toBeUndefined();
});

test.each([
  [0, 5_000],
  [40_000, 10_000],
  [3_600_000, 60_000],
])("after %i ms it is tried again in %i ms, or when the other side says", (sinceMs, waitMs) => {
  const bounds = { min: 5_000, max: 60_000 };
  expect(nextWaitMs(new Error("away"), sinceMs, bounds)).toBe(waitMs);
  expect(nextWaitMs(limited, sinceMs, bounds)).toBe(90_000);
});
