import { describe, expect, onTestFinished, test } from "vitest";
import { openingId } from "../../src/core/alert-thread.ts";
import type { JournalKey } from "../../src/core/journal-key.ts";
import { openParts } from "../adapters/parts.ts";
import { alertState, overState } from "../fakes/alert-state.ts";
import { openHost } from "../fakes/host.ts";
import { openMemoryJournal } from "../fakes/memory-journal.ts";
import { until } from "../until.ts";
import { type AlertChat, inDiscord, inSlack } from "./chats.ts";

/** A bot whose threads are told of alerts, in a channel where people see only how each thread begins. */
async function stage(open: () => Promise<AlertChat>) {
  const chat = await open();
  let now = Date.parse("2026-11-24T10:03:00Z");
  const journal = openMemoryJournal({ now: () => now });
  const adapter = chat.connect();
  const host = await openHost(adapter, { journal, now: () => now });
  await adapter.start({ ...openParts(journal).parts, ...host });
  onTestFinished(async () => {
    await host.stop();
    await adapter.stop();
    await journal.close();
  });
  return {
    ...chat,
    adapter,
    async tell(key: JournalKey, ...states: ReturnType<typeof alertState>[]) {
      for (const state of states) {
        await journal.post(key, state);
        host.stage.parts.wakeAt(key, 0);
      }
    },
    /** Until it is so, with time going by: an edit waits a while after the last. */
    async comes(key: JournalKey, what: () => boolean) {
      await until(() => {
        now += 5_000;
        host.stage.parts.wakeAt(key, 0);
        return what();
      });
    },
    entries: async (key: JournalKey) => journal.read(key),
  };
}

describe.each([
  ["Slack", inSlack],
  ["Discord", inDiscord],
])("in %s", (_platform, open) => {
  test("our own message that began the thread says when it was resolved, in the channel, and when it is back", async () => {
    const { adapter, channel, tell, comes, root, pings } = await stage(open);
    const group = "g4.0";
    const delivery = { id: openingId(group), isRetry: true } as const;
    const text = "🔥 HighErrorRate: 5xx at 12 %";
    const key = await adapter.open(channel, text, delivery);
    await tell(key, alertState(1, { group }));
    expect(root(key).text).toContain(text);
    await tell(key, alertState(2, { ...overState(2, 42), group }));
    await comes(key, () => root(key).text.includes("✅ HighErrorRate · checkout: 5xx at 12 %"));
    expect(root(key).text).toMatch(/Resolved at .*after 42 min/s);
    const flaps = { turns: 6, since: Date.parse("2026-11-24T09:54:00Z") };
    await tell(key, alertState(3, { group, firing: 2, flaps }));
    await comes(key, () => root(key).text.includes("🔁 HighErrorRate"));
    expect(root(key).text).toMatch(/2 firing again since/);
    expect(root(key).text).toMatch(/Flapping: 6 changes in \d+ min/);
    // What flaps is told late, so that it may fire by now: it is not green.
    await tell(key, alertState(4, { ...overState(4, 42), group, flaps: { ...flaps, turns: 7 } }));
    await comes(key, () => root(key).text.includes("Flapping: 7 changes"));
    expect(root(key).text).not.toContain("✅");
    expect(root(key).reactions).toEqual([]);
    const name = "Storm: 542 alerts, most NodeDown (310)";
    await tell(key, alertState(5, { group, firing: 542, name }));
    await comes(key, () => root(key).text.includes(name));
    // Whoever looks for the thread that it began still finds it.
    expect(await adapter.open(channel, text, delivery)).toBe(key);
    expect(pings()).toEqual([]);
  });

  test("another bot's message has ✅ once all of it is over, and has it no more when it is back", async () => {
    const { adapter, channel, tell, comes, root, post, threadOf, entries } = await stage(open);
    const id = post("firing");
    await adapter.beneath?.(channel, beneathKey(channel, id), "HighErrorRate");
    const key = threadOf(id);
    const [one, two] = [alertState(1), alertState(1, { group: "g2.0", name: "DiskFull" })];
    await tell(key, one, two, overState(2, 42));
    await until(async () => (await entries(key)).some((each) => isRoot(each)));
    expect(root(key).reactions).toEqual([]);
    const over = overState(3, 42);
    await tell(key, alertState(3, { ...over, group: "g2.0", name: "DiskFull" }));
    await comes(key, () => root(key).reactions.length > 0);
    expect(root(key).reactions).toEqual(["✅"]);
    await tell(key, alertState(4));
    await comes(key, () => root(key).reactions.length === 0);
    expect(root(key).text).not.toContain("Resolved");
  });

  test("a person's message stays as it is, whatever becomes of alerts beneath it", async () => {
    const { adapter, channel, tell, root, said, threadOf, entries } = await stage(open);
    const id = said("Shall we deploy?");
    await adapter.beneath?.(channel, beneathKey(channel, id), "deploy");
    const key = threadOf(id);
    await tell(key, alertState(1), overState(2, 42));
    await until(async () => (await entries(key)).some((each) => isRoot(each)));
    expect(root(key)).toEqual({ text: "Shall we deploy?", reactions: [] });
  });
});

function beneathKey(channel: string, message: string): JournalKey {
  return `discord:${channel.split(":")[1] ?? ""}:${message}`;
}

function isRoot(entry: { kind: string; entry?: unknown }): boolean {
  return entry.kind === "delivered" && String(entry.entry).startsWith("root@");
}
