import { workKey } from "../../thread/work-keys.ts";
import { entryId, progressId, quoteId } from "../../thread/entry-ids.ts";
import type { Delivery, MessageRef, Unshown, View } from "../../adapters/view.ts";
import { BotError, isBotError } from "../../core/errors.ts";
import { lostEntries } from "../../journal/seal.ts";
import { fold, pastAction } from "../../thread/fold.ts";
import { within } from "../../core/time-limit.ts";
import { putOff } from "../background.ts";
import { append, barrier, retryUntilStored } from "../store.ts";
import type { Conclusion, Learn, ThreadContext } from "./parts.ts";
import { viewOf } from "./places.ts";
import type { StepOf } from "../../thread/steps.ts";
import type { Undelivered } from "../../thread/undelivered.ts";
import { type Shown, shownId } from "../../thread/drafts.ts";
import { draftsFrom } from "./conclude.ts";
import {
  isInJournal,
  outgoingOf,
  pastNotice,
  progressOf,
  quotedOf,
  type Shown as ShownWords,
} from "../../queries/outgoing.ts";
import { cardOf } from "../../queries/cards.ts";
import { type ResultTexts, resultTexts } from "../../queries/results.ts";
import { goalAnswer, resultsOfGoal } from "../../queries/goals.ts";
import { livingOf } from "../../queries/living.ts";
import { livingIn, livingName } from "../../thread/fold-living.ts";
import { type JournalKey, transportOf, tryJournalKey } from "../../core/journal-key.ts";
import { isPast } from "../../thread/live-notices.ts";
import { SAVE_EVAL } from "../../core/tool-spec.ts";
import { SILENCE } from "../../thread/silences.ts";
import { showElsewhere } from "./elsewhere.ts";
import { type OutboxItem, Thread } from "../../thread/state.ts";
import type { Outgoing } from "../../adapters/shown.ts";

const DELIVERY_MS = 20_000;

/** Shows what a view has yet to show; a platform that refuses is left alone for a while, and it is tried again. */
export const show: Learn<"deliver"> = (ctx, step, signal) => {
  const { key, view, undelivered } = step;
  return showOn(ctx, step, key, signal, async (shown) => {
    const readArtifact = (id: string) => ctx.journal.readArtifact(ctx.key, id);
    const texts = await textsFor(ctx, undelivered);
    let told: Unshown | undefined;
    const unshown = (each: Unshown) => void (told = each);
    const { key: place, thread } = ctx;
    const goalOf = (item: GoalItem) => goalSaid(ctx, item);
    const attempts = attemptsAt(ctx, view);
    const context = { key: place, thread, texts, readArtifact, goalOf, unshown, ...attempts };
    const entry = shownId(undelivered);
    const words = shownAs(ctx.parts);
    const { ref, instead } = await deliver(shown, view, context, undelivered, words).then(
      (there) => ({ ref: there, instead: told }),
      (error: unknown) => showElsewhere(ctx, shown, step, error),
    );
    return { entry, ref, instead, takeBack: (from) => takeBack(ctx, from, undelivered, ref) };
  });
};

export const showRun: Learn<"show"> = (ctx, step, signal) => {
  const { view, run } = step;
  return showOn(ctx, step, workKey.progress(view), signal, async (shown) => {
    const { isRetry } = attemptsAt(ctx, view);
    const { id, run: name, principals } = run.started;
    const [asker] = principals;
    const delivery = {
      id: progressId(name),
      isRetry: isRetry(id),
      run: name,
      ...(asker !== undefined && { asker }),
    };
    const ref = await shown.openProgress?.(delivery, progressOf(run, ctx.parts.encoder.encode));
    if (ref === undefined) throw new BotError("NOT_AVAILABLE", "This view shows no progress.");
    return {
      entry: entryId.runEnded(run.started.run),
      ref,
      takeBack: (from) => takeBack(ctx, from, undefined, ref),
    };
  });
};

export function shownAs({ encoder, dispatcher, ...parts }: ThreadContext["parts"]): ShownWords {
  const { mayLink, mayLinkAlert = mayLink } = parts;
  const canSilence = dispatcher.find(SILENCE) !== undefined;
  const canSave = dispatcher.find(SAVE_EVAL) !== undefined;
  return { encode: encoder.encode, mayLink, mayLinkAlert, canSilence, canSave };
}

/** Only who wrote an entry down knows that nobody has tried to show what it says; and that only once. */
function attemptsAt({ tried }: ThreadContext, view: string): Attempts {
  const isUntried = (entry: string) => tried.get(entry)?.has(view) === false;
  return {
    isUntried,
    isRetry(entry) {
      const isAgain = !isUntried(entry);
      tried.get(entry)?.add(view);
      return isAgain;
    },
  };
}

