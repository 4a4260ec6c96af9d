import type { StatementSync } from "node:sqlite";
import { setImmediate as turnOfLoop } from "node:timers/promises";
import { asksForWork, type Draft, type Entry } from "../../core/entry.ts";
import { encodeDraft } from "../../core/entry-codec.ts";
import { beatOf } from "../../core/host-beat.ts";
import { type JournalKey, transportOf } from "../../core/journal-key.ts";
import { type Backend, createJournal, createReader, type ReadBackend } from "../create.ts";
import { areFacts, decodeChain, decodeRow } from "../entries.ts";
import { type Journal, type JournalReader, type JournalSummary, PAGE } from "../journal.ts";
import type { OpenOptions } from "../store.ts";
import { createObserve, damageOf, type Observe, openDatabase, openOlder } from "./connection.ts";
import { dropsSnapshot, sealOfSnapshot } from "../snapshot.ts";
import { createFlush, type Sync } from "./flush.ts";
import { type JournalRow, type Looks, prepareLooks, prepareReads } from "./statements.ts";
import * as verbs from "./verbs.ts";
import { type KindOf, sizeOf } from "./file-system.ts";
import { createStalls } from "./stalls.ts";
import { createWriter, type Writer } from "./writer.ts";

interface SqliteOptions extends OpenOptions {
  /** A file, created with its folder when missing. Several processes may share it. */
  path: string;
  /** The kind of its folder's file system; in tests. */
  kindOf?: KindOf;
  /** How the log is flushed; in tests and benchmarks, which count it or have a slow disk. */
  sync?: Sync;
  /** After how long the operator is told that the disk does not answer. Default 1 s. */
  stallMs?: number;
}

/**
 * Opens the embedded store: one SQLite file. It is read and flushed from here, and written by a thread of its own.
 * Entry times never run backwards within a journal, whatever the clock does.
 * @throws BotError STORE_CORRUPT, STORE_FOREIGN, STORE_NEWER, STORE_UNSAFE (the file is untouched), STORE_UNAVAILABLE
 */
export async function openSqliteJournal(options: SqliteOptions): Promise<Journal> {
  const { path, now, warn = () => {}, sync, stallMs, kindOf } = options;
  const db = await openDatabase(path, warn, kindOf);
  const writer = createWriter({
    path,
    warn,
    now,
    stalls: createStalls(`written ${path}`, warn, stallMs),
  });
  const file = { db, path, sql: prepareReads(db), now: now ?? Date.now };
  const observe = createObserve(db, path);
  const looks = prepareLooks(db);
  // Where the file is a link, its log is beside what it leads to.
  const version = () => looks.version.get()?.["data_version"];
  const stalls = createStalls(`flushed ${path}`, warn, stallMs);
  const log = createFlush(db.location() ?? path, version, stalls, sync);
  return createJournal({
    ...readBackend(file, observe),
    ...lookBackend(file, looks, observe),
    ...writeBackend(writer),
    ...flushBackend(file, looks, observe, log.flush),
    size: () => sizeOf(db.location() ?? path),
    check: () => writer.ask("check"),
    async close() {
      await log.close();
      // First, so that the writer is the last one there, and takes the log into the file.
      db.close();
      await writer.close();
    },
  });
}

/**
 * Opens the store for who only looks: an older version's file stays as it is.
 * @throws what `openSqliteJournal` throws
 */
export async function readSqliteJournal(options: SqliteOptions): Promise<JournalReader> {
  const { path, now = Date.now, warn = () => {}, kindOf } = options;
  const db = (await openOlder(path, warn, kindOf)) ?? (await openDatabase(path, warn, kindOf));
  const file = { db, path, sql: prepareReads(db), now };
  return createReader(readBackend(file, createObserve(db, path)));
}

