import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { matching } from "../../src/checks/match.ts";
import { loadSkills } from "../../src/skills/load.ts";
import { plain } from "./folder.ts";
import { ALERTS, OTHER_QUESTIONS, QUESTIONS } from "./questions.ts";

const { skills } = await loadSkills([join(import.meta.dirname, "../../skills")], plain);
const checked = skills.flatMap(({ name, description, checks }) =>
  checks === undefined ? [] : [{ name, description, checks }],
);
const found = (text: string, alert?: string) =>
  matching(checked, { text, alerts: alert === undefined ? [] : [alert] }).map(({ name }) => name);

/** Each text that the skill it is about does not look into. */
function missed(
  texts: Readonly<Record<string, readonly string[]>>,
  skillsOf: (text: string) => string[],
) {
  const all = Object.entries(texts).flatMap(([skill, some]) =>
    some.map((text) => ({ skill, text })),
  );
  return { all, missed: all.filter(({ skill, text }) => !skillsOf(text).includes(skill)) };
}

describe("the shipped checks", () => {
  test("look into 19 of 20 questions, and into none that is about something else", () => {
    const questions = missed(QUESTIONS, (text) => found(text));
    expect(questions.all.length).toBeGreaterThanOrEqual(100);
    expect(questions.missed.length).toBeLessThanOrEqual(questions.all.length / 20);
    expect(OTHER_QUESTIONS.filter((text) => found(text).length > 0)).toEqual([]);
  });

  test("look into the alerts that most people's rules have", () => {
    expect(missed(ALERTS, (alert) => found(alert, alert)).missed).toEqual([]);
  });
});
