import { expect, test } from "vitest";
import { whyChanging } from "../../src/core/host-name.ts";

test("a name that a container gets anew with each start is told, with what to set", () => {
  for (const host of ["3f2a9c0d1e4b", "watchkeeper-7d9f8b6c5-x2x4z"])
    expect(whyChanging(host), host).toContain("WATCHKEEPER_HOST");
  for (const host of ["web-1", "watchkeeper-0", "watchkeeper-a", "localhost", "db01.example.com"])
    expect(whyChanging(host), host).toBeUndefined();
});
