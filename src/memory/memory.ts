import { createHash } from "node:crypto";
import type { Embedder } from "../core/embedder.ts";
import type { Actor, Draft, Entry, StoredEntry } from "../core/entry.ts";
import { BotError, isBotError } from "../core/errors.ts";
import { isoUtc } from "../core/instant.ts";
import { type JournalKey, tenantOf, transportOf } from "../core/journal-key.ts";
import { wordsIn } from "../core/spellings.ts";
import { oneLine } from "../core/text.ts";
import { maySee, type Viewer } from "../core/viewer.ts";
import type { Journal } from "../journal/journal.ts";
import { createEmbedding, type Embedding } from "./embedding.ts";
import { type Case, casesOf } from "./cases.ts";
import { createDuplicates } from "./duplicates.ts";
import { createFeed, type ReadIncident } from "./feed.ts";
import type { MemoryIndex, Wanted } from "./index-port.ts";
import {
  belongingOf,
  itemOf,
  type MemoryItem,
  type Note,
  type Space,
  spaceOf,
  type Task,
} from "./item.ts";
import type { Floor } from "./policy.ts";
import { search } from "./search.ts";
import { termsIn } from "../core/terms.ts";

/** Who says it, where: together `thread` and `call` identify it, however often it is repeated. */
export interface Saying extends Viewer {
  readonly actor: Actor;
  /** All accounts that instruct the run. Default: the actor alone. */
  readonly principals?: readonly string[] | undefined;
  readonly thread: JournalKey;
  readonly call: string;
  readonly link: string | undefined;
  readonly outside?: boolean | undefined;
  /** When the call was started on the store's clock, ms since 1970. */
  readonly at: number;
}

/** The thread that a task's record is of, and who may read it. */
interface TaskOf {
  readonly thread: JournalKey;
  readonly link: string | undefined;
  readonly audience: string | undefined;
  /** The entry that the record is as of: the same again writes nothing. */
  readonly asOf: string;
}

interface Remembered {
  readonly item: MemoryItem;
}

interface SearchOptions extends Partial<Wanted>, Partial<Floor> {}

/**
 * What is remembered from thread to thread: notes of people, and records of what was looked into. The journals `memory:…` have it;
 * the index only finds it. What a viewer may not see does not exist for them. All methods throw what the store throws.
 */
export interface Memory {
  /** The same call again, or the same words in the same place, write nothing. @throws BotError PRECHECK_FAILED where there are as many as may be, TIMEOUT if the store does not say whether it was written */
  note(saying: Saying, text: string): Promise<{ item: MemoryItem; isNew: boolean }>;
  /** @throws BotError INPUT_INVALID if the viewer sees nothing of that name, PRECHECK_FAILED if it is not the note of everybody who asks, and as `note` */
  forget(saying: Saying, id: string): Promise<MemoryItem>;
  /** What exactly this call noted. */
  noted(saying: Pick<Saying, "thread" | "call" | "at">): Promise<Note | undefined>;
  /**
   * The thread's record as it is now. What a record of another thread of the same audience says already is counted on that one: then
   * `saved` is false and `id` is its name. It is not shown again once somebody forgot it.
   */
  record(of: TaskOf, task: Task): Promise<{ id: string; saved: boolean }>;
  /** The best first. */
  search(text: string, viewer: Viewer, options?: SearchOptions): Promise<Remembered[]>;
  /** The cases and notes that are alike, the best first: an incident and the record of its thread are one. */
  alike(text: string, viewer: Viewer, floor: Floor): Promise<Case[]>;
  /** The notes that have all of these words; without any word none. */
  notesWith(text: string, viewer: Viewer): Promise<MemoryItem[]>;
  /** The newest first. */
  newest(viewer: Viewer, wanted: Wanted): Promise<MemoryItem[]>;
  get(id: string, viewer: Viewer): Promise<MemoryItem | undefined>;
}

/** Notes that are kept of one person, and of all together, in one place: all public places of a tenant are one. */
export interface NoteCaps {
  readonly perPerson: number;
  readonly perPlace: number;
}

