import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { checkProblems } from "../../src/app/check-tools.ts";
import { catalogText } from "../../src/skills/catalog.ts";
import { loadSkills } from "../../src/skills/load.ts";
import { argumentNames } from "../../src/tools/input-schema.ts";
import { everyTool } from "./every-tool.ts";
import { plain } from "./folder.ts";

const { skills, problems } = await loadSkills([join(import.meta.dirname, "../../skills")], plain);
const { tools } = await everyTool();

test("the skills that come with the program keep every rule of the format, and nearly all have checks", () => {
  expect(problems).toEqual([]);
  expect(skills.length).toBeGreaterThanOrEqual(25);
  const without = skills.filter(({ checks }) => checks === undefined).map(({ name }) => name);
  expect(without).toEqual(["incident-response", "incident-summary"]);
});

test("their checks ask only for reads and arguments that there are", () => {
  expect(checkProblems(skills, tools, [])).toEqual([]);
});

describe("a skill", () => {
  test.each(skills)(
    "$name names only calls, arguments, files and skills that there are",
    async (skill) => {
      const files = await skill.files();
      const others = await Promise.all(files.map(({ id }) => skill.read(id)));
      const text = [skill.body, ...others].join("\n");
      const spans = [...text.matchAll(/`([^`]+)`/g)].map(([, span = ""]) => span);
      const systems = new Set(tools.map(({ name }) => name.split("_")[0]));
      const calls = spans.filter(
        (span) => /^[a-z]+(?:_[a-z]+)+(?: [\w]+=|$)/.test(span) && systems.has(span.split("_")[0]),
      );
      expect(calls.length).toBeGreaterThan(0);
      for (const call of calls) {
        const tool = tools.find(({ name }) => name === call.split(" ")[0]);
        if (tool === undefined) throw new Error(`there is no tool for ${call}`);
        const unquoted = call.replaceAll(/"(?:[^"\\]|\\.)*"/g, "");
        const given = [...unquoted.matchAll(/ (\w+)=/g)].map(([, name]) => name);
        expect(argumentNames(tool), call).toEqual(expect.arrayContaining(given));
      }
      const named = spans.filter((span) => /^[\w-]+(?:\/[\w-]+)*\.md$/.test(span));
      expect(files.map(({ id }) => id)).toEqual(expect.arrayContaining(named));
      for (const { id } of files) expect(skill.body).toContain(id);
      const meant = [...text.matchAll(/\bskill ([a-z]+-[a-z-]+)/g)].map(([, name]) => name);
      expect(skills.map(({ name }) => name)).toEqual(expect.arrayContaining(meant));
    },
  );
});

test("they take up little of what every request begins with", () => {
  const lines = catalogText(skills, { described: skills.length }).split("\n").slice(-skills.length);
  for (const line of lines) expect(line.length).toBeLessThanOrEqual(200);
  expect(lines.join("\n").length).toBeLessThan(5_000);
  expect(lines.join("\n")).not.toMatch(/\b20\d\d\b|\$\{/);
});
