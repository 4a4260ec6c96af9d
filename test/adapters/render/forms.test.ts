import { describe, expect, test } from "vitest";
import * as z from "zod";
import { loadForm, readForm } from "../../../src/adapters/render/forms.ts";
import type { JsonObject } from "../../../src/core/entry.ts";
import { editFields, readEdit } from "../../../src/tools/edit-form.ts";
import { defineTool, type Tool } from "../../../src/tools/tool.ts";
import { cardOf } from "../parts.ts";

const tool = defineTool({
  name: "act",
  description: "Acts.",
  input: z.strictObject({
    script: z.string().describe("What is done"),
    argv: z.array(z.string()).optional(),
    count: z.int().max(9).optional(),
    mode: z.enum(["soft", "hard"]).default("soft"),
    fast: z.boolean().default(false),
    nested: z.strictObject({ list: z.array(z.number()) }).optional(),
    pinned: z.string().optional().meta({ internal: true }),
  }),
  effect: "write",
  timeoutMs: 1_000,
  run: async () => ({ text: "" }),
}) as Tool;
const KEY = "test:thread";

/** What the adapters look up, for an action with these arguments. */
function lookingAt(args: JsonObject) {
  const fields = editFields(tool, args);
  return {
    fields,
    action: async () => cardOf(KEY, { args }),
    editForm: async () => ({ action: "a1", revision: 1, fields }),
    checkEdit: async (_key: string, { written }: { written: Readonly<Record<string, string>> }) =>
      readEdit(tool, fields, written),
  };
}
const EDIT = { kind: "form", form: "edit", action: "a1", revision: 1 } as const;

async function fieldsOf(args: JsonObject, maxFields = 10) {
  const form = await loadForm(lookingAt(args), KEY, EDIT, { maxFields });
  return form?.fields ?? [];
}
/** What comes of sending the form as it came up, with these changes. */
async function send(args: JsonObject, changes: Record<string, string>, maxFields = 10) {
  const fields = await fieldsOf(args, maxFields);
  const written = Object.fromEntries(fields.map(({ name, value }) => [name, value]));
  return readForm(lookingAt(args), KEY, "wk:edit:a1:1", { ...written, ...changes });
}

const ARGS = {
  script: "go",
  argv: ["one two", "-n"],
  count: 3,
  mode: "hard",
  fast: true,
  nested: { list: [1] },
  pinned: "by the program",
};
const { pinned: _pinned, ...GIVEN } = ARGS;

