import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { createChecking } from "../../src/app/checks-parts.ts";
import { answerWithoutModel } from "../../src/app/no-model.ts";
import { isAboutSystems } from "../../src/checks/askable.ts";
import { saidIn } from "../../src/checks/match.ts";
import { subjectOfText } from "../../src/checks/subject-text.ts";
import { loadSkills } from "../../src/skills/load.ts";
import { everyTool } from "../skills/every-tool.ts";
import { plain } from "../skills/folder.ts";
import { HELD_OUT_NO_QUESTIONS, HELD_OUT_QUESTIONS } from "./held-out-questions.ts";
import { plainFigures } from "./plain-figures.ts";
import { NO_QUESTIONS, PLAIN_QUESTIONS } from "./plain-questions.ts";

const { skills } = await loadSkills([join(import.meta.dirname, "../../skills")], plain);
const { tools } = await everyTool();
const checking = createChecking({ skills: () => skills, tools: () => tools, firstLook: false });
const planOf = (text: string) => checking.plan({ text });

describe("questions as people type them", () => {
  test("lead to the calls that answer them, and what is no question of that kind to none", () => {
    expect(PLAIN_QUESTIONS.length).toBeGreaterThanOrEqual(60);
    expect(NO_QUESTIONS.length).toBeGreaterThanOrEqual(20);
    expect(plainFigures(planOf, PLAIN_QUESTIONS, NO_QUESTIONS).wrong).toEqual([]);
  });

  test("that nothing was tuned for do so nearly as often", () => {
    const held = plainFigures(planOf, HELD_OUT_QUESTIONS, HELD_OUT_NO_QUESTIONS);
    expect(held.precision).toBeGreaterThanOrEqual(0.9);
    expect(held.recall).toBeGreaterThanOrEqual(0.8);
  });

  test("are never answered with a tool that changes something", () => {
    const writes = tools.filter(({ effect }) => effect !== "read").map(({ name }) => name);
    for (const question of [...PLAIN_QUESTIONS.map(([each]) => each), ...NO_QUESTIONS]) {
      const lines = answerWithoutModel(question, tools, ({ name }) => name).split("\n");
      expect(
        writes.filter((name) => lines.includes(`  run ${name}`)),
        question,
      ).toEqual([]);
    }
  });

  test("that ask how to see what is wrong want it looked at", () => {
    expect(planOf("how can I see why nginx is failing").calls).not.toEqual([]);
    expect(isAboutSystems("how can I see why checkout is slow")).toBe(true);
    expect(isAboutSystems("how can I restart checkout")).toBe(false);
  });

  test("are about this machine; an alert is only where it names one", () => {
    const own = new Set(tools.filter(({ hostBound }) => hostBound).map(({ name }) => name));
    const ownIn = (labels: Record<string, string>) =>
      checking
        .plan({ alerts: ["HighCPU"], text: "the processors are busy", labels: [labels] })
        .calls.filter(({ tool }) => own.has(tool));
    expect(planOf("why is the cpu so busy").calls.some(({ tool }) => own.has(tool))).toBe(true);
    expect(ownIn({ instance: "web-1:9100" })).not.toEqual([]);
    expect(ownIn({ cluster: "billing-prod" })).toEqual([]);
  });

  test("are read at their beginning, however much is pasted below it", () => {
    const long = "lorem ".repeat(3_000);
    expect(planOf(`is nginx running? ${long}`).calls.map(({ tool }) => tool)).toContain(
      "service_status",
    );
    expect(planOf(`${long} is nginx running?`).calls).toEqual([]);
  });

  // Read anew from each dot or dash, they would take minutes.
  test.each(["a.", "a-", "a@", "1.1.", "why a-", "is not ", "a:1234."])(
    "may be long: %s",
    (part) => {
      const text = part.repeat(100_000 / part.length);
      expect(subjectOfText(text).service).toBeUndefined();
      expect(saidIn({ text }).length).toBeLessThanOrEqual(text.length);
    },
  );

  test("that lack what to look at ask for that", () => {
    const needs = (text: string) => planOf(text).needs;
    expect(needs("telnet does not connect")).toEqual(["host", "port", "url"]);
    expect(needs("a name does not resolve")).toContain("domain");
    expect(needs("is nginx running?")).toEqual([]);
    expect(needs("thanks, that helped")).toEqual([]);
  });
});
