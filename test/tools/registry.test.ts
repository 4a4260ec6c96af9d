import { readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import * as z from "zod";
import { loadSkills } from "../../src/skills/load.ts";
import { hostArgument } from "../../src/tools/host/host-argument.ts";
import { createTools, INTEGRATIONS, unavailableIntegrations } from "../../src/tools/registry.ts";

const { skills } = await loadSkills(
  [join(import.meta.dirname, "../../skills")],
  (text: string) => text,
);
const tools = await createTools({}, { skills });

/** The tool's arguments, as JSON Schema describes them. */
function argumentsOf(input: z.ZodType): Record<string, { description?: string | undefined }> {
  const { properties } = z.toJSONSchema(input, { io: "input", unrepresentable: "any" });
  return z
    .record(z.string(), z.looseObject({ description: z.string().optional() }))
    .parse(properties);
}

test("every folder of tools is an integration of its name, and their tools have names of their own", () => {
  const entries = readdirSync(join(import.meta.dirname, "../../src/tools"), {
    withFileTypes: true,
  });
  const folders = entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
  expect(INTEGRATIONS.map(({ name }) => name).toSorted()).toEqual(folders.toSorted());
  const names = tools.map(({ name }) => name);
  expect(names).toEqual([...new Set(names)]);
});

test("an integration that lacks something offers no tools, and says what it lacks", async () => {
  const why = { name: "skills", why: "There are no skills." };
  expect(await unavailableIntegrations({}, { skills })).not.toContainEqual(why);
  expect(await unavailableIntegrations({}, {})).toContainEqual(why);
  expect((await createTools()).map(({ name }) => name)).not.toContain("activate_skill");
});

test("exactly the tools that take the machine they are for are bound to it", () => {
  const takesMachine = tools.filter(
    ({ input }) => argumentsOf(input)["host"]?.description === hostArgument.description,
  );
  const bound = tools.filter(({ hostBound }) => hostBound === true).map(({ name }) => name);
  expect(takesMachine.map(({ name }) => name)).toEqual(bound);
  expect(bound).toContain("run_command");
});

test("whatever changes something says on its card's first line what, in a sentence", () => {
  const silent = tools.filter(({ effect, title }) => effect !== "read" && title === undefined);
  expect(silent).toEqual([]);
});

test("every `host` is that machine, or a host by its kind, and every `url` is one", () => {
  for (const { name, input, kinds = {}, hostBound = false } of tools) {
    const given = argumentsOf(input);
    for (const kind of Object.keys(kinds)) expect(Object.keys(given), name).toContain(kind);
    if (given["host"] !== undefined)
      expect([hostBound, kinds["host"] === "host"], name).toContain(true);
    if (given["url"] !== undefined) expect(kinds["url"], name).toBe("url");
  }
});
