import { expect, test } from "vitest";
import { waitFor } from "../../src/core/time-limit.ts";

async function abortAfter(ticks: number, controller: AbortController): Promise<void> {
  for (let tick = 0; tick < ticks; tick += 1) await Promise.resolve();
  controller.abort();
}

/** Longer than a test may take. */
const LONG_MS = 3_600_000;

test("what is aborted in the very turn in which it began to wait is not waited for", async () => {
  for (let ticks = 0; ticks < 20; ticks += 1) {
    const controller = new AbortController();
    const waiting = waitFor(LONG_MS, controller.signal, () => new Promise(() => {}));
    void abortAfter(ticks, controller);
    await expect(waiting).rejects.toMatchObject({ code: "ABORTED" });
  }
});

test("an answer that is at hand is given, as is one that comes while it waits", async () => {
  const { signal } = new AbortController();
  expect(await waitFor(LONG_MS, signal, async () => "at hand")).toBe("at hand");
  const later = () => new Promise((resolve) => setImmediate(resolve, "later"));
  expect(await waitFor(LONG_MS, signal, later)).toBe("later");
  await expect(waitFor(1, signal, () => new Promise(() => {}))).rejects.toMatchObject({
    code: "TIMEOUT",
  });
});
