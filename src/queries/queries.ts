import type {
  ActionCard,
  HistoryItem,
  Outgoing,
  Queries,
  ThreadSummary,
} from "../adapters/adapter.ts";
import { isOpen } from "../thread/action.ts";
import { capText } from "../core/text.ts";
import type { Entry } from "../core/entry.ts";
import { isBotError } from "../core/errors.ts";
import type { JournalKey } from "../core/journal-key.ts";
import { fold, pastAction } from "../thread/fold.ts";
import { emptyThread, type Thread } from "../thread/state.ts";
import type { Journal, JournalSummary } from "../journal/journal.ts";
import type { StoredEntry } from "../core/entry.ts";
import type { Tool } from "../tools/tool.ts";
import { checkEditOf, editFormFor, type WhyNot } from "./edits.ts";
import { decide } from "../thread/decide.ts";
import { outgoingOf } from "./outgoing.ts";
import { cardOf, type Encode } from "./cards.ts";

/** Bytes of a thread's first message that a list shows. */
const TITLE_BYTES = 80;
/** Threads whose folds are kept in memory, some KB each. */
const KNOWN_THREADS = 256;

/** A thread as far as it was read; asking again reads only what is new. */
interface Known {
  thread: Thread;
  /** What the thread began with. */
  title: string;
}

/** What adapters may look up: folds of the journals, read on at every question. `whyNot` looks at edits before they are sent. */
export function createQueries(
  journal: Journal,
  tools: readonly Tool[],
  encode: Encode,
  whyNot?: WhyNot,
): Queries {
  const known = new Map<JournalKey, Known>();

  /** Undefined: the store was set back, and what was folded is of no use. */
  async function readOn(key: JournalKey, thread: Thread): Promise<StoredEntry[] | undefined> {
    try {
      return await journal.read(key, thread);
    } catch (error) {
      if (isBotError(error, "JOURNAL_LOST")) return undefined;
      throw error;
    }
  }

  async function look(key: JournalKey): Promise<Known> {
    const found = known.get(key) ?? { thread: emptyThread(), title: "" };
    const entries = await readOn(key, found.thread);
    if (entries === undefined) {
      known.delete(key);
      return look(key);
    }
    for (const entry of entries) {
      // Two questions at once may have read the same entries.
      if (entry.seq <= found.thread.last) continue;
      fold(found.thread, [entry]);
      const isSaid = entry.kind === "message" || entry.kind === "command";
      if (isSaid && found.title === "") found.title = titleOf(entry.text, encode);
    }
    known.delete(key);
    known.set(key, found);
    for (const oldest of known.keys()) if (known.size > KNOWN_THREADS) known.delete(oldest);
    return found;
  }

  return {
    async threads(transport) {
      const found: ThreadSummary[] = [];
      for await (const summary of journal.list({ prefix: `${transport}:` })) {
        found.push(summaryOf(summary, await look(summary.key)));
      }
      return found;
    },

    async thread(key) {
      for await (const summary of journal.list({ prefix: key })) {
        if (summary.key === key) return summaryOf(summary, await look(key));
      }
      return undefined;
    },

    async isKnown(key) {
      const { last } = known.get(key)?.thread ?? { last: 0 };
      return last > 0 || journal.has(key);
    },

    async action(key, id) {
      const { actions } = (await look(key)).thread;
      const action = actions.get(id) ?? pastAction(await journal.read(key), id);
      return action && cardOf(key, action, encode);
    },

    async editForm(key, id) {
      const action = (await look(key)).thread.actions.get(id);
      return action && editFormFor(tools, action);
    },

    async checkEdit(key, edit) {
      const action = (await look(key)).thread.actions.get(edit.action);
      return checkEditOf(tools, action, edit, whyNot);
    },

    async history(key, limit) {
      return historyOf(key, await journal.read(key), limit, encode);
    },

    async openActions(transport) {
      const cards: ActionCard[] = [];
      for await (const { key } of journal.list({ prefix: `${transport}:` })) {
        const { thread } = await look(key);
        for (const action of thread.live) {
          if (isOpen(action)) cards.push(cardOf(key, action, encode));
        }
      }
      return cards;
    },

    tools: () => tools.map(({ name, description, effect }) => ({ name, description, effect })),
  };
}

function titleOf(text: string, encode: Encode): string {
  return capText(encode(text).replaceAll("\n", " "), TITLE_BYTES);
}

function summaryOf(
  { key, lastAt, leased, now }: JournalSummary,
  { thread, title }: Known,
): ThreadSummary {
  const step = decide(thread, {
    now,
    busy: new Set(),
    draining: false,
    showAfterMs: undefined,
  });
  return {
    key,
    lastAt,
    title,
    openActions: [...thread.live].filter(isOpen).map((action) => action.action),
    questions: questionsOf(thread),
    open: step.do !== "wait" && thread.newer === undefined,
    unsettled: [...thread.unknown.values()].some((call) => call.settled === undefined),
    leased,
  };
}

function questionsOf({ runs }: Thread): string[] {
  return [...runs.values()].flatMap((run) =>
    [...run.open.values()].flatMap(({ asked, call }) => (asked === undefined ? [] : [call])),
  );
}

/** What was said and answered, in order, and at the end every card that waits for a person. */
function historyOf(
  key: JournalKey,
  entries: Awaited<ReturnType<Journal["read"]>>,
  limit: number,
  encode: Encode,
): HistoryItem[] {
  const items: HistoryItem[] = [];
  const thread = emptyThread();
  for (const entry of entries) {
    fold(thread, [entry]);
    if (entry.kind === "message" || entry.kind === "command") items.push(said(entry, encode));
    else if (entry.kind === "run_ended" || entry.kind === "notice") {
      const debt = thread.outbox.get(entry.id);
      if (debt === undefined || (debt.kind === "notice" && debt.notice.to !== undefined)) continue;
      items.push({ kind: "out", message: outgoingOf({ key, thread }, debt, encode), at: entry.at });
    }
  }
  const cards = [...thread.live].filter(isOpen).map((action): HistoryItem => {
    return { kind: "card", card: cardOf(key, action, encode), at: action.proposal.at };
  });
  return [...items.slice(-limit).map((item) => stillAsking(item, thread)), ...cards];
}

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
  const isUnsettled = [...thread.unknown.values()].some(
    (call) => call.settled === undefined && (call.action?.action ?? call.call) === settles,
  );
  const isWaiting = asks !== undefined && questionsOf(thread).includes(asks.call);
  const message: Outgoing = {
    ...item.message,
    settles: isUnsettled ? settles : undefined,
    asks: isWaiting ? asks : undefined,
    holds: holds.filter((id) =>
      [...thread.live].some((each) => each.action === id && isOpen(each)),
    ),
  };
  return { ...item, message };
}
