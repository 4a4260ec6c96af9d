import { randomBytes } from "node:crypto";
import type { DatabaseSync, StatementSync } from "node:sqlite";
import {
  type AppendKind,
  type ArtifactRef,
  type Draft,
  type Entry,
  type PostKind,
} from "../../core/entry.ts";
import { encodeDraft } from "../../core/entry-codec.ts";
import { BotError } from "../../core/errors.ts";
import { hasWork, type JournalKey } from "../../core/journal-key.ts";
import { areFacts, decodeRow, type SealedRow } from "../entries.ts";
import {
  type AppendReply,
  type Granted,
  type Journal,
  type JournalReader,
  type JournalSummary,
  type Lease,
  MAX_ARTIFACT_BYTES,
  MAX_IDLE_MS,
  type Known,
  knownOf,
} from "../journal.ts";
import { type StoredEntry } from "../../core/entry.ts";
import { beatOf, HOST_GONE_MS } from "../../core/host-beat.ts";
import {
  absentFrom,
  altered,
  artifactIdOf,
  checkArtifact,
  checkChain,
  checkWritten,
  followed,
  lostEntries,
  sealOf,
} from "../seal.ts";
import { createCounters } from "./counters.ts";
import { observe, openDatabase, openOlder, transact } from "./file.ts";
import { createWatchers } from "./watchers.ts";

interface JournalRow {
  id: number;
  key: JournalKey;
  last: number;
  last_at: number;
  head: string | null;
  token: string | null;
  attempts: number;
  due_at: number | null;
}

export interface SqliteOptions {
  /** A file, created with its folder when missing, or `:memory:`. Several processes may share the file. */
  path: string;
  /** The store's clock, ms since 1970; entry times never run backwards within a journal whatever it does. */
  now?: () => number;
  /** Told, in a sentence, that an older version's file is upgraded, or would be by a start. */
  warn?: (text: string) => void;
}

/**
 * Opens the embedded store: one SQLite file, every commit flushed to disk.
 * @throws BotError STORE_CORRUPT, STORE_FOREIGN, STORE_NEWER (the file is untouched), STORE_UNAVAILABLE
 */
export async function openSqliteJournal({
  path,
  now = Date.now,
  warn = () => {},
}: SqliteOptions): Promise<Journal> {
  const db = await openDatabase(path, warn);
  const sql = prepare(db);
  const counters = createCounters(db);
  // What is wrong with the store the verbs say; what was not dropped the next start drops.
  await transact(db, path, () => counters.forget(now())).catch(() => {});
  return createJournal({ db, path, sql, counters, now, watchers: createWatchers(sql) });
}

/**
 * Opens the store for who only looks: an older version's file stays as it is.
 * @throws what `openSqliteJournal` throws
 */
export async function readSqliteJournal(options: SqliteOptions): Promise<JournalReader> {
  const { path, now = Date.now, warn = () => {} } = options;
  const db = await openOlder(path, warn);
  if (db === undefined) return openSqliteJournal(options);
  const reader = createReader({ db, path, sql: prepareReads(db), now });
  return { ...reader, close: async () => db.close() };
}

const ENTRY_COLUMNS = "seq, id, at, kind, version, body, head";

function prepareReads(db: DatabaseSync) {
  return {
    row: db.prepare("SELECT * FROM journal WHERE key = ?"),
    headAt: db.prepare("SELECT head FROM entry WHERE journal = ? AND seq = ?"),
    after: db.prepare(
      `SELECT ${ENTRY_COLUMNS} FROM entry WHERE journal = ? AND seq > ? ORDER BY seq`,
    ),
    hosts: db.prepare("SELECT name, at FROM host ORDER BY name"),
    list: db.prepare(
      "SELECT * FROM journal WHERE key >= ?1 AND key < ?1 || char(1114111) ORDER BY last_at DESC, id DESC",
    ),
    artifact: db.prepare(
      "SELECT substr(bytes, ?3 + 1, ?4) AS part FROM artifact WHERE journal = ?1 AND id = ?2",
    ),
  };
}