/** Keeps those of our entries that some view has yet to show. */
export function noteOurs({ thread, tried }: ThreadContext, ours: ReadonlySet<string>): void {
  if (ours.size === 0) return;
  for (const id of ours) tried.set(id, new Set());
  const shown = new Set([
    ...thread.outbox.keys(),
    ...[...thread.runs.values()].map(({ started }) => started.id),
    ...[...thread.live].map(({ proposal }) => proposal.id),
  ]);
  for (const id of tried.keys()) if (!shown.has(id)) tried.delete(id);
}

export async function showOn(
  ctx: ThreadContext,
  step: StepOf<"deliver" | "show" | "sum" | "root">,
  retry: string,
  signal: AbortSignal,
  send: (view: View) => Promise<Shown & { takeBack(from: View): Promise<void> }>,
): Promise<Conclusion> {
  try {
    const view = viewOf(ctx, step.view);
    const lasting = showingWhatLasts(ctx, view);
    const { takeBack: undo, ...facts } = await within(DELIVERY_MS, signal, () => send(lasting), 0);
    return async () => {
      const drafts = draftsFrom(ctx, { ...step, facts }) ?? [];
      if ((await append(ctx, drafts)) !== "fenced") return;
      // Another worker has the thread, and nobody waits for this platform to take something back.
      if (ctx.over) await undo(view);
      else ctx.ready.push(() => undo(view));
    };
  } catch (error) {
    return async () => {
      const { key, events } = ctx;
      const transport = transportOf(tryJournalKey(step.view) ?? key);
      const code = isBotError(error) ? error.code : undefined;
      events.publish({ kind: "refused", key, transport, code });
      ctx.log.warn({ err: error, key, view: step.view }, "a delivery was refused");
      putOff(ctx, retry, error);
    };
  }
}

const SHOWS: ReadonlySet<PropertyKey> = new Set<keyof View>([
  "openProgress",
  "post",
  "postPrivately",
  "updateNotice",
  "postCard",
  "updateCard",
  "postLiving",
  "updateLiving",
  "quote",
  "showRoot",
]);

/** The view, for what nothing may take back once it was read. A message is made before it comes here: it says nothing that is newer. */
function showingWhatLasts(ctx: ThreadContext, view: View): View {
  return new Proxy(view, {
    get(target, name) {
      const method: unknown = Reflect.get(target, name);
      if (!SHOWS.has(name) || typeof method !== "function") return method;
      return async (...args: unknown[]): Promise<unknown> => {
        if (!(await barrier(ctx))) throw lostEntries(ctx.key);
        // Another worker shows it, perhaps by now.
        if (ctx.over) throw new BotError("ABORTED", "This worker has given the thread up.");
        return Reflect.apply(method, target, args);
      };
    },
  });
}

/** Another worker serves this thread now, and what this one showed may be a second copy, or out of date. */
export async function takeBack(
  ctx: ThreadContext,
  view: View,
  undelivered: Undelivered | undefined,
  ref: MessageRef,
): Promise<void> {
  const { parts, key } = ctx;
  // What is past is so for the next worker too, and what was not shown cannot be taken back.
  if (undelivered?.kind === "past" || ref === "") return;
  const entries = await retryUntilStored(ctx, () => ctx.journal.read(key));
  const known = { last: entries.length, head: entries.at(-1)?.head };
  // Set back meanwhile: a copy too many is better than a message too few.
  if ((await retryUntilStored(ctx, () => ctx.journal.flush(key, known))) === "lost") return;
  if (undelivered?.kind === "living") {
    const name = livingName(undelivered.living);
    const thread = fold(new Thread(), entries);
    const newest = livingIn(thread).find((each) => livingName(each) === name);
    if (newest !== undefined)
      await view.updateLiving?.(ref, livingOf(thread, newest, shownAs(parts)));
    return;
  }
  if (undelivered?.kind === "card") {
    const action = pastAction(entries, undelivered.action.action);
    if (action !== undefined) await view.updateCard(ref, cardOf(key, action, parts.encoder.encode));
    return;
  }
  if (entries.some((entry) => entry.kind === "delivered" && entry.ref === ref)) return;
  ctx.events.publish({ kind: "copied", key, transport: transportOf(key) });
  ctx.log.warn(
    { key, entry: undelivered && shownId(undelivered) },
    "a message was sent twice; this copy is taken back",
  );
  await view.delete(ref);
}

/** What the calls of a long run returned, for its answer. */
async function textsFor(
  { journal, key }: ThreadContext,
  undelivered: Undelivered,
): Promise<ResultTexts | undefined> {
  if (undelivered.kind !== "item" || !isInJournal(undelivered.item)) return undefined;
  return resultTexts(await journal.read(key));
}

