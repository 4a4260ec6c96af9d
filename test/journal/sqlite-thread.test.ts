import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { Worker } from "node:worker_threads";
import { expect, onTestFinished, test, vi } from "vitest";
import { openSqliteJournal } from "../../src/journal/sqlite/journal.ts";
import { openDatabase } from "../../src/journal/sqlite/connection.ts";
import { createStalls } from "../../src/journal/sqlite/stalls.ts";
import { createWriter } from "../../src/journal/sqlite/writer.ts";
import { message } from "../contracts/journal.ts";

function folderHere(): string {
  const folder = mkdtempSync(join(tmpdir(), "wk-thread-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}

test("what one turn of the event loop asks of the store's thread wakes it once", async () => {
  const journal = await openSqliteJournal({ path: join(folderHere(), "watchkeeper.db") });
  const sent = vi.spyOn(Worker.prototype, "postMessage");
  onTestFinished(async () => {
    sent.mockRestore();
    await journal.close();
  });
  await journal.post("test:thread", message("first"));
  sent.mockClear();
  const posts: unknown[] = [];
  for (let i = 0; i < 10; i++) {
    await new Promise(process.nextTick);
    posts.push(journal.post("test:thread", message(`m${i}`)));
  }
  await Promise.all(posts);
  expect(sent).toHaveBeenCalledOnce();
});

test("a thread that ends answers all who wait, and the next write has another one", async () => {
  const path = join(folderHere(), "later", "watchkeeper.db");
  const warned: string[] = [];
  const writer = createWriter({
    path,
    warn: (text) => void warned.push(text),
    stalls: createStalls("written", () => {}),
    now: undefined,
  });
  const all = await Promise.allSettled([writer.ask("beat", "a"), writer.ask("beat", "b")]);
  for (const each of all)
    expect(each).toMatchObject({ reason: { code: "STORE_UNAVAILABLE", message: warned[0] } });
  expect(warned).toEqual([expect.stringContaining("ended")]);
  const db = await openDatabase(path, () => {});
  await writer.ask("beat", "a");
  expect(db.prepare("SELECT name FROM host").all()).toEqual([{ name: "a" }]);
  db.close();
  await writer.close();
});

test("what cannot be sent to the thread is refused alone: what was asked beside it is done", async () => {
  const path = join(folderHere(), "watchkeeper.db");
  (await openDatabase(path, () => {})).close();
  const writer = createWriter({
    path,
    warn: () => {},
    stalls: createStalls("written", () => {}),
    now: undefined,
  });
  const strange = writer.ask("beat", (() => {}) as never);
  const done = writer.ask("beat", "a");
  await expect(strange).rejects.toThrow(/could not be cloned/);
  await done;
  await writer.close();
});

test("held by another process it is waited for, and the operator is told that it is not the disk", async () => {
  const warned: string[] = [];
  const warn = (text: string) => void warned.push(text);
  const path = join(folderHere(), "watchkeeper.db");
  const journal = await openSqliteJournal({ path, warn, stallMs: 20 });
  await journal.post("test:thread", message("a"));
  const other = new DatabaseSync(path);
  other.exec("BEGIN IMMEDIATE");
  const posted = journal.post("test:thread", message("b"));
  await expect.poll(() => warned).toEqual([expect.stringMatching(/another process holds/)]);
  other.exec("ROLLBACK");
  other.close();
  await posted;
  expect(warned).toEqual([expect.anything(), expect.stringMatching(/^The program has written/)]);
  await journal.close();
});
