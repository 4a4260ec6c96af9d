import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { SYSTEM_PROMPT } from "../../src/agent/prompt.ts";
import { catalogText } from "../../src/skills/catalog.ts";
import { loadSkills } from "../../src/skills/load.ts";
import { argumentNames } from "../../src/tools/input-schema.ts";
import { createTools } from "../../src/tools/registry.ts";
import { plain } from "./folder.ts";

const { skills, problems } = await loadSkills([join(import.meta.dirname, "../../skills")], plain);
const tools = await createTools({}, { skills });

describe("the skills that come with the program", () => {
  test("are three, and keep every rule of the format", () => {
    expect(problems).toEqual([]);
    const names = skills.map(({ name }) => name);
    expect(names).toEqual(["http-5xx", "incident-response", "incident-summary"]);
  });

  test.each(skills)("$name names only calls, arguments and files that there are", async (skill) => {
    const files = await skill.files();
    const others = await Promise.all(files.map(({ id }) => skill.read(id)));
    const text = [skill.body, ...others].join("\n");
    const spans = [...text.matchAll(/`([^`]+)`/g)].map(([, span = ""]) => span);
    const calls = spans.filter((span) => /^[a-z]+(?:_[a-z]+)+(?: |$)/.test(span));
    expect(calls.length).toBeGreaterThan(0);
    for (const call of calls) {
      const tool = tools.find(({ name }) => name === call.split(" ")[0]);
      if (tool === undefined) throw new Error(`there is no tool for ${call}`);
      const unquoted = call.replaceAll(/"[^"]*"/g, "");
      const given = [...unquoted.matchAll(/ (\w+)=/g)].map(([, name]) => name);
      expect(argumentNames(tool), call).toEqual(expect.arrayContaining(given));
    }
    const named = spans.filter((span) => /^[\w-]+(?:\/[\w-]+)*\.md$/.test(span));
    expect(files.map(({ id }) => id)).toEqual(expect.arrayContaining(named));
    for (const { id } of files) expect(skill.body).toContain(id);
  });

  test("take up little of what every request begins with, and name only tools that there are", () => {
    const catalog = catalogText(skills);
    expect(catalog.length).toBeLessThan(SYSTEM_PROMPT.length / 2);
    const names = tools.map(({ name }) => name);
    for (const [named] of catalog.matchAll(/\b[a-z]+_[a-z_]+\b/g)) expect(names).toContain(named);
    expect(catalog).not.toMatch(/\b20\d\d\b|\$\{/);
  });
});
