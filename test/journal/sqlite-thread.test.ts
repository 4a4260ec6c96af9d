import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
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

test("held by another process it is waited for, which the thread says", async () => {
  const path = join(folderHere(), "watchkeeper.db");
  const other = await openDatabase(path, () => {});
  const said: string[] = [];
  const stalls = {
    asked: () => void said.push("asked"),
    locked: () => void said.push("locked"),
    answered: () => void said.push("answered"),
  };
  const writer = createWriter({ path, warn: () => {}, stalls, now: undefined });
  await writer.ask("beat", "a");
  other.exec("PRAGMA query_only = OFF; BEGIN IMMEDIATE");
  // After two seconds it is refused, which a busy machine may need.
  const beaten = writer.ask("beat", "b").catch(() => writer.ask("beat", "b"));
  await expect.poll(() => said).toContain("locked");
  other.exec("ROLLBACK");
  other.close();
  await beaten;
  expect(said.at(-1)).toBe("answered");
  await writer.close();
});

test("the operator is told which of both is waited for, the disk or another process, and when it is over", async () => {
  for (const isLocked of [false, true]) {
    const warned: string[] = [];
    const stalls = createStalls("written it", (text) => void warned.push(text), 20);
    stalls.asked();
    if (isLocked) stalls.locked(true);
    await expect.poll(() => warned).toHaveLength(1);
    expect(/another process holds/.test(warned[0] ?? "")).toBe(isLocked);
    // Those that were refused meanwhile end nothing.
    if (isLocked) stalls.locked(false);
    stalls.answered(false);
    expect(warned[1]).toMatch(
      isLocked ? /^The program has written it/ : /^The disk has written it/,
    );
  }
});
