import { onTestFinished } from "vitest";
import type { MemoryIndex } from "../../src/memory/index-port.ts";
import { openSqliteMemory, type SqliteMemoryOptions } from "../../src/memory/sqlite.ts";

/** An index in the test's own thread, which ends with the test. */
export function openTestIndex(options?: SqliteMemoryOptions): MemoryIndex {
  const index = openSqliteMemory(options);
  onTestFinished(() => index.close());
  // It answers at once, as `await` takes it.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- each verb's reply is awaited
  return index as unknown as MemoryIndex;
}
