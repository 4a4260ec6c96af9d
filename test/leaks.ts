import { createRequire, syncBuiltinESMExports } from "node:module";
import type { DatabaseSync } from "node:sqlite";
import { beforeEach, onTestFinished } from "vitest";
import { openJournals } from "./fakes/open-journals.ts";

/**
 * A test that leaves a database or a journal in memory open fails: what it left goes on working beside the tests that follow.
 * Those that were opened before the test began, for all tests of a file, are the file's to close.
 */

const open = new Set<DatabaseSync>();
const sqlite = createRequire(import.meta.url)("node:sqlite") as {
  DatabaseSync: typeof DatabaseSync;
};

sqlite.DatabaseSync = class extends sqlite.DatabaseSync {
  constructor(...args: ConstructorParameters<typeof DatabaseSync>) {
    super(...args);
    open.add(this);
  }

  override close(): void {
    super.close();
    open.delete(this);
  }
};
syncBuiltinESMExports();

beforeEach(() => {
  const before = new Set<object>([...open, ...openJournals]);
  // What is registered first is called last: after the test's own.
  onTestFinished(() => {
    const left = [...open].filter((database) => !before.has(database));
    for (const database of left) database.close();
    const kept = [...openJournals].filter((journal) => !before.has(journal));
    for (const journal of kept) openJournals.delete(journal);
    const count = left.length + kept.length;
    if (count > 0) throw new Error(`The test left ${count} database(s) or journal(s) open.`);
  });
});
