import { expect, test } from "vitest";
import { ANSWER, call, ofKind, resultsIn, talking, wordsIn } from "./talking.ts";

const KIB = 1_024;

/** Bytes of the turns that the journal holds. */
async function storedTurns(stage: Awaited<ReturnType<typeof talking>>): Promise<number> {
  return JSON.stringify(ofKind(await stage.entries(), "assistant")).length;
}

test("two thousand calls in one turn: sixteen run, one result speaks for the rest", async () => {
  const calls = Array.from({ length: 2_000 }, (_, i) =>
    call("look", `host-${"a".repeat(i % 50)}b`),
  );
  const stage = await talking([{ calls }, ANSWER]);
  await stage.ask("look at all");
  expect(stage.look.runs).toHaveLength(16);
  expect(resultsIn(stage.model.requests[1])).toHaveLength(17);
  expect(ofKind(await stage.entries(), "tool_finished")).toHaveLength(17);
  expect(stage.chat.answers().at(-1)?.text).toContain("CONFIRMED");
});

test("arguments of more than 256 KiB are neither parsed nor kept; the model is told, and the other call runs", async () => {
  const stage = await talking([
    { calls: [call("look", "web"), call("look", "x".repeat(10 * KIB * KIB)), call("look", "db")] },
    ANSWER,
  ]);
  await stage.ask("look");
  const texts = resultsIn(stage.model.requests[1]).map(({ text }) => text);
  expect(texts[1]).toContain("256 KiB together");
  expect(stage.look.runs).toHaveLength(2);
  expect(await storedTurns(stage)).toBeLessThan(10 * KIB);
});

test("a text of 1 MB is kept and shown in part, after the model was asked to write it shorter", async () => {
  const stage = await talking([
    { text: "word ".repeat(200 * KIB) },
    { text: "INCONCLUSIVE: nothing was found." },
  ]);
  await stage.ask("tell me all");
  expect(wordsIn(stage.model.requests[1]).join("\n")).toContain("Write it again, shorter");
  expect(await storedTurns(stage)).toBeLessThan(300 * KIB);
  expect(stage.chat.answers().at(-1)?.text).toContain("INCONCLUSIVE");
});

test("a text of just under 256 KiB stays as it is", async () => {
  const text = `INCONCLUSIVE: ${"word ".repeat(50 * KIB)}`;
  const stage = await talking([{ text }]);
  await stage.ask("tell me all");
  expect(ofKind(await stage.entries(), "assistant")[0]?.content).toEqual([{ kind: "text", text }]);
});
