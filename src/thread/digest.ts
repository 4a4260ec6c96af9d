import type { Entry, Kind } from "../core/entry.ts";
import { headOf } from "../core/text.ts";
import { summaryWords } from "./summary-phrases.ts";
import { readSummaryState, runOfAnswer } from "./entry-ids.ts";

/** Fewer answers are read as quickly as a summary of them. */
const MIN_ANSWERS = 4;
/** The newest are summarized. */
const MAX_ANSWERS = 5;
const MAX_QUESTION = 300;
const MAX_ANSWER = 500;

/** What a thread came to, for the one message that sums it up; and per view that message. */
export class Digest {
  question: { id: string; name: string; text: string } | undefined;
  /** Of models, checks and goals, the newest last; how each begins. */
  readonly answers: { run: string; text: string }[] = [];
  count = 0;
  /** The newest change: its entry, and when. */
  seq = 0;
  at = 0;
  /** Per view, its summary's message and the change that it shows. */
  readonly shown = new Map<string, { ref: string; seq: number }>();
  /** Per view, the newest answer's message. */
  readonly newest = new Map<string, string>();
}

interface Digested {
  readonly digest: Digest;
  readonly runs: ReadonlyMap<
    string,
    {
      readonly modelRun: unknown;
      readonly started: Pick<Entry<"run_started">, "checks" | "parent" | "goal">;
    }
  >;
}

/** To be called before the entry is folded. */
export function noteInDigest<K extends Kind>(thread: Digested, entry: Entry<K>): void {
  const isChange = NOTED[entry.kind]?.(thread, entry);
  if (isChange !== true) return;
  thread.digest.seq = entry.seq;
  thread.digest.at = entry.at;
}

/** True: the summary says something else now. */
const NOTED: { readonly [K in Kind]?: (thread: Digested, entry: Entry<K>) => boolean | void } = {
  message({ digest }, { id, actor, text }) {
    digest.question ??= { id, name: actor.name, text: headOf(text, MAX_QUESTION) };
  },
  edited({ digest: { question } }, { of, text }) {
    if (question?.id === of) question.text = headOf(text, MAX_QUESTION);
  },
  removed({ digest: { question } }, { of }) {
    if (question?.id === of) question.text = "";
  },
  delivered({ digest }, entry) {
    if (entry.stage === "final") noteShown(digest, entry);
  },
  alert_state({ digest }, { id, name, alerts }) {
    const [{ summary = "" } = {}] = alerts;
    const text = summary === "" ? name : `${name}: ${summary}`;
    digest.question ??= { id, name: summaryWords.alert, text: headOf(text, MAX_QUESTION) };
  },
  run_ended({ digest, runs }, { run, status, instead, text = "" }) {
    const { modelRun, started } = runs.get(run) ?? {};
    const why = started?.checks?.why;
    const isAnswer = modelRun !== undefined || (why !== undefined && why !== "again");
    const isInner = (started?.parent ?? started?.goal) !== undefined;
    if (isInner || !isAnswer || status === "silent" || instead !== undefined) return false;
    noteAnswer(digest, run, text);
    return true;
  },
  goal_state({ digest }, { goal, state, text = "" }) {
    if (state !== "ended") return false;
    noteAnswer(digest, goal, text);
    return true;
  },
  action_proposed: () => true,
  action_closed: () => true,
  settled: () => true,
};

function noteAnswer(digest: Digest, run: string, text: string): void {
  digest.answers.push({ run, text: headOf(text, MAX_ANSWER) });
  digest.answers.splice(0, digest.answers.length - MAX_ANSWERS);
  digest.count += 1;
}

function noteShown(digest: Digest, { view, entry, ref }: Entry<"delivered">): void {
  const seq = readSummaryState(entry);
  if (seq !== undefined) digest.shown.set(view, { ref, seq });
  if (digest.answers.some(({ run }) => run === runOfAnswer(entry))) digest.newest.set(view, ref);
}

/** When the view is to show the thread's summary as it is now; undefined: it does, or the thread is short. */
export function summaryDueAt(
  { shown, seq, count, at }: Digest,
  view: string,
  afterMs: number,
): number | undefined {
  const isShown = (shown.get(view)?.seq ?? 0) >= seq;
  return isShown || count < MIN_ANSWERS ? undefined : at + afterMs;
}
