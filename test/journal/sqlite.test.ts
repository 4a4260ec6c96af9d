import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { JournalKey } from "../../src/core/journal-key.ts";
import { emptyThread, fold } from "../../src/journal/fold.ts";
import { openSqliteJournal } from "../../src/journal/sqlite.ts";
import { journalContract, message } from "../contracts/journal.ts";

const KEY: JournalKey = "test:file";

journalContract("the SQLite store", async () => {
  const folder = mkdtempSync(join(tmpdir(), "wk-journal-"));
  const clock = { now: 1_000 };
  const path = join(folder, "watchkeeper.db");
  const now = () => clock.now;
  const first = await openSqliteJournal({ path, now });
  const second = await openSqliteJournal({ path, now });
  return {
    first,
    second,
    clock,
    async close() {
      await first.close();
      await second.close();
      rmSync(folder, { recursive: true });
    },
  };
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
    const insert = "INSERT INTO entry (journal, seq, id, at, kind, version, body) VALUES";
    raw(
      `${insert} (1, 2, 'n', 0, 'hologram', 1, '{}'), (1, 3, 'o', 0, 'message', 7, '{}'); UPDATE journal SET last = 3`,
    );
    const journal = await openSqliteJournal({ path });
    const thread = fold(emptyThread(), await journal.read(KEY));
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
    expect(ticks).toBeGreaterThan(50);
    other.exec("ROLLBACK");
    other.close();
    expect(await journal.post(KEY, message("a"))).toMatchObject({ duplicate: false });
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
