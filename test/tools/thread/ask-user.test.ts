import { expect, test } from "vitest";
import { checkArguments } from "../../../src/tools/arguments.ts";
import { askUser } from "../../../src/tools/thread/ask-user.ts";
import { idleContext } from "../../fakes/tool-context.ts";

const check = (args: Parameters<typeof checkArguments>[1]) => checkArguments(askUser, args).ok;

test("a question has at most 500 characters and six choices of 80", () => {
  expect(check({ question: "q".repeat(500) })).toBe(true);
  expect(check({ question: "q".repeat(501) })).toBe(false);
  expect(check({ question: "" })).toBe(false);
  expect(check({ question: "Which?", choices: Array(6).fill("c".repeat(80)) })).toBe(true);
  expect(check({ question: "Which?", choices: Array(7).fill("c") })).toBe(false);
  expect(check({ question: "Which?", choices: ["c".repeat(81)] })).toBe(false);
});

test("a question is put to people and never run", async () => {
  const input = askUser.input.parse({ question: "Which cluster?" });
  expect(askUser.question?.(input)).toEqual({ text: "Which cluster?", choices: [] });
  await expect(askUser.run(input, idleContext())).rejects.toMatchObject({ code: "NOT_AVAILABLE" });
});
