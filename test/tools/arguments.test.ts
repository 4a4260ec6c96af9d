import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import * as z from "zod";
import { readText } from "../../src/commands/grammar.ts";
import { checkArguments, commandLine, readArguments } from "../../src/tools/arguments.ts";
import { argumentNames, describeInput, inputForm } from "../../src/tools/input-schema.ts";
import { noSuch, suggest } from "../../src/core/suggest.ts";
import { type Tool, defineTool } from "../../src/tools/tool.ts";

const schemaHash = (tool: Tool) => inputForm(tool).schemaHash;

function toolOf(name: string, input: z.ZodType): Tool {
  return defineTool<unknown>({
    name,
    description: "For tests.",
    input,
    effect: "read",
    timeoutMs: 1_000,
    run: async () => ({ text: "" }),
  });
}

const httpCheck = toolOf(
  "http_check",
  z.strictObject({
    url: z.url({ protocol: /^https?$/ }).meta({ examples: ["https://example.com/"] }),
    method: z.enum(["GET", "HEAD"]).default("GET"),
    port: z.int().min(1).max(65_535).optional(),
    insecure: z.boolean().optional(),
    pinned: z.string().optional().meta({ internal: true }),
  }),
);

const command = toolOf(
  "run_command",
  z.strictObject({
    argv: z
      .array(z.string())
      .min(1)
      .meta({ examples: [["systemctl", "status", "nginx"]] }),
    env: z.record(z.string(), z.string()).optional(),
    lines: z.int().optional(),
    started: z.number().meta({ internal: true }).optional(),
  }),
);

function problem(tool: Tool, raw: Record<string, string>): string {
  const read = readArguments(tool, raw);
  return read.ok ? "no problem" : read.problem;
}

describe("typed arguments", () => {
  it("are taken as text, number, truth value, list or object, as the schema wants them", () => {
    expect(
      readArguments(httpCheck, { url: "https://a.b/", port: "443", insecure: "true" }),
    ).toEqual({
      ok: true,
      args: { url: "https://a.b/", method: "GET", port: 443, insecure: true },
    });
    expect(readArguments(command, { argv: '["uptime"]', env: '{"A": "1"}', lines: "-5" })).toEqual({
      ok: true,
      args: { argv: ["uptime"], env: { A: "1" }, lines: -5 },
    });
  });

  it("stay text where the schema takes text, whatever they look like", () => {
    const tool = toolOf("t", z.strictObject({ text: z.string(), n: z.number() }));
    for (const text of ["443", "true", "null", "[1]", '{"a":1}', "", '"x"']) {
      expect(readArguments(tool, { text, n: "1" })).toEqual({ ok: true, args: { text, n: 1 } });
    }
  });

  it("stay text where the schema takes both", () => {
    const tool = toolOf("t", z.strictObject({ both: z.union([z.string(), z.number()]) }));
    expect(readArguments(tool, { both: "5" })).toEqual({ ok: true, args: { both: "5" } });
  });

  it("are read by the variant of a union that they name", () => {
    const tool = toolOf(
      "u",
      z.discriminatedUnion("kind", [
        z.strictObject({ kind: z.literal("a"), n: z.number() }),
        z.strictObject({ kind: z.literal("b"), s: z.string() }),
      ]),
    );
    expect(readArguments(tool, { kind: "a", n: "1" })).toMatchObject({ ok: true });
    expect(readArguments(tool, { kind: "b", s: "1" })).toEqual({
      ok: true,
      args: { kind: "b", s: "1" },
    });
    expect(describeInput(tool)).toBe("u kind=a [n=<number>] [s=<text>]");
  });

  it("are checked together by the schema's own rules", () => {
    const tool = toolOf(
      "t",
      z
        .strictObject({ a: z.string().optional(), n: z.number().optional() })
        .refine((args) => args.a !== args.a?.toUpperCase(), "a must have a small letter"),
    );
    expect(problem(tool, { a: "443", n: "1" })).toContain(
      "- arguments: a must have a small letter",
    );
    expect(readArguments(tool, { a: "x", n: "1" })).toEqual({ ok: true, args: { a: "x", n: 1 } });
  });

  it("that were printed from values read back as those values", () => {
    const tool = toolOf(
      "t",
      z.strictObject({
        text: z.string(),
        n: z.number(),
        yes: z.boolean(),
        list: z.array(z.string()),
        map: z.record(z.string(), z.number()),
      }),
    );
    const text = fc.string({ unit: "grapheme" });
    const values = fc.record({
      text,
      n: fc.double({ noNaN: true, noDefaultInfinity: true }).map((n) => n + 0),
      yes: fc.boolean(),
      list: fc.array(text),
      map: fc.dictionary(
        text.filter((key) => key !== "__proto__"),
        fc.integer(),
        { noNullPrototype: true },
      ),
    });
    fc.assert(
      fc.property(values, (args) => {
        const reading = readText(commandLine(tool.name, args));
        expect(reading).toMatchObject({ kind: "command", command: { name: "run", tool: "t" } });
        const raw =
          reading.kind === "command" && reading.command.name === "run" && reading.command.args;
        expect(readArguments(tool, raw || {})).toEqual({ ok: true, args });
      }),
      { numRuns: 1_000 },
    );
  });
});

