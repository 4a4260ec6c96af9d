import { expect, test } from "vitest";
import type { JournalKey } from "../../src/core/journal-key.ts";
import { createInProcessWakeups } from "../../src/wakeups/in-process.ts";
import { wakeupsContract } from "../contracts/wakeups.ts";

function create(slots = 64) {
  const due = new Set<JournalKey>();
  const errors: unknown[] = [];
  const wakeups = createInProcessWakeups({
    due: async function* dueKeys() {
      yield* due;
    },
    onError: (error) => errors.push(error),
    sweepMs: 20,
    slots,
  });
  return { wakeups, due, errors };
}

wakeupsContract("the in-process engine", () => create());

test("no more journals are worked on at once than it is told", async () => {
  const { wakeups } = create(3);
  let running = 0;
  let most = 0;
  let done = 0;
  const started = wakeups.start(async () => {
    most = Math.max(most, ++running);
    await new Promise((resolve) => setImmediate(resolve));
    running--;
    done++;
  });
  for (let i = 0; i < 30; i++) wakeups.wake(`test:${i}`);
  await expect.poll(() => done).toBe(30);
  await started.stop();
  expect(most).toBe(3);
});
