import type { Adapter } from "../adapters/adapter.ts";
import type { StoredEntry } from "../core/entry.ts";
import { BotError } from "../core/errors.ts";
import { tenantOf, transportOf, tryJournalKey } from "../core/journal-key.ts";
import { REMOVED, withoutRemoved } from "../core/removed.ts";
import { oneLine, shortened } from "../core/text.ts";
import { createTurns } from "../core/turns.ts";
import { maySee, prefixesSeen, viewerOf } from "../core/viewer.ts";
import type { AnyCatalog } from "../incidents/catalog.ts";
import type { FoundPast, PastRow, PastThread } from "../incidents/past-threads.ts";
import type { ReadHead } from "../incidents/read-head.ts";
import { type Journal, MAX_DATED_BACK_MS } from "../journal/journal.ts";
import type { PastThreads } from "../tools/integration.ts";
import { homeOf, readersOf, threadAt } from "./thread-places.ts";

/** Older threads are not looked for, nor more than so many of a platform when the first is asked for. */
const PAST_MS = 90 * 86_400_000;
const MOST = 5_000;
/** Of very many that have the words so many are looked at. */
const LOOKED_AT = 200;
/** Threads that are read at once. */
const PAGE = 16;
/** What is shown of a text, and what is looked for of a thread's. */
const [MAX_SHOWN, MAX_WORDS] = [200, 20_000];

export interface PastParts {
  journal: Pick<Journal, "read" | "list" | "summary">;
  adapters: ReadonlyMap<string, Adapter>;
  catalog: AnyCatalog;
  encode(text: string): string;
}

/**
 * Threads of the past. Everybody in the asker's thread reads what is found, so it is what incidents' lists have: public ones of
 * the asker's tenants, and those of the same private place, as it is known when somebody asks.
 */
export function createPastThreads({ journal, adapters, catalog, encode }: PastParts): PastThreads {
  const turns = createTurns<"feed">();
  const adapterOf = (key: string) => adapters.get(transportOf(key));

  async function rowOf(head: ReadHead): Promise<PastRow> {
    const key = tryJournalKey(head.id);
    const entries = key === undefined ? [] : await journal.read(key);
    const past = pastOf(head.id, withoutRemoved(entries), encode);
    return { id: head.id, last: entries.at(-1)?.seq ?? 0, head: entries.at(-1)?.head, past };
  }

  /** Takes into the catalog what was written to since. */
  async function feed(transport: string): Promise<void> {
    const since = (await catalog.pastMark(transport)) ?? Date.now() - PAST_MS;
    const heads: ReadHead[] = [];
    let mark = since;
    for await (const { key, last, head, changed, now } of journal.list({
      prefix: `${transport}:`,
      since,
    })) {
      // The newest comes first; an entry that is dated back may still come before it.
      if (heads.length === 0) mark = Math.max(since, Math.min(changed, now - MAX_DATED_BACK_MS));
      if (heads.push({ id: key, last, head }) === MOST) break;
    }
    const stale = new Set(await catalog.pastStale(heads));
    const wanted = heads.filter(({ id }) => stale.has(id));
    const rows: PastRow[] = [];
    for (let i = 0; i < wanted.length; i += PAGE)
      rows.push(...(await Promise.all(wanted.slice(i, i + PAGE).map(rowOf))));
    await catalog.putPast(rows, transport, mark);
  }

  /** What was written since may have taken words away: that is found by the next search. */
  async function isAsNow({ id, last, head }: FoundPast): Promise<boolean> {
    const key = tryJournalKey(id);
    const now = key && (await journal.summary(key));
    return now?.last === last && now.head === head;
  }

  return {
    async search(text, asker, limit) {
      const { key, account } = asker;
      const home = homeOf(await threadAt(journal, key), key, account);
      if ((await adapterOf(home)?.people.membership(account, home)) !== "member")
        throw new BotError("NOT_AVAILABLE", "Only members can look at other threads.");
      const viewer = await viewerOf(asker);
      for (const transport of adapters.keys()) await turns("feed", () => feed(transport));
      const prefixes = prefixesSeen(viewer, adapters.keys());
      const found: PastThread[] = [];
      for (const past of await catalog.findPast(text, prefixes, LOOKED_AT)) {
        if (found.length === limit) break;
        if (past.id === key) continue;
        const audience = await readersOf(adapters, past.id, past.views);
        const isSeen = maySee(viewer, { audience, tenant: tenantOf(past.id) });
        if (isSeen && (await isAsNow(past))) found.push(past);
      }
      return found.map(({ id, at, by, question, answer }) => {
        const there = tryJournalKey(id);
        const where = (there && adapterOf(there)?.link(there)) ?? id;
        return { where, at, by, question, answer };
      });
    },
  };
}

/** What a thread was about; undefined: nobody said anything that may be shown. */
function pastOf(
  id: string,
  entries: readonly StoredEntry[],
  encode: (text: string) => string,
): PastRow["past"] {
  const said = new Map<string, { by: string; text: string }>();
  const answers: string[] = [];
  const views = new Set<string>();
  const inner = new Set<string>();
  for (const entry of entries) {
    if (entry.kind === "message" || entry.kind === "command")
      said.set(entry.id, { by: entry.actor.name, text: encode(entry.text) });
    else if (entry.kind === "edited") {
      const edited = said.get(entry.of);
      if (edited !== undefined) edited.text = encode(entry.text);
    } else if (entry.kind === "run_started" && (entry.parent ?? entry.goal) !== undefined)
      inner.add(entry.run);
    else if (entry.kind === "run_ended" && entry.status !== "silent" && entry.text !== undefined) {
      // What a helper reported is in the answer, and what goals came to in theirs.
      if (!inner.has(entry.run)) answers.push(encode(entry.text));
    } else if (entry.kind === "view_added") views.add(entry.view);
  }
  const left = [...said.values()].filter(({ text }) => text !== REMOVED && text.trim() !== "");
  const [first] = left;
  if (first === undefined) return undefined;
  const shown = (text: string) => shortened(oneLine(text), MAX_SHOWN);
  const answer = answers.at(-1);
  return {
    id,
    views: [...views],
    at: entries.at(-1)?.at ?? 0,
    by: oneLine(encode(first.by)),
    question: shown(first.text),
    answer: answer === undefined ? undefined : shown(answer),
    words: [...left.map(({ text }) => text), ...answers].join("\n").slice(0, MAX_WORDS),
  };
}
