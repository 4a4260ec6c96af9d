import { createHash } from "node:crypto";
import type { Draft } from "../core/entry.ts";
import { BotError, isBotError } from "../core/errors.ts";
import { isoUtc } from "../core/instant.ts";
import { type JournalKey, tryJournalKey } from "../core/journal-key.ts";
import { insiderOf, maySee, type Viewer } from "../core/viewer.ts";
import type { Journal } from "../journal/journal.ts";
import type { NumbersAsked } from "./numbered.ts";
import type { Period } from "./period.ts";
import { inQuotes, oneLine } from "../core/text.ts";
import type { AnyCatalog } from "./catalog.ts";
import { cleaned } from "./cleaned.ts";
import { advance } from "./fold.ts";
import {
  type Change,
  type Filter,
  type Incident,
  type Ledger,
  type Saying,
  TIMES,
} from "./incident.ts";
import { EDITED, pinnedIn, quoteText } from "./pins.ts";
import { createRecords, ID, keyOf, POST_PREFIX, type ReadRecord } from "./records.ts";
import { stateOf } from "./state.ts";
import type { ReadHead } from "./read-head.ts";

/** The letters of RFC 4648's base32, in lower case: none of them looks like another. */
const BASE32 = "abcdefghijklmnopqrstuvwxyz234567";
/** Ids that one call may try: as many as 32 bytes of a hash give. Two calls of a day collide once in a million. */
const MAX_IDS = 8;

/** Says what the program saw happen. No platform has such an account. */
const PROGRAM = { account: "watchkeeper", name: "Watchkeeper" } as const;

interface LedgerOptions {
  /** The ledger's alone. */
  catalog: AnyCatalog;
  /** A thread has something to show. */
  wake?(key: JournalKey): void;
  /** Tells others what is new of it, each once, however often it is called. */
  announce?(incident: Incident): Promise<void>;
}

/** The ledger over a store's journals, for any number of processes. Every stored text passes `encode`. */
export function createLedger(
  journal: Pick<Journal, "read" | "post" | "changes">,
  encode: (text: string) => string,
  options: LedgerOptions,
): Ledger {
  const records = createRecords(journal, options.catalog);
  const tell = createTell(journal, options);

  const { find, ...reads } = createReads(records);

  /** Posts if the fold accepts it, and returns what the journal then holds. */
  async function post(
    id: string,
    { newer: isNewer, incident }: ReadRecord,
    draft: Draft<"incident">,
    at: number,
  ): Promise<ReadRecord> {
    if (isNewer) throw newer(id);
    checkPast(draft.change, at);
    advance(incident, id, { ...draft, at });
    try {
      await retryOnce(() => journal.post(keyOf(id), draft));
      const written = await retryOnce(() => records.read(id));
      await tell(written);
      return written;
    } catch (error) {
      if (!isBotError(error, "STORE_UNAVAILABLE")) throw error;
      const text = `The store did not say whether ${id} was written.`;
      throw new BotError("TIMEOUT", text, { cause: error });
    }
  }

  async function say(saying: Saying, written: string, said: Change): Promise<Incident> {
    const { record, incident } = await find(written, saying);
    const { id } = incident;
    const draft = draftOf("word", saying, cleaned(said, encode), encode);
    const isRepeated = record.posts.has(draft.id);
    if (isRepeated) await tell(record);
    return resultOf(id, isRepeated ? record : await post(id, record, draft, saying.at), draft.id);
  }

  return {
    async open(saying, said) {
      const draft = draftOf("opening", saying, cleaned(said, encode), encode);
      for (const id of idsOf(saying)) {
        let record = await records.read(id);
        if (record.last === 0) record = await post(id, record, draft, saying.at);
        else if (holds(record, draft.id)) await tell(record);
        if (holds(record, draft.id)) return resultOf(id, record, draft.id);
      }
      throw new BotError("PRECHECK_FAILED", "All ids for this incident are taken.");
    },
    update: say,
    resolve: (saying, id, said) => say(saying, id, { ...said, status: "resolved" }),
    follow: createFollow(records, encode, say),
    happened: createHappened({ records, encode, tell, post }),
    async written(saying, written) {
      const postId = postIdOf(written === undefined ? "opening" : "word", saying);
      const ids = written === undefined ? idsOf(saying) : [written.trim().toLowerCase()];
      for (const id of ids.filter((one) => ID.test(one))) {
        const record = await records.read(id);
        if (holds(record, postId)) {
          await tell(record);
          return record.incident;
        }
        if (record.last === 0) break;
      }
      return undefined;
    },
    ...reads,
  };
}