describe("a problem", () => {
  it("names every argument, what is wrong, the form and an example", () => {
    expect(
      problem(httpCheck, { methd: "GET", port: "70000", insecure: "maybe", pinned: "x" }),
    ).toBe(
      [
        "Can't run http_check with these arguments:",
        "- methd: unknown; did you mean method?",
        "- pinned: the bot fills this in itself; leave it out",
        "- url is required",
        "- port: expected a number up to 65535",
        "- insecure takes true or false, not text",
        "Usage: run http_check url=<url> [method=GET|HEAD] [port=<number 1..65535>] [insecure=true|false]",
        "Example: run http_check url=https://example.com/",
      ].join("\n"),
    );
  });

  it("has the schema's own example, which is a command that works", () => {
    const text = problem(command, {});
    const example = /^Example: (.*)$/m.exec(text)?.[1] ?? "";
    expect(example).toBe(`run run_command argv='["systemctl","status","nginx"]'`);
    expect(readText(example)).toMatchObject({ kind: "command", command: { name: "run" } });
  });

  it("makes up no example, which might be someone's process", () => {
    const kill = toolOf("kill", z.strictObject({ pid: z.int().min(1) }));
    expect(problem(kill, {})).toBe(
      "Can't run kill with these arguments:\n- pid is required\nUsage: run kill pid=<number 1..>",
    );
  });

  it.each([
    [{ argv: "uptime" }, "- argv takes a list, not text"],
    [{ argv: '["a", 1]' }, "- argv[1] takes text, not a number; write it in quotes"],
    [{ argv: '["a"]', lines: "1.5" }, "- lines: expected a whole number"],
    [{ argv: '["a"]', lines: "many" }, "- lines takes a number, not text"],
    [{ argv: '["a"]', lines: "1e999" }, "- lines takes a number, not text"],
    [{ argv: '["a"]', nonsense: "1" }, "- nonsense: unknown; known are argv, env, lines"],
    [{ argv: '["a"]', started: "5" }, "- started: the bot fills this in itself; leave it out"],
  ])("with %j", (raw: Record<string, string>, line) => {
    expect(problem(command, raw).split("\n")).toContain(line);
  });

  it("is found in names that a lax schema would silently drop", () => {
    const lax = toolOf("lax", z.object({ host: z.string() }));
    expect(problem(lax, { host: "a", hots: "b" })).toContain("- hots: unknown; did you mean host?");
    const open = toolOf("open", z.looseObject({ host: z.string() }));
    expect(readArguments(open, { host: "a", more: "b" })).toMatchObject({ ok: true });
  });
});

describe("structured arguments", () => {
  it("come back with defaults filled in, so that policy and card see what will run", () => {
    expect(checkArguments(httpCheck, { url: "https://a.b/" })).toEqual({
      ok: true,
      args: { url: "https://a.b/", method: "GET" },
    });
  });

  it("may hold what only the bot fills in when the bot gives them, and from nobody else", () => {
    const args = { argv: ["uptime"], started: 5 };
    expect(checkArguments(command, args, "bot")).toEqual({ ok: true, args });
    expect(checkArguments(command, args)).toMatchObject({ ok: false });
    expect(checkArguments(command, { ...args, zzz: 1 }, "bot")).toMatchObject({ ok: false });
  });

  it("that nest too deep, or hide a prototype, are refused before anything walks them", () => {
    const any = toolOf("any", z.strictObject({ value: z.json() }));
    const deep = `${"[".repeat(5_000)}${"]".repeat(5_000)}`;
    expect(checkArguments(any, { value: JSON.parse(deep) })).toMatchObject({ ok: false });
    expect(checkArguments(any, { value: JSON.parse('{"__proto__":1}') })).toMatchObject({
      ok: false,
    });
    expect(problem(any, { value: deep })).toBe("no problem"); // as the text that it is
  });
});

describe("a tool's input", () => {
  it("is described in one line, without what only the bot fills in", () => {
    expect(describeInput(command)).toBe(
      "run_command argv=<JSON list of <text>> [env=<JSON object>] [lines=<number>]",
    );
    expect(argumentNames(command)).toEqual(["argv", "env", "lines"]);
  });

  it("has a hash that only a change of the schema changes", () => {
    const schema = { host: z.string().max(5) };
    const hash = schemaHash(toolOf("a", z.strictObject(schema)));
    expect(hash).toMatch(/^[0-9a-f]{64}$/);
    expect(schemaHash(toolOf("b", z.strictObject({ host: z.string().max(5) })))).toBe(hash);
    expect(schemaHash(toolOf("a", z.strictObject({ host: z.string().max(6) })))).not.toBe(hash);
    expect(
      schemaHash(toolOf("a", z.strictObject({ ...schema, p: z.string().optional() }))),
    ).not.toBe(hash);
  });
});

describe("suggestions", () => {
  it.each([
    ["htpp_check", "http_check"],
    ["HTTP_CHECK", "http_check"],
    ["aprove", "approve"],
    ["ps2", "ps"],
    ["uptme", "uptime"],
    ["deploy", undefined],
    ["x", undefined],
    ["", undefined],
  ])("for %j: %j", (name, expected) => {
    expect(suggest(name, ["http_check", "approve", "deny", "uptime", "ps"])).toBe(expected);
  });

  it("a name is always its own closest", () => {
    fc.assert(
      fc.property(fc.array(fc.string(), { minLength: 1 }), (names) => {
        expect(names.map((name) => suggest(name, new Set(names))?.toLowerCase())).toEqual(
          names.map((name) => name.toLowerCase()),
        );
      }),
    );
  });
});

it("tells of a name that does not exist which one was meant, or which there are", () => {
  expect(noSuch("container", "mailr", ["cart", "mailer"])).toBe(
    "There is no container mailr. Did you mean mailer?",
  );
  expect(noSuch("container", "x", ["cart", "mailer"])).toBe(
    "There is no container x. There are cart, mailer.",
  );
  expect(noSuch("container", "x", [])).toBe("There is no container x. Nor is there any other.");
});
