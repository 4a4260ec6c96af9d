import { expect, test } from "vitest";
import { aloudDelivery } from "../../../src/adapters/shared/notice-ids.ts";

test("what is said aloud to one person has an id of its own for each text, within what a delivery may have", () => {
  const one = aloudDelivery("slack:T1:U1", "a1 waits");
  const other = aloudDelivery("slack:T1:U1", "x".repeat(5_000));
  expect(one.id).not.toBe(other.id);
  expect(other.id.length).toBeLessThanOrEqual(200);
  expect(one.isRetry).toBe(false);
});