/** What the program saw is written once, where it fits what people said and nobody may read more of it than of its thread. */
function createHappened({ records, encode, tell, post }: Happening): Ledger["happened"] {
  return async ({ thread, link, audience, fact, at }, id, changeOf) => {
    const record = await records.read(id);
    const { incident } = record;
    if (incident === undefined || record.newer) return;
    const { tenants } = insiderOf(incident);
    const call = `record:${fact}`;
    const saying = { actor: PROGRAM, thread, call, link, audience, tenants, at };
    if (record.posts.has(postIdOf("word", saying))) return tell(record);
    const change = changeOf(incident);
    if (change === undefined) return;
    try {
      await post(id, record, draftOf("word", saying, cleaned(change, encode), encode), at);
    } catch (error) {
      if (!isBotError(error, "PRECHECK_FAILED") && !isBotError(error, "INPUT_INVALID")) throw error;
    }
  };
}

interface Happening {
  records: ReturnType<typeof createRecords>;
  encode: (text: string) => string;
  tell(record: ReadRecord): Promise<void>;
  post(id: string, before: ReadRecord, draft: Draft<"incident">, at: number): Promise<unknown>;
}

/** What people change or take away is so where it was pinned; `say` records it. */
function createFollow(
  records: ReturnType<typeof createRecords>,
  encode: (text: string) => string,
  say: (saying: Saying, id: string, said: Change) => Promise<unknown>,
): Ledger["follow"] {
  return async (thread, { message, text: raw, incidents }, { call, at }) => {
    const words = quoteText(raw && encode(raw));
    // What people approved or read there before said something else.
    const text = raw === undefined ? words : `${EDITED} ${words}`;
    for (const id of incidents) {
      const { incident } = await records.read(id);
      const pinned = incident?.thread === thread ? pinnedIn(incident, message) : undefined;
      if (incident === undefined || pinned === undefined) continue;
      if ([words, text].includes(pinned.pin.text)) continue;
      const { actor, link, outside } = pinned.said;
      const saying = {
        ...insiderOf(incident),
        actor,
        link,
        outside,
        thread,
        call: `${call}:follows`,
        at,
      };
      await say(saying, id, { pin: { ...pinned.pin, text } });
    }
  };
}

/** What only looks. */
function createReads(records: ReturnType<typeof createRecords>) {
  async function find(written: string, viewer: Viewer) {
    const id = written.trim().toLowerCase();
    const record = ID.test(id) ? await records.read(id) : undefined;
    const incident = record?.incident;
    if (record && incident && maySee(viewer, incident)) return { record, incident };
    throw unknown(id, await records.ask((catalog) => catalog.near(id, viewer)));
  }

  /** The catalog is only a cache: what may be seen is what the journals let be seen. */
  async function visible(heads: readonly ReadHead[], viewer: Viewer): Promise<Incident[]> {
    return (await records.incidents(heads)).filter((incident) => maySee(viewer, incident));
  }

  return {
    find,
    get: async (id: string, viewer: Viewer) => (await find(id, viewer)).incident,
    list: async (filter: Filter, viewer: Viewer) =>
      visible(await records.ask((catalog) => catalog.list(filter, viewer)), viewer),
    count: (filter: Filter, viewer: Viewer) =>
      records.ask((catalog) => catalog.count(filter, viewer)),
    async search(text: string, viewer: Viewer, filter: Filter = {}) {
      const all = await records.ask((catalog) => catalog.search(text, filter, viewer));
      return { count: all.count, found: await visible(all.found, viewer) };
    },
    async numbers(period: Period, viewer: Viewer, asked: NumbersAsked) {
      const { counts, which, spreads } = await records.ask((catalog) =>
        catalog.numbers(period, viewer, asked),
      );
      return {
        spreads,
        counts: counts.map((number) => ({ ...number, newest: number.newest.map(({ id }) => id) })),
        which: which && { count: which.count, found: await visible(which.found, viewer) },
      };
    },
    async stats(period: Period, viewer: Viewer, listed: number) {
      const counted = await records.ask((catalog) => catalog.stats(period, viewer, listed));
      const [longest] = await visible(counted.longest, viewer);
      return { ...counted, newest: await visible(counted.newest, viewer), longest };
    },
  };
}

