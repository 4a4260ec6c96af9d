import type { RouteOf } from "../core/routes.ts";
import type { Adapter } from "../adapters/adapter.ts";
import { type JournalKey, transportOf, tryJournalKey } from "../core/journal-key.ts";
import { inPages } from "../core/pages.ts";
import { atMost } from "../core/time-limit.ts";
import type { Journal } from "../journal/journal.ts";
import { fold } from "../thread/fold.ts";
import { MAIN_VIEW, Thread } from "../thread/state.ts";
import { viewFor } from "../thread/views.ts";

/** A thread as its journal has it now. */
export async function threadAt(journal: Pick<Journal, "read">, key: JournalKey): Promise<Thread> {
  const thread = new Thread();
  for await (const page of inPages(await journal.read(key))) fold(thread, page);
  return thread;
}

/** Where a thread is shown besides its own place. */
export async function viewsOf(
  journal: Pick<Journal, "read">,
  key: JournalKey,
): Promise<JournalKey[]> {
  const { views } = await threadAt(journal, key);
  return views.flatMap((view) => (view === MAIN_VIEW ? [] : (tryJournalKey(view) ?? [])));
}

/** Of a thread's places the one that the account writes in, by the key that its platform knows it by. */
export function homeOf(thread: Thread, key: JournalKey, account: string): JournalKey {
  return tryJournalKey(viewFor(thread, account)) ?? key;
}

/**
 * Who may read a thread with all of its places, as of a place that asks (`Adapter.audience`): of several one may be private, and
 * then the thread is by itself. A platform that is not there cannot say.
 */
export async function readersOf(
  adapters: ReadonlyMap<string, Pick<Adapter, "audience">>,
  id: string,
  views: readonly string[],
): Promise<string | undefined> {
  for (const place of [id, ...views]) {
    const key = tryJournalKey(place);
    const adapter = key && adapters.get(transportOf(key));
    const readers = key && adapter ? await adapter.audience(key) : id;
    if (readers !== undefined) return views.length === 0 ? readers : id;
  }
  return undefined;
}

/**
 * The adapter where no model of elsewhere may learn what is said in places with a route of their own: such a place counts as private, so that
 * its records are shown there and nowhere else.
 */
export function withRoutes(adapter: Adapter, routeOf: RouteOf | undefined): Adapter {
  if (routeOf === undefined) return adapter;
  const audience = async (key: JournalKey) => {
    const own = await adapter.audience(key);
    return own ?? (routeOf([key]) === undefined ? undefined : adapter.channel(key));
  };
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- all else is the adapter's own, its getters too
  return Object.create(adapter, { audience: { value: audience, enumerable: true } }) as Adapter;
}

/** How long a press waits for the platform to say who may read its thread. */
const PLACE_MS = 1_000;

/**
 * Where a thread stands for others to find; one that cannot be looked up now counts as private. Of several places one that is
 * private makes all of it so.
 */
export function placeIn(adapters: ReadonlyMap<string, Adapter>, journal: Journal) {
  const adapterOf = (key: JournalKey) => adapters.get(transportOf(key));
  async function audienceOf(key: JournalKey): Promise<string | undefined> {
    const views = adapters.size < 2 ? [] : await viewsOf(journal, key);
    const ask = async (place: JournalKey) => {
      const adapter = adapterOf(place);
      return adapter === undefined ? place : adapter.audience(place);
    };
    const [own, ...others] = await Promise.all([key, ...views].map(ask));
    return others.some((each) => each !== undefined) ? key : own;
  }
  return async (key: JournalKey) => {
    const unknown = () => key;
    const audience = await atMost(PLACE_MS, audienceOf(key).catch(unknown), unknown);
    return { link: adapterOf(key)?.link(key), audience };
  };
}