export interface MemoryParts {
  readonly journal: Pick<Journal, "read" | "post" | "changes">;
  readonly index: MemoryIndex;
  /** What every stored text passes, and what is asked of a provider. */
  encode(text: string): string;
  /** Incidents are found too. Default: they are not. */
  readonly readIncident?: ReadIncident | undefined;
  /** Default: as many as anybody likes. */
  readonly caps?: NoteCaps | undefined;
  /** Without it only words are compared. */
  readonly embedder?: Embedder | undefined;
  /** Whether words of a thread may go to the embedder's provider. Default: all may. */
  maySend?(thread: string | undefined): boolean;
  /** The provider fails: words alone are compared for a minute. */
  warn?(error: unknown): void;
}

const TRANSPORT = "memory";
/** Terms that are compared first, and notes that are compared whole. */
const SEEN_ALIKE = 32;
/** Records that are counted together. */
const MOST_ALIKE = 50;

export function createMemory(parts: MemoryParts): Memory {
  const { journal, index, encode, readIncident, caps } = parts;
  const feed = createFeed(journal, index, readIncident);

  const embedding = createEmbedding(parts);
  const reads = createReads(parts, embedding, feed);
  const duplicateOf = createDuplicates(index, embedding);
  const post = createPost(journal);

  return {
    async note(saying, said) {
      const { actor, thread, link, audience, at, outside } = saying;
      const text = encode(said).trim();
      const key = keyOf(thread, at);
      await feed();
      const known = await sameNote(index, spaceOf(saying, key), text);
      const id = nameOf(`${thread}\n${saying.call}`);
      if (known !== undefined && known.id !== id) return { item: known, isNew: false };
      const space = spaceOf(saying, key);
      if (caps !== undefined && (await index.find(id, [space])).length === 0)
        await checkRoom(index, space, actor.account, caps);
      const what: Note = {
        kind: "note",
        by: { account: actor.account, name: encode(actor.name) },
        text,
        ...(outside === true && { outside }),
      };
      const entry = await post(key, draftOf(`note:${id}`, id, { thread, link, audience }, what));
      if (entry.kind !== "memory" || entry.what.kind !== "note") throw notWritten(id);
      return { item: { ...itemIn(entry, key), what: entry.what }, isNew: true };
    },
    async forget(saying, id) {
      const found = await reads.get(id, saying);
      // An incident is the ledger's.
      if (found === undefined || found.what.kind === "incident") throw unknown(id);
      const { actor, thread, audience, link } = saying;
      if (!mayForget(saying, found)) throw notYours(saying, found);
      const by = { account: actor.account, name: encode(actor.name) };
      const place = { thread, link, audience };
      // First those that were counted on it: none of them gets a record of its own by going on.
      for (const each of found.again ?? []) {
        // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a thread is the key it was recorded with
        const of = each.thread as JournalKey;
        const name = nameOf(of);
        const gone = draftOf(`forgotten:${name}`, name, place, { kind: "forgotten", by });
        await post(keyOf(of, each.begun), gone);
      }
      const draft = draftOf(`forgotten:${found.id}`, found.id, place, { kind: "forgotten", by });
      await post(journalOf(found), draft);
      return found;
    },
    async noted({ thread, call, at }) {
      const id = nameOf(`${thread}\n${call}`);
      const entries = await journal.read(keyOf(thread, at));
      const entry = entries.find((each) => each.id === `note:${id}`);
      return entry?.kind === "memory" && entry.what.kind === "note" ? entry.what : undefined;
    },
    async record(of, task) {
      const id = nameOf(of.thread);
      const key = keyOf(of.thread, task.begun);
      const clean = cleaned(task, encode);
      const place: Of = { ...of, id, space: spaceOf(of, key) };
      const compared = feed().then(async () => duplicateOf(place, clean));
      const { same, before } = await compared.catch((error: unknown) => {
        if (isBotError(error, "STORE_UNAVAILABLE")) throw error;
        // An index that is away costs a second record at the most, and nothing that was found.
        return { same: undefined, before: undefined };
      });
      if (before !== undefined && before.id !== same?.id)
        await post(journalOf(before), againDraft(before.id, place, clean, true));
      // What was forgotten goes on as its own, which is shown no more.
      if (same === undefined || (await isForgotten(journal, key, id))) {
        await post(key, draftOf(`task:${id}:${of.asOf}`, id, of, clean));
        return { id, saved: true };
      }
      await post(journalOf(same), againDraft(same.id, place, clean, false));
      return { id: same.id, saved: false };
    },
    ...reads,
  };
}

