import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { createPgMemory } from "../../src/memory/pgvector.ts";
import { describeMemoryIndex, row } from "../contracts/memory-index.ts";
import { startPglite } from "../fakes/pglite.ts";

let server: Awaited<ReturnType<typeof startPglite>>;
beforeAll(async () => void (server = await startPglite()), 60_000);
afterAll(async () => server.stop());

function open(model = "test/three") {
  const index = createPgMemory({ url: server.url, model });
  onTestFinished(() => index.close());
  return index;
}

describeMemoryIndex(
  "pgvector",
  async () => {
    const index = open();
    for (const { journal } of await index.marks()) await index.drop(journal);
    return index;
  },
  { vectors: true },
);

test("vectors of another model are made again, and two processes share what is there", async () => {
  const vector = Float32Array.from([1, 0, 0]);
  const first = open();
  await first.put("memory:a:2026-12", [row("z", "disk", { vector })], { last: 1, head: null });
  await first.close();
  const other = open("test/other");
  expect((await other.unembedded(99)).map(({ id }) => id)).toContain("z");
  await other.embed([
    { id: "z", journal: "memory:slack:T1:2026-11", seq: 1, vector: Float32Array.of(1, 0) },
  ]);
  expect(
    await other.nearest(Float32Array.of(1, 0), ["public:slack:T1"], { limit: 1 }),
  ).toHaveLength(1);
});

test("a server that is away is said so in words", async () => {
  const index = createPgMemory({ url: "postgres://127.0.0.1:1/none" });
  await expect(index.spaces()).rejects.toThrow(/MEMORY_DATABASE_URL does not answer.*ECONNREFUSED/);
  await index.close();
});
