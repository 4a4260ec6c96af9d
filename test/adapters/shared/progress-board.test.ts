import { pino } from "pino";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createProgressBoard } from "../../../src/adapters/shared/progress-board.ts";
import { createSign } from "../../../src/adapters/shared/sign.ts";
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
    async show(_place, _ref, progress) {
      texts.push(progress.draft);
      const error = errors.shift();
      if (error !== undefined) throw error;
      return true;
    },
    threadOf: (place) => place,
    postCounts: true,
    log: pino({ level: "silent" }),
  });
  await board.begin("thread", [], undefined, async () => "m1");
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

test("a thread's sign comes after half a second, is renewed while something is heard of the run, and ends with it", async () => {
  const seen: string[] = [];
  const sign = createSign<string>({
    keyOf: (place) => place,
    show: async (_place, status) => void seen.push(status),
    renewMs: 8_000,
  });
  const after = (ms: number) => vi.advanceTimersByTimeAsync(ms);
  sign.works("thread", "r1");
  sign.ends("thread", "r1", performance.now(), true);
  await after(1_000);
  expect(seen).toEqual([]);
  sign.works("thread", "r2");
  sign.works("thread", "r3");
  await after(500);
  expect(seen).toEqual(["working"]);
  await after(8_000);
  expect(seen).toEqual(["working", "working"]);
  // The other run goes on.
  sign.ends("thread", "r2", performance.now(), true);
  sign.waits("thread", "r2");
  expect(seen).toHaveLength(2);
  await after(1);
  sign.ends("thread", "r3", performance.now(), true);
  sign.ends("thread", "r3", performance.now(), true);
  expect(seen.slice(2)).toEqual(["answered"]);
  // A run that is never heard of again: another process may have it.
  sign.works("thread", "r4");
  await after(600_000);
  const then = seen.length;
  await after(60_000);
  expect(seen).toHaveLength(then);
  sign.stop();
});

test("of many threads that begin at once four show a sign at a time, and none whose answer is there first", async () => {
  const seen: string[] = [];
  const waiting: (() => void)[] = [];
  const sign = createSign<string>({
    keyOf: (place) => place,
    show(place, status) {
      seen.push(`${place} ${status}`);
      return new Promise((resolve) => waiting.push(resolve));
    },
    renewMs: 8_000,
  });
  const places = Array.from({ length: 10 }, (_, i) => `t${i}`);
  for (const place of places) sign.works(place, "r1");
  await vi.advanceTimersByTimeAsync(500);
  const first = places.slice(0, 4).map((place) => `${place} working`);
  expect(seen).toEqual(first);
  for (const place of places) sign.ends(place, "r1", performance.now(), true);
  expect(seen).toEqual(first);
  for (const resolve of waiting.splice(0)) resolve();
  await vi.advanceTimersByTimeAsync(0);
  // What came to the platform after the answer is taken back.
  expect(seen.slice(4)).toEqual(places.slice(0, 4).map((place) => `${place} idle`));
  sign.stop();
});