function prepare(db: DatabaseSync) {
  return {
    ...prepareReads(db),
    create: db.prepare("INSERT INTO journal (key, last, last_at) VALUES (?, 0, ?) RETURNING *"),
    advance: db.prepare("UPDATE journal SET last = ?, last_at = ?, head = ? WHERE id = ?"),
    hold: db.prepare(
      "UPDATE journal SET token = ?, due_at = ?, attempts = ?, host = ? WHERE id = ?",
    ),
    insert: db.prepare(
      "INSERT INTO entry (journal, seq, id, at, kind, version, body, head) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
    ),
    byId: db.prepare(`SELECT ${ENTRY_COLUMNS} FROM entry WHERE journal = ? AND id = ?`),
    due: db.prepare(
      `SELECT key, due_at AS at FROM journal WHERE due_at <= ?1
       UNION SELECT key, NULL FROM journal WHERE host IS NOT NULL AND ifnull(due_at > ?1, TRUE)
         AND (host = ?2 OR host NOT IN (SELECT name FROM host WHERE at > ?1 - ${HOST_GONE_MS}))
       ORDER BY at`,
    ),
    beat: db.prepare(
      "INSERT INTO host (name, at) VALUES (?1, ?2) ON CONFLICT DO UPDATE SET at = ?2",
    ),
    forgetHosts: db.prepare("DELETE FROM host WHERE at < ?"),
    putArtifact: db.prepare(
      "INSERT INTO artifact (journal, id, bytes) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
    ),
    version: db.prepare("PRAGMA data_version"),
  };
}

type Statements = Record<keyof ReturnType<typeof prepare>, StatementSync>;

/** One open file. */
interface Reading {
  db: DatabaseSync;
  path: string;
  sql: Pick<Statements, keyof ReturnType<typeof prepareReads>>;
  now: () => number;
}

/** One that is written to, and what this process keeps beside it. */
interface Store extends Reading {
  sql: Statements;
  counters: ReturnType<typeof createCounters>;
  watchers: ReturnType<typeof createWatchers>;
}

function rowOf({ sql }: Reading, key: JournalKey): JournalRow | undefined {
  return sql.row.get(key) as JournalRow | undefined;
}

/** The store's clock for this journal's entries: it never runs backwards, unlike the one that leases go by. */
function clockOf({ now }: Store, row: JournalRow): number {
  return Math.max(now(), row.last_at);
}

/** The journal's row when `lease` still holds it. */
function heldBy(store: Store, lease: Lease): JournalRow | undefined {
  const row = rowOf(store, lease.key);
  return row !== undefined && row.token === lease.token ? row : undefined;
}

/** The head of entry number `seq`, or null where it has none. */
function headAt({ sql }: Reading, row: JournalRow, seq: number): string | null {
  if (seq === row.last) return row.head;
  const head = sql.headAt.get(row.id, seq)?.["head"];
  return typeof head === "string" ? head : null;
}

/** Whether what was folded up to there is what is stored. */
function isThere(store: Reading, row: JournalRow, { last, head }: Known): boolean {
  return last <= row.last && (head === undefined || headAt(store, row, last) === head);
}

function readAfter(store: Reading, row: JournalRow, last: number): StoredEntry[] {
  const rows = store.sql.after.all(row.id, last) as unknown as SealedRow[];
  checkChain(row.key, rows, { after: last, previous: headAt(store, row, last) });
  const end = rows.at(-1);
  if (last + rows.length !== row.last || (end !== undefined && end.head !== row.head)) {
    throw altered(row.key, `it does not end with entry ${row.last} as it was written`);
  }
  return rows.map(decodeRow);
}

function readNow(store: Reading, key: JournalKey, known: Known): StoredEntry[] {
  const row = rowOf(store, key);
  if (row === undefined && known.last === 0) return [];
  if (row === undefined || !isThere(store, row, known)) throw lostEntries(key);
  return readAfter(store, row, known.last);
}

function write(store: Store, row: JournalRow, drafts: readonly Draft[]): Entry[] {
  const at = clockOf(store, row);
  let head = followed(row.key, row.last, row.head);
  const written = drafts.map((draft, i): Entry => {
    const { id, kind, version, body } = encodeDraft(draft);
    const seq = row.last + 1 + i;
    head = sealOf(head, { seq, id, at, kind, version, body });
    store.sql.insert.run(row.id, seq, id, at, kind, version, body, head);
    return { seq, at, head, ...draft };
  });
  store.sql.advance.run(row.last + drafts.length, at, head, row.id);
  return written;
}

