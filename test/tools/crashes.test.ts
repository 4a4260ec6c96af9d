import { expect, test } from "vitest";
import { BotError } from "../../src/core/errors.ts";
import type { BotEvent } from "../../src/events/event.ts";
import { input, stage } from "./one-tool.ts";

test("a crash is told with its error, what a tool foresaw is not, and a tool that is left alone is told of once", async () => {
  const told: BotEvent[] = [];
  const crash = new TypeError("x is not a function");
  const errors: unknown[] = [
    new BotError("NOT_AVAILABLE", "There is no such file."),
    ...Array.from({ length: 4 }, () => crash),
    new BotError("TIMEOUT", "It took too long."),
  ];
  const failing = async () => {
    throw errors.shift();
  };
  const { call } = stage({ run: failing }, undefined, {
    publish: (event) => void told.push(event),
  });
  while (errors.length > 0) await call();
  const crashed = { kind: "tool_crashed", tool: "act", args: { name: "web" }, error: crash };
  expect(told).toEqual([
    ...Array.from({ length: 4 }, () => crashed),
    { kind: "circuit_opened", tool: "act", failures: 5, waitMs: 30_000 },
  ]);
});

test("what stands around an integration's calls sees each, may answer in its place, and fails as the call does", async () => {
  const seen: unknown[] = [];
  const { run } = stage({}, undefined, undefined, async ({ tool, input: asked }, act) => {
    const { name } = input.parse(asked);
    seen.push([tool, name]);
    if (name === "kept") return { text: "from before" };
    if (name === "bad") throw new BotError("NOT_AVAILABLE", "Not now.");
    return { text: `${(await act()).text}, and more` };
  });
  const results = [await run("web"), await run("kept"), await run("bad")];
  expect(results.map(({ outcome, text }) => [outcome, text])).toEqual([
    ["ok", "did web, and more"],
    ["ok", "from before"],
    ["error", "Not now."],
  ]);
  expect(seen).toEqual([
    ["act", "web"],
    ["act", "kept"],
    ["act", "bad"],
  ]);
});