interface Attempts {
  isUntried(entry: string): boolean;
  /** An earlier attempt may have come through. From then on one has been made. */
  isRetry(entry: string): boolean;
}

interface Showing extends Attempts, Required<Pick<Delivery, "unshown">> {
  key: JournalKey;
  thread: Thread;
  texts: ResultTexts | undefined;
  /** Of this thread. */
  readArtifact(id: string): Promise<Uint8Array>;
  goalOf(item: GoalItem): Promise<Outgoing>;
}

type GoalItem = Extract<OutboxItem, { kind: "goal" }>;

/** What is said of a goal that has ended: its runs' calls are read from the journal. */
async function goalSaid(
  { key, journal, thread, adapter, parts }: ThreadContext,
  { goal }: GoalItem,
): Promise<Outgoing> {
  const words = shownAs(parts);
  const entries = await journal.read(key);
  const results = await resultsOfGoal(entries, goal.started.goal, words.encode);
  return goalAnswer({ key, thread }, goal, words, { results, link: adapter.link(key) });
}

/** Shows one undelivered thing in a view. Returns the message; "" where it was no longer worth showing. Throws what the platform throws: it is still owed then. */
async function deliver(
  view: View,
  viewName: string,
  { key, thread, texts, readArtifact, goalOf, unshown, isUntried, isRetry }: Showing,
  undelivered: Undelivered,
  words: ShownWords,
): Promise<MessageRef> {
  const { encode } = words;
  if (undelivered.kind === "card") {
    const { action } = undelivered;
    const card = cardOf(key, action, encode);
    const shown = action.shown.get(viewName);
    if (shown === undefined) {
      const delivery = { id: action.action, isRetry: isRetry(action.proposal.id), unshown };
      return view.postCard(card, delivery);
    }
    await view.updateCard(shown.ref, card, { unshown });
    return shown.ref;
  }
  if (undelivered.kind === "living") {
    const living = livingOf(thread, undelivered.living, words);
    const ref = undelivered.living.shown.get(viewName)?.ref;
    // Whoever wrote it down was not us: another worker may have shown it.
    if (ref === undefined) {
      const { kind, card } = living;
      const isBroadcast = kind === "incident" && card.severity === "sev1" && card.status === "open";
      const delivery = { id: card.id, isRetry: true, ...(isBroadcast && { isBroadcast }) };
      return (await view.postLiving?.(living, delivery)) ?? "";
    }
    if (ref !== "") await view.updateLiving?.(ref, living);
    return ref;
  }
  if (undelivered.kind === "past") {
    const { live } = undelivered;
    const ref = live.shown.get(viewName) ?? "";
    await view.updateNotice(ref, pastNotice(thread, live.notice, encode));
    return ref;
  }
  if (undelivered.kind === "quote") {
    const { quote } = undelivered;
    const shown = quote.shown.get(viewName)?.ref;
    if (quote.isGone) return takeQuote(view, shown);
    // Nobody knows which process was the first to try.
    const delivery = { id: quoteId(quote.id), isRetry: true };
    return view.quote?.(quotedOf(quote, encode), delivery, shown) ?? "";
  }
  const { item } = undelivered;
  if (item.kind === "goal")
    return view.post(await goalOf(item), { id: item.id, isRetry: isRetry(item.id), unshown });
  const message = outgoingOf({ key, thread, texts }, item, words);
  if (item.kind === "notice") {
    const live = thread.liveNotices.get(item.id);
    const isPointless =
      live !== undefined &&
      isPast(thread, live) &&
      pastNotice(thread, item.notice, encode) === undefined;
    if (isPointless) return "";
    if (item.notice.to !== undefined && message.kind === "notice")
      return view.postPrivately(item.notice.to, message.text, message);
    return view.post(message, { id: item.id, isRetry: isRetry(item.id), unshown });
  }
  const { run } = item;
  const begun = run.progressMessages.get(viewName);
  if (begun !== undefined) await takeAway(view, begun);
  const delivery: Delivery = { id: item.id, isRetry: isRetry(item.id), readArtifact, unshown };
  const isBegunUnseen = begun === undefined && !isUntried(run.started.id);
  if (isBegunUnseen && view.openProgress !== undefined) {
    delivery.orphan = progressId(run.started.run);
  }
  return view.post(message, delivery);
}

async function takeQuote(view: View, shown: MessageRef = ""): Promise<MessageRef> {
  if (shown !== "") await view.delete(shown);
  return shown;
}

/** Takes a run's progress away before its answer comes; a platform that refuses that gets the answer all the same. */
async function takeAway(view: View, ref: MessageRef): Promise<void> {
  try {
    await view.delete(ref);
  } catch (error) {
    if (!isBotError(error, "PLATFORM_REFUSED")) throw error;
  }
}
