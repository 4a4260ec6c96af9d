import type { ActionCard, HistoryItem, Queries, ThreadSummary } from "../adapters/adapter.ts";
import { isOpen } from "../approvals/action.ts";
import { capText } from "../core/display.ts";
import type { JournalKey } from "../core/journal-key.ts";
import { emptyThread, fold, type Thread } from "../journal/fold.ts";
import type { Journal, JournalSummary, StoredEntry } from "../journal/journal.ts";
import type { Tool } from "../tools/tool.ts";
import { cardOf, type Encode, outgoingOf } from "./outbox.ts";

/** Bytes of a thread's first message that a list shows. */
const TITLE_BYTES = 80;

/** What adapters may look up: folds of the journals, made anew at every question. */
export function createQueries(journal: Journal, tools: readonly Tool[], encode: Encode): Queries {
  async function* threadsOf(transport: string): AsyncIterable<Found> {
    for await (const summary of journal.list({ prefix: `${transport}:` })) {
      const entries = await journal.read(summary.key);
      yield { summary, entries, thread: fold(emptyThread(), entries) };
    }
  }

  return {
    async threads(transport) {
      const found: ThreadSummary[] = [];
      for await (const each of threadsOf(transport)) found.push(summaryOf(each, encode));
      return found;
    },

    async thread(key) {
      for await (const summary of journal.list({ prefix: key })) {
        if (summary.key !== key) continue;
        const entries = await journal.read(key);
        return summaryOf({ summary, entries, thread: fold(emptyThread(), entries) }, encode);
      }
      return undefined;
    },

    async history(key, limit) {
      const entries = await journal.read(key);
      const thread = fold(emptyThread(), entries);
      return historyOf(key, entries, thread, limit, encode);
    },

    async openActions(transport) {
      const cards: ActionCard[] = [];
      for await (const { summary, thread } of threadsOf(transport)) {
        for (const action of thread.live) {
          if (isOpen(action)) cards.push(cardOf(summary.key, action, encode));
        }
      }
      return cards;
    },

    tools: () => tools.map(({ name, description, effect }) => ({ name, description, effect })),
  };
}

interface Found {
  summary: JournalSummary;
  entries: StoredEntry[];
  thread: Thread;
}

function summaryOf({ summary, entries, thread }: Found, encode: Encode): ThreadSummary {
  const first = entries.find((entry) => entry.kind === "message" || entry.kind === "command");
  const text = first !== undefined && "text" in first ? first.text : "";
  const unended = [...thread.runs.values()].some((run) => run.ended === undefined);
  return {
    key: summary.key,
    lastAt: summary.lastAt,
    title: capText(encode(text).replaceAll("\n", " "), TITLE_BYTES),
    openActions: [...thread.live].filter(isOpen).map((action) => action.action),
    open: unended || thread.pending.size > 0 || thread.debts.size > 0,
    leased: summary.leased,
  };
}

/** What was said and answered, in order, and at the end every card that waits for a person. */
function historyOf(
  key: JournalKey,
  entries: readonly StoredEntry[],
  thread: Thread,
  limit: number,
  encode: Encode,
): HistoryItem[] {
  const items: HistoryItem[] = [];
  const replay = emptyThread();
  for (const entry of entries) {
    fold(replay, [entry]);
    if (entry.kind === "message" || entry.kind === "command") {
      items.push({
        kind: "said",
        name: encode(entry.actor.name),
        text: encode(entry.text),
        at: entry.at,
      });
    } else if (entry.kind === "run_ended" || entry.kind === "notice") {
      const debt = replay.debts.get(entry.id);
      if (debt === undefined || (debt.kind === "notice" && debt.notice.to !== undefined)) continue;
      items.push({ kind: "out", message: outgoingOf(debt, encode), at: entry.at });
    }
  }
  const open = [...thread.live].filter(isOpen);
  const cards = open.map((action): HistoryItem => {
    return { kind: "card", card: cardOf(key, action, encode), at: action.proposal.at };
  });
  return [...items.slice(-limit), ...cards];
}
