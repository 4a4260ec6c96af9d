import { pino } from "pino";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createRepeats, shownError } from "../../src/app/log-errors.ts";
import { BotError } from "../../src/core/errors.ts";

/** A log as the program's, and its lines. */
function openLog() {
  const lines: Record<string, unknown>[] = [];
  const withoutRepeats = createRepeats();
  const log = pino(
    {
      serializers: { err: shownError },
      hooks: {
        logMethod(args, method, level) {
          const line = withoutRepeats(args, level);
          if (line !== undefined) method.apply(this, line);
        },
      },
    },
    { write: (json: string) => void lines.push(JSON.parse(json)) },
  );
  return { log, lines };
}

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const away = () => new BotError("STORE_UNAVAILABLE", "Redis is away.", { cause: new Error("cut") });

test("an error that was foreseen is logged in words with its code, any other with its stack", () => {
  const { log, lines } = openLog();
  log.warn({ err: away() }, "the store is away; waiting");
  log.error({ err: new TypeError("x is undefined") }, "work failed");
  expect(lines[0]?.["err"]).toEqual({
    type: "BotError",
    code: "STORE_UNAVAILABLE",
    message: "Redis is away.",
    cause: "cut",
  });
  expect(lines[1]?.["err"]).toMatchObject({ stack: expect.stringContaining("at ") });
});

test("a store that is away is one warning of a kind in a minute, which then says for how many it stands", () => {
  const { log, lines } = openLog();
  const renew = (key: string) =>
    log.warn({ err: away(), key }, "the lease could not be renewed yet");
  for (let i = 0; i < 30; i++) renew(`test:${i}`);
  log.warn({ err: away() }, "the store is away; waiting");
  expect(lines.map(({ msg }) => msg)).toEqual([
    "the lease could not be renewed yet",
    "the store is away; waiting",
  ]);
  vi.advanceTimersByTime(60_000);
  renew("test:0");
  expect(lines[2]).toMatchObject({ key: "test:0", times: 30 });
});

test("whatever is lost meanwhile is told of each by itself, and other trouble each time", () => {
  const { log, lines } = openLog();
  for (const call of ["r1.t1", "r2.t1", "r2.t1"])
    log.error({ err: away(), call }, "lost a late word");
  expect(lines.map(({ call }) => call)).toEqual(["r1.t1", "r2.t1"]);
  for (let i = 0; i < 3; i++) log.warn({ err: new BotError("TIMEOUT", "late") }, "not yet");
  expect(lines).toHaveLength(5);
});
