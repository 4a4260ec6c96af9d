import { expect, onTestFinished, test } from "vitest";
import { isoUtc } from "../../../src/core/instant.ts";
import { tokenCounter } from "../../../src/core/token-counters.ts";
import { openMemoryJournal } from "../../fakes/memory-journal.ts";
import { createCostPerDay } from "../../../src/tools/costs/cost-per-day.ts";
import { ASKER } from "../../fakes/asker.ts";

test("each day's tokens are everybody's and the asker's own, as the counters have them", async () => {
  const startedAt = Date.parse("2026-11-22T01:00:00Z");
  const journal = openMemoryJournal({ now: () => startedAt });
  onTestFinished(() => journal.close());
  const book = async (counter: string, used: number) => {
    const set = await journal.reserve(counter, used, Infinity);
    if (set !== undefined) await journal.commitReservation(set, used);
  };
  const [today, before] = [isoUtc(startedAt, "day"), isoUtc(startedAt - 86_400_000, "day")];
  await book(tokenCounter.all(today), 700);
  await book(tokenCounter.person(today, "ana"), 200);
  await book(tokenCounter.person(today, "bob"), 500);
  await book(tokenCounter.all(before), 50);
  const used = (counter: string) => journal.used(counter);
  const { run } = createCostPerDay(() => ({ used, perDay: 1_000 }));
  const context = { asker: { ...ASKER, startedAt } } as Parameters<typeof run>[1];
  const { text } = await run({ days: 7 }, context);
  expect(text.split("\n").slice(1)).toEqual([
    "- 2026-11-22: 700 tokens of at most 1,000; of that 200 tokens for ana",
    "- 2026-11-21: 50 tokens; of that 0 tokens for ana",
  ]);
});
