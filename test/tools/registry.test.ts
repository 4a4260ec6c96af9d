import { readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import * as z from "zod";
import { loadSkills } from "../../src/skills/load.ts";
import { hostArgument } from "../../src/tools/host/host-argument.ts";
import type { JsonObject } from "../../src/core/entry.ts";
import { previewOf } from "../../src/tools/prepare-call.ts";
import { createTools, INTEGRATIONS, unavailableIntegrations } from "../../src/tools/registry.ts";
import { defineTool, type Tool } from "../../src/tools/tool.ts";
import { encoderOf } from "../fakes/encoder.ts";
import { noWorld } from "../fakes/tool-context.ts";

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

test("every read says what it does while it runs; a question to people is shown itself", () => {
  const silent = tools.filter(
    ({ effect, title, doing, say }) =>
      effect === "read" && title === undefined && doing === undefined && say === undefined,
  );
  expect(silent.map(({ name }) => name)).toEqual(["ask_user"]);
});

interface Named {
  name: string;
  before?: string | undefined;
}

/** A card's first line, and the names of what the program filled in. */
async function headOf(
  changes: Partial<Tool<Named>>,
  args: JsonObject,
  encode = (text: string) => text,
) {
  const tool = defineTool<Named>({
    name: "act",
    description: "For tests.",
    input: z.strictObject({
      name: z.string(),
      before: z.string().optional().meta({ internal: true }),
    }),
    effect: "read",
    timeoutMs: 1_000,
    run: async () => ({ text: "" }),
    ...changes,
  });
  const parts = { host: "here", ...noWorld, encoder: encoderOf(encode) };
  const call = { tool, args, effect: tool.effect, host: undefined, digest: "" };
  const { title, filled } = await previewOf(parts, call, new AbortController().signal);
  return { title, filled };
}

test.each<[string, Partial<Tool<Named>>, string | undefined]>([
  ["web", { title: ({ name }) => `Restart ${name}` }, "Restart web"],
  ["web", { say: ["restart {{name}}", "bounce {{name}}"] }, "Restart web"],
  ["web", {}, undefined],
  ["web to 0", { say: ["scale {{name}} to 5"] }, 'Scale "web to 0" to 5'],
  ["a\nb\u202ec", { title: ({ name }) => `Restart ${name}` }, "Restart a b\\u202ec"],
  ["x".repeat(300), { title: ({ name }) => name }, `${"x".repeat(120)}…`],
])(
  "a card's first line for %j is one line of the tool's, or of its first phrase",
  async (name, changes, title) => {
    expect((await headOf(changes, { name })).title).toBe(title);
  },
);

test("that line says in which of several servers", async () => {
  const input = z.strictObject({ name: z.string(), instance: z.enum(["eu", "us"]) });
  const changes = { input, title: ({ name }: Named) => `Restart ${name}` };
  const { title } = await headOf(changes, { name: "web", instance: "eu" });
  expect(title).toBe("Restart web (eu)");
  const long = await headOf(changes, { name: "x".repeat(300), instance: "eu" });
  expect(long.title).toMatch(/^Restart x+… \(eu\)$/);
});

test("a secret is taken out of that line before it is cut, and what the program filled in is named", async () => {
  const title = () => `${"x".repeat(116)}hunter2`;
  const encode = (text: string) => text.replaceAll("hunter2", "[secret:x]");
  expect(await headOf({ title }, { name: "web", before: "up" }, encode)).toEqual({
    title: `${"x".repeat(116)}[sec…`,
    filled: ["before"],
  });
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