/** What only looks. */
function createReads(
  { index, encode }: MemoryParts,
  embedding: Embedding,
  feed: () => Promise<boolean>,
): Pick<Memory, "search" | "alike" | "notesWith" | "newest" | "get"> {
  async function fed(viewer: Viewer): Promise<Space[]> {
    // Nothing was ever remembered: the index need not begin.
    if (!(await feed())) return [];
    await embedding.items();
    return (await index.spaces()).filter((space) => maySee(viewer, belongingOf(space)));
  }

  async function find(id: string, viewer: Viewer): Promise<MemoryItem | undefined> {
    const [found] = await index.find(id.trim().toLowerCase(), await fed(viewer));
    return found && itemOf(found);
  }

  async function searchIn(
    spaces: readonly Space[],
    text: string,
    { thread, ...options }: SearchOptions & Pick<Viewer, "thread">,
  ): Promise<Remembered[]> {
    const vector = spaces.length === 0 ? undefined : await embedding.question(encode(text), thread);
    const found = await search(index, text, spaces, { ...options, vector });
    return found.map(({ candidate }) => ({ item: itemOf(candidate) }));
  }

  return {
    search: async (text, viewer, options = {}) =>
      searchIn(await fed(viewer), text, { ...options, thread: viewer.thread }),
    async alike(text, viewer, floor) {
      const spaces = await fed(viewer);
      const found = await searchIn(spaces, text, {
        limit: MOST_ALIKE,
        ...floor,
        thread: viewer.thread,
      });
      const items = found.map(({ item }) => item);
      const known = new Set(items.map(({ id }) => id));
      for (const { thread, what } of items.slice()) {
        // Its thread's own words may be about something else.
        const of = what.kind === "incident" ? nameOf(thread) : undefined;
        if (of === undefined || known.has(of)) continue;
        known.add(of);
        items.push(...(await index.find(of, spaces)).map(itemOf));
      }
      return casesOf(items);
    },
    async notesWith(text, viewer) {
      const wanted = { kind: "note", limit: MOST_ALIKE } as const;
      const words = wordsIn(text);
      const { thread } = viewer;
      const all = await searchIn(await fed(viewer), text, { ...wanted, thread });
      const found = all.map(({ item }) => item);
      return found.filter(({ what }) => {
        const has = new Set(what.kind === "note" ? wordsIn(what.text) : []);
        return words.every((word) => has.has(word));
      });
    },
    async newest(viewer, wanted) {
      return (await index.newest(await fed(viewer), wanted)).map(itemOf);
    },
    get: find,
  };
}

/** A thread's record with its name, and who may read it. */
interface Of extends TaskOf {
  readonly id: string;
  readonly space: Space;
}

async function isForgotten(
  journal: MemoryParts["journal"],
  key: JournalKey,
  id: string,
): Promise<boolean> {
  const entries = await journal.read(key);
  return entries.some(
    (each) => each.kind === "memory" && each.memory === id && each.what.kind === "forgotten",
  );
}

function againDraft(name: string, of: Of, task: Task, over: boolean): Draft<"memory"> {
  const { begun, certainty, fixes, outcome } = task;
  return draftOf(`again:${name}:${of.id}:${of.asOf}`, name, of, {
    kind: "again",
    begun,
    ...(certainty !== undefined && { certainty }),
    fixes: over ? [] : fixes,
    outcome,
    ...(over && { over }),
  });
}

function journalOf({ journal }: MemoryItem): JournalKey {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- an item's journal is the key it was read from
  return journal as JournalKey;
}

/** Writes it, also when the store's reply was lost. */
function createPost(journal: MemoryParts["journal"]) {
  return async (key: JournalKey, draft: Draft<"memory">): Promise<StoredEntry> => {
    try {
      const { entry } = await journal.post(key, draft).catch(async (error: unknown) => {
        if (!isBotError(error, "STORE_UNAVAILABLE")) throw error;
        return journal.post(key, draft);
      });
      return entry;
    } catch (error) {
      if (!isBotError(error, "STORE_UNAVAILABLE")) throw error;
      const text = `The store did not say whether ${draft.memory} was written.`;
      throw new BotError("TIMEOUT", text, { cause: error });
    }
  };
}

