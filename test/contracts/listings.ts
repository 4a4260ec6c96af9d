import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Draft } from "../../src/core/entry.ts";
import type { JournalKey } from "../../src/core/journal-key.ts";
import { type Journal, type JournalSummary, PAGE } from "../../src/journal/journal.ts";
import type { JournalUnderTest } from "./journal-under-test.ts";

const said = (id: string): Draft<"message"> => ({
  id,
  kind: "message",
  actor: { account: "test:ana", name: "ana" },
  text: id,
});

/** More than two pages. */
const MANY = 2 * PAGE + 10;

/** What every store promises of its lists. `open` starts from nothing each time. */
export function listingsContract(name: string, open: () => Promise<JournalUnderTest>): void {
  describe(`${name} lists its journals`, () => {
    let under: JournalUnderTest;
    let journal: Journal;
    let other: Journal;
    beforeEach(async () => {
      under = await open();
      journal = under.first;
      other = under.second;
    });
    afterEach(() => under.close());

    const keysOf = async (found: AsyncIterable<JournalSummary>) => {
      const keys: JournalKey[] = [];
      for await (const { key } of found) keys.push(key);
      return keys;
    };
    const write = async (key: JournalKey, id = "m") => journal.post(key, said(id));
    async function writeMany(count = MANY): Promise<JournalKey[]> {
      const keys = Array.from({ length: count }, (_, i): JournalKey => `test:many${i}`);
      for (const key of keys) {
        under.clock.now += 1;
        await write(key);
      }
      return keys;
    }
    /** Has it worked on and due again at some time. */
    async function release(
      key: JournalKey,
      dueAt: number | undefined,
      host?: string,
      listed?: string,
    ) {
      const granted = await journal.lease(key, 1_000);
      if (granted === undefined) throw new Error("the lease was not granted");
      const { last = 0, head } = (await journal.summary(key)) ?? {};
      await journal.release(granted.lease, { last, head }, dueAt, host, listed);
    }
    async function changesSince(mark: string | undefined) {
      const keys: JournalKey[] = [];
      let restarted = false;
      for (let more = true; more;) {
        const page = await other.changes("test", mark);
        keys.push(...page.changed.map(({ key }) => key));
        ({ mark, more } = page);
        restarted ||= page.restarted;
      }
      return { keys, mark, restarted };
    }

    test("with what was left for lists, until anything is written or it is released again", async () => {
      const left = async () => {
        const found: unknown[] = [];
        for await (const { key, listed } of other.owed()) found.push([key, listed]);
        return found;
      };
      for (const key of ["test:a", "test:b", "test:c"] as const) await write(key);
      await release("test:a", 5_000, undefined, "a's \u{1f41e} card");
      await release("test:b", undefined, "web-1", "b's");
      await release("test:c", 9_000);
      expect(await left()).toEqual([
        ["test:a", "a's \u{1f41e} card"],
        ["test:c", undefined],
        ["test:b", "b's"],
      ]);
      await write("test:a", "again");
      await release("test:b", undefined, "web-1");
      expect(Object.fromEntries((await left()) as [string, unknown][])).toEqual({
        "test:a": undefined,
        "test:b": undefined,
        "test:c": undefined,
      });
    });

    test("the newest first, by prefix and since a time", async () => {
      for (const [i, key] of (["test:a", "other:b", "test:c", "test:ab"] as const).entries()) {
        under.clock.now = 1_000 * (i + 1);
        await write(key);
      }
      expect(await keysOf(other.list({ prefix: "test:" }))).toEqual([
        "test:ab",
        "test:c",
        "test:a",
      ]);
      expect(await keysOf(other.list({ prefix: "test:a" }))).toEqual(["test:ab", "test:a"]);
      expect(await keysOf(other.list({ prefix: "ot" }))).toEqual(["other:b"]);
      expect(await keysOf(other.list())).toEqual(["test:ab", "test:c", "other:b", "test:a"]);
      expect(await keysOf(other.list({ since: 2_000 }))).toEqual(["test:ab", "test:c", "other:b"]);
      expect(await keysOf(other.list({ prefix: "none:" }))).toEqual([]);
      under.clock.now += 1;
      await write("test:a", "again");
      expect((await keysOf(other.list()))[0]).toBe("test:a");
    });

    test("all of many pages, each once", async () => {
      const keys = await writeMany();
      expect(await keysOf(other.list({ prefix: "test:" }))).toEqual(
        expect.arrayContaining(keys.toReversed()),
      );
      expect((await keysOf(other.list({ prefix: "test:" }))).slice(0, MANY)).toEqual(
        keys.toReversed(),
      );
    });

    test("without leaving out what is written to while they are read", async () => {
      const keys = await writeMany();
      const found = new Set<JournalKey>();
      for await (const { key } of other.list()) {
        // The oldest, which was not read yet, becomes the newest.
        if (found.size === 1) {
          under.clock.now += 1;
          await write("test:many0", "again");
        }
        found.add(key);
      }
      expect([...found].toSorted()).toEqual(keys.toSorted());
    });

    test("without leaving out what another transport writes meanwhile where the clock was put back", async () => {
      await write("other:old");
      const hour = 3_600_000;
      under.clock.now += 5 * hour;
      await writeMany();
      under.clock.now += 2 * hour;
      await write("test:new");
      under.clock.now -= hour;
      const found: JournalKey[] = [];
      for await (const { key } of other.list()) {
        // It moves to where this has been already, though not before what was the newest.
        if (found.length === PAGE) await write("other:old", "again");
        found.push(key);
      }
      expect(found).toContain("other:old");
    });

    test("one by its key", async () => {
      expect(await other.summary("test:a")).toBeUndefined();
      const { entry } = await write("test:a");
      await write("test:ab");
      const [listed] = [await other.summary("test:a")];
      expect(listed).toMatchObject({ key: "test:a", last: 1, head: entry.head, leased: false });
      await journal.lease("test:a", 1_000);
      const leased = await other.summary("test:a");
      expect(leased).toMatchObject({ leased: true, dueAt: under.clock.now + 1_000 });
      const all = [];
      for await (const each of other.list({ prefix: "test:a" })) all.push(each);
      expect(all).toContainEqual(leased);
    });

    test("those that owe something at some time or on a host, the first to be due first", async () => {
      const names = ["later", "soon", "never", "there", "other:now"] as const;
      const keys = names.map((each) => (each.includes(":") ? each : `test:${each}`) as JournalKey);
      for (const key of keys) await write(key);
      const { now } = under.clock;
      await release("test:later", now + 60_000);
      await release("test:soon", now + 1_000);
      await release("test:never", undefined);
      await release("test:there", undefined, "web-1");
      expect(await keysOf(other.owed())).toEqual([
        "other:now",
        "test:soon",
        "test:later",
        "test:there",
      ]);
      expect(await keysOf(other.owed({ prefix: "test:" }))).toEqual([
        "test:soon",
        "test:later",
        "test:there",
      ]);
      await journal.lease("test:later", 500);
      expect((await keysOf(other.owed({ prefix: "test:" })))[0]).toBe("test:later");
    });

    test("what owes something on many pages, also what is written to meanwhile", async () => {
      const keys = await writeMany();
      for (const [i, key] of keys.entries()) await release(key, under.clock.now + 10_000 + i);
      const found = new Set<JournalKey>();
      const last = keys.at(-1) ?? "test:none";
      for await (const { key } of other.owed()) {
        if (found.size === 1) await write(last, "again");
        found.add(key);
      }
      expect([...found]).toEqual(expect.arrayContaining(keys));
      expect([...found].slice(0, PAGE)).toEqual(keys.slice(0, PAGE));
    });

    test("what has changed since a mark", async () => {
      expect(await other.changes("test")).toMatchObject({ changed: [], more: false });
      const keys = await writeMany();
      const before = await changesSince(undefined);
      expect(new Set(before.keys)).toEqual(new Set(keys));
      under.clock.now += 1;
      await write("other:a");
      await write("test:many3", "again");
      await write("test:new");
      const now = await changesSince(before.mark);
      expect(now).toMatchObject({ restarted: false });
      expect(now.keys).toEqual(expect.arrayContaining(["test:many3", "test:new"]));
      expect(now.keys.length).toBeLessThan(MANY);
      expect(now.keys).not.toContain("other:a");
    });

    test("what has changed also where the clock was put back", async () => {
      await writeMany(5);
      const { mark } = await changesSince(undefined);
      under.clock.now -= 900;
      for (const key of ["test:many2", "test:new"] as const) await write(key, "back");
      expect((await changesSince(mark)).keys).toEqual(
        expect.arrayContaining(["test:many2", "test:new"]),
      );
      expect(await other.check()).toBeUndefined();
    });

    test("all that changed in one moment", async () => {
      const keys = Array.from({ length: 3 * PAGE }, (_, i): JournalKey => `test:same${i}`);
      await Promise.all(keys.map((key) => write(key)));
      expect(new Set((await changesSince(undefined)).keys)).toEqual(new Set(keys));
      expect(new Set(await keysOf(other.list()))).toEqual(new Set(keys));
      expect(new Set(await keysOf(other.owed()))).toEqual(new Set(keys));
    });

    test("from the beginning for a mark that it does not have", async () => {
      await writeMany(3);
      for (const mark of ["nonsense", "", "999999999999999:1", "1 2 3"]) {
        const { keys } = await changesSince(mark);
        expect(keys).toHaveLength(3);
      }
      const later = await changesSince(undefined);
      expect(later.restarted).toBe(false);
    });
  });
}
