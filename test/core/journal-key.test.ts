import { expect, test } from "vitest";
import { tenantOf } from "../../src/core/journal-key.ts";

test.each([
  ["slack:T1:C1:1.1", "slack:T1"],
  ["discord:1122:33", "discord:1122"],
  ["discord:dm:44", undefined],
  ["terminal:7f3c", "terminal"],
  ["newcomer:team:channel:post", "newcomer:team"],
])("%s belongs to %s, whatever platform it is", (key, tenant) => {
  expect(tenantOf(key)).toBe(tenant);
});
