import type { Answer } from "../../adapters/shown.ts";
import type { MessageRef, View } from "../../adapters/view.ts";
import { isBotError, messageOf } from "../../core/errors.ts";
import { transportOf } from "../../core/journal-key.ts";
import { cardOf } from "../../queries/cards.ts";
import { outgoingOf } from "../../queries/outgoing.ts";
import { titleOf } from "../../thread/action.ts";
import type { StepOf } from "../../thread/steps.ts";
import type { Undelivered } from "../../thread/undelivered.ts";
import { type Shown, shownId } from "../../thread/drafts.ts";
import { notices } from "../../thread/phrases.ts";
import { alertsLine } from "../../thread/alert-phrases.ts";
import type { OutboxItem, Thread } from "../../thread/state.ts";
import type { LivingMessage } from "../../thread/shown-living.ts";
import { OPS } from "../../team/ops.ts";
import { viewFor } from "../../thread/views.ts";
import type { ThreadContext } from "./parts.ts";

/** Whom nobody could tell: the place may be opened again so long, and then what comes after must not wait any more. */
const OWED_MS = 600_000;

/** Of what nobody was shown. As one person's message it has a `/`, so it is never edited. */
export const NOWHERE = "nowhere/";

/**
 * What the platform refuses for good in this place, such as an archived channel, is told to who asked, alone, else to the
 * operations channel; when that can't be done either it stays owed for ten minutes. Whoever was told, the audit says it.
 * @throws whatever keeps it owed
 */
export async function showElsewhere(
  ctx: ThreadContext,
  view: View,
  { view: viewName, undelivered }: StepOf<"deliver">,
  error: unknown,
): Promise<Pick<Shown, "ref" | "instead">> {
  if (!isBotError(error) || error.refused === undefined) throw error;
  // Nobody can see that something there is past.
  if (undelivered.kind === "past") return { ref: undelivered.live.shown.get(viewName) ?? NOWHERE };
  const owed = owedBy(ctx, undelivered);
  const shown = owed.shown?.get(viewName)?.ref;
  const why = messageOf(error);
  // Whoever sits elsewhere sees it there.
  const { asker } = owed;
  const isHere = asker !== undefined && viewFor(ctx.thread, asker) === viewName;
  const words = notices.elsewhere(ctx.adapter.link(ctx.key), why, owed.words);
  const told = isHere ? await tryAlone(view, asker, words, owed.answer) : undefined;
  if (told !== undefined) return { ref: shown ?? told, instead: { to: "asker", why } };
  if (await tellOps(ctx, shownId(undelivered), owed.name, why))
    return { ref: shown ?? NOWHERE, instead: { to: "ops", why } };
  if (ctx.now() - owed.since < OWED_MS) throw error;
  const { key } = ctx;
  ctx.log.error({ err: error, key, view: viewName }, "a message could be shown to nobody");
  return { ref: shown ?? NOWHERE, instead: { to: "nobody", why } };
}

/** What is owed, for those who are told of it elsewhere. */
interface Owed {
  /** What it is, and not what it says: that is for those who may read the thread. */
  name: string;
  words: string;
  /** Shown below the words. */
  answer?: Answer;
  /** Undefined when nobody asked for it. */
  asker: string | undefined;
  /** Ms since 1970. */
  since: number;
  /** Of a card, which is edited: what shows it. */
  shown?: ReadonlyMap<string, { ref: MessageRef | undefined }>;
}

function owedBy(ctx: ThreadContext, undelivered: Exclude<Undelivered, { kind: "past" }>): Owed {
  const { key, thread, parts } = ctx;
  const { encode } = parts.encoder;
  switch (undelivered.kind) {
    case "card": {
      const { proposal, shown } = undelivered.action;
      const { action, phase, ending } = cardOf(key, undelivered.action, encode);
      const words = `${action} (${encode(titleOf(proposal))}): ${ending ?? phase}`;
      const asker = thread.runs.get(proposal.run)?.started.principals[0];
      return { name: `the card of ${action}`, words, asker, since: proposal.at, shown };
    }
    case "living": {
      const { state, shown } = undelivered.living;
      const { name, words } = wordsOf(state);
      const asker = newestAsker(thread);
      return { name, words: encode(words), asker, since: state.at, shown };
    }
    case "quote": {
      const { text, at } = undelivered.quote;
      const name = "what somebody wrote on another platform";
      return { name, words: encode(text), asker: undefined, since: at };
    }
    case "item":
      return owedItem(ctx, undelivered.item);
  }
}

function wordsOf(state: LivingMessage["state"]): Pick<Owed, "name" | "words"> {
  if (state.kind === "alert_state")
    return { name: "the message of its alerts", words: alertsLine(state) };
  if (state.kind === "goal_started")
    return { name: "the message of a goal", words: `Goal ${state.goal}: ${state.text}` };
  const { incident, status, title } = state;
  return { name: incident, words: `${incident}, ${status}: ${title}` };
}

function owedItem(ctx: ThreadContext, item: OutboxItem): Owed {
  const { encode } = ctx.parts.encoder;
  const message = outgoingOf(ctx, item, { encode, mayLink: undefined });
  if (item.kind === "notice") {
    const { to = newestAsker(ctx.thread), at } = item.notice;
    return { name: "a notice", words: message.text ?? "", asker: to, since: at };
  }
  if (item.kind === "goal") {
    const { started, end = started } = item.goal;
    const [asker] = started.principals;
    const answer = message.kind === "answer" ? { answer: message } : {};
    return {
      name: `the end of goal ${started.goal}`,
      words: "A goal has ended.",
      asker,
      since: end.at,
      ...answer,
    };
  }
  const { started, ended = started } = item.run;
  const name = `the answer of ${started.run}`;
  const answer = message.kind === "answer" ? { answer: message } : {};
  return { name, words: "", ...answer, asker: started.principals[0], since: ended.at };
}

function newestAsker({ runs }: Thread): string | undefined {
  return [...runs.values()].at(-1)?.started.principals[0];
}

/** False: there is no such channel. */
async function tellOps(
  { key, adapter, parts }: ThreadContext,
  state: string,
  name: string,
  why: string,
): Promise<boolean> {
  const isItsOwn = transportOf(key) === OPS;
  if (parts.ops === undefined || isItsOwn) return false;
  const text = notices.unseen(name, adapter.link(key) ?? key, why);
  return parts.ops.tell(`unseen ${key} ${state}`, parts.encoder.encode(text));
}

/** Undefined when they can't be told. */
async function tryAlone(
  view: View,
  account: string,
  text: string,
  answer: Answer | undefined,
): Promise<MessageRef | undefined> {
  try {
    return await view.postPrivately(account, text, answer && { answer });
  } catch (error) {
    // What got no answer may have been shown: it is tried again.
    if (!isBotError(error, "PLATFORM_REFUSED")) throw error;
    return undefined;
  }
}
