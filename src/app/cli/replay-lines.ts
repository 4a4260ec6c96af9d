import { type RequestContext, requestOf } from "../../agent/request.ts";
import { foldTranscript, tellingOf } from "../../agent/transcript.ts";
import { Transcript } from "../../agent/transcript-turns.ts";
import { totalTokens } from "../../core/block.ts";
import type { Entry } from "../../core/entry.ts";
import { BotError } from "../../core/errors.ts";
import type { JournalKey } from "../../core/journal-key.ts";
import type { JournalReader } from "../../journal/journal.ts";
import { counted } from "../../core/text.ts";
import { exactText } from "../../security/sanitize.ts";
import { fold } from "../../thread/fold.ts";
import type { RunTerms } from "../../core/run-terms.ts";
import { termsIn } from "../../thread/surroundings.ts";
import { Thread } from "../../thread/state.ts";

type Answer = Entry<"assistant">;
type Condensed = Entry<"condensed">;
type Thought = Entry<"goal_planned"> | Entry<"goal_judged">;

/** A model call as it was made, and the request that the journal gives for it today. */
interface Replayed {
  answer: Answer;
  model: string;
  asked: RequestContext;
  /** What the run began with, the system prompt and the tools, is what this program would send. */
  samePrefix: boolean;
}

/**
 * The model calls of a thread, one line each; or one of them whole: the request, folded from the journal and held
 * against the hash that was recorded, and what came back. Reasoning is left out: it is the provider's own.
 * @throws BotError USAGE when there is no such step
 */
export async function* replayLines(
  journal: JournalReader,
  key: JournalKey,
  terms: RunTerms,
  step: number | undefined,
): AsyncIterable<string> {
  const stored = await journal.read(key);
  const entries = stored.filter((entry): entry is Entry => entry.kind !== "newer");
  const replayed = replay(entries, terms);
  if (step === undefined) {
    yield `${key}: ${replayed.length} model calls; --step n shows one whole`;
    const others = entries.filter(isOther);
    let next = 0;
    for (const [i, each] of replayed.entries()) {
      for (; (others[next]?.seq ?? Infinity) < each.answer.seq; next++)
        yield* others.slice(next, next + 1).map(otherLine);
      yield `${String(i + 1).padStart(4)}  ${headOf(each)}`;
    }
    yield* others.slice(next).map(otherLine);
    return;
  }
  const found = replayed[step - 1];
  if (found === undefined) {
    const text = `--step ${step}: ${key} has ${replayed.length} model calls, counted from 1.`;
    throw new BotError("USAGE", text);
  }
  const { asked, answer } = found;
  const { content, stop, usage, model } = answer;
  yield headOf(found);
  yield* jsonLines({ ...asked.request, turns: asked.turns });
  yield* jsonLines({ response: { content, stop, usage, model } });
}

/** Models were asked for something else than a run's turn. */
function isOther(entry: Entry): entry is Condensed | Thought {
  if (entry.kind === "condensed") return true;
  const isThought = entry.kind === "goal_planned" || entry.kind === "goal_judged";
  return isThought && entry.thought !== undefined;
}

function otherLine(entry: Condensed | Thought): string {
  return entry.kind === "condensed" ? condensedLine(entry) : thoughtLine(entry);
}

/** A goal was planned, or a task of it judged. */
function thoughtLine(entry: Thought): string {
  const { at, goal, thought } = entry;
  const what =
    entry.kind === "goal_planned"
      ? (entry.why ??
        (entry.done ? "planned: done" : `planned: ${counted(entry.tasks.length, "task")}`))
      : `${entry.task} (${entry.run}) judged: ${entry.verdict ?? entry.reason}`;
  const asked =
    thought === undefined
      ? ""
      : `  ${thought.model}  ${totalTokens(thought.usage)} tokens  ${thought.ms} ms`;
  return `      ${new Date(at).toISOString()}  ${goal}  ${exactText(what)}${asked}`;
}

/** A request for a summary, which stands in place of what came before it from then on. */
function condensedLine({
  at,
  run,
  from,
  to,
  before,
  after,
  why,
  usage,
  ms,
  model,
}: Condensed): string {
  const what =
    to === 0
      ? "nothing condensed"
      : `entries ${from} to ${to} condensed, ${before} to ${after} tokens`;
  const asked = `${totalTokens(usage)} tokens  ${ms} ms`;
  const by = model === undefined ? "" : `  ${model}`;
  return `      ${new Date(at).toISOString()}  ${run}${by}  ${what}  ${asked}${why === undefined ? "" : `  ${exactText(why)}`}`;
}

/** Folds once through, and stops at each request to make it again from the entries that it had seen. */
function replay(entries: readonly Entry[], terms: RunTerms): Replayed[] {
  const thread = new Thread();
  const transcript = new Transcript();
  const answers = entries.filter((entry) => entry.kind === "assistant");
  const replayed: Replayed[] = [];
  let next = 0;
  for (const answer of answers) {
    for (; (entries[next]?.seq ?? Infinity) <= answer.seen; next++) {
      const [entry] = entries.slice(next, next + 1);
      if (entry === undefined) break;
      fold(thread, [entry]);
      foldTranscript(transcript, entry);
    }
    const run = thread.runs.get(answer.run);
    const modelRun = run?.modelRun;
    const own = termsIn({ terms }, run);
    if (modelRun === undefined || own === undefined) continue;
    const { prefix } = modelRun.terms;
    const asked = requestOf(
      transcript,
      { run: answer.run, modelRun },
      { ...own, prefix },
      tellingOf(transcript, answer),
    );
    replayed.push({
      answer,
      model: answer.model ?? modelRun.terms.model,
      asked,
      samePrefix: prefix === own.prefix,
    });
  }
  return replayed;
}

function headOf({ answer, model, asked, samePrefix }: Replayed): string {
  const { at, run, step, stop, usage, ms, seen, request } = answer;
  const isSame = asked.hash.startsWith(request);
  const verdict = !isSame
    ? "REQUEST DIFFERS from the recorded one"
    : samePrefix
      ? "request identical"
      : "turns identical; made with another system prompt or other tools than are shown";
  return `${new Date(at).toISOString()}  ${run} step ${step}  ${model}  up to entry ${seen}  ${stop}  ${totalTokens(usage)} tokens  ${ms} ms  ${verdict}`;
}

function jsonLines(value: object): string[] {
  const isThinking = (each: unknown) =>
    typeof each === "object" && each !== null && "kind" in each && each.kind === "thinking";
  const text = JSON.stringify(
    value,
    (_key, each: unknown) => (isThinking(each) ? { kind: "thinking", wire: "…" } : each),
    2,
  );
  return text.split("\n").map(exactText);
}
