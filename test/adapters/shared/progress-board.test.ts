import { pino } from "pino";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createProgressBoard } from "../../../src/adapters/shared/progress-board.ts";
import { BotError } from "../../../src/core/errors.ts";

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
});
afterEach(() => {
  vi.useRealTimers();
});

/** A board with one message; each edit fails with the next of `errors`, if there is one. */
async function open(...errors: (BotError | undefined)[]) {
  const texts: string[] = [];
  const board = createProgressBoard<string>({
    async show(_place, _ref, told) {
      texts.push(JSON.stringify(told));
      const error = errors.shift();
      if (error !== undefined) throw error;
      return true;
    },
    threadOf: (place) => place,
    allowLink: () => () => false,
    postCounts: true,
    log: pino({ level: "silent" }),
  });
  await board.begin("thread", [], async () => "m1");
  const note = (text: string) => board.note("thread", "m1", { kind: "draft", run: "r1", text });
  return { board, note, texts, shown: () => texts.length };
}

test("progress is shown at most every 1.2 s, the newest", async () => {
  const { note, texts } = await open();
  for (const text of ["draft one", "draft two", "draft three"]) note(text);
  await vi.advanceTimersByTimeAsync(1_199);
  expect(texts).toEqual([]);
  await vi.advanceTimersByTimeAsync(1);
  expect(texts).toEqual([expect.stringContaining("draft three")]);
  note("draft four");
  await vi.advanceTimersByTimeAsync(1_199);
  expect(texts).toHaveLength(1);
  await vi.advanceTimersByTimeAsync(1);
  expect(texts.slice(1)).toEqual([expect.stringContaining("draft four")]);
});

test("progress that a platform let wait for long is not shown over what came meanwhile, but with the next news", async () => {
  const limited = new BotError("PLATFORM_RATE_LIMITED", "Wait.", { retryAfterMs: 60_000 });
  const { note, shown } = await open(limited);
  note("a");
  await vi.advanceTimersByTimeAsync(2_000);
  note("b");
  await vi.advanceTimersByTimeAsync(120_000);
  expect(shown()).toBe(1);
  note("c");
  await vi.advanceTimersByTimeAsync(0);
  expect(shown()).toBe(2);
});

test("a process that stood still shows nothing of what it was about to show", async () => {
  const { note, shown } = await open();
  note("a");
  // The clock goes on, the timer does not.
  const now = performance.now();
  const stopped = vi.spyOn(performance, "now").mockReturnValue(now + 10_000);
  await vi.advanceTimersByTimeAsync(1_200);
  stopped.mockRestore();
  expect(shown()).toBe(0);
});

test("a message whose edits are refused is left alone", async () => {
  const { note, shown } = await open(new BotError("PLATFORM_REFUSED", "The message is gone."));
  for (const text of ["a", "b", "c"]) {
    note(text);
    await vi.advanceTimersByTimeAsync(1_300);
  }
  expect(shown()).toBe(1);
});
