import { hash, randomUUID } from "node:crypto";
import { BotError } from "../core/errors.ts";
import type { JournalKey } from "../core/journal-key.ts";
import {
  type Journal,
  type JournalReader,
  type JournalSummary,
  type Known,
  knownOf,
  MAX_ARTIFACT_BYTES,
  MAX_DATED_BACK_MS,
  PAGE,
  type Reservation,
} from "./journal.ts";
import { altered } from "./seal.ts";
import type { Snapshot } from "./snapshot.ts";
import { createWatchers, type LastEntries } from "./watchers.ts";

type Append = Parameters<Journal["append"]>;
type Release = Parameters<Journal["release"]>;

/** What each kind of store does in its own way for who only looks; `createReader` does the rest. */
export interface ReadBackend extends Pick<
  Journal,
  "summary" | "changes" | "hosts" | "check" | "close"
> {
  read(key: JournalKey, after: Known): ReturnType<Journal["read"]>;
  /** The number of each journal's last entry; 0: it has none. */
  lastOf(keys: readonly JournalKey[]): Promise<number[]>;
  /** Newest first, those changed from `since` on. What is written to meanwhile may be left out. */
  list(prefix: string, since: number): AsyncIterable<JournalSummary>;
  /** The first to be due first. What is written to meanwhile may be left out. */
  owed(prefix: string): AsyncIterable<JournalSummary>;
  /** Its bytes from `start` until before `end`; undefined: there is no such artifact. */
  getArtifact(key: JournalKey, id: string, start: number, end: number): Artifact;
}

type Artifact = Promise<Uint8Array | undefined>;

/** What it does for workers; `createJournal` does the rest. */
export interface Backend
  extends
    ReadBackend,
    Pick<
      Journal,
      | "post"
      | "lease"
      | "renew"
      | "flushReservation"
      | "keepSnapshot"
      | "due"
      | "beat"
      | "used"
      | "size"
    > {
  append(
    ...args: [Append[0], Known, Append[2], before: number | undefined, ifLast: boolean]
  ): ReturnType<Journal["append"]>;
  release(
    ...args: [Release[0], Known, Release[2], Release[3], Release[4]]
  ): ReturnType<Journal["release"]>;
  flush(key: JournalKey, after: Known): ReturnType<Journal["flush"]>;
  /** Undefined also where it is not what was kept, or not of what is stored. */
  getSnapshot(key: JournalKey): Promise<Snapshot | undefined>;
  look: LastEntries;
  putArtifact(key: JournalKey, id: string, bytes: Uint8Array): Promise<void>;
  /** False where that would be more than `limit`. */
  setAside(reservation: Reservation, limit: number): Promise<boolean>;
  settle(reservation: Reservation, actual: number): Promise<void>;
}

async function* listAll(
  store: ReadBackend,
  prefix: string,
  since: number,
): AsyncIterable<JournalSummary> {
  const told = new Map<JournalKey, number>();
  let [from, count] = [since, Infinity];
  // Meanwhile some may have moved to where this has been already.
  while (count > PAGE) {
    const start = from;
    count = 0;
    for await (const summary of store.list(prefix, start)) {
      const { key, changed, now } = summary;
      // Where the clock was put back, others' places are before the newest; and an entry may be dated back.
      if (from === start) from = Math.max(since, Math.min(changed + 1, now - MAX_DATED_BACK_MS));
      if (told.get(key) === changed) continue;
      if (changed >= from) told.set(key, changed);
      count += 1;
      yield summary;
    }
  }
}

async function* owedAll(store: ReadBackend, prefix: string): AsyncIterable<JournalSummary> {
  let [count, began] = [0, 0];
  for await (const summary of store.owed(prefix)) {
    if (count === 0) began = summary.now;
    count += 1;
    yield summary;
  }
  if (count <= PAGE) return;
  for await (const summary of listAll(store, prefix, began - MAX_DATED_BACK_MS)) {
    if (summary.dueAt !== undefined) yield summary;
  }
}

/** The journals of an opened store for who only looks. */
export function createReader(store: ReadBackend): JournalReader {
  return {
    read: (key, after = 0) => store.read(key, knownOf(after)),
    has: async (key) => (await store.lastOf([key])).some((last) => last > 0),
    summary: store.summary,
    list: ({ prefix = "", since = 0 } = {}) => listAll(store, prefix, since),
    owed: ({ prefix = "" } = {}) => owedAll(store, prefix),
    changes: store.changes,
    async readArtifact(key, id, range) {
      const { start, end } = range ?? { start: 0, end: MAX_ARTIFACT_BYTES };
      const found = await store.getArtifact(key, id, start, end);
      if (found === undefined)
        throw new BotError("ARTIFACT_UNKNOWN", `This thread has no artifact ${id}.`);
      if (range !== undefined || artifactId(found) === id) return found;
      throw altered(key, `artifact ${id} is not what was put there`);
    },
    hosts: store.hosts,
    check: store.check,
    close: store.close,
  };
}

/** The journals of an opened store. */
export function createJournal(store: Backend): Journal {
  const watchers = createWatchers(store.look);
  return {
    ...createReader(store),
    async post(key, draft) {
      const posted = await store.post(key, draft);
      if (!posted.duplicate) watchers.notify(key, posted.entry.seq);
      return posted;
    },
    lease: store.lease,
    renew: store.renew,
    async append(lease, after, drafts, { before, ifLast = false } = {}) {
      const reply = await store.append(lease, knownOf(after), drafts, before, ifLast);
      const last = reply.kind === "ok" ? reply.unseen.at(-1)?.seq : undefined;
      if (last !== undefined) watchers.notify(lease.key, last);
      return reply;
    },
    release: (lease, after, ...rest) => store.release(lease, knownOf(after), ...rest),
    flush: (key, after) => store.flush(key, knownOf(after)),
    flushReservation: store.flushReservation,
    async snapshot(key, version) {
      const found = await store.getSnapshot(key);
      return found?.version === version ? found : undefined;
    },
    keepSnapshot: store.keepSnapshot,
    watch: watchers.add,
    due: store.due,
    beat: store.beat,
    async putArtifact(key, bytes) {
      const { byteLength } = bytes;
      if (byteLength > MAX_ARTIFACT_BYTES) {
        const text = `An artifact may have ${MAX_ARTIFACT_BYTES} bytes, this one has ${byteLength}.`;
        throw new BotError("ARTIFACT_TOO_LARGE", text);
      }
      const id = artifactId(bytes);
      await store.putArtifact(key, id, bytes);
      return { id, bytes: byteLength };
    },
    async reserve(counter, amount, limit) {
      const made = { id: randomUUID(), counter, amount: checkAmount(amount) };
      return (await store.setAside(made, limit)) ? made : undefined;
    },
    used: store.used,
    size: store.size,
    commitReservation: async (made, actual) => store.settle(made, checkAmount(actual)),
    async close() {
      watchers.close();
      await store.close();
    },
  };
}

/** An artifact's name is the beginning of its SHA-256. */
function artifactId(bytes: Uint8Array): string {
  return hash("sha256", bytes, "hex").slice(0, 16);
}

/** @throws TypeError for what no counter takes */
function checkAmount(amount: number): number {
  if (Number.isSafeInteger(amount) && amount >= 0) return amount;
  throw new TypeError(`${amount} cannot be counted; whole numbers from 0 can`);
}