/** Who holds the journal, and when it is next due, for which host; while it is held that is the lease's end. */
function hold(
  { sql }: Store,
  row: JournalRow,
  held: { token: string | null; dueAt: number | null; attempts: number; host?: string },
): void {
  sql.hold.run(held.token, held.dueAt, held.attempts, held.host ?? null, row.id);
}

function postNow(store: Store, key: JournalKey, draft: Draft<PostKind>): Posted {
  const time = store.now();
  const row = rowOf(store, key) ?? (store.sql.create.get(key, time) as unknown as JournalRow);
  const known = store.sql.byId.get(row.id, draft.id) as SealedRow | undefined;
  if (known !== undefined) {
    const after = known.seq - 1;
    if (after < 0 || after >= row.last) throw altered(key, `it has an entry ${known.seq}`);
    checkChain(key, [known], { after, previous: headAt(store, row, after) });
    return { entry: decodeRow(known), duplicate: true };
  }
  const [entry] = write(store, row, [draft]);
  const dueAt = hasWork(key) ? time : null;
  hold(store, row, {
    token: row.token,
    dueAt: row.token === null ? dueAt : row.due_at,
    attempts: 0,
  });
  if (entry === undefined) throw new TypeError("nothing was written");
  return { entry, duplicate: false };
}

type Posted = Awaited<ReturnType<Journal["post"]>>;

function leaseNow(store: Store, key: JournalKey, ttlMs: number): Granted | undefined {
  const row = rowOf(store, key);
  if (row === undefined) return undefined;
  const now = store.now();
  if (row.token !== null && row.due_at !== null && now < row.due_at) return undefined;
  const token = randomBytes(12).toString("base64url");
  const attempts = row.attempts + 1;
  hold(store, row, { token, dueAt: now + ttlMs, attempts });
  return { lease: { key, token, ttlMs }, attempts, now };
}

function renewNow(store: Store, lease: Lease): Awaited<ReturnType<Journal["renew"]>> {
  const row = heldBy(store, lease);
  if (row === undefined) return { kind: "fenced" };
  const now = store.now();
  hold(store, row, { token: lease.token, dueAt: now + lease.ttlMs, attempts: row.attempts });
  return { kind: "ok", last: row.last, now };
}

function appendNow(
  store: Store,
  lease: Lease,
  known: Known,
  drafts: readonly Draft<AppendKind>[],
  before: number | undefined,
): AppendReply {
  const facts = areFacts(drafts);
  const row = heldBy(store, lease);
  if (row === undefined) return { kind: "fenced" };
  if (!isThere(store, row, known)) return { kind: "lost" };
  const { last } = known;
  const now = clockOf(store, row);
  const missing = drafts.filter(({ id }) => store.sql.byId.get(row.id, id) === undefined);
  if (missing.length > 0) {
    if (before !== undefined && now >= before) return { kind: "late", now };
    if (!facts && row.last !== last) {
      return { kind: "unseen", unseen: readAfter(store, row, last), now };
    }
    const written = write(store, row, missing);
    if (row.last === last && missing.length === drafts.length) {
      return { kind: "ok", unseen: written, now };
    }
  }
  const current = rowOf(store, lease.key) ?? row;
  const unseen = readAfter(store, current, last);
  const others = absentFrom(unseen, drafts);
  if (others.length > 0) checkWritten(lease.key, readAfter(store, current, 0), others);
  return { kind: "ok", unseen, now };
}

function releaseNow(
  store: Store,
  lease: Lease,
  known: Known,
  dueAt: number | undefined,
  host: string | undefined,
): Awaited<ReturnType<Journal["release"]>> {
  const row = heldBy(store, lease);
  if (row === undefined) return { kind: "fenced" };
  if (!isThere(store, row, known)) return { kind: "lost" };
  if (row.last !== known.last) {
    return { kind: "unseen", unseen: readAfter(store, row, known.last) };
  }
  hold(store, row, {
    token: null,
    dueAt: dueAt ?? null,
    attempts: 0,
    ...(host !== undefined && { host }),
  });
  return { kind: "ok" };
}

