import { pino } from "pino";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createPace } from "../../../src/adapters/shared/pace.ts";
import { BotError, isBotError } from "../../../src/core/errors.ts";

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance", "Date"] });
});
afterEach(() => {
  vi.useRealTimers();
});

/** A platform that does what `answers` says, in order, then answers. What was asked stands in `asked`. */
function open(...answers: (BotError | undefined)[]) {
  const asked: string[] = [];
  const pace = createPace({
    platform: "Slack",
    isSilence: (error) => isBotError(error, "PLATFORM_UNREACHABLE"),
    log: pino({ level: "silent" }),
  });
  const ask = (name: string, isUrgent = false) =>
    pace.ask({ name, isUrgent }, async () => {
      asked.push(`${name}${isUrgent ? "!" : ""}`);
      const error = answers.shift();
      if (error !== undefined) throw error;
    });
  const waitOf = async (name: string, isUrgent = false): Promise<number> => {
    const error: unknown = await ask(name, isUrgent).catch((thrown: unknown) => thrown);
    return isBotError(error) ? (error.retryAfterMs ?? -1) : -1;
  };
  return { ask, waitOf, asked };
}

const after = (ms: number) => vi.advanceTimersByTimeAsync(ms);
const limit = (retryAfterMs?: number) =>
  new BotError("PLATFORM_RATE_LIMITED", "Wait.", { retryAfterMs });
const silence = () => new BotError("PLATFORM_UNREACHABLE", "Nothing.");

test("a limited channel is not asked before its time, whoever asks, and others are not held", async () => {
  const { ask, waitOf, asked } = open(limit(30_000));
  await waitOf("C1");
  await after(10_000);
  expect(await waitOf("C1")).toBe(21_000);
  expect(await waitOf("C1", true)).toBe(20_000);
  await ask("C2");
  expect(asked).toEqual(["C1", "C2"]);
  await after(20_000);
  await ask("C1");
  expect(asked).toHaveLength(3);
});

test("after a limit there is one post per second, cards and unknown outcomes first, until a minute went well", async () => {
  const { ask, asked } = open(limit(1_000));
  await ask("C1").catch(() => {});
  await after(1_300);
  const all = [ask("C1"), ask("C1"), ask("C1"), ask("C1", true)];
  await after(0);
  expect(asked.slice(1)).toEqual(["C1"]);
  await after(1_000);
  expect(asked.slice(1)).toEqual(["C1", "C1!"]);
  await after(2_000);
  await Promise.all(all);
  await after(61_000);
  await Promise.all([ask("C1"), ask("C1"), ask("C1")]);
  expect(asked).toHaveLength(8);
});

test("more than a handful do not wait in the process: they are told when to come again", async () => {
  const { ask, waitOf } = open(limit(1_000));
  await ask("C1").catch(() => {});
  await after(1_300);
  const waiting = Array.from({ length: 6 }, () => ask("C1"));
  expect(await waitOf("C1")).toBe(5_000);
  await after(6_000);
  await Promise.all(waiting);
});

test("a limit without a time, or one that comes again and again, is waited for longer each time", async () => {
  const { waitOf } = open(...Array.from({ length: 4 }, () => limit()));
  const waits: number[] = [];
  for (let i = 0; i < 4; i += 1) {
    await waitOf("C1");
    waits.push(await waitOf("C1", true));
    await after(400_000 * (i === 3 ? 1 : 0) + (waits.at(-1) ?? 0));
  }
  for (const [at, wait] of waits.entries()) {
    expect(wait).toBeGreaterThanOrEqual(800 * 2 ** at);
    expect(wait).toBeLessThanOrEqual(1_200 * 2 ** at);
  }
  expect(await waitOf("C1")).toBe(-1);
});

test("once a request went through, the next limit is waited for like the first", async () => {
  const { ask, waitOf } = open(limit(), limit(), limit(), undefined, limit());
  for (let i = 0; i < 3; i += 1) {
    await waitOf("C1");
    await after(await waitOf("C1", true));
  }
  await ask("C1");
  await after(1_000);
  await waitOf("C1");
  expect(await waitOf("C1", true)).toBeLessThanOrEqual(1_200);
});

test("a platform that does not answer is left alone for all channels, then one is tried for them", async () => {
  const { ask, waitOf, asked } = open(...Array.from({ length: 6 }, silence));
  for (let i = 0; i < 5; i += 1) await ask(`C${i}`).catch(() => {});
  expect(await waitOf("C9")).toBeGreaterThan(1_000);
  expect(asked).toHaveLength(5);
  await after(1_500);
  // The one that is tried fails, and those that waited for it are not asked.
  await Promise.allSettled([ask("C6"), ask("C7"), ask("C8")]);
  expect(asked).toHaveLength(6);
  await after(31_000);
  await Promise.all([ask("C6"), ask("C7"), ask("C8")]);
  expect(asked).toHaveLength(9);
});

test("a refusal is an answer: what one message gets says nothing of the platform", async () => {
  const refusal = new BotError("PLATFORM_REFUSED", "No.");
  const mixed = [silence(), silence(), silence(), silence(), refusal, silence(), silence()];
  const { ask, asked } = open(...mixed);
  for (let i = 0; i < 8; i += 1) await ask("C1").catch(() => {});
  expect(asked).toHaveLength(8);
});
