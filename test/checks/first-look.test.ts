import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { loadSkills } from "../../src/skills/load.ts";
import { everyTool } from "../skills/every-tool.ts";
import { plain } from "../skills/folder.ts";
import { createFirstLookRuns } from "./first-look-runs.ts";

const { skills } = await loadSkills([join(import.meta.dirname, "../../skills")], plain);
const { tools } = await everyTool();
const runs = createFirstLookRuns({ skills, tools });

/** One for each number of reads from one to six, and one of which two skills ask for the same page in two ways. */
const QUESTIONS = [
  "is port 6379 open on cache-1?",
  "is the disk full?",
  "is nginx running?",
  "what's broken",
  "users get 502 from www.example.invalid",
  "why is https://shop.example.com so slow",
];

describe("with a first look, a model that wants the reads of the skill that fits", () => {
  test.each(QUESTIONS)(
    "asks for none of them again, and needs fewer requests: %s",
    async (question) => {
      const reads = runs.ofSkill(question);
      expect(reads.length).toBeGreaterThan(0);
      for (const [way, requests] of [
        ["all at once", 2],
        ["one by one", reads.length + 1],
      ] as const) {
        const off = await runs.ask(question, reads, way, false);
        const on = await runs.ask(question, reads, way, true);
        expect([off.requests, on.requests]).toEqual([requests, 1]);
        expect(off.calls).toHaveLength(reads.length);
        expect(new Set(on.calls).size).toBe(on.calls.length);
        expect(on.calls).toEqual(expect.arrayContaining(off.calls));
        expect(on.input).toBeLessThan(off.input);
        expect(on.output).toBeLessThan(off.output);
      }
    },
  );
});

test("a first look at something else saves no request, and costs what it read", async () => {
  const asked = ["any alerts firing?", "host_ports"] as const;
  const reads = runs.needed(asked);
  const off = await runs.ask(asked[0], reads, "all at once", false);
  const on = await runs.ask(asked[0], reads, "all at once", true);
  expect([off.requests, on.requests]).toEqual([2, 2]);
  expect(off.calls).toEqual([expect.stringMatching(/^host_ports /)]);
  expect(on.calls).toEqual(expect.arrayContaining(off.calls));
  expect(on.calls.length).toBeGreaterThan(1);
  expect(on.input).toBeGreaterThan(off.input);
});
