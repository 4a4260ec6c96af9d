import { LLMock } from "@copilotkit/aimock";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import * as z from "zod";
import type { Turn } from "../../src/models/model.ts";
import { callStructured, StructuredError } from "../../src/models/structured.ts";
import { scriptedModel } from "../fakes/scripted-model.ts";
import { anthropic, compatible, openai } from "./dialects.ts";
import { failureOf, said } from "./harness.ts";

const { signal } = new AbortController();
const schema = z.object({
  tasks: z.array(z.object({ title: z.string().max(20) })).max(2),
  done: z.boolean(),
});
const GOOD = { tasks: [{ title: "Read the log" }], done: false };
const turns: Turn[] = [said("Plan it.")];
const request = { system: "You plan.", turns, schema, name: "plan", maxOutputTokens: 500 };

function textOf(turn: Turn | undefined): string {
  return turn?.role === "user" ? JSON.stringify(turn.content) : "";
}

describe("a value of a schema from a model", () => {
  test("is checked and comes with its tokens", async () => {
    const model = scriptedModel([{ text: JSON.stringify(GOOD) }]);
    const { value, usage, requests } = await callStructured(model, request, { signal });
    expect(value).toEqual(GOOD);
    expect([usage.input, usage.output, requests]).toEqual([100, 10, 1]);
    expect(model.requests[0]).toMatchObject({ tools: [], output: { name: "plan" } });
    expect(model.requests[0]?.output?.schema).toMatchObject({ required: ["tasks", "done"] });
  });

  test("is read out of the prose and the fence that a small model puts around it", async () => {
    const text = `Sure, here it is:\n\`\`\`json\n${JSON.stringify(GOOD, undefined, 2)}\n\`\`\`\nHappy to help.`;
    const model = scriptedModel([{ text }]);
    expect((await callStructured(model, request, { signal })).value).toEqual(GOOD);
  });

  test("that does not fit is sent back once, with each problem by name", async () => {
    const wrong = { tasks: [{ title: "x".repeat(30) }, { title: 7 }] };
    const model = scriptedModel([
      { text: JSON.stringify(wrong) },
      { text: JSON.stringify(GOOD), usage: { input: 300 } },
    ]);
    const { value, usage, requests } = await callStructured(model, request, { signal });
    expect([value, requests, usage.input, usage.output]).toEqual([GOOD, 2, 400, 20]);
    const [first, written, repair] = model.requests[1]?.turns ?? [];
    expect(first).toEqual(turns[0]);
    expect(written).toMatchObject({ role: "assistant", model: model.id });
    expect(textOf(repair)).toContain("tasks[0].title: expected text with at most 20 characters");
    expect(textOf(repair)).toContain("tasks[1].title takes text, not a number");
    expect(textOf(repair)).toContain("done is required");
  });

  test("that was cut off is asked for again, shorter", async () => {
    const model = scriptedModel([
      { text: '{"tasks":[{"title":"Read', stop: "max_tokens" },
      { text: JSON.stringify(GOOD) },
    ]);
    expect((await callStructured(model, request, { signal })).requests).toBe(2);
    expect(textOf(model.requests[1]?.turns.at(-1))).toContain("be shorter");
  });

  test("that does not fit twice is an error which says why and what it cost", async () => {
    const model = scriptedModel([{ text: "I'd rather talk." }, { text: '{"tasks":[]}' }]);
    const error = await failureOf(callStructured(model, request, { signal }));
    expect(error).toBeInstanceOf(StructuredError);
    expect(error.code).toBe("MODEL_OUTPUT_INVALID");
    expect(error.message).toContain("done is required");
    expect((error as StructuredError).usage.input).toBe(200);
    expect(model.left()).toBe(0);
  });

  test("that the model refuses is not asked for again", async () => {
    const model = scriptedModel([{ text: "I can't help.", stop: "refusal" }]);
    const error = await failureOf(callStructured(model, request, { signal }));
    expect([error.code, model.left()]).toEqual(["MODEL_OUTPUT_INVALID", 0]);
  });

  test("is an object: a schema of anything else is a mistake of ours", async () => {
    const asked = callStructured(scriptedModel([]), { ...request, schema: z.string() }, { signal });
    await expect(asked).rejects.toThrow("give its schema as z.object");
  });
});

describe.each([anthropic, openai, compatible])("$wire against aimock", (dialect) => {
  let mock: LLMock;
  beforeEach(async () => {
    mock = new LLMock({ port: 0, strict: true, logLevel: "silent" });
    await mock.start();
  });
  afterEach(() => mock.stop());

  test("gives a value of a schema", async () => {
    mock.on({ userMessage: "Plan it." }, { content: JSON.stringify(GOOD) });
    const model = dialect.create({ baseURL: mock.url });
    expect((await callStructured(model, request, { signal })).value).toEqual(GOOD);
  });
});
