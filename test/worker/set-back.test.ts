import { mkdtempSync, rmSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { encodeText } from "../../src/security/sanitize.ts";
import { openSqliteJournal } from "../../src/journal/sqlite/journal.ts";
import { createQueries } from "../../src/queries/queries.ts";
import { createStage, fakeTool, KEY } from "../fakes/stage.ts";
import { holds, until } from "../until.ts";

describe("a store that is set back while a worker remembers more", () => {
  let folder: string;
  let path: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "wk-set-back-"));
    path = join(folder, "watchkeeper.db");
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  /** As after a failover or a restored backup: only the first entries are there. A lease goes on to its end, `due_at`. */
  function setBack(to: number): void {
    const db = new DatabaseSync(path);
    db.exec(
      `DELETE FROM entry WHERE seq > ${to};
       UPDATE journal SET last = ${to}, due_at = iif(token IS NULL, 0, due_at), head = (SELECT head FROM entry WHERE seq = ${to})`,
    );
    db.close();
  }

  test("every message that was posted since is answered, though the journal has grown past what was remembered", async () => {
    const look = fakeTool({ name: "look" });
    const journal = await openSqliteJournal({ path });
    const stage = await createStage({ journal, tools: [look] });
    await stage.say("run look name=first");
    await stage.settle();
    setBack(1);
    const names = ["second", "third", "fourth", "fifth", "sixth", "seventh"];
    for (const name of names) await stage.say(`run look name=${name}`);
    await stage.settle();
    await stage.settle();
    expect(look.runs.toSorted()).toEqual(["first", "first", ...names].toSorted());
    const due = [];
    for await (const key of journal.due()) due.push(key);
    expect(due).toEqual([]);
    await journal.close();
  });

  test("what runs meanwhile is not begun again before it has ended, and its outcome is posted", async () => {
    const gate = Promise.withResolvers<{ text: string }>();
    const act = fakeTool({ name: "act", effect: "write", run: () => gate.promise });
    const journal = await openSqliteJournal({ path });
    const stage = await createStage({
      journal,
      tools: [act],
      approvals: { default: { write: "allow" } },
      leaseMs: 300,
    });
    await stage.say("run act name=web");
    const working = stage.settle();
    await expect.poll(() => act.runs.length).toBe(1);
    setBack(1);
    await stage.say("help");
    // Noticed with the next renewal; somebody would take it as soon as the lease is given back or has run out.
    const over = new AbortController();
    const taking = (async () => {
      for (; !over.signal.aborted; await pause(10)) await stage.worker.work(KEY);
    })();
    await holds(() => act.runs.length === 1, 700).finally(() => over.abort());
    gate.resolve({ text: "done" });
    await working;
    await taking;
    const late = (await stage.entries()).filter(({ kind }) => kind === "signal");
    expect(late).toMatchObject([{ id: "late:r1.t1", outcome: "ok" }]);
    await journal.close();
  });

  test("a Stop that comes then ends what runs, though the journal is still shorter than what is remembered", async () => {
    const look = fakeTool({
      name: "look",
      timeoutMs: 60_000,
      run: (_, { signal }) =>
        new Promise((_resolve, reject) =>
          signal.addEventListener("abort", () => reject(signal.reason), { once: true }),
        ),
    });
    const journal = await openSqliteJournal({ path });
    const stage = await createStage({ journal, tools: [look], leaseMs: 300 });
    await stage.say("run look name=web");
    const working = stage.settle();
    await until(() => look.runs.length === 1);
    setBack(1);
    await stage.say("stop");
    await working;
    await stage.settle();
    expect(await stage.kinds()).toContain("run_ended");
    expect((await stage.thread()).runs.size).toBe(0);
    await journal.close();
  });

  test("queries show what is there, not what was", async () => {
    const look = fakeTool({ name: "look" });
    const journal = await openSqliteJournal({ path });
    const stage = await createStage({ journal, tools: [look] });
    await stage.say("run look name=first");
    await stage.settle();
    const redact = (text: string) => text;
    const queries = createQueries(journal, [look], (text) => encodeText(text, { redact }));
    expect(await queries.thread(KEY)).toMatchObject({ open: false });
    setBack(1);
    await stage.say("run look name=second");
    expect(await queries.thread(KEY)).toMatchObject({ open: true });
    await stage.settle();
    await stage.settle();
    expect(await queries.thread(KEY)).toMatchObject({ open: false });
    await journal.close();
  });
});
