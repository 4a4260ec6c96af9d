import { type Asked, requestOf } from "../agent/request.ts";
import type { TalkTerms } from "../agent/run.ts";
import { emptyTranscript, foldTranscript } from "../agent/transcript.ts";
import { totalTokens } from "../core/block.ts";
import type { Entry } from "../core/entry.ts";
import { BotError } from "../core/errors.ts";
import type { JournalKey } from "../core/journal-key.ts";
import { fold } from "../journal/fold.ts";
import { emptyThread } from "../journal/thread.ts";
import type { Journal } from "../journal/journal.ts";

type Answer = Entry<"assistant">;

/**
 * The model calls of a thread, one line each; or one of them whole: the exact request, folded anew from the journal and
 * held against the hash that was recorded, and what came back.
 * @throws BotError USAGE when there is no such step
 */
export async function* replayLines(
  journal: Journal,
  key: JournalKey,
  terms: TalkTerms,
  step: number | undefined,
): AsyncIterable<string> {
  const entries = (await journal.read(key)).filter(
    (entry): entry is Entry => entry.kind !== "newer",
  );
  const answers = entries.filter((entry) => entry.kind === "assistant");
  if (step === undefined) {
    yield `${key}: ${answers.length} model calls; --step n shows one whole`;
    for (const [i, answer] of answers.entries()) {
      yield `${String(i + 1).padStart(4)}  ${summary(answer)}  ${verdictOn(answer, refold(entries, answer, terms), terms, entries)}`;
    }
    return;
  }
  const answer = answers[step - 1];
  if (answer === undefined) {
    const text = `--step ${step}: ${key} has ${answers.length} model calls, counted from 1.`;
    throw new BotError("USAGE", text);
  }
  const asked = refold(entries, answer, terms);
  yield `${summary(answer)}  ${verdictOn(answer, asked, terms, entries)}`;
  if (asked !== undefined) {
    yield JSON.stringify({ ...asked.request, turns: asked.turns }, undefined, 2);
  }
  const { content, stop, usage, model } = answer;
  yield JSON.stringify({ response: { content, stop, usage, model } }, undefined, 2);
}

/** The request that led to this answer, from the entries that it had seen. */
function refold(
  entries: readonly Entry[],
  { run, seen }: Answer,
  terms: TalkTerms,
): Asked | undefined {
  const before = entries.filter((entry) => entry.seq <= seen);
  const talk = fold(emptyThread(), before).runs.get(run)?.talk;
  const transcript = emptyTranscript();
  for (const entry of before) foldTranscript(transcript, entry);
  return talk && requestOf(transcript, talk, terms);
}

function verdictOn(
  { run, request }: Answer,
  asked: Asked | undefined,
  terms: TalkTerms,
  entries: readonly Entry[],
): string {
  if (asked?.hash === request) return "request identical";
  const started = entries.find((entry) => entry.kind === "run_started" && entry.run === run);
  const then = started?.kind === "run_started" ? started.talk?.prefix : undefined;
  return then === terms.prefix
    ? "REQUEST DIFFERS from the recorded one"
    : "made with another system prompt or other tools than today's; the turns are the same";
}

function summary({ at, run, step, model, stop, usage, ms, seen }: Answer): string {
  return `${new Date(at).toISOString()}  ${run} step ${step}  ${model}  up to entry ${seen}  ${stop}  ${totalTokens(usage)} tokens  ${ms} ms`;
}
