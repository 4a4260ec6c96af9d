import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import type { FileHandle } from "node:fs/promises";
import {
  copyFileSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { JournalKey } from "../../src/core/journal-key.ts";
import { fold } from "../../src/thread/fold.ts";
import { Thread } from "../../src/thread/state.ts";
import { type Journal, MAX_IDLE_MS } from "../../src/journal/journal.ts";
import { openToWrite } from "../../src/journal/sqlite/connection.ts";
import type { Sync } from "../../src/journal/sqlite/flush.ts";
import { openSqliteJournal } from "../../src/journal/sqlite/journal.ts";
import { journalContract, message } from "../contracts/journal.ts";

const KEY: JournalKey = "test:file";

journalContract("the SQLite store", async () => {
  const folder = mkdtempSync(join(tmpdir(), "wk-journal-"));
  const clock = { now: 1_000 };
  const path = join(folder, "watchkeeper.db");
  const now = () => clock.now;
  /** How much of the log is on the disk. */
  let flushed = 0;
  const sync = async (log: FileHandle) => {
    const { size } = await log.stat();
    await log.datasync();
    flushed = Math.max(flushed, size);
  };
  const first = await openSqliteJournal({ path, now, sync });
  const second = await openSqliteJournal({ path, now, sync });
  const opened: Journal[] = [];
  return {
    first,
    second,
    clock,
    async afterPowerLoss() {
      const copy = join(folder, `left${opened.length}.db`);
      copyFileSync(path, copy);
      writeFileSync(`${copy}-wal`, readFileSync(`${path}-wal`).subarray(0, flushed));
      const left = await openSqliteJournal({ path: copy, now });
      opened.push(left);
      return left;
    },
    async close() {
      for (const each of opened) await each.close();
      await first.close();
      await second.close();
      rmSync(folder, { recursive: true });
    },
  };
});

describe("the SQLite log", () => {
  async function open(sync: Sync, warn = (_text: string) => {}) {
    const folder = mkdtempSync(join(tmpdir(), "wk-log-"));
    const path = join(folder, "watchkeeper.db");
    const journal = await openSqliteJournal({ path, sync, warn, stallMs: 20 });
    return {
      journal,
      async [Symbol.asyncDispose]() {
        await journal.close();
        rmSync(folder, { recursive: true });
      },
    };
  }

  test("is flushed by no verb, once by a flush, and not again before somebody writes", async () => {
    let count = 0;
    await using store = await open(async () => void (count += 1));
    const { journal } = store;
    await journal.post(KEY, message("a"));
    const granted = await journal.lease(KEY, 1_000);
    if (granted === undefined) throw new Error("the lease was not granted");
    await journal.append(granted.lease, 1, [{ id: "d", kind: "notice", text: "d" }]);
    await journal.release(granted.lease, 2);
    expect(count).toBe(0);
    expect(await journal.flush(KEY, 2)).toBe("ok");
    expect(await journal.flush(KEY, 2)).toBe("ok");
    expect(count).toBe(1);
    await journal.post(KEY, message("b"));
    expect(await journal.flush(KEY, 3)).toBe("ok");
    expect(count).toBe(2);
  });

  test("is flushed once for all who wait, and a disk that is slow holds up nobody who does not", async () => {
    let count = 0;
    const { promise: disk, resolve: ends } = Promise.withResolvers<void>();
    await using store = await open(async () => {
      count += 1;
      await disk;
    });
    const { journal } = store;
    await journal.post(KEY, message("first"));
    const acknowledged = [journal.flush(KEY, 1)];
    await journal.read(KEY);
    for (let i = 2; i <= 100; i++) {
      await journal.post(KEY, message(`m${i}`));
      acknowledged.push(journal.flush(KEY, i));
    }
    await expect.poll(() => count).toBe(1);
    ends();
    expect(new Set(await Promise.all(acknowledged))).toEqual(new Set(["ok"]));
    expect(count).toBe(2);
  });

  test("on a disk that stalls is waited for, the operator is told once and when it is over, and nothing is lost", async () => {
    const { promise: disk, resolve: ends } = Promise.withResolvers<void>();
    const warned: string[] = [];
    await using store = await open(
      () => disk,
      (text) => void (/flushed/.test(text) && warned.push(text)),
    );
    const { journal } = store;
    await journal.post(KEY, message("a"));
    const flushed = journal.flush(KEY, 1);
    await expect.poll(() => warned).toEqual([expect.stringContaining("Nothing is lost")]);
    await journal.post(KEY, message("b"));
    ends();
    expect(await flushed).toBe("ok");
    expect(await journal.flush(KEY, 2)).toBe("ok");
    expect(warned).toEqual([expect.anything(), expect.stringContaining("again, after")]);
    expect(await journal.read(KEY)).toHaveLength(2);
  });

  test("that the disk refused once is not trusted again by this process", async () => {
    let count = 0;
    await using store = await open(async () => {
      count += 1;
      throw new Error("EIO: i/o error");
    });
    const { journal } = store;
    await journal.post(KEY, message("a"));
    for (let i = 0; i < 2; i++)
      await expect(journal.flush(KEY, 1)).rejects.toMatchObject({
        code: "STORE_UNAVAILABLE",
        message: expect.stringContaining("EIO"),
      });
    expect(count).toBe(1);
  });
});

describe("the SQLite file", () => {
  let folder: string;
  let path: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "wk-sqlite-"));
    path = join(folder, "watchkeeper.db");
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  const digest = () => createHash("sha256").update(readFileSync(path)).digest("hex");
  const raw = (sql: string) => {
    const db = new DatabaseSync(path);
    db.exec(sql);
    db.close();
  };
  const fill = async () => {
    const journal = await openSqliteJournal({ path });
    await journal.post(KEY, message("a"));
    await journal.close();
  };

  test.each([
    ["a text file", "STORE_CORRUPT", () => writeFileSync(path, "hello, ".repeat(1_000))],
    ["another program's database", "STORE_FOREIGN", () => raw("CREATE TABLE theirs (x)")],
  ])("refuses %s and does not touch it", async (_, code, make) => {
    make();
    const before = digest();
    await expect(openSqliteJournal({ path })).rejects.toMatchObject({
      code,
      message: expect.stringContaining(path),
    });
    expect(digest()).toBe(before);
  });

  test("refuses a newer program's database and does not touch it", async () => {
    await fill();
    raw("PRAGMA user_version = 99; PRAGMA wal_checkpoint(TRUNCATE)");
    const before = digest();
    await expect(openSqliteJournal({ path })).rejects.toMatchObject({ code: "STORE_NEWER" });
    expect(digest()).toBe(before);
  });

  test("that refuses what does not fit its tables is not away: asking again would not help", async () => {
    const journal = await openSqliteJournal({ path });
    await journal.post(KEY, message("a"));
    const granted = await journal.lease(KEY, 1_000);
    if (granted === undefined) throw new Error("the lease was not granted");
    const refused = journal.release(granted.lease, 1, 0.5);
    await expect(refused).rejects.not.toHaveProperty("code", "STORE_UNAVAILABLE");
    await journal.close();
  });

  test("is written so that a commit waits for no disk, and the log is flushed before the file is written", async () => {
    await fill();
    const db = await openToWrite(path);
    // 1: NORMAL (sqlite.org/pragma.html#pragma_synchronous).
    expect(db.prepare("PRAGMA synchronous").get()).toEqual({ synchronous: 1 });
    expect(db.prepare("PRAGMA journal_mode").get()).toEqual({ journal_mode: "wal" });
    db.close();
  });

  test("what is asked for together shares a commit", async () => {
    const journal = await openSqliteJournal({ path });
    await journal.post(KEY, message("first"));
    const before = statSync(`${path}-wal`).size;
    await Promise.all(Array.from({ length: 100 }, (_, i) => journal.post(KEY, message(`m${i}`))));
    // Each commit writes every page that it changes: three at least.
    const pages = (statSync(`${path}-wal`).size - before) / 4_096;
    expect(pages).toBeLessThan(100);
    expect(await journal.read(KEY)).toHaveLength(101);
    await journal.close();
  });

  test("what was asked for before it is closed is done", async () => {
    const journal = await openSqliteJournal({ path });
    const posted = journal.post(KEY, message("a"));
    await journal.close();
    expect(await posted).toMatchObject({ duplicate: false });
    await expect(journal.post(KEY, message("b"))).rejects.toMatchObject({
      code: "STORE_UNAVAILABLE",
    });
  });

  test("several who write one file as fast as they can all get their turns", async () => {
    const journals = await Promise.all([1, 2, 3].map(() => openSqliteJournal({ path })));
    const posts = journals.map(async (journal, who) => {
      for (let i = 0; i < 100; i++) await journal.post(`test:${who}`, message(`m${i}`));
    });
    await Promise.all(posts);
    const [journal] = journals;
    expect(await journal?.read("test:2")).toHaveLength(100);
    for (const each of journals) await each.close();
  });

  test("a file that a link leads to is written and flushed like any other", async () => {
    await fill();
    const link = join(folder, "link.db");
    symlinkSync(path, link);
    const journal = await openSqliteJournal({ path: link });
    const { entry } = await journal.post(KEY, message("b"));
    expect(await journal.flush(KEY, { last: entry.seq, head: entry.head })).toBe("ok");
    await journal.close();
  });

  test("takes over what version 0.1 wrote, also when two open it at once", async () => {
    raw(readFileSync(join(import.meta.dirname, "version-1.sql"), "utf8"));
    const opened = await Promise.all([openSqliteJournal({ path }), openSqliteJournal({ path })]);
    const [journal] = opened;
    const entries = await journal.read("terminal:old");
    expect(entries.map(({ id, kind }) => [id, kind])).toEqual([
      ["msg:1", "message"],
      ["msg:2", "command"],
      ["run:r1", "run_started"],
    ]);
    expect(entries[0]).toMatchObject({ at: 1_790_000_000_002, text: "it's slow" });
    const kept = await journal.readArtifact("terminal:old", "68ac09b529b4a9db");
    expect(Buffer.from(kept).toString()).toBe("kept whole\n");
    expect(await journal.lease("terminal:old", 1_000)).toMatchObject({ attempts: 1 });
    expect(await journal.reserve("day", 5, 5)).toMatchObject({ amount: 5 });
    expect(await journal.check()).toBeUndefined();
    for (const each of opened) await each.close();
    const again = await openSqliteJournal({ path });
    expect(await again.reserve("day", 1, 5)).toBeUndefined();
    expect(await again.read("terminal:old")).toHaveLength(3);
    await again.close();
    const db = new DatabaseSync(path);
    // Version 0.1 reads files up to 1 and refuses this one, as any version refuses a newer one's.
    expect(db.prepare("PRAGMA user_version").get()).toEqual({ user_version: 6 });
    db.close();
  });

  test("forgets counters and reservations that nobody used for 40 days, and no others", async () => {
    const clock = { now: 100 * 86_400_000 };
    const open = () => openSqliteJournal({ path, now: () => clock.now });
    const before = await open();
    const old = await before.reserve("old", 3, 9);
    await before.reserve("used", 3, 9);
    clock.now += MAX_IDLE_MS - 1_000;
    await before.reserve("used", 4, 9);
    await before.close();
    clock.now += 2_000;
    const journal = await open();
    expect(await journal.reserve("used", 3, 9)).toBeUndefined();
    const db = new DatabaseSync(path);
    const names = (sql: string) =>
      db
        .prepare(sql)
        .all()
        .map((row) => row["name"]);
    expect(names("SELECT name FROM counter")).toEqual(["used"]);
    expect(names("SELECT counter AS name FROM reservation")).toEqual(["used"]);
    db.close();
    expect(await journal.reserve("old", 9, 9)).toMatchObject({ amount: 9 });
    if (old !== undefined) await journal.commitReservation(old, 0);
    expect(await journal.reserve("old", 1, 9)).toBeUndefined();
    await journal.close();
  });

  test("a snapshot that was changed is as if there were none", async () => {
    const journal = await openSqliteJournal({ path });
    const { entry } = await journal.post(KEY, message("a"));
    const snapshot = { version: "v", last: 1, head: entry.head ?? "", bytes: Buffer.from("one") };
    await journal.keepSnapshot(KEY, snapshot);
    expect(await journal.snapshot(KEY, "v")).toMatchObject({ last: 1 });
    const db = new DatabaseSync(path);
    db.exec("UPDATE snapshot SET bytes = x'00'");
    db.close();
    expect(await journal.snapshot(KEY, "v")).toBeUndefined();
    await journal.close();
  });

  test("says where it is damaged", async () => {
    const journal = await openSqliteJournal({ path });
    for (let i = 0; i < 200; i++) await journal.post(KEY, message(`m${i}`, "x".repeat(200)));
    expect(await journal.check()).toBeUndefined();
    await journal.close();
    const bytes = readFileSync(path);
    bytes.fill(0x5a, 8_192, 20_480);
    writeFileSync(path, bytes);
    const look = async () => {
      const broken = await openSqliteJournal({ path });
      try {
        await broken.read(KEY);
        return await broken.check();
      } finally {
        await broken.close();
      }
    };
    expect(String(await look().catch((error: unknown) => error))).toMatch(/damaged/);
  });

  test("a folder in its place is a clear error", async () => {
    await expect(openSqliteJournal({ path: folder })).rejects.toMatchObject({
      code: "STORE_UNAVAILABLE",
    });
  });

  test("an entry of a newer kind stops the fold there, and one that does not fit its kind is an error", async () => {
    await fill();
    // As 0.3 wrote: without a seal, which it did not know.
    raw("DROP TRIGGER entry_sealed; UPDATE entry SET head = NULL; UPDATE journal SET head = NULL");
    const insert = "INSERT INTO entry (journal, seq, id, at, kind, version, body) VALUES";
    raw(
      `${insert} (1, 2, 'n', 0, 'hologram', 1, '{}'), (1, 3, 'o', 0, 'message', 7, '{}'); UPDATE journal SET last = 3`,
    );
    const journal = await openSqliteJournal({ path });
    const thread = fold(new Thread(), await journal.read(KEY));
    expect(thread).toMatchObject({ last: 1, newer: { seq: 2, written: "hologram/1" } });
    raw("UPDATE entry SET kind = 'message', version = 1 WHERE seq = 2");
    await expect(journal.read(KEY)).rejects.toMatchObject({ code: "ENTRY_INVALID" });
    await journal.close();
  });

  test("waits for another process's lock and then says STORE_UNAVAILABLE, without blocking the event loop", async () => {
    const journal = await openSqliteJournal({ path });
    const other = new DatabaseSync(path);
    other.exec("BEGIN IMMEDIATE");
    let ticks = 0;
    const timer = setInterval(() => ticks++, 10);
    await expect(journal.post(KEY, message("a"))).rejects.toMatchObject({
      code: "STORE_UNAVAILABLE",
    });
    clearInterval(timer);
    // A wait that blocks would leave time for one at the end.
    expect(ticks).toBeGreaterThan(2);
    other.exec("ROLLBACK");
    other.close();
    expect(await journal.post(KEY, message("a"))).toMatchObject({ duplicate: false });
    await journal.close();
  });

  test("opens while another process holds the lock: a start waits for nobody", async () => {
    await fill();
    const other = new DatabaseSync(path);
    other.exec("BEGIN IMMEDIATE");
    const journal = await openSqliteJournal({ path });
    expect(await journal.read(KEY)).toHaveLength(1);
    other.exec("ROLLBACK");
    other.close();
    await journal.close();
  });

  test("a disk that refuses a write is a clear error and leaves nothing half-written", async () => {
    // A file-size limit makes the kernel refuse the write, as a full disk does.
    const child = join(import.meta.dirname, "full-disk.ts");
    const shell = 'ulimit -f 256 && exec "$@"';
    const ran = spawnSync("sh", ["-c", shell, "sh", process.execPath, child, path], {
      encoding: "utf8",
    });
    expect(ran.stderr).toBe("");
    const { written, code } = JSON.parse(ran.stdout) as { written: number; code: string };
    expect(code).toBe("STORE_FULL");
    const journal = await openSqliteJournal({ path });
    expect(await journal.read(KEY)).toHaveLength(written);
    expect(await journal.check()).toBeUndefined();
    await journal.close();
  });
});
