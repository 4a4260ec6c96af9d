import { expect, test } from "vitest";
import { createRetryQueue } from "../../../src/adapters/discord/retry-queue.ts";
import { BotError } from "../../../src/core/errors.ts";
import { until } from "./harness.ts";

const away = () => new BotError("STORE_UNAVAILABLE", "The store did not answer.");

test("a lane whose job has to wait holds up no other, and goes on in order", async () => {
  const done: string[] = [];
  const failed: unknown[] = [];
  const lanes = createRetryQueue({ max: 10, onFailed: (error) => failed.push(error) });
  let tries = 0;
  lanes.add("a", async () => {
    tries += 1;
    if (tries < 2) throw away();
    done.push("a1");
  });
  lanes.add("a", async () => void done.push("a2"));
  lanes.add("b", async () => void done.push("b1"));
  lanes.add("b", async () => {
    throw new Error("broken");
  });
  lanes.add("b", async () => void done.push("b2"));
  await until(() => done.length > 3);
  expect(done).toEqual(["b1", "b2", "a1", "a2"]);
  expect(failed).toEqual([expect.objectContaining({ message: "broken" })]);
  expect(await lanes.stop()).toBe(0);
});

test("no more wait than may, and those that are given up are counted", async () => {
  const lanes = createRetryQueue({ max: 2, onFailed: () => {} });
  let free = 0;
  const never = async () => {
    throw away();
  };
  expect([1, 2, 3].map(() => lanes.add("a", never))).toEqual([true, true, false]);
  expect(await lanes.stop()).toBe(2);
  const again = createRetryQueue({ max: 1, onFailed: () => {} });
  for (let i = 0; i < 3; i += 1) {
    expect(again.add("a", async () => void (free += 1))).toBe(true);
    await until(() => free > i);
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect(await again.stop()).toBe(0);
});