describe("an edit form", () => {
  test("has one input for each argument that people set, in the simplest form that says it", async () => {
    const fields = await fieldsOf(ARGS);
    expect(fields.map(({ name, kind, value }) => [name, kind, value])).toEqual([
      ["script", "line", "go"],
      ["argv", "paragraph", "one two\n-n"],
      ["count", "line", "3"],
      ["mode", "choice", "hard"],
      ["fast", "choice", "true"],
      ["nested", "paragraph", '{"list":[1]}'],
    ]);
    expect(fields.map(({ optional }) => optional)).toEqual([false, true, true, true, true, true]);
  });

  test.each([
    ["a list with a line break", { argv: ["a\nb"] }, '["a\\nb"]'],
    ["a list with an empty element", { argv: ["a", ""] }, '["a",""]'],
    ["a list whose element ends in a space", { argv: ["a "] }, '["a "]'],
    ["a text with what cannot be seen", { script: "a\u202eb" }, '"a\\u202eb"'],
  ])("%s is shown as JSON, in which nothing is invisible or lost", async (_what, args, json) => {
    const values = (await fieldsOf({ ...ARGS, ...args })).map(({ value }) => value);
    expect(values).toContain(json);
    expect(await send({ ...ARGS, ...args }, {})).toMatchObject({
      choice: { kind: "edit", args },
    });
  });

  test("sent as it came up says the same arguments, also as one JSON object where there is no room", async () => {
    for (const maxFields of [10, 5]) {
      expect(await send(ARGS, {}, maxFields)).toEqual({
        kind: "click",
        action: "a1",
        revision: 1,
        choice: { kind: "edit", args: GIVEN },
      });
    }
    const [whole, ...others] = await fieldsOf(ARGS, 5);
    expect(others).toEqual([]);
    expect(JSON.parse(whole?.value ?? "")).toEqual(GIVEN);
  });

  test("says what a number can be, in words and as bounds for a platform that keeps to them", async () => {
    const numbers = {
      whole: z.int(),
      some: z.int().min(1).max(16).optional(),
      above: z.int().positive().default(2),
      share: z.number().min(0.5).max(1).describe("Of all").optional(),
    };
    const counting = { ...tool, name: "count", input: z.strictObject(numbers) } as unknown as Tool;
    const fields = editFields(counting, { whole: 3 });
    const shown = await loadForm(
      { ...lookingAt(ARGS), editForm: async () => ({ action: "a1", revision: 1, fields }) },
      KEY,
      EDIT,
      { maxFields: 10 },
    );
    expect(shown?.fields.map(({ hint, bounds }) => [hint, bounds])).toEqual([
      ["A whole number.", { isWhole: true, min: undefined, max: undefined }],
      ["A whole number from 1 to 16.", { isWhole: true, min: 1, max: 16 }],
      ["A whole number, 1 or more.", { isWhole: true, min: 1, max: undefined }],
      ["A number from 0.5 to 1. Of all", { isWhole: false, min: 0.5, max: 1 }],
    ]);
  });

  test("names each mistake with its field", async () => {
    const sent = await send(ARGS, { count: "many", nested: "{“list”: []}" });
    expect(sent).toEqual({
      kind: "mistaken",
      action: "a1",
      revision: 1,
      mistakes: [
        { field: "count", text: "write a number such as 30" },
        { field: "nested", text: expect.stringContaining("curly quotes") },
      ],
    });
    const more = await send(ARGS, { count: "30", script: "" });
    expect(more).toMatchObject({ mistakes: [{ field: "script" }, { field: "count" }] });
  });

  test.each(["", "{", "[1]", "null", '"x"', "{“a”: 1}"])(
    "%j is no set of arguments",
    async (text) => {
      const sent = await send(ARGS, { "{}": text }, 5);
      expect(sent).toMatchObject({
        mistakes: [{ field: undefined, text: expect.stringMatching(/JSON object such as/) }],
      });
    },
  );

  test("never gives what the program fixes itself, and refuses to take it", async () => {
    expect(JSON.stringify(await fieldsOf(ARGS, 5))).not.toContain("by the program");
    const sent = await send(ARGS, { "{}": JSON.stringify(ARGS) }, 5);
    expect(sent).toMatchObject({
      mistakes: [{ text: "pinned: the bot fills this in itself; leave it out" }],
    });
  });

  test("keeps within what every platform takes", async () => {
    const looking = lookingAt(ARGS);
    const deny = { ...EDIT, form: "deny" } as const;
    for (const press of [EDIT, deny]) {
      const form = await loadForm(looking, "test:thread", press, { maxFields: 5 });
      const texts = form?.fields.map(({ label, hint }) => [label.length <= 45, hint.length <= 100]);
      expect(texts?.flat()).not.toContain(false);
      expect([form?.id.length, form?.title.length].every((length) => (length ?? 0) < 25)).toBe(
        true,
      );
    }
  });
});

test("a denial may have a reason", async () => {
  const looking = lookingAt(ARGS);
  const form = await loadForm(
    looking,
    KEY,
    { ...EDIT, form: "deny", revision: 2 },
    { maxFields: 5 },
  );
  expect(form?.fields).toMatchObject([{ optional: true, value: "" }]);
  const click = { kind: "click", action: "a1", revision: 2 };
  const deny = (text: string) => readForm(looking, KEY, form?.id ?? "", { text });
  expect(await deny(" wrong host\n")).toEqual({
    ...click,
    choice: { kind: "deny", reason: "wrong host" },
  });
  expect(await deny("  ")).toEqual({ ...click, choice: { kind: "deny" } });
  expect(await readForm(looking, KEY, "wk:approve:a1:1", {})).toBeUndefined();
});
