import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { startSqliteMemory } from "../../src/memory/sqlite-thread.ts";
import { describeMemoryIndex, row } from "../contracts/memory-index.ts";
import { openTestIndex } from "../fakes/memory.ts";

describeMemoryIndex("SQLite", async () => openTestIndex());

describeMemoryIndex("sqlite-vec", async () => openTestIndex({ model: "test/three" }), {
  vectors: true,
});

test("a file is taken up again, and its vectors only by the model that made them", async () => {
  const folder = await mkdtemp(join(tmpdir(), "memory-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const path = join(folder, "index.db");
  const vector = Float32Array.from([1, 0, 0]);
  const first = openTestIndex({ path, model: "test/a" });
  await first.put("memory:a:2026-11", [row("a", "disk", { vector })], { last: 1, head: null });
  const second = openTestIndex({ path, model: "test/a" });
  expect(await second.marks()).toHaveLength(1);
  expect(await second.nearest(vector, ["public:slack:T1"], { limit: 1 })).toHaveLength(1);
  const other = openTestIndex({ path, model: "test/b" });
  expect(await other.matching(["disk"], ["public:slack:T1"], { limit: 1 })).toHaveLength(1);
  expect(await other.unembedded(9)).toHaveLength(1);
});

test("in a thread of its own it answers until it is stopped", async () => {
  const ending = new AbortController();
  const index = startSqliteMemory(ending.signal);
  await index.put("memory:a:2026-11", [row("a", "disk full")], { last: 1, head: null });
  expect(await index.matching(["disk"], ["public:slack:T1"], { limit: 1 })).toHaveLength(1);
  ending.abort();
  await expect(index.spaces()).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
});
