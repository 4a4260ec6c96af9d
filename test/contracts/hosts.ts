import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Draft } from "../../src/core/entry.ts";
import type { JournalKey } from "../../src/core/journal-key.ts";
import { type Granted, type Journal, MAX_IDLE_MS } from "../../src/journal/journal.ts";
import { HOST_GONE_MS } from "../../src/core/host-beat.ts";
import type { JournalUnderTest } from "./journal-under-test.ts";

const KEY: JournalKey = "test:hosts";

const said = (id: string): Draft<"message"> => ({
  id,
  kind: "message",
  actor: { account: "test:ana", name: "ana" },
  text: id,
});

/** What every store promises of the hosts that work on it. `open` starts from nothing each time. */
export function hostsContract(name: string, open: () => Promise<JournalUnderTest>): void {
  describe(`${name} knows its hosts`, () => {
    let under: JournalUnderTest;
    let journal: Journal;
    let other: Journal;
    beforeEach(async () => {
      under = await open();
      journal = under.first;
      other = under.second;
    });
    afterEach(() => under.close());

    const dueFor = async (host?: string) => {
      const keys: JournalKey[] = [];
      for await (const key of other.due(host)) keys.push(key);
      return keys;
    };
    const take = async (): Promise<Granted> => {
      const granted = await journal.lease(KEY, 1_000);
      if (granted === undefined) throw new Error("the lease was not granted");
      return granted;
    };

    test("released for a host it is due for that host alone, until its time, a post, or once that host is gone", async () => {
      await journal.beat("alpha");
      await journal.beat("beta");
      await journal.post(KEY, said("a"));
      const { lease } = await take();
      expect(await journal.release(lease, 1, 90_000, "alpha")).toEqual({ kind: "ok" });
      expect([await dueFor(), await dueFor("beta"), await dueFor("alpha")]).toEqual([
        [],
        [],
        [KEY],
      ]);
      expect(await other.check()).toBeUndefined();
      await journal.post(KEY, said("a"));
      expect(await dueFor("beta")).toEqual([]);
      await journal.post(KEY, said("b"));
      expect([await dueFor(), await dueFor("beta"), await dueFor("alpha")]).toEqual([
        [KEY],
        [KEY],
        [KEY],
      ]);
      const again = await take();
      expect(await dueFor("alpha")).toEqual([]);
      await journal.release(again.lease, 2, 90_000, "alpha");
      expect(await dueFor("beta")).toEqual([]);
      under.clock.now = 90_000;
      expect([await dueFor("beta"), await dueFor("alpha")]).toEqual([[KEY], [KEY]]);
    });

    test("a host that did not beat for ten minutes is gone: what waits for it is due for everybody, and a lease forgets the host", async () => {
      await journal.beat("alpha");
      under.clock.now += 1_000;
      await other.beat("beta");
      expect(await journal.hosts()).toEqual([
        { host: "alpha", beatAt: 1_000, gone: false },
        { host: "beta", beatAt: 2_000, gone: false },
      ]);
      await journal.post(KEY, said("a"));
      await journal.release((await take()).lease, 1, undefined, "alpha");
      under.clock.now = 1_000 + HOST_GONE_MS - 1;
      expect([await dueFor("beta"), await dueFor("alpha")]).toEqual([[], [KEY]]);
      under.clock.now += 1;
      expect([await dueFor("beta"), await dueFor("alpha")]).toEqual([[KEY], [KEY]]);
      expect(await journal.hosts()).toMatchObject([
        { host: "alpha", gone: true },
        { host: "beta", gone: false },
      ]);
      await journal.beat("alpha");
      expect(await dueFor("beta")).toEqual([]);
      const { lease } = await take();
      expect(await dueFor("alpha")).toEqual([]);
      await journal.release(lease, 1);
      expect([await dueFor("beta"), await dueFor("alpha")]).toEqual([[], []]);
      await journal.release((await take()).lease, 1, undefined, "never-heard-of");
      expect(await dueFor("beta")).toEqual([KEY]);
      under.clock.now += MAX_IDLE_MS + 1;
      await journal.beat("beta");
      expect((await journal.hosts()).map(({ host }) => host)).toEqual(["beta"]);
    });
  });
}
