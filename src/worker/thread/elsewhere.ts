import type { MessageRef, View } from "../../adapters/adapter.ts";
import { isBotError, messageOf } from "../../core/errors.ts";
import { transportOf } from "../../core/journal-key.ts";
import { cardOf } from "../../queries/cards.ts";
import { outgoingOf } from "../../queries/outgoing.ts";
import type { StepOf, Undelivered } from "../../thread/decide.ts";
import { type Shown, shownId } from "../../thread/drafts.ts";
import { notices } from "../../thread/phrases.ts";
import type { Thread } from "../../thread/state.ts";
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
  const shown = shownIn(undelivered)?.get(viewName)?.ref;
  const why = messageOf(error);
  const told = await tellAsker(ctx, view, { view: viewName, undelivered }, why);
  if (told !== undefined) return { ref: shown ?? told, instead: { to: "asker", why } };
  if (await tellOps(ctx, undelivered, why))
    return { ref: shown ?? NOWHERE, instead: { to: "ops", why } };
  if (ctx.now() - owedSince(undelivered) < OWED_MS) throw error;
  const { key } = ctx;
  ctx.log.error({ err: error, key, view: viewName }, "a message could be shown to nobody");
  return { ref: shown ?? NOWHERE, instead: { to: "nobody", why } };
}

/** What shows a card that is edited. */
function shownIn(undelivered: Undelivered): ReadonlyMap<string, { ref: MessageRef }> | undefined {
  if (undelivered.kind === "incident") return undelivered.incident.shown;
  return undelivered.kind === "card" ? undelivered.action.shown : undefined;
}
type ToShow = { view: string; undelivered: Exclude<Undelivered, { kind: "past" }> };

/** Says what it is, and not what it says: that is for those who may read the thread. False: there is no such channel. */
async function tellOps(
  { key, adapter, parts }: ThreadContext,
  undelivered: Exclude<Undelivered, { kind: "past" }>,
  why: string,
): Promise<boolean> {
  const isItsOwn = transportOf(key) === OPS;
  if (parts.ops === undefined || isItsOwn) return false;
  const text = notices.unseen(nameOf(undelivered), adapter.link(key) ?? key, why);
  return parts.ops.tell(`unseen ${key} ${shownId(undelivered)}`, parts.encoder.encode(text));
}

function nameOf(undelivered: Exclude<Undelivered, { kind: "past" }>): string {
  if (undelivered.kind === "card") return `the card of ${undelivered.action.action}`;
  if (undelivered.kind === "incident") return undelivered.incident.state.incident;
  if (undelivered.kind === "quote") return "what somebody wrote on another platform";
  const { item } = undelivered;
  return item.kind === "answer" ? `the answer of ${item.run.started.run}` : "a notice";
}

/** Undefined when there is nobody to tell, or they can't be told. */
async function tellAsker(
  ctx: ThreadContext,
  view: View,
  { view: viewName, undelivered }: ToShow,
  why: string,
): Promise<MessageRef | undefined> {
  const asker = askerOf(ctx.thread, undelivered);
  // Whoever sits elsewhere sees it there.
  if (asker === undefined || viewFor(ctx.thread, asker) !== viewName) return undefined;
  try {
    const text = notices.elsewhere(why, wordsOf(ctx, undelivered));
    return await view.postPrivately(asker, text);
  } catch (error) {
    // What got no answer may have been shown: it is tried again.
    if (!isBotError(error, "PLATFORM_REFUSED")) throw error;
    return undefined;
  }
}

function askerOf(
  { runs }: Thread,
  undelivered: Exclude<Undelivered, { kind: "past" }>,
): string | undefined {
  if (undelivered.kind === "incident") return [...runs.values()].at(-1)?.started.principals[0];
  if (undelivered.kind === "card")
    return runs.get(undelivered.action.proposal.run)?.started.principals[0];
  if (undelivered.kind === "quote") return undefined;
  const { item } = undelivered;
  if (item.kind === "answer") return item.run.started.principals[0];
  return item.notice.to ?? [...runs.values()].at(-1)?.started.principals[0];
}

function wordsOf(ctx: ThreadContext, undelivered: Exclude<Undelivered, { kind: "past" }>): string {
  const { encode } = ctx.parts.encoder;
  if (undelivered.kind === "card") {
    const { tool, action, phase, ending } = cardOf(ctx.key, undelivered.action, encode);
    return `${action} (${tool}): ${ending ?? phase}`;
  }
  if (undelivered.kind === "incident") {
    const { incident, status, title } = undelivered.incident.state;
    return encode(`${incident}, ${status}: ${title}`);
  }
  if (undelivered.kind === "quote") return encode(undelivered.quote.text);
  const message = outgoingOf(ctx, undelivered.item, { encode, mayLink: undefined });
  if (message.kind === "notice") return message.text;
  return message.text ?? message.results.map(({ tool, text }) => `${tool}: ${text}`).join("\n");
}

function owedSince(undelivered: Exclude<Undelivered, { kind: "past" }>): number {
  if (undelivered.kind === "incident") return undelivered.incident.state.at;
  if (undelivered.kind === "card") return undelivered.action.proposal.at;
  if (undelivered.kind === "quote") return undelivered.quote.at;
  const { item } = undelivered;
  return item.kind === "notice" ? item.notice.at : (item.run.ended ?? item.run.started).at;
}
