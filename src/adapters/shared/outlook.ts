import type { JournalKey } from "../../core/journal-key.ts";
import type { People } from "../../core/people.ts";
import type { ActionCard } from "../shown.ts";
import type { Queries } from "../queries.ts";
import type { OpenIncident, Overview } from "../overview.ts";

const DAY_MS = 86_400_000;
/** The newest that are looked into. */
const MAX_THREADS = 50;

export interface OutlookParts {
  /** What the keys of the threads begin with, such as `slack:T1:`. */
  prefixes: readonly string[];
  /** Those that an account is a full member of: it may see their public incidents. */
  tenants(account: string): Promise<readonly string[]>;
  people: Pick<People, "membership" | "everyone">;
  /** Everybody who is a full member may read it. */
  isPublic(key: JournalKey): Promise<boolean>;
  queries: Pick<Queries, "recent" | "thread" | "action">;
  overview: Pick<Overview, "incidents">;
}

/** What one person may see of all threads. */
export interface Outlook {
  /** Open actions, the first to expire first. */
  cards: ActionCard[];
  /** Threads in which something is being done. */
  running: { key: JournalKey; title: string }[];
  /** The newest first. */
  incidents: OpenIncident[];
  /** A guest or a stranger sees only what is in their own channels. */
  isFull: boolean;
}

/**
 * Looks at the newest threads of the last day for a person. `place`: the private place that they ask from, if it is one, such as
 * `slack:T1:C7`; its incidents are theirs to see too. Throws what `people` and the store throw.
 */
export function createOutlook({ prefixes, people, ...parts }: OutlookParts) {
  const { queries, overview } = parts;

  async function maySee(key: JournalKey, account: string): Promise<boolean> {
    const standing = await people.membership(account, key);
    if (standing === "member") return true;
    if (standing === "outsider") return parts.isPublic(key);
    return standing === "guest" && (await people.everyone(key))?.includes(account) === true;
  }

  return async (account: string, place?: string): Promise<Outlook> => {
    const tenants = await parts.tenants(account);
    const [incidents, { cards, running }] = await Promise.all([
      overview.incidents({ tenants, audience: place }),
      lively({ queries, prefixes, days: 1 }, (key) => maySee(key, account)),
    ]);
    // A thread that is shown here too is linked to and named as it is here.
    const placed = cards.map(({ place: at, ...card }) => ({ ...card, key: at }));
    return { cards: placed, running, incidents, isFull: tenants.length > 0 };
  };
}

interface Where {
  queries: OutlookParts["queries"];
  prefixes: readonly string[];
  /** Threads that were last written in longer ago are left out. */
  days: number;
}

/** What waits and what runs in the newest threads that may be seen. `isCut`: there were more. */
export async function lively(
  { queries, prefixes, days }: Where,
  maySee: (key: JournalKey) => Promise<boolean>,
): Promise<{
  /** Each with the place that it was looked for in, which may be one where another thread is shown too. */
  cards: (ActionCard & { place: JournalKey })[];
  running: Outlook["running"];
  isCut: boolean;
}> {
  const since = Date.now() - days * DAY_MS;
  const lists = await Promise.all(prefixes.map((prefix) => queries.recent(prefix, since)));
  const keys = lists.flat();
  const cards: (ActionCard & { place: JournalKey })[] = [];
  const running: Outlook["running"] = [];
  for (const key of keys.slice(0, MAX_THREADS)) {
    const thread = await queries.thread(key);
    if (thread === undefined || (thread.openActions.length === 0 && !thread.open)) continue;
    if (!(await maySee(key))) continue;
    const open = thread.openActions.map(async (action) => queries.action(key, action));
    for (const card of await Promise.all(open))
      if (card !== undefined) cards.push({ ...card, place: key });
    if (thread.open) running.push({ key, title: thread.title });
  }
  cards.sort((a, b) => a.expiresAt - b.expiresAt);
  return { cards, running, isCut: keys.length > MAX_THREADS };
}

export type LookOut = ReturnType<typeof createOutlook>;

/** Who is listed may approve it, or anybody of its channel may. */
export function waitsFor({ listed = [] }: ActionCard, account: string): boolean {
  return listed.length === 0 || listed.includes(account);
}
