import { pino } from "pino";
import { expect, test } from "vitest";
import { readableLine } from "../../src/app/log-lines.ts";
import { BotError } from "../../src/core/errors.ts";

/** The readable forms of what `write` logs, without their clock. */
function linesOf(write: (log: pino.Logger) => void): string[] {
  const lines: string[] = [];
  const destination = { write: (json: string) => void lines.push(readableLine(json)) };
  write(pino({}, destination));
  return lines.map((line) => line.replace(/^\d\d:\d\d:\d\d /, ""));
}

test("on a terminal the log is a line of words each", () => {
  const away = new BotError("PLATFORM_UNREACHABLE", "slack.com does not resolve");
  const lines = linesOf((log) => {
    log.child({ platform: "slack" }).info("Connected to Acme as @bot. Try: @bot help.");
    log.warn({ err: away, transport: "slack" }, "not connected yet, trying again");
    log.error({ key: "slack:T1:C1:1", attempts: 2 }, "work on a thread failed");
    log.info({ store: "SQLite in /data", model: "none" }, "serving");
  });
  expect(lines).toEqual([
    "  slack: Connected to Acme as @bot. Try: @bot help.\n",
    "! slack: not connected yet, trying again: slack.com does not resolve\n",
    "✗ work on a thread failed key=slack:T1:C1:1 attempts=2\n",
    "  serving store=SQLite in /data model=none\n",
  ]);
});

test("one thread's ordinary work is left to its journal, and only a defect has a stack", () => {
  const lines = linesOf((log) => {
    log.info({ key: "slack:T1:C1:1", run: "r1" }, "run started");
    log.error({ err: new TypeError("x is undefined") }, "work failed");
  });
  expect(lines[0]).toBe("");
  expect(lines[1]).toMatch(/^✗ work failed: TypeError: x is undefined\n +at .*log-lines\.test/);
});

test("a name that somebody else chose changes nothing on the screen", () => {
  const lines = linesOf((log) => log.info("Connected to \u001b[2JAcme\r\u0007 as @bot"));
  expect(lines).toEqual(["  Connected to Acme as @bot\n"]);
});
