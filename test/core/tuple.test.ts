import { expect, test } from "vitest";
import * as z from "zod";
import { SCHEMAS } from "../../src/core/entry.ts";
import { type Draft, type Kind } from "../../src/core/entry.ts";
import {
  checkDraft,
  decodeContent,
  encodeDraft,
  entryVersion,
} from "../../src/core/entry-codec.ts";
import { plainId } from "../../src/core/stored-id.ts";
import { hash, json, jsonText, tuplesOf } from "../../src/core/tuple.ts";
import objects from "./golden-entries.json" with { type: "json" };
import orders from "./golden-orders.json" with { type: "json" };
import tuples from "./golden-tuples.json" with { type: "json" };

interface Golden {
  stored: string;
  kind: string;
  version: number;
  tuple: unknown[];
}

/** Tuples as released versions wrote them, each of what stands in the same place among the objects. Never changed either. */
const golden: Readonly<Record<Kind, readonly Golden[]>> = tuples;

test("what any released version wrote as a tuple can still be read, and is written in that very form", () => {
  for (const [kind, entries] of Object.entries(golden)) {
    const bodies = objects[kind as Kind].map(({ body }) => body);
    expect(entries, kind).toHaveLength(bodies.length);
    for (const [i, { tuple, ...entry }] of entries.entries()) {
      const content = decodeContent({ ...entry, body: JSON.stringify(tuple) });
      expect(content, kind).toEqual({ kind, ...bodies[i] });
      if (content === undefined || entry.version !== entryVersion(kind as Kind)) continue;
      const draft: Draft = { id: plainId(entry.kind, entry.stored), ...content };
      expect(encodeDraft(draft, "tuple"), kind).toMatchObject({
        ...entry,
        body: JSON.stringify(tuple),
      });
    }
  }
});

test("a tuple that does not fit its kind is an error, and one of a newer version is left alone", () => {
  for (const { tuple, ...entry } of Object.values(golden).flat()) {
    const decode =
      (body: unknown, version = entry.version) =>
      () =>
        decodeContent({ ...entry, version, body: JSON.stringify(body) });
    expect(decode([...tuple, 2 ** 30, "surprise"]), entry.kind).toThrow(TypeError);
    expect(decode({}), entry.kind).toThrow(TypeError);
    expect(decode([[], ...tuple.slice(1)]), entry.kind).toThrow(TypeError);
    expect(decode(tuple, 99)(), entry.kind).toBeUndefined();
  }
});

/** Where each field and each choice has its place in a tuple, by where the schema has them. */
function placesOf(schema: unknown, path: string): [path: string, names: unknown[]][] {
  if (schema instanceof z.ZodObject) {
    const fields = Object.entries(schema.shape);
    const isOptional = ([, field]: [string, unknown]) => field instanceof z.ZodOptional;
    const names = (some: typeof fields) => some.map(([name]) => name);
    return [
      [path, names(fields.filter((field) => !isOptional(field)))],
      [`${path}?`, names(fields.filter(isOptional))],
      ...fields.flatMap(([name, field]) => placesOf(field, `${path}.${name}`)),
    ];
  }
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable) {
    return placesOf(schema.unwrap(), path);
  }
  if (schema instanceof z.ZodArray) return placesOf(schema.element, `${path}[]`);
  if (schema instanceof z.ZodRecord) return placesOf(schema.valueType, `${path}{}`);
  if (schema instanceof z.ZodEnum) return [[`${path}?`, schema.options]];
  if (schema instanceof z.ZodDiscriminatedUnion) {
    const name = schema.def.discriminator;
    const options = schema.options.map((option) => {
      if (!(option instanceof z.ZodObject)) throw new TypeError("no object");
      const word: unknown = option.shape[name];
      return { word: word instanceof z.ZodLiteral ? String(word.value) : "", option };
    });
    return [
      [`${path}?`, options.map(({ word }) => word)],
      ...options.flatMap(({ word, option }) => placesOf(option, `${path}=${word}`)),
    ];
  }
  if (schema === hash) return [[path, ["hash"]]];
  return [];
}

test("no field and no choice has another place than when the first tuple was written", () => {
  const places = Object.entries(SCHEMAS).flatMap(([kind, schema]) => placesOf(schema, kind));
  const now = Object.fromEntries(places.map(([path, names]) => [path, names.join(" ")]));
  const released: Readonly<Record<string, string>> = orders;
  for (const [path, names] of Object.entries(released)) {
    // What is optional, and choices, may have more after them. Anything else needs a migration, and the old schema's places.
    if (path.endsWith("?")) expect(`${now[path]} `, path).toMatch(new RegExp(`^${names}( |$)`));
    else expect(now[path], path).toBe(names);
  }
  expect(Object.keys(now).filter((path) => released[path] === undefined)).toEqual([]);
});