function readBackend(file: verbs.ReadableFile, observe: Observe): ReadBackend {
  const { db, path, sql, now } = file;
  return {
    async read(key, after) {
      const chain = await verbs.read(file, observe, key, after);
      return chain === undefined ? [] : decodeChain(key, chain);
    },
    lastOf: (keys) => observe(() => keys.map((key) => verbs.lastOf(file, key))),
    async hosts() {
      const rows = await observe(
        () => sql.hosts.all() as unknown as { name: string; at: number }[],
      );
      return rows.map(({ name, at }) => beatOf(name, at, now()));
    },
    ...listings(file, observe),
    getArtifact: (key, id, start, end) =>
      observe(() => verbs.getArtifact(file, key, id, start, end)),
    check: async () => damageOf(db, path),
    close: async () => db.close(),
  };
}

function listings(
  { sql, now }: verbs.ReadableFile,
  observe: Observe,
): Pick<ReadBackend, "summary" | "list" | "owed" | "changes"> {
  const rows = (statement: StatementSync, ...given: (string | number)[]) =>
    statement.all(...given) as unknown as JournalRow[];
  const transportsOf = (prefix: string) => {
    if (prefix.includes(":")) return [transportOf(prefix)];
    const names = sql.transports.all().map((row) => String(row["name"]));
    return names.filter((name) => name.startsWith(prefix));
  };
  const before = (a: JournalRow, b: JournalRow) => b.place - a.place || b.id - a.id;
  return {
    async summary(key) {
      const row = await observe(() => sql.row.get(key) as unknown as JournalRow | undefined);
      return row === undefined || row.last === 0 ? undefined : summaryOf(row, now());
    },
    async *list(prefix, since) {
      let [place, id] = [Number.MAX_SAFE_INTEGER, 0];
      for (;;) {
        const found = await observe(() =>
          transportsOf(prefix).flatMap((name) => rows(sql.newest, name, place, id)),
        );
        const page = found.toSorted(before).slice(0, PAGE);
        for (const row of page) {
          if (row.place < since) return;
          if (row.key.startsWith(prefix)) yield summaryOf(row, now());
        }
        const end = page.at(-1);
        if (end === undefined || page.length < PAGE) return;
        ({ place, id } = end);
        await turnOfLoop();
      }
    },
    async *owed(prefix) {
      let [dueAt, id] = [-Infinity, 0];
      for (;;) {
        const page = await observe(() => rows(sql.owed, dueAt, id));
        for (const row of page) if (row.key.startsWith(prefix)) yield summaryOf(row, now());
        const end = page.at(-1);
        if (end === undefined || page.length < PAGE) break;
        [dueAt, id] = [end.due_at ?? dueAt, end.id];
        // Who asks does something with each.
        await turnOfLoop();
      }
      for (const row of await observe(() => rows(sql.waiting)))
        if (row.key.startsWith(prefix)) yield summaryOf(row, now());
    },
    async changes(transport, mark = "0:0") {
      const [place = 0, id = 0] = mark.split(":").map(Number);
      const read = (...from: [number, number]) =>
        observe(() => rows(sql.changes, transport, ...from));
      const isMark = Number.isSafeInteger(place) && Number.isSafeInteger(id);
      // What the mark was made at is among them, or has moved on.
      const known = isMark ? await read(place, id) : [];
      const restarted = known.length === 0 && place !== 0;
      const found = restarted ? await read(0, 0) : known;
      const end = found.at(-1);
      return {
        changed: found.map((row) => summaryOf(row, now())),
        mark: end === undefined ? "0:0" : `${end.place}:${end.id}`,
        more: found.length === PAGE,
        restarted,
      };
    },
  };
}

function lookBackend(
  file: verbs.ReadableFile,
  sql: Looks,
  observe: Observe,
): Pick<Backend, "look" | "due" | "used" | "getSnapshot"> {
  const { now } = file;
  return {
    look: createLook(sql, (key) => verbs.lastOf(file, key)),
    async *due(host = "") {
      const rows = await observe(() => sql.due.all(now(), host));
      for (const row of rows) yield row["key"] as JournalKey;
    },
    getSnapshot: (key) => observe(() => verbs.getSnapshot(file, sql, key)),
    used: (counter) => observe(() => Number(sql.count.get(counter)?.["used"] ?? 0)),
  };
}

