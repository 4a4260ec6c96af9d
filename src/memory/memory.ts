import type { Embedder } from "../core/embedder.ts";
import type { Actor, Draft, Entry, StoredEntry } from "../core/entry.ts";
import { BotError, isBotError } from "../core/errors.ts";
import { type JournalKey, transportOf } from "../core/journal-key.ts";
import { wordsIn } from "../core/spellings.ts";
import { oneLine } from "../core/text.ts";
import type { Viewer } from "../core/viewer.ts";
import type { Publisher } from "../events/bus.ts";
import type { Journal } from "../journal/journal.ts";
import { createEmbedding, type Embedding } from "./embedding.ts";
import { createDuplicates } from "./duplicates.ts";
import { createFeed, type ReadIncident } from "./feed.ts";
import type { MemoryIndex } from "./index-port.ts";
import { itemOf, type MemoryItem, type Note, type Space, spaceOf, type Task } from "./item.ts";
import { keyOf, nameOf } from "./names.ts";
import { createReads, type Reads } from "./reads.ts";
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

/**
 * What is remembered from thread to thread: notes of people, and records of what was looked into. The journals `memory:…` have it;
 * the index only finds it. What a viewer may not see does not exist for them. All methods throw what the store throws.
 */
export interface Memory extends Reads {
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
  /** Is told of an embedder that fails: then words alone are compared for a minute. `telling` tells the rest. */
  readonly events?: Publisher | undefined;
}

/** Terms that are compared first, and notes that are compared whole. */
const SEEN_ALIKE = 32;

export function createMemory(parts: MemoryParts): Memory {
  const { journal, index, encode, readIncident } = parts;
  const feed = createFeed(journal, index, readIncident);
  const embedding = createEmbedding(parts);
  const reads = createReads({ index, embedding, encode, feed });
  return { ...createWrites(parts, { embedding, reads, feed }), ...reads };
}

interface WritesParts {
  readonly embedding: Embedding;
  readonly reads: Pick<Reads, "get">;
  feed(): Promise<boolean>;
}

/** What writes. */
function createWrites(
  { journal, index, encode, caps }: MemoryParts,
  { embedding, reads, feed }: WritesParts,
): Omit<Memory, keyof Reads> {
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