const draft = (fields: object): Draft =>
  ({ id: "finished:r1.t2", kind: "tool_finished", run: "r1", call: "r1.t2", ...fields }) as Draft;

test("an entry that does not fit its kind is refused, with what is wrong", () => {
  const whole = { outcome: "ok", text: "fine" };
  expect(() => checkDraft(draft(whole))).not.toThrow();
  for (const wrong of [
    { outcome: "ok" },
    { ...whole, outcome: "perhaps" },
    { ...whole, text: 7 },
    { ...whole, ms: -1 },
    { ...whole, ms: 1.5 },
    { ...whole, surprise: true },
    { ...whole, artifacts: [{ id: "a" }] },
    { ...whole, undo: { tool: "t", args: { at: new Date() } } },
    { ...whole, undo: { tool: "t", args: JSON.parse('{"__proto__":{}}') } },
    { ...whole, findings: [{ cause: "none" }] },
  ]) {
    expect(() => checkDraft(draft(wrong)), JSON.stringify(wrong)).toThrow(
      expect.objectContaining({ code: "ENTRY_INVALID" }),
    );
  }
});

test("an id with half of a character is refused: a store would keep another one than was sealed", () => {
  const said = { ...draft({ outcome: "ok", text: "\ud83d is a text" }) };
  expect(() => checkDraft(said)).not.toThrow();
  expect(() => checkDraft({ ...said, id: "finished:\ud83d" })).toThrow(
    expect.objectContaining({ code: "ENTRY_INVALID", message: expect.stringContaining("ud83d") }),
  );
});

test("says what the id says only once, hashes in 43 characters, and nothing of what is not there", () => {
  const sum = "ab".repeat(32);
  const started = { tool: "look", effect: "read", digest: sum };
  const id = "started:r1.t2";
  const written = encodeDraft({ ...draft(started), id, kind: "tool_started" } as Draft, "tuple");
  const short = Buffer.from(sum, "hex").toString("base64url");
  const body = `["look",0,4,"${short}"]`;
  expect(written).toEqual({ id, stored: "Tr1.t2", kind: "T", version: 5, body });
});

test("takes any text for a name or a hash, whatever the id", () => {
  const schema = z.strictObject({ name: z.string(), sum: hash, any: json });
  const { pack, unpack } = tuplesOf(schema, []);
  const texts = [
    "",
    "=",
    "==",
    "a",
    "ab",
    "abc:def",
    "x".repeat(70),
    "ab".repeat(16),
    "AB".repeat(32),
  ];
  for (const id of ["", "a", "abc:abc:def", `${"x".repeat(70)}:${"y".repeat(70)}`]) {
    for (const name of [...texts, id, id.slice(2), id.slice(0, 40)]) {
      for (const sum of texts) {
        const value = { name, sum, any: [name, { [sum]: null }] };
        expect(unpack(JSON.parse(JSON.stringify(pack(value, id))), id)).toEqual(value);
      }
    }
  }
  for (const name of [0, 1, 64 * 9 + 2, -3, 2.5, null]) {
    expect(() => unpack([name, "", null], "abc"), String(name)).toThrow(TypeError);
  }
});

test("JSON that somebody wrote comes back to the letter, and as a value where that says the same", () => {
  const { pack, unpack } = tuplesOf(z.strictObject({ input: jsonText }), []);
  const nested = "[".repeat(1_000) + "]".repeat(1_000);
  const same = ["{}", "[]", '{"a":[1,"x\\n",null]}', '{"__proto__":{"a":1}}', nested];
  const other = ["", "null", "7", '"a"', '{"a": 1}', '{"a":1,"a":2}', '{"b":1,"1":2}', "[1.0]"];
  const deep = "[".repeat(30_000) + "]".repeat(30_000);
  for (const input of [...same, ...other, "{", '["\\ud800"]', '["\\uD800"]', deep]) {
    const packed = pack({ input }, "");
    expect(unpack(JSON.parse(JSON.stringify(packed)), "")).toEqual({ input });
    expect(typeof packed[0] === "string", input.slice(0, 40)).toBe(
      !same.includes(input) && input !== '["\\ud800"]',
    );
  }
  for (const wrong of [7, null, true]) expect(() => unpack([wrong], "")).toThrow(TypeError);
});
