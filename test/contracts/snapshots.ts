import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { JournalKey } from "../../src/core/journal-key.ts";
import type { Journal } from "../../src/journal/journal.ts";
import type { JournalUnderTest } from "./journal-under-test.ts";

const KEY: JournalKey = "test:snapshots";
const ANA = { account: "test:ana", name: "ana" };

/** What every store promises of snapshots. `open` starts from nothing each time. */
export function snapshotsContract(name: string, open: () => Promise<JournalUnderTest>): void {
  describe(`${name} keeps snapshots as caches`, () => {
    let under: JournalUnderTest;
    let journal: Journal;
    let other: Journal;
    beforeEach(async () => {
      under = await open();
      journal = under.first;
      other = under.second;
    });
    afterEach(() => under.close());

    /** Every byte there is, a line's end first. */
    const BYTES = Uint8Array.from({ length: 600 }, (_, i) => (i + 10) % 256);

    const post = async (id: string, key = KEY) =>
      (await journal.post(key, { id, kind: "message", actor: ANA, text: id })).entry;
    const keep = async (bytes = BYTES, key = KEY) => {
      const { last, head = "" } = (await other.summary(key)) ?? { last: 0 };
      await journal.keepSnapshot(key, { version: "v 1", last, head, bytes });
    };
    const found = (key = KEY) => other.snapshot(key, "v 1");

    test("one comes back to everybody byte for byte, the newest only, and only to who asks for its version", async () => {
      expect(await found()).toBeUndefined();
      await post("a");
      expect(await found()).toBeUndefined();
      await keep(Uint8Array.of(1));
      const { head } = await post("b");
      await keep();
      const { bytes, ...rest } = (await found()) ?? {};
      expect(rest).toMatchObject({ version: "v 1", last: 2, head });
      expect(Buffer.from(bytes ?? []).equals(BYTES)).toBe(true);
      expect(await other.snapshot(KEY, "v 2")).toBeUndefined();
      await post("a", "test:another");
      expect(await found("test:another")).toBeUndefined();
      expect(await other.check()).toBeUndefined();
    });

    test("one stays while the journal grows, and none is kept of what it does not end with", async () => {
      const { head = "" } = await post("a");
      await keep();
      await post("b");
      expect(await found()).toMatchObject({ last: 1, head });
      for (const at of [
        { last: 1, head },
        { last: 2, head },
        { last: 3, head },
      ])
        await journal.keepSnapshot(KEY, { version: "v 1", ...at, bytes: Uint8Array.of(2) });
      expect((await found())?.bytes).toHaveLength(BYTES.length);
      await journal.keepSnapshot("test:none", { version: "v 1", last: 0, head: "", bytes: BYTES });
      expect(await found("test:none")).toBeUndefined();
    });

    test.each(["edited", "removed"] as const)("one goes with the next `%s`", async (kind) => {
      await post("a");
      await keep();
      if (kind === "removed") await other.post(KEY, { id: "x", kind, of: "a" });
      else await other.post(KEY, { id: "x", kind, of: "a", actor: ANA, text: "b" });
      expect(await found()).toBeUndefined();
      await keep();
      expect(await found()).toMatchObject({ last: 2 });
    });

    test("a lease says how long the journal is", async () => {
      for (const id of ["a", "b"]) await post(id);
      expect(await other.lease(KEY, 1_000)).toMatchObject({ last: 2 });
    });
  });
}
