import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { BotError, ERROR_CODES, isBotError, messageOf } from "../../src/core/errors.ts";

const ROOT = join(import.meta.dirname, "../..");

test("docs/errors.md has a section for every code, in the table's order, and no other", () => {
  const page = readFileSync(join(ROOT, "docs/errors.md"), "utf8");
  const sections = [...page.matchAll(/^## (\w+)\n+(.+)/gm)];
  expect(sections.map(([, code]) => code)).toEqual(Object.keys(ERROR_CODES));
  for (const [, code, text] of sections) expect(text, code).toMatch(/\w+ \w+/);
});

test("an error is told apart by its code, and anything thrown has a sentence", () => {
  const error = new BotError("TIMEOUT", "It took long.");
  expect(isBotError(error)).toBe(true);
  expect(isBotError(error, "ABORTED", "TIMEOUT")).toBe(true);
  expect(isBotError(error, "ABORTED")).toBe(false);
  expect(isBotError(new Error("x"))).toBe(false);
  expect(messageOf(error)).toBe("It took long.");
  expect(messageOf("plain")).toBe("plain");
});
