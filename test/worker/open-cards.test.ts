import { expect, test } from "vitest";
import type { Journal } from "../../src/journal/journal.ts";
import { createQueries } from "../../src/queries/queries.ts";
import { openMemoryJournal } from "../fakes/memory-journal.ts";
import { createStage, fakeTool, KEY } from "../fakes/stage.ts";

test("of the threads that wait for approvals only those are read in which something was written since", async () => {
  const journal = openMemoryJournal();
  const act = fakeTool({ name: "act", effect: "write" });
  const stage = await createStage({ journal, tools: [act] });
  await stage.say("run act name=web", "test:ana");
  await stage.settle();
  let reads = 0;
  const read: Journal["read"] = (...args) => (reads++, journal.read(...args));
  const queries = createQueries({ ...journal, read }, [act], (text) => text);
  const open = async () => {
    const found: unknown[] = [];
    for await (const { action, votes } of queries.openActions("test"))
      found.push([action, votes.length]);
    return found;
  };
  expect([await open(), reads]).toEqual([[["a1", 0]], 0]);
  await journal.post(KEY, { id: "late", kind: "signal", call: "none", outcome: "ok", text: "" });
  expect([await open(), reads]).toEqual([[["a1", 0]], 1]);
  await stage.click("a1", { kind: "deny" }, "test:bob");
  await stage.settle();
  expect(await open()).toEqual([]);
  await journal.close();
});