/**
 * Lets the thread that an incident was opened in show how it stands, and channels hear what is new. Whoever wrote to it does so, and again whenever that is
 * repeated or read back, so a crash in between leaves nobody behind.
 */
function createTell(
  journal: Pick<Journal, "post">,
  { wake = () => {}, announce = async () => {} }: LedgerOptions,
) {
  return async ({ incident, last }: ReadRecord): Promise<void> => {
    const key = tryJournalKey(incident?.thread ?? "");
    if (incident === undefined || key === undefined) return;
    await retryOnce(() => journal.post(key, stateOf(incident, last)));
    wake(key);
    await retryOnce(() => announce(incident));
  };
}

function holds({ posts }: ReadRecord, postId: string): boolean {
  return posts.has(postId) && posts.get(postId) === undefined;
}

/** The incident that the post is part of. @throws why it is not */
function resultOf(id: string, { incident, posts }: ReadRecord, postId: string): Incident {
  const refusal = posts.get(postId);
  if (refusal !== undefined) throw refusal;
  if (incident === undefined || !posts.has(postId)) throw newer(id);
  return incident;
}

function postIdOf(kind: keyof typeof POST_PREFIX, { thread, call }: CallOfThread): string {
  return `${POST_PREFIX[kind]}${thread}:${call}`;
}

type CallOfThread = Pick<Saying, "thread" | "call">;

/** The ids that a call's incident may have, in order. The day is when the call started, in UTC. */
function idsOf({ thread, call, at }: CallOfThread & { at: number }): string[] {
  const bytes = createHash("sha256").update(`${thread}\n${call}`).digest();
  const letters = [...bytes].map((byte) => BASE32[byte & 31] ?? "").join("");
  const day = isoUtc(at, "day").replaceAll("-", "");
  return Array.from({ length: MAX_IDS }, (_, i) => `inc-${day}-${letters.slice(4 * i, 4 * i + 4)}`);
}

function draftOf(
  kind: keyof typeof POST_PREFIX,
  saying: Saying,
  change: Change,
  encode: (text: string) => string,
): Draft<"incident"> {
  const { actor, thread, link, audience, outside } = saying;
  return {
    id: postIdOf(kind, saying),
    kind: "incident",
    actor: { account: actor.account, name: oneLine(encode(actor.name)) },
    thread,
    ...(link !== undefined && { link }),
    ...(audience !== undefined && { audience }),
    ...(outside === true && { outside }),
    change,
  };
}

/** A record holds only what has happened. */
function checkPast(change: Change, now: number): void {
  for (const name of TIMES) {
    const at = change[name] ?? 0;
    if (at <= now) continue;
    const text = `${name} is in the future (${new Date(at).toISOString()}; it is now ${new Date(now).toISOString()}).`;
    throw new BotError("INPUT_INVALID", text);
  }
}

/** A store that does not answer may have written. Repeating does no harm and shows whether it did. */
async function retryOnce<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!isBotError(error, "STORE_UNAVAILABLE")) throw error;
    return work();
  }
}

function unknown(id: string, { near, newest }: { near: string[]; newest: string[] }): BotError {
  const others = newest.length === 0 ? "" : ` The newest: ${newest.join(", ")}.`;
  const hint = near.length > 0 ? ` Did you mean ${near.join(" or ")}?` : others;
  return new BotError("INPUT_INVALID", `No incident ${inQuotes(id)} is visible from here.${hint}`);
}

function newer(id: string): BotError {
  const text = `A newer version of this program wrote to ${id}; start that version.`;
  return new BotError("STORE_NEWER", text);
}
