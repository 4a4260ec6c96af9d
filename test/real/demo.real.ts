import { readdirSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { OffRecord, readRecording, type Situation } from "../../demo/recording.ts";
import { Program } from "../fakes/program.ts";

const DEMO = join(import.meta.dirname, "../../demo");
const RECORDING = readFileSync(join(DEMO, "recording.json"), "utf8");

let program: Program | undefined;
afterEach(() => program?.remove());

test("the demo finds the fault, asks, mends it once it may, and leaves nothing behind", async () => {
  program = new Program({ TMPDIR: tmpdir() });
  const before = readdirSync(tmpdir()).filter((name) => name.startsWith("watchkeeper-demo-"));
  const { code, out } = await program.runFile(join(DEMO, "main.ts"));
  expect(out).toMatch(/The shop's workers: 1 → 4[^]*y approve[^]*a1 done[^]*CONFIRMED: [^]*\[T4\]/);
  expect(out).toContain("The shop works again.");
  expect(code).toBe(0);
  const after = readdirSync(tmpdir()).filter((name) => name.startsWith("watchkeeper-demo-"));
  expect(after).toEqual(before);
});

const ASKED: Situation = {
  step: 0,
  from: "user",
  text: "Why does the checkout fail? http://shop/checkout",
  tools: ["http_check", "read_log", "shop_workers"],
};

test("a recording answers what was foreseen, with its variables filled in", () => {
  const { answer } = readRecording(RECORDING, { shop: "http://shop", log: "/shop.log" });
  expect(answer(ASKED).calls).toEqual([
    { tool: "http_check", args: { url: "http://shop/checkout" } },
    { tool: "read_log", args: { path: "/shop.log" } },
  ]);
  const denied = { ...ASKED, step: 2, from: "tool", text: "Denied by root" } as const;
  expect(answer(denied)).toMatchObject({ calls: [], say: expect.stringContaining("You denied") });
});

test.each<[leaves: string, how: Partial<Situation>, why: string]>([
  ["other words", { text: "How are you?" }, 'it lacks "checkout", lacks "http://shop/checkout"'],
  ["a turn more", { step: 9 }, "Nothing is recorded for step 9, after a message."],
  ["a message in between", { step: 1 }, "Nothing is recorded for step 1, after a message."],
  ["a tool that is gone", { tools: ["http_check"] }, "calls read_log, which is not offered"],
])("a conversation that leaves the record by %s fails and says why", (_, how, why) => {
  const { answer } = readRecording(RECORDING, { shop: "http://shop", log: "/shop.log" });
  const off = () => answer({ ...ASKED, ...how });
  expect(off).toThrow(OffRecord);
  expect(off).toThrow(why);
});

test("a recording that two turns fit, or that lacks a variable, is refused", () => {
  const when = { step: 0, from: "user" };
  const both = {
    format: "watchkeeper-recording/1",
    about: "",
    turns: ["a", "b"].map((name) => ({ name, when })),
  };
  expect(() => readRecording(JSON.stringify(both), {}).answer(ASKED)).toThrow('Both "a" and "b"');
  expect(() => readRecording(RECORDING, { shop: "x" })).toThrow("The recording needs log.");
});
