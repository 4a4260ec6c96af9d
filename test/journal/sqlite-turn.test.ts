import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { expect, onTestFinished, test, vi } from "vitest";
import { openSqliteJournal } from "../../src/journal/sqlite/journal.ts";
import { message } from "../contracts/journal.ts";

test("what one turn of the event loop asks of the store's thread wakes it once", async () => {
  const folder = mkdtempSync(join(tmpdir(), "wk-turn-"));
  const journal = await openSqliteJournal({ path: join(folder, "watchkeeper.db") });
  const sent = vi.spyOn(Worker.prototype, "postMessage");
  onTestFinished(async () => {
    sent.mockRestore();
    await journal.close();
    rmSync(folder, { recursive: true });
  });
  await journal.post("test:turn", message("first"));
  sent.mockClear();
  const posts: unknown[] = [];
  for (let i = 0; i < 10; i++) {
    await new Promise(process.nextTick);
    posts.push(journal.post("test:turn", message(`m${i}`)));
  }
  await Promise.all(posts);
  expect(sent).toHaveBeenCalledOnce();
});
