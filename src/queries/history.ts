import type { HistoryItem } from "../adapters/queries.ts";
import type { Outgoing } from "../adapters/shown.ts";
import { isOpen } from "../thread/action.ts";
import type { Entry } from "../core/entry.ts";
import { withoutRemoved } from "../core/removed.ts";
import { inPages } from "../core/pages.ts";
import type { JournalKey } from "../core/journal-key.ts";
import { fold } from "../thread/fold.ts";
import { isUnsettled, Thread } from "../thread/state.ts";
import type { Journal } from "../journal/journal.ts";
import { outgoingOf, type Shown } from "./outgoing.ts";
import { resultTexts } from "./results.ts";
import { isOver, livingIn } from "../thread/fold-living.ts";
import { livingOf } from "./living.ts";
import { cardOf, type Encode } from "./cards.ts";

/** What was said and answered, in order, and at the end every card that waits for a person. */
export async function historyOf(
  key: JournalKey,
  entries: Awaited<ReturnType<Journal["read"]>>,
  limit: number,
  shown: Shown,
): Promise<HistoryItem[]> {
  const { encode } = shown;
  const items: HistoryItem[] = [];
  const thread = new Thread();
  const texts = resultTexts(entries);
  for await (const page of inPages(withoutRemoved(entries))) {
    for (const entry of page) {
      fold(thread, [entry]);
      if (entry.kind === "message" || entry.kind === "command") items.push(said(entry, encode));
      else if (SAYS.has(entry.kind)) {
        const item = thread.outbox.get(entry.id);
        if (item === undefined || (item.kind === "notice" && item.notice.to !== undefined))
          continue;
        const message = outgoingOf({ key, thread, texts }, item, shown);
        if (message.kind === "answer" && message.isMoot) continue;
        items.push({ kind: "out", message, at: entry.at });
      }
    }
  }
  const cards = [...thread.live].filter(isOpen).map((action): HistoryItem => {
    return { kind: "card", card: cardOf(key, action, encode), at: action.proposal.at };
  });
  const standing = livingIn(thread).flatMap((living): HistoryItem[] => {
    const { state } = living;
    const at = state.kind === "goal_started" ? state.at : state.startedAt;
    return isOver(thread, living)
      ? []
      : [{ kind: "living", living: livingOf(thread, living, shown), at }];
  });
  const asked = items.slice(-limit).map((item) => stillAsking(item, thread));
  return [...asked, ...standing, ...cards];
}

/** What is owed to the thread once it is folded. */
const SAYS: ReadonlySet<string> = new Set(["run_ended", "notice", "goal_state"]);

function said(
  { actor, text, at }: Entry<"message"> | Entry<"command">,
  encode: Encode,
): HistoryItem {
  return { kind: "said", name: encode(actor.name), text: encode(text), at };
}

/** A notice asks for a person's word only as long as nobody has given it. */
function stillAsking(item: HistoryItem, thread: Thread): HistoryItem {
  if (item.kind !== "out" || item.message.kind !== "notice") return item;
  const { settles, asks, holds } = item.message;
  const isWaiting = asks !== undefined && questionsOf(thread).includes(asks.call);
  const message: Outgoing = {
    ...item.message,
    settles: settles !== undefined && isUnsettled(thread, settles) ? settles : undefined,
    asks: isWaiting ? asks : undefined,
    holds: holds.filter((id) =>
      [...thread.live].some((each) => each.action === id && isOpen(each)),
    ),
  };
  return { ...item, message };
}

export function questionsOf({ runs }: Thread): string[] {
  return [...runs.values()].flatMap((run) =>
    [...run.open.values()].flatMap(({ asked, call }) => (asked === undefined ? [] : [call])),
  );
}
