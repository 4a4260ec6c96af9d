import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { SYSTEM_PROMPT } from "../../src/agent/prompt.ts";
import { HELP_GROUPS, helpText, usage, USAGE } from "../../src/commands/phrases.ts";
import { ERROR_CODES } from "../../src/core/errors.ts";

const ROOT = join(import.meta.dirname, "../..");
const read = (file: string) => readFileSync(join(ROOT, file), "utf8");

/** Words that a native reader stumbles over, in what people see. */
const FORBIDDEN: readonly RegExp[] = [
  /\banew\b/i,
  /\bcarried out\b/i,
  /\b(?:is|are) none\b/i,
  /\bis no (?:command|file|JSON|object|period|question|regular|text)\b/i,
  /\b(?:hangs? from|is waited for|was begun|nothing to this button|written in in)\b/i,
  /\bmay not (?:approve|decide)\b/i,
  /\bof a form\b/i,
  /\bwhat there is of\b/i,
  /[a-z]\(s\)/,
  /\b(?:behaviour|colour|favour|licence)s?\b/i,
];

/** The texts between quotes of one line, without lines of comments. */
function textsIn(source: string): string[] {
  return source
    .split("\n")
    .filter((line) => !/^\s*(?:\/\/|\/?\*)/.test(line))
    .flatMap((line) => line.match(/"(?:[^"\\]|\\.)*"|`(?:[^`\\]|\\.)*`/g) ?? [])
    .filter((text) => /[a-z]{2} [a-z]{2}/i.test(text));
}

function sources(folder: string): string[] {
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".ts"))
    .map((file) => join(folder, file));
}

const PAGES = [
  "README.md",
  "CONTRIBUTING.md",
  "SECURITY.md",
  ".env.example",
  "slack-manifest.yaml",
  ...readdirSync(join(ROOT, "docs"), { recursive: true, encoding: "utf8" })
    .filter((file) => /\.\w+$/.test(file))
    .map((file) => join("docs", file)),
];

describe("what people read", () => {
  test.each(FORBIDDEN)("has no %s, in the program's texts or on a page", (word) => {
    const found = [
      ...sources("src").flatMap((file) => textsIn(read(file)).map((text) => `${file}: ${text}`)),
      ...PAGES.flatMap((page) =>
        read(page)
          .split("\n")
          .map((line) => `${page}: ${line}`),
      ),
    ].filter((text) => word.test(text));
    expect(found).toEqual([]);
  });

  test("of a thread stands in its phrases; gates and evidence also have words for models", () => {
    const speak = [
      "phrases.ts",
      "narrowed.ts",
      "evidence.ts",
      "assent.ts",
      "tone.ts",
      "model-run.ts",
    ];
    const found = sources("src/thread")
      .filter((file) => !file.includes("/gates/") && !speak.some((name) => file.endsWith(name)))
      .flatMap((file) => textsIn(read(file)))
      .filter((text) => text !== '"not done"');
    expect(found).toEqual([]);
  });

  test("has one space between words, and none before a full stop", () => {
    const found = sources("src").flatMap((file) =>
      textsIn(read(file)).filter((text) => /[a-z,.;] {2,}[a-z]|[a-z] [.,;](?:\s|.$)/i.test(text)),
    );
    expect(found).toEqual([]);
  });

  test("is a whole sentence for every code of an error", () => {
    for (const text of Object.values(ERROR_CODES)) expect(text).toMatch(/^[A-Z][^\n]*[a-z)]\.$/);
  });

  test("starts with six examples, and never asks to read a list of grammar", () => {
    const examples = helpText(true).match(/^ {2}\S.* – .+$/gm);
    expect(examples).toHaveLength(6);
    const words = Object.values(HELP_GROUPS).flat();
    expect(words.toSorted()).toEqual(Object.keys(USAGE).toSorted());
    const lines = helpText(true).split("\n").slice(1);
    expect(lines.filter(({ length }) => length > 80)).toEqual([]);
    for (const word of Object.keys(USAGE)) expect(usage(word as "run")).toMatch(/^Usage: `[^`]/);
    expect(SYSTEM_PROMPT).toContain("plain, short, active");
  });

  test("is quoted on docs/discord.md as the program says it", () => {
    const page = read("docs/discord.md");
    const [, section = ""] = page.split("## When something is wrong");
    const cells = section.match(/^\| (?=["`]).*?\|/gm) ?? [];
    const quoted = cells.flatMap((cell) => cell.match(/(?<=["`])[^"`]{4,}(?=["`])/) ?? []);
    const program = sources("src").map(read).join("\n");
    const pieces = quoted
      .flatMap((text) => text.split(/\d+\S*|…/))
      .filter((text) => /\w/.test(text));
    const discordsOwn = "This interaction failed";
    expect(pieces.filter((text) => !program.includes(text) && text !== discordsOwn)).toEqual([]);
    expect(pieces.length).toBeGreaterThan(8);
  });
});
