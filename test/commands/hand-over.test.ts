import { expect, test } from "vitest";
import { readText } from "../../src/commands/grammar.ts";

test("asks for a hand-over are answered by it, whatever else is said with the same words is prose", () => {
  const call = (args: object) => ({
    kind: "command",
    command: { name: "run", tool: "handoff", args },
  });
  for (const text of [
    "hand over",
    "Hand off, please.",
    "handover!",
    "hand-over",
    "anything open?",
    "Is anything still open?",
    "what’s still open?",
    "what is open",
  ])
    expect(readText(text)).toEqual(call({}));
  for (const text of [
    "what happened last week?",
    "What's happened over the last week?",
    "what has happened in the last week",
    "hand over last week",
    "handover last week please",
  ])
    expect(readText(text)).toEqual(call({ period: "last week" }));
  for (const text of [
    "hand over the keys",
    "hand me the log",
    "handover to bob",
    "what is open on web-1?",
    "is anything open on port 443?",
    "anything open to the public?",
    "what happened?",
    "what happened to web-1 last week?",
    "is it open?",
    "hand",
    "is",
  ])
    expect(readText(text)).toEqual({ kind: "message" });
});
