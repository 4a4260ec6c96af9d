import type { MessageRef, View } from "../adapters/adapter.ts";
import { BotError } from "../core/errors.ts";
import { pastAction } from "../thread/fold.ts";
import { answerIdOf } from "../thread/state.ts";
import { within } from "../core/time-limit.ts";
import { append, type Drive, persist, putOff, viewOf } from "./context.ts";
import { type Owed, retryKey, type Step } from "../thread/decide.ts";
import { type Attempts, deliver, progressIdOf } from "./outbox.ts";
import { progressOf } from "../queries/outgoing.ts";
import { cardOf } from "../queries/cards.ts";

/** How long a platform may take to show one thing. */
const DELIVERY_MS = 20_000;

/** Shows one owed thing; a platform that refuses is left alone for a while, the debt stays. */
export function show(
  drive: Drive,
  { key, view, owed }: Extract<Step, { do: "deliver" }>,
  signal: AbortSignal,
): Promise<() => Promise<void>> {
  return showOn(drive, { name: view, stage: "final", retry: key }, signal, async (shown) => {
    const context = { key: drive.key, thread: drive.thread, ...attemptsAt(drive, view) };
    const { entry, ref } = await deliver(shown, view, context, owed, drive.parts.encoder.encode);
    return { entry, ref, takeBack: () => takeBack(drive, shown, owed, ref) };
  });
}

/** Posts the message in which people see the run's progress. */
export function showRun(
  drive: Drive,
  { view, run }: Extract<Step, { do: "show" }>,
  signal: AbortSignal,
): Promise<() => Promise<void>> {
  const retry = retryKey(view);
  return showOn(drive, { name: view, stage: "started", retry }, signal, async (shown) => {
    const { again } = attemptsAt(drive, view);
    const delivery = { id: progressIdOf(run), again: again(run.started.id) };
    const ref = await shown.begin?.(delivery, progressOf(run));
    if (ref === undefined) throw new BotError("NOT_AVAILABLE", "This view shows no progress.");
    return { entry: answerIdOf(run), ref, takeBack: () => takeBack(drive, shown, undefined, ref) };
  });
}

/** Only who wrote an entry down knows that nobody has tried to show what it says; and that only once. */
function attemptsAt({ wrote, tried }: Drive, view: string): Attempts {
  const isUntried = (entry: string) => wrote.has(entry) && !tried.has(`${view} ${entry}`);
  return {
    isUntried,
    again(entry) {
      const again = !isUntried(entry);
      tried.add(`${view} ${entry}`);
      return again;
    },
  };
}

async function showOn(
  drive: Drive,
  { name, stage, retry }: { name: string; stage: "started" | "final"; retry: string },
  signal: AbortSignal,
  send: (view: View) => Promise<{ entry: string; ref: MessageRef; takeBack(): Promise<void> }>,
): Promise<() => Promise<void>> {
  const { parts } = drive;
  try {
    const view = viewOf(drive, name);
    const sent = await within(DELIVERY_MS, signal, () => send(view), 0);
    const { entry, ref } = sent;
    const id = `delivered:${name}:${entry}:${stage}`;
    const draft = { id, kind: "delivered", view: name, entry, stage, ref } as const;
    return async () => {
      if ((await append(drive, [draft])) === "fenced") await sent.takeBack();
    };
  } catch (error) {
    return async () => {
      parts.log.warn({ err: error, key: drive.key, view: name }, "a delivery was refused");
      putOff(drive, retry, error);
    };
  }
}

/** Another worker serves this thread now, and what this one showed may be a second copy, or out of date. */
async function takeBack(
  drive: Drive,
  view: View,
  owed: Owed | undefined,
  ref: MessageRef,
): Promise<void> {
  const { parts, key } = drive;
  // What is past is so for the next worker too, and what was not shown cannot be taken back.
  if (owed?.kind === "past" || ref === "") return;
  const entries = await persist(drive, () => parts.journal.read(key));
  if (owed?.kind === "card") {
    const action = pastAction(entries, owed.action.action);
    if (action !== undefined) await view.settle(ref, cardOf(key, action, parts.encoder.encode));
    return;
  }
  if (entries.some((entry) => entry.kind === "delivered" && entry.ref === ref)) return;
  parts.log.warn(
    { key, entry: owed?.debt.id },
    "a message was sent twice; this copy is taken back",
  );
  await view.retract(ref);
}
