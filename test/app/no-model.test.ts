import { expect, test } from "vitest";
import { answerWithoutModel } from "../../src/app/no-model.ts";
import { createTools } from "../../src/tools/registry.ts";

const tools = await createTools();
const POSTGRES = { name: "postgres", why: "POSTGRES_URL is not set" };
const answerTo = (text: string) => answerWithoutModel(text, tools, ({ name }) => name, [POSTGRES]);

test.each([
  ["why is the disk full?", "  run disk_usage"],
  ["which processes use memory", "  run host_processes\n"],
  ["what changed since noon", "  run what_changed"],
  ["is https://example.com up?", "  run http_check url=https://example.com"],
])("without a model %j is told of a tool for it", (text, offer) => {
  expect(`${answerTo(text)}\n`).toContain(offer);
});

test.each([
  ["show me the last deploys", "I have no tool for that; `tools` lists what I have."],
  ["is it raining", "I have no tool for that; `tools` lists what I have."],
  ["postgres is slow", "postgres isn't set up: POSTGRES_URL is not set."],
])("without a model %j is told that there is none", (text, said) => {
  expect(answerTo(text).split("\n").slice(1)).toEqual([said]);
});