async function checkRoom(
  index: MemoryIndex,
  space: Space,
  account: string,
  { perPerson, perPlace }: NoteCaps,
): Promise<void> {
  const notes = (await index.newest([space], { kind: "note", limit: perPlace })).map(itemOf);
  const own = notes.filter(({ what }) => what.kind === "note" && what.by.account === account);
  const full =
    own.length >= perPerson
      ? `You have ${own.length} notes here, and may have ${perPerson} (memory.notes.perPerson)`
      : notes.length >= perPlace
        ? `There are ${notes.length} notes here, and may be ${perPlace} (memory.notes.perPlace)`
        : undefined;
  if (full === undefined) return;
  const text = `${full}. \`notes\` lists them; \`forget m-…\` takes one away first.`;
  throw new BotError("PRECHECK_FAILED", text);
}

/** The note in this space that has the same words: those with the same terms may have others, such as `is` and `is not`. */
async function sameNote(
  index: MemoryIndex,
  space: Space,
  text: string,
): Promise<MemoryItem | undefined> {
  const terms = termsIn(text);
  const wanted = { kind: "note", limit: SEEN_ALIKE } as const;
  const found = await index.matching(terms.slice(0, SEEN_ALIKE), [space], wanted);
  const words = wordsIn(text).join(" ");
  return found
    .map(itemOf)
    .find(({ what }) => what.kind === "note" && wordsIn(what.text).join(" ") === words);
}

function draftOf(
  id: string,
  memory: string,
  { thread, link, audience }: Pick<TaskOf, "thread" | "link" | "audience">,
  what: Entry<"memory">["what"],
): Draft<"memory"> {
  const place = {
    ...(link !== undefined && { link }),
    ...(audience !== undefined && { audience }),
  };
  return { id, kind: "memory", memory, thread, ...place, what };
}

/** One journal for each month and tenant; direct messages have one together, in which each has a space of its own. */
function keyOf(thread: JournalKey, at: number): JournalKey {
  return `${TRANSPORT}:${tenantOf(thread) ?? "dm"}:${isoUtc(at, "day").slice(0, 7)}`;
}

/** The letters of RFC 4648's base32, in lower case: none of them looks like another. */
const BASE32 = "abcdefghijklmnopqrstuvwxyz234567";

function nameOf(of: string): string {
  const bytes = createHash("sha256").update(of).digest().subarray(0, 10);
  return `m-${[...bytes].map((byte) => BASE32[byte & 31] ?? "").join("")}`;
}

function cleaned(task: Task, encode: (text: string) => string): Task {
  const { question, cause, fixes } = task;
  return {
    ...task,
    question: encode(question),
    ...(cause !== undefined && { cause: encode(cause) }),
    fixes: fixes.map((fix) => ({ ...fix, title: encode(fix.title) })),
  };
}

function itemIn(entry: Entry<"memory">, journal: string): Omit<MemoryItem, "what"> {
  const { memory: id, at, thread, link } = entry;
  return { id, journal, at, thread, link };
}

function unknown(id: string): BotError {
  return new BotError(
    "INPUT_INVALID",
    `I don't remember anything called ${id.trim()}. \`notes\` lists what I do.`,
  );
}

/**
 * A note is its author's to take away, where nobody else instructs the run that does it; the operator, who has the store, may take
 * away any. Records have no author.
 */
function mayForget({ actor, principals = [], tenants }: Saying, { what }: MemoryItem): boolean {
  if (what.kind !== "note") return true;
  const isOperator = (account: string) =>
    tenants === "all" && transportOf(account) === transportOf(actor.account);
  return [actor.account, ...principals].every(
    (account) => account === what.by.account || isOperator(account),
  );
}

function notYours({ actor }: Saying, { id, what }: MemoryItem): BotError {
  const by = what.kind === "note" ? what.by : actor;
  const name = oneLine(by.name);
  const text =
    by.account === actor.account
      ? `${id} is a note by ${name}, and others asked for things in this run too. Only ${name} can take it away: type \`forget ${id}\`.`
      : `${id} is a note by ${name}. Only they, or the operator in the terminal, can take it away.`;
  return new BotError("PRECHECK_FAILED", text);
}

function notWritten(id: string): BotError {
  return new BotError(
    "PRECHECK_FAILED",
    `${id} was forgotten meanwhile; say it again in words of its own.`,
  );
}
