import { setImmediate as turnOfLoop } from "node:timers/promises";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createIntake } from "../../src/wakeups/intake.ts";

beforeEach(
  () =>
    void vi.useFakeTimers({
      toFake: ["setTimeout", "clearTimeout", "performance"],
    }),
);
afterEach(() => void vi.useRealTimers());

/** An intake, and whether work may begin. */
function open() {
  const intake = createIntake();
  let isOpen = true;
  return {
    /** An event that is acknowledged when the test says so. */
    receive() {
      const { promise, resolve, reject } = Promise.withResolvers<string>();
      const taken = intake.receive(() => promise);
      const ended = async (end: () => void) => {
        end();
        await taken.catch(() => {});
      };
      return {
        acknowledge: () => ended(() => resolve("ok")),
        fail: () => ended(() => reject(new Error("away"))),
        taken,
      };
    },
    async isOpenAfter(ms: number) {
      const closed = intake.closed();
      isOpen = closed === undefined;
      void closed?.then(() => (isOpen = true));
      for (let each = 0; each < ms; each += 1) {
        await vi.advanceTimersByTimeAsync(1);
        for (let turns = 0; turns < 3; turns += 1) await turnOfLoop();
      }
      return isOpen;
    },
  };
}

test("work waits until the last event is acknowledged, or could not be taken", async () => {
  const { receive, isOpenAfter } = open();
  expect(await isOpenAfter(0)).toBe(true);
  const [one, two] = [receive(), receive()];
  expect(await isOpenAfter(10)).toBe(false);
  await one.acknowledge();
  expect(await isOpenAfter(10)).toBe(false);
  await two.fail();
  expect(await isOpenAfter(1)).toBe(true);
  expect(await one.taken).toBe("ok");
  await expect(two.taken).rejects.toThrow("away");
});

test("events that keep coming hold work up for two seconds, and the next ones only after a rest", async () => {
  const { receive, isOpenAfter } = open();
  let last = receive();
  const next = async () => {
    const before = last;
    last = receive();
    await before.acknowledge();
    return isOpenAfter(10);
  };
  for (let ms = 0; ms < 1_980; ms += 10) expect([ms, await next()]).toEqual([ms, false]);
  for (let ms = 0; ms < 40; ms += 10) await next();
  for (let ms = 0; ms < 500; ms += 10) expect([ms, await next()]).toEqual([ms, true]);
  await last.acknowledge();
  await isOpenAfter(10);
  receive();
  expect(await isOpenAfter(10)).toBe(false);
});

test("so do events of which each comes when the one before it is acknowledged", async () => {
  const { receive, isOpenAfter } = open();
  const next = async () => {
    const event = receive();
    const isOpen = await isOpenAfter(10);
    await event.acknowledge();
    return isOpen;
  };
  for (let ms = 0; ms < 1_980; ms += 10) expect([ms, await next()]).toEqual([ms, false]);
  for (let ms = 0; ms < 40; ms += 10) await next();
  for (let ms = 0; ms < 500; ms += 10) expect([ms, await next()]).toEqual([ms, true]);
});

test("a platform that answers nothing more holds nothing up, however many of its events wait", async () => {
  const { receive, isOpenAfter } = open();
  for (let events = 0; events < 100; events += 1) receive();
  expect(await isOpenAfter(20)).toBe(false);
  expect(await isOpenAfter(20)).toBe(true);
  expect(await isOpenAfter(500)).toBe(true);
  // The next one may be another platform's.
  receive();
  expect(await isOpenAfter(1)).toBe(false);
});

test("a loop that is held up for long says nothing of a platform: events that wait for it come first", async () => {
  const { receive, isOpenAfter } = open();
  receive();
  expect(await isOpenAfter(1)).toBe(false);
  vi.advanceTimersByTime(900);
  expect(await isOpenAfter(1)).toBe(false);
});
