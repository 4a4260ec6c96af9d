import { expect, test } from "vitest";
import { replayLines } from "../../src/app/cli/replay-lines.ts";
import { hashTerms } from "../../src/core/run-terms.ts";
import { call, talking } from "../agent/talking.ts";
import { KEY } from "../fakes/stage.ts";

async function replayed(change: (terms: object) => object, step?: number) {
  const stage = await talking([
    { text: "Let me see.\u009b2J", calls: [call("look", "a"), call("look", "b")] },
    { text: "CONFIRMED: it is as seen in [T1]." },
  ]);
  await stage.ask("is it well?");
  const { terms: talk } = stage.parts.run;
  if (talk === undefined) throw new TypeError("no model");
  const { prefix: _, ...terms } = talk;
  const lines: string[] = [];
  const today = hashTerms({ ...terms, ...change(terms) });
  for await (const line of replayLines(stage.journal, KEY, today, step)) lines.push(line);
  return lines;
}

test("every model call of a thread is made again from the journal, the very same", async () => {
  const [head, ...calls] = await replayed(() => ({}));
  expect(head).toContain("2 model calls");
  expect(calls).toHaveLength(2);
  for (const line of calls) expect(line).toContain("request identical");
});

test("one call is shown whole: what was asked and what came back, with nothing in it that a terminal would act on", async () => {
  const text = (await replayed(() => ({}), 2)).join("\n");
  expect(text).toContain("is it well?");
  expect(text).toContain("[T2 look: ok.");
  expect(text).toContain('"stop": "end_turn"');
  expect(text).toContain(String.raw`\u009b2J`);
  expect(text).not.toContain("\u009b");
});

test("a thread of another prompt says so, and still holds the turns against what was recorded", async () => {
  const [, first] = await replayed(() => ({ system: "Another prompt." }));
  expect(first).toContain("turns identical; made with another system prompt");
});

test("a step that there is not is said so", async () => {
  await expect(replayed(() => ({}), 3)).rejects.toThrow("has 2 model calls");
});
