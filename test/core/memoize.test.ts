import { expect, test } from "vitest";
import { createRecent, remember } from "../../src/core/ttl-cache.ts";

test("what was asked a minute ago is asked again, counted from the asking", async () => {
  let now = 0;
  let asked = 0;
  const get = remember(async () => (asked += 1), { ttlMs: 60_000, max: 10, now: () => now });
  expect(await get("a")).toBe(1);
  now = 59_999;
  expect(await get("a")).toBe(1);
  now = 60_000;
  expect(await get("a")).toBe(2);
});

test("no more is kept than may be, the oldest goes first", async () => {
  const asked: string[] = [];
  const now = () => 0;
  const get = remember(async (key) => asked.push(key), { ttlMs: 60_000, max: 2, now });
  for (const key of ["a", "b", "c", "b", "a"]) await get(key);
  expect(asked).toEqual(["a", "b", "c", "a"]);
  const recent = createRecent({ ttlMs: 60_000, max: 2, now });
  for (const key of ["a", "b", "a", "c"]) recent.add(key);
  expect(["a", "b", "c"].map((key) => recent.has(key))).toEqual([true, false, true]);
});

test("a failure is not kept, and does not take the place of a later answer", async () => {
  const answers: (() => Promise<string>)[] = [
    () => Promise.reject(new Error("away")),
    () => Promise.resolve("there"),
  ];
  const get = remember(async () => (answers.shift() ?? answers[0])?.(), {
    ttlMs: 9,
    max: 2,
    now: () => 0,
  });
  await expect(get("a")).rejects.toThrow("away");
  expect(await get("a")).toBe("there");
  expect(await get("a")).toBe("there");
});
