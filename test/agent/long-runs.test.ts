import { expect, test } from "vitest";
import { foldTranscript } from "../../src/agent/transcript.ts";
import { Transcript } from "../../src/agent/transcript-turns.ts";
import type { StoredEntry } from "../../src/core/entry.ts";
import { outputOf } from "../../src/queries/answers.ts";
import { fold } from "../../src/thread/fold.ts";
import { Thread } from "../../src/thread/state.ts";
import { countingModel } from "../fakes/counting-model.ts";
import { KEY } from "../fakes/stage.ts";
import { investigating, looking } from "./investigating.ts";

const CHARS = 2_000;
const LOOKS = 120;
const SHOWN = { encode: (text: string) => text, mayLink: undefined };

/** Characters of its results that memory keeps while the thread's run goes on. */
function kept(thread: Thread): number {
  const [run] = thread.runs.values();
  const calls = [...(run?.calls.values() ?? [])];
  return calls.reduce((sum, { finished }) => sum + (finished?.text.length ?? 0), 0);
}

/** The same of what its model is told, besides the turns, which are condensed. */
function keptToTell(entries: readonly StoredEntry[]): number {
  const transcript = new Transcript();
  for (const entry of entries) if (entry.kind !== "newer") foldTranscript(transcript, entry);
  const [run] = transcript.runs.values();
  const calls = [...(run?.calls.values() ?? [])];
  return calls.reduce((sum, { result }) => sum + (result?.text.length ?? 0), 0);
}

test("memory does not grow with what a long run reads, and its answer has all of it", async () => {
  const model = countingModel(32_000, looking(LOOKS));
  const stage = await investigating(model, { chars: CHARS });
  await stage.ask("why is web slow?");
  const entries = await stage.entries();
  const end = entries.findIndex(({ kind }) => kind === "run_ended");
  const during = entries.slice(0, end);
  expect(kept(fold(new Thread(), during))).toBeLessThan(LOOKS * CHARS * 0.5);
  expect(keptToTell(during)).toBe(0);

  const { results = [] } = stage.chat.answers().at(-1) ?? {};
  expect(results).toHaveLength(LOOKS);
  for (const [i, { text }] of results.entries())
    expect(text).toBe(`web-${i + 1} ${"x".repeat(CHARS)}`);
  const last = results.at(-1)?.call ?? "";
  const output = await outputOf(stage.journal, KEY, last, SHOWN);
  expect(output?.text).toBe(results.at(-1)?.text);
});
