import { expect, test } from "vitest";
import { createRoutes } from "../../src/core/routes.ts";

test("a route names a channel, a workspace or a pattern; the first that holds decides, and none wins among places", () => {
  const routeOf = createRoutes([
    { channels: "slack:T1:CPRIV", model: "none" },
    { channels: ["slack:T2", "discord:*:77"], model: "openai-compatible/local" },
    { channels: "slack:T2:C1", model: "none" },
    { channels: "terminal", model: "a/b" },
  ]);
  const of = (...places: string[]) => routeOf(places);
  expect(of("slack:T1:CPRIV:1.2")).toBe("none");
  expect(of("slack:T1:CPRIV")).toBe("none");
  expect(of("slack:T1:CPRIVATE:1.2")).toBeUndefined();
  expect(of("slack:T2:C1:1.2")).toBe("openai-compatible/local");
  expect(of("discord:9:77:5")).toBe("openai-compatible/local");
  expect(of("discord:9:777:5")).toBeUndefined();
  expect(of("terminal:7d1f")).toBe("a/b");
  expect(of("slack:T3:C1:1", "slack:T2:C1:1.2", "slack:T1:CPRIV:1.2")).toBe("none");
  expect(createRoutes([])(["slack:T1:C1"])).toBeUndefined();
});