type Flushes = "flush" | "flushReservation";

function flushBackend(
  file: verbs.ReadableFile,
  sql: Looks,
  observe: Observe,
  flush: () => Promise<unknown>,
): Pick<Backend, Flushes> {
  const flushIf = async (isThere: () => boolean) => {
    if (!(await observe(isThere))) return "lost";
    await flush();
    return "ok";
  };
  return {
    flush: (key, known) => flushIf(() => verbs.has(file, key, known)),
    flushReservation: ({ id }) => flushIf(() => sql.isSetAside.get(id) !== undefined),
  };
}

function writeBackend(
  writer: Writer,
): Omit<Backend, keyof ReadBackend | keyof ReturnType<typeof lookBackend> | Flushes | "size"> {
  return {
    async post(key, draft) {
      const posted = await writer.ask("post", key, encodeDraft(draft, "tuple"), {
        asksForWork: asksForWork(draft),
        dropsSnapshot: dropsSnapshot(draft),
      });
      if ("known" in posted) return { entry: decodeRow(posted.known), duplicate: true };
      const [entry] = entriesOf([draft], posted);
      if (entry === undefined) throw new TypeError("nothing was written");
      return { entry, duplicate: false };
    },
    lease: (key, ttlMs) => writer.ask("lease", key, ttlMs),
    renew: (lease) => writer.ask("renew", lease),
    async append(lease, known, drafts, before, ifLast) {
      const facts = areFacts(drafts) && !ifLast;
      const rows = drafts.map((draft) => encodeDraft(draft, "tuple"));
      const reply = await writer.ask("append", lease, known, rows, facts, before);
      if (reply.kind === "written") {
        return { kind: "ok", unseen: entriesOf(drafts, reply.written), now: reply.now };
      }
      return "unseen" in reply ? { ...reply, unseen: reply.unseen.map(decodeRow) } : reply;
    },
    async release(lease, known, dueAt, host, listed) {
      const reply = await writer.ask("release", lease, known, dueAt, host, listed);
      return "unseen" in reply ? { ...reply, unseen: reply.unseen.map(decodeRow) } : reply;
    },
    keepSnapshot: (key, snapshot) =>
      writer.ask("keepSnapshot", key, snapshot, sealOfSnapshot(key, snapshot)),
    beat: (host) => writer.ask("beat", host),
    putArtifact: (key, id, bytes) => writer.ask("putArtifact", key, id, bytes),
    setAside: (made, limit) => writer.ask("setAside", made, limit),
    settle: (made, actual) => writer.ask("settle", made, actual),
  };
}

/** The drafts as the entries that they became: nothing needs to be read back. */
function entriesOf(drafts: readonly Draft[], { seq, at, heads }: verbs.Written): Entry[] {
  return drafts.flatMap((draft, i) => {
    const head = heads[i];
    return head === undefined ? [] : { seq: seq + i, at, head, ...draft };
  });
}

/** Looks only when SQLite's own counter says that another connection has written. */
function createLook(sql: Looks, lastOf: (key: JournalKey) => number): Backend["look"] {
  let seen: unknown;
  return (keys) => {
    const version = sql.version.get()?.["data_version"];
    if (version === seen) return undefined;
    const found = keys.map(lastOf);
    seen = version;
    return found;
  };
}

function summaryOf(row: JournalRow, time: number): JournalSummary {
  const { key, last, last_at: lastAt, place: changed } = row;
  const leased = row.token !== null && row.due_at !== null && time < row.due_at;
  const head = row.head ?? undefined;
  const { due_at: dueAt, listed } = row;
  return {
    key,
    last,
    head,
    lastAt,
    changed,
    dueAt: dueAt ?? undefined,
    leased,
    now: time,
    ...(listed != null && { listed }),
  };
}
