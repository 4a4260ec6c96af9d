import { expect, test } from "vitest";
import { startSqliteMemory } from "../../src/memory/sqlite-thread.ts";
import { describeMemoryIndex, row } from "../contracts/memory-index.ts";
import { openTestIndex } from "../fakes/memory.ts";

describeMemoryIndex("SQLite", async () => openTestIndex());

test("in a thread of its own it answers until it is stopped", async () => {
  const ending = new AbortController();
  const index = startSqliteMemory(ending.signal);
  await index.put("memory:a:2026-11", [row("a", "disk full")], { last: 1, head: null });
  expect(await index.matching(["disk"], ["public:slack:T1"], { limit: 1 })).toHaveLength(1);
  ending.abort();
  await expect(index.spaces()).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
});
