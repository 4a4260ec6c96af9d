import { expect, test } from "vitest";
import { createBackoff } from "../../src/core/backoff.ts";

test("waits double up to the longest, and begin again after a success", () => {
  const waits = createBackoff(50, 300);
  expect(Array.from({ length: 5 }, () => waits.next())).toEqual([50, 100, 200, 300, 300]);
  waits.reset();
  expect(waits.next()).toBe(50);
});

test("waits that are spread are never alike, nor longer than the longest", () => {
  const many = Array.from({ length: 200 }, () => createBackoff(100, 110, 0.25).next());
  expect(Math.min(...many)).toBeGreaterThanOrEqual(75);
  expect(Math.max(...many)).toBeLessThanOrEqual(110);
  expect(new Set(many).size).toBeGreaterThan(50);
});
