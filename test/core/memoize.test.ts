import { expect, test } from "vitest";
import { memoize } from "../../src/core/memoize.ts";

test("what was asked a minute ago is asked again, counted from the asking", async () => {
  let now = 1;
  let asked = 0;
  const get = memoize(async () => (asked += 1), { ttlMs: 60_000, max: 10, now: () => now });
  expect(await get("a")).toBe(1);
  now = 60_000;
  expect(await get("a")).toBe(1);
  now = 60_002;
  expect(await get("a")).toBe(2);
});

test("no more is kept than may be, what was asked for longest ago goes first", async () => {
  const asked: string[] = [];
  const get = memoize(async (key) => asked.push(key), { ttlMs: 60_000, max: 2 });
  for (const key of ["a", "b", "a", "c", "a", "b"]) await get(key);
  expect(asked).toEqual(["a", "b", "c", "b"]);
});

test("a failure is not kept, and does not take the place of a later answer", async () => {
  const answers: (() => Promise<string>)[] = [
    () => Promise.reject(new Error("away")),
    () => Promise.resolve("there"),
  ];
  const get = memoize(async () => (answers.shift() ?? answers[0])?.(), { ttlMs: 60_000, max: 2 });
  await expect(get("a")).rejects.toThrow("away");
  expect(await get("a")).toBe("there");
  expect(await get("a")).toBe("there");
});
