import { expect, onTestFinished, test } from "vitest";
import { quietShifts } from "../../src/app/handoff-around.ts";
import { createChat } from "../fakes/chat.ts";
import { openMemoryJournal } from "../fakes/memory-journal.ts";

test("what maintenance kept quiet stands in the order in which it ends, then by its name and channel", async () => {
  const begun = Date.parse("2026-11-20T10:00:00Z");
  const journal = openMemoryJournal({ now: () => begun });
  onTestFinished(() => journal.close());
  const { adapter } = createChat({ transport: "slack" });
  const windows = [
    ["C2", "b", "15:00"],
    ["C1", "z", "14:00"],
    ["C2", "a", "15:00"],
    ["C1", "b", "15:00"],
    ["C1", "a", "13:00"],
  ] as const;
  for (const [i, [channel, window, end]] of windows.entries())
    await journal.post(`alerts:slack:T1:${channel}`, {
      id: `alert:${i}`,
      kind: "alert",
      source: "alertmanager",
      alerts: [{ fingerprint: `${i}`, status: "firing", name: `A${i}`, labels: {} }],
      rule: { groupBy: [], windowMs: 600_000 },
      quiet: { window, until: Date.parse(`2026-11-20T${end}:00Z`) },
    });
  const found = await quietShifts(
    { journal, adapters: new Map([["slack", adapter]]), encode: (text) => text },
    { from: begun, to: begun + 3_600_000 },
    { audience: undefined, tenants: "all" },
  );
  expect(found.map(({ where, window }) => `${window} ${where.slice(-2)}`)).toEqual([
    "a C1",
    "z C1",
    "a C2",
    "b C1",
    "b C2",
  ]);
});
