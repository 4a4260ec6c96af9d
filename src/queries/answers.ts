import type { Answer, CallOutput, CallResult } from "../adapters/shown.ts";
import { inPages } from "../core/pages.ts";
import type { JournalKey } from "../core/journal-key.ts";
import type { StoredEntry } from "../core/entry.ts";
import { fold } from "../thread/fold.ts";
import { runOfCall } from "../thread/entry-ids.ts";
import { Thread } from "../thread/state.ts";
import type { Journal } from "../journal/journal.ts";
import { goalAnswer, resultsOfGoal } from "./goals.ts";
import { resultTexts } from "./results.ts";
import { outgoingOf, type Shown } from "./outgoing.ts";

/** The answers of the thread's ended runs, of `run` or of all, as they were shown. */
async function* answersOf(
  key: JournalKey,
  entries: Awaited<ReturnType<Journal["read"]>>,
  run: string | undefined,
  shown: Shown,
): AsyncIterable<Answer> {
  const thread = new Thread();
  const texts = resultTexts(entries);
  for await (const page of inPages(entries)) {
    for (const entry of page) {
      fold(thread, [entry]);
      const named = entry.kind === "run_ended" ? entry.run : goalEndedBy(entry);
      if (named === undefined || (run !== undefined && named !== run)) continue;
      const item = thread.outbox.get(entry.id);
      const message =
        item?.kind === "goal"
          ? goalAnswer({ key, thread }, item.goal, shown, {
              results: await resultsOfGoal(entries, named, shown.encode),
            })
          : item && outgoingOf({ key, thread, texts }, item, shown);
      if (message?.kind === "answer") yield message;
    }
  }
}

function goalEndedBy(entry: StoredEntry): string | undefined {
  return entry.kind === "goal_state" && entry.state === "ended" ? entry.goal : undefined;
}

/** A run's answer, or a goal's; undefined when it has not ended, or the thread has no such run. */
export async function answerOf(
  journal: Journal,
  key: JournalKey,
  run: string,
  shown: Shown,
): Promise<Answer | undefined> {
  for await (const answer of answersOf(key, await journal.read(key), run, shown)) return answer;
  return undefined;
}

/** All that a call of an ended run returned. `call`: `r1.t3`, or `t3` for the newest that ends so. */
export async function outputOf(
  journal: Journal,
  key: JournalKey,
  call: string,
  shown: Shown,
): Promise<CallOutput | undefined> {
  const run = call.includes(".") ? runOfCall(call) : undefined;
  let result: CallResult | undefined;
  for await (const { results } of answersOf(key, await journal.read(key), run, shown)) {
    result = results.find((each) => `.${each.call}`.endsWith(`.${call}`)) ?? result;
  }
  if (result === undefined) return undefined;
  const [kept] = result.artifacts;
  if (kept === undefined) return { result, text: result.text };
  // What is kept passed the encoder whole before it was put there.
  const bytes = await journal.readArtifact(key, kept.id);
  return { result, text: Buffer.from(bytes).toString() };
}
