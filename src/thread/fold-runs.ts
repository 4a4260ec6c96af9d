import type { Actor, Entry } from "../core/entry.ts";
import { addCall } from "./fold-calls.ts";
import { applyAssistant, ModelRun } from "./model-run.ts";
import type { Run, Thread } from "./state.ts";

/** The life of a run: started, and for a model's turn by turn, to its end. */

export function applyRunStarted(thread: Thread, started: Entry<"run_started">): void {
  let stopped = false;
  let stoppedBy: string | undefined;
  let chooses: string | undefined;
  const authors: Actor[] = [];
  for (const id of started.answers) {
    const pending = thread.pending.get(id);
    if (pending !== undefined) authors.push(pending.entry.actor);
    stopped ||= pending?.stopped ?? false;
    stoppedBy ??= pending?.stoppedBy;
    const command = pending?.entry.kind === "command" ? pending.entry.command : undefined;
    if (command?.name === "model") chooses = command.model;
    thread.pending.delete(id);
  }
  const run: Run = {
    started,
    calls: new Map(),
    open: new Map(),
    modelRun:
      started.talk &&
      new ModelRun(started.talk, { uses: thread.counts.uses, evidence: thread.evidence }),
    progressMessages: new Map(),
    authors,
    askers: new Set(authors.map(({ account }) => account)),
    principals: new Set(started.principals),
    chooses,
    stopped,
    stoppedBy,
    ended: undefined,
  };
  for (const asked of started.calls) addCall(run, { ...asked, problem: undefined }, started.at);
  thread.runs.set(started.run, run);
  thread.going.add(run);
  thread.counts.runs += 1;
  if (started.talk?.brief === true) thread.tooMuch = false;
}

/** A turn that came after the run's end, because both were on their way, changes nothing any more. */
export function applyTurn(thread: Thread, entry: Entry<"assistant">): void {
  const run = thread.runs.get(entry.run);
  if (run?.modelRun === undefined || run.ended !== undefined) return;
  instructBy(run, run.modelRun, entry);
  applyAssistant(run.modelRun, entry);
  for (const use of run.modelRun.turn) addCall(run, use, entry.at);
  thread.counts.uses = run.modelRun.uses;
}

/** Those whose words the request told as instructions ask for what comes of it; versions before this one told everybody's so. */
function instructBy({ principals }: Run, { unseen }: ModelRun, entry: Entry<"assistant">): void {
  const { instructs, seen } = entry;
  if (instructs !== undefined) principals.clear();
  const told = unseen.flatMap(({ seq, actor }) => (seq <= seen ? [actor.account] : []));
  for (const account of instructs ?? told) principals.add(account);
}

/** Failures whose cause may stand in the thread, where every later request would meet it again. */
const TOO_MUCH: ReadonlySet<string> = new Set([
  "MODEL_CONTEXT_TOO_LONG",
  "MODEL_CONTENT_UNSUPPORTED",
  "MODEL_FILTERED",
  "MODEL_REQUEST_INVALID",
]);

export function applyRunEnded(thread: Thread, ended: Entry<"run_ended">): void {
  const run = thread.runs.get(ended.run);
  if (run === undefined || run.ended !== undefined) return;
  run.ended = ended;
  thread.going.delete(run);
  // What it waited for is over: a word about agreeing to it would come too late.
  thread.assents.clear();
  if (ended.status === "completed") thread.model = run.chooses ?? thread.model;
  if (ended.error !== undefined && TOO_MUCH.has(ended.error)) thread.tooMuch = true;
  // What the model has not seen is answered by the next run, unless all of it was stopped.
  for (const entry of ended.status === "cancelled" ? [] : (run.modelRun?.unseen ?? [])) {
    thread.pending.set(entry.id, { entry, stopped: false });
  }
  const { id, seq } = ended;
  thread.outbox.set(id, { kind: "answer", id, seq, run, views: new Set(thread.views) });
}