function putNow(store: Store, key: JournalKey, bytes: Uint8Array): ArtifactRef {
  if (bytes.byteLength > MAX_ARTIFACT_BYTES) {
    const text = `An artifact may have ${MAX_ARTIFACT_BYTES} bytes, this one has ${bytes.byteLength}.`;
    throw new BotError("ARTIFACT_TOO_LARGE", text);
  }
  // The file that comes with a thread's first message is kept before the message is.
  const row =
    rowOf(store, key) ?? (store.sql.create.get(key, store.now()) as unknown as JournalRow);
  const id = artifactIdOf(bytes);
  store.sql.putArtifact.run(row.id, id, bytes);
  return { id, bytes: bytes.byteLength };
}

function artifactNow(
  store: Reading,
  key: JournalKey,
  id: string,
  range: { start: number; end: number } | undefined,
): Uint8Array {
  const row = rowOf(store, key);
  const { start, end } = range ?? { start: 0, end: MAX_ARTIFACT_BYTES };
  const part = row && store.sql.artifact.get(row.id, id, start, end - start)?.["part"];
  if (part instanceof Uint8Array) return range === undefined ? checkArtifact(key, id, part) : part;
  throw new BotError("ARTIFACT_UNKNOWN", `This thread has no artifact ${id}.`);
}

function createReader(store: Reading): Omit<JournalReader, "close"> {
  const { db, path, sql, now } = store;
  const see = <T>(work: () => T) => observe(db, path, work);
  return {
    read(key, after = 0) {
      const known = knownOf(after);
      return see(() => readNow(store, key, known));
    },
    has: (key) => see(() => (rowOf(store, key)?.last ?? 0) > 0),
    async hosts() {
      const rows = await see(() => sql.hosts.all() as unknown as { name: string; at: number }[]);
      return rows.map(({ name, at }) => beatOf(name, at, now()));
    },
    async *list({ prefix = "" } = {}) {
      const rows = await see(() => sql.list.all(prefix) as unknown as JournalRow[]);
      for (const row of rows) yield summaryOf(row, now());
    },
    readArtifact: (key, id, range) => see(() => artifactNow(store, key, id, range)),
    check: () =>
      see(() => {
        const said = db.prepare("PRAGMA quick_check(5)").all();
        const problems = said
          .map((row) => String(row["quick_check"]))
          .filter((text) => text !== "ok");
        return problems.length === 0 ? undefined : `${path} is damaged: ${problems.join("; ")}`;
      }),
  };
}

function createJournal(store: Store): Journal {
  const { db, path, sql, counters, now, watchers } = store;
  const change = <T>(work: () => T) => transact(db, path, work);
  const see = <T>(work: () => T) => observe(db, path, work);
  return {
    ...createReader(store),
    async post(key, draft) {
      const posted = await change(() => postNow(store, key, draft));
      watchers.notify(key, posted.entry.seq);
      return posted;
    },
    lease: (key, ttlMs) => change(() => leaseNow(store, key, ttlMs)),
    renew: (lease) => change(() => renewNow(store, lease)),
    async append(lease, after, drafts, { before } = {}) {
      const known = knownOf(after);
      const reply = await change(() => appendNow(store, lease, known, drafts, before));
      const last = reply.kind === "ok" ? reply.unseen.at(-1)?.seq : undefined;
      if (last !== undefined) watchers.notify(lease.key, last);
      return reply;
    },
    release(lease, after, dueAt, host) {
      const known = knownOf(after);
      return change(() => releaseNow(store, lease, known, dueAt, host));
    },
    watch: (key, onChange) => watchers.add(key, onChange),
    async *due(host = "") {
      for (const row of await see(() => sql.due.all(now(), host))) yield row["key"] as JournalKey;
    },
    beat: (host) =>
      change(() => {
        sql.beat.run(host, now());
        sql.forgetHosts.run(now() - MAX_IDLE_MS);
      }),
    putArtifact: (key, bytes) => change(() => putNow(store, key, bytes)),
    reserve: (counter, amount, limit) =>
      change(() => counters.reserve(counter, amount, limit, now())),
    used: (counter) => see(() => counters.used(counter)),
    commitReservation: (reservation, actual) =>
      change(() => counters.settle(reservation, actual, now())),
    async close() {
      watchers.close();
      db.close();
    },
  };
}

function summaryOf(row: JournalRow, time: number): JournalSummary {
  const { key, last } = row;
  const leased = row.token !== null && row.due_at !== null && time < row.due_at;
  return {
    key,
    last,
    lastAt: row.last_at,
    dueAt: row.due_at ?? undefined,
    leased,
    now: time,
  };
}
