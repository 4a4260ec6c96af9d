import type { Journal } from "../../src/journal/journal.ts";
import { createMemory } from "../fakes/memory-journal.ts";
import { journalContract } from "../contracts/journal.ts";

journalContract("the memory store", async () => {
  const clock = { now: 1_000 };
  let safe = createMemory({ now: () => clock.now });
  const memory = createMemory({
    now: () => clock.now,
    flushed: () => {
      safe = memory.copy();
    },
  });
  const opened: Journal[] = [];
  const [first, second] = [memory.open(), memory.open()];
  return {
    first,
    second,
    clock,
    async afterPowerLoss() {
      const left = safe.open();
      opened.push(left);
      return left;
    },
    async close() {
      for (const each of opened) await each.close();
      await first.close();
      await second.close();
    },
  };
});
