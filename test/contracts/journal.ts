import { setImmediate as turnOfLoop } from "node:timers/promises";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Draft } from "../../src/core/entry.ts";
import type { JournalKey } from "../../src/core/journal-key.ts";
import { type Granted, type Journal, MAX_ARTIFACT_BYTES } from "../../src/journal/journal.ts";
import { createMirrors, mirrorOf } from "../../src/team/mirrors.ts";
import { countersContract } from "./counters.ts";
import { hostsContract } from "./hosts.ts";
import { listingsContract } from "./listings.ts";
import { snapshotsContract } from "./snapshots.ts";
import type { JournalUnderTest } from "./journal-under-test.ts";
import { ANSWERS, compareVerbs, verbs } from "./verbs.ts";

const KEY: JournalKey = "test:contract";
const ACTOR = { account: "test:ana", name: "ana" };

export const message = (id: string, text = id): Draft<"message"> => ({
  id,
  kind: "message",
  actor: ACTOR,
  text,
});
const record = (id: string): Draft<"incident"> => ({
  id,
  kind: "incident",
  actor: ACTOR,
  thread: KEY,
  change: { title: id },
});
const decision = (id: string): Draft<"notice"> => ({ id, kind: "notice", text: id });
const fact = (id: string): Draft<"delivered"> => ({
  id,
  kind: "delivered",
  view: "main",
  entry: id,
  stage: "final",
  ref: id,
});

/** What every journal store promises. `open` starts from nothing each time. */
export function journalContract(name: string, open: () => Promise<JournalUnderTest>): void {
  countersContract(name, open);
  hostsContract(name, open);
  listingsContract(name, open);
  snapshotsContract(name, open);
  describe(`${name} keeps the journal's promises`, () => {
    let under: JournalUnderTest;
    let journal: Journal;
    let other: Journal;
    beforeEach(async () => {
      under = await open();
      journal = under.first;
      other = under.second;
    });
    afterEach(() => under.close());

    const ids = async () => (await other.read(KEY)).map((entry) => entry.id);
    const due = async () => {
      const keys: JournalKey[] = [];
      for await (const key of other.due()) keys.push(key);
      return keys;
    };
    const take = async (from: Journal = journal): Promise<Granted> => {
      const granted = await from.lease(KEY, 1_000);
      if (granted === undefined) throw new Error("the lease was not granted");
      return granted;
    };

    test("it says what it takes, and what is left of its disk or its server's memory", async () => {
      await journal.post(KEY, message("a", "a".repeat(100_000)));
      const { bytes, left } = await journal.size();
      expect(bytes).toBeGreaterThanOrEqual(100_000);
      expect(left ?? 1).toBeGreaterThan(0);
    });

    test("what is posted can be read by everyone, numbered from one, with the store's time", async () => {
      under.clock.now = 5_000;
      await journal.post(KEY, message("a"));
      under.clock.now = 6_000;
      await other.post(KEY, message("b"));
      expect(await journal.read(KEY)).toMatchObject([
        { seq: 1, id: "a", at: 5_000, kind: "message", text: "a" },
        { seq: 2, id: "b", at: 6_000 },
      ]);
      expect(await journal.read(KEY, 1)).toMatchObject([{ seq: 2 }]);
      expect(await journal.read("test:unknown")).toEqual([]);
    });

    test("what is flushed outlives the machine, with all that was written before it in any journal, and a flush says what is lost", async () => {
      const { entry } = await journal.post(KEY, message("a"));
      const { seq: last, head } = entry;
      await other.post(`${KEY}:other`, message("b"));
      expect(await journal.flush(KEY, { last, head })).toBe("ok");
      expect(await other.flush(KEY, last)).toBe("ok");
      expect(await other.flush(KEY, { last, head: "another" })).toBe("lost");
      expect(await other.flush(KEY, 2)).toBe("lost");
      expect(await journal.flush("test:unknown", { last, head })).toBe("lost");
      expect(await journal.flush("test:unknown", 0)).toBe("ok");
      await other.post(KEY, message("c"));
      const left = await under.afterPowerLoss?.();
      if (left === undefined) return;
      expect((await left.read(KEY)).map(({ id }) => id)).toEqual(["a"]);
      expect(await left.read(`${KEY}:other`)).toHaveLength(1);
      // Who has read more is told.
      await expect(left.read(KEY, 2)).rejects.toMatchObject({ code: "JOURNAL_LOST" });
      expect(await left.flush(KEY, 2)).toBe("lost");
      const again = await left.post(KEY, message("c"));
      expect(again).toMatchObject({ duplicate: false, entry: { seq: 2 } });
    });

    test("a lease, a decision and a release go with the next flush, whoever asks for it", async () => {
      await journal.post(KEY, message("a"));
      const { lease } = await take();
      await journal.append(lease, 1, [decision("d")]);
      expect(await journal.release(lease, 2)).toEqual({ kind: "ok" });
      const posted = await other.post("test:neighbour", message("n"));
      expect(await other.flush("test:neighbour", posted.entry.seq)).toBe("ok");
      const left = await under.afterPowerLoss?.();
      if (left === undefined) return;
      expect((await left.read(KEY)).map(({ id }) => id)).toEqual(["a", "d"]);
      const owed: JournalKey[] = [];
      for await (const key of left.due()) owed.push(key);
      expect(owed).toEqual(["test:neighbour"]);
    });

    test("a journal is there from its first entry on; an artifact alone does not make one", async () => {
      await journal.putArtifact(KEY, Buffer.from("kept"));
      expect(await journal.has(KEY)).toBe(false);
      await journal.post(KEY, message("a"));
      expect(await Promise.all([journal.has(KEY), other.has(KEY)])).toEqual([true, true]);
      expect(await other.has("test:unknown")).toBe(false);
    });

    test("reading a long journal leaves the event loop its turns", async () => {
      const messages = 600;
      for (let i = 1; i <= messages; i += 1) await journal.post(KEY, message(`m${i}`));
      const over = new AbortController();
      const reading = other.read(KEY).finally(() => over.abort());
      let turns = 0;
      for (; !over.signal.aborted; turns += 1) await turnOfLoop();
      expect(turns).toBeGreaterThanOrEqual(Math.floor(messages / 256));
      expect(await reading).toHaveLength(messages);
    });

    test("entry times never run backwards, whatever the clock does", async () => {
      under.clock.now = 9_000;
      await journal.post(KEY, message("a"));
      under.clock.now = 1_000;
      await journal.post(KEY, message("b"));
      expect(await journal.read(KEY)).toMatchObject([{ at: 9_000 }, { at: 9_000 }]);
    });

    test("the same id again writes nothing and returns the first entry", async () => {
      const first = await journal.post(KEY, message("a", "one"));
      const again = await other.post(KEY, message("a", "two"));
      expect(first.duplicate).toBe(false);
      expect(again).toEqual({ entry: first.entry, duplicate: true });
      expect(await ids()).toEqual(["a"]);
    });

    test("a hundred concurrent posts of ten ids write each once", async () => {
      const posts = Array.from({ length: 100 }, (_, i) =>
        (i % 2 === 0 ? journal : other).post(KEY, message(`m${i % 10}`)),
      );
      const written = (await Promise.all(posts)).filter((reply) => !reply.duplicate);
      expect(written).toHaveLength(10);
      expect((await ids()).toSorted()).toEqual(Array.from({ length: 10 }, (_, i) => `m${i}`));
    });

    test("one holder at a time: of many who ask at once one gets the lease", async () => {
      await journal.post(KEY, message("a"));
      const asked = Array.from({ length: 20 }, (_, i) =>
        (i % 2 === 0 ? journal : other).lease(KEY, 1_000),
      );
      expect((await Promise.all(asked)).filter((granted) => granted !== undefined)).toHaveLength(1);
      expect(await journal.lease("test:unknown", 1_000)).toBeUndefined();
    });

    test("decisions need the last entry, facts do not, and every reply shows what was unseen", async () => {
      await journal.post(KEY, message("a"));
      const { lease } = await take();
      await other.post(KEY, message("b"));
      const refused = await journal.append(lease, 1, [decision("d")]);
      expect(refused).toMatchObject({ kind: "unseen", unseen: [{ id: "b" }] });
      const last = await journal.append(lease, 1, [fact("f")], { ifLast: true });
      expect(last).toMatchObject({ kind: "unseen", unseen: [{ id: "b" }] });
      const taken = await journal.append(lease, 1, [fact("f")]);
      expect(taken).toMatchObject({ kind: "ok", unseen: [{ id: "b" }, { id: "f" }] });
      expect(await journal.append(lease, 3, [decision("d")])).toMatchObject({
        kind: "ok",
        unseen: [{ id: "d" }],
      });
      expect(await ids()).toEqual(["a", "b", "f", "d"]);
    });

    test("what could not be read again is refused and leaves nothing behind", async () => {
      await journal.post(KEY, message("a"));
      const { lease } = await take();
      const wrong = { ...decision("d"), surprise: 1 };
      await expect(journal.append(lease, 1, [decision("e"), wrong])).rejects.toMatchObject({
        code: "ENTRY_INVALID",
      });
      await expect(
        other.post(KEY, { ...message("b"), surprise: 1 } as Draft<"message">),
      ).rejects.toMatchObject({
        code: "ENTRY_INVALID",
      });
      expect(await ids()).toEqual(["a"]);
    });

    test("facts and decisions never share an append", async () => {
      await journal.post(KEY, message("a"));
      const { lease } = await take();
      await expect(journal.append(lease, 1, [fact("f"), decision("d")])).rejects.toThrow(
        /never share/,
      );
      expect(await ids()).toEqual(["a"]);
    });

    test("a repeated append writes nothing and says ok, also when more was posted and the deadline has passed", async () => {
      await journal.post(KEY, message("a"));
      const { lease } = await take();
      await journal.append(lease, 1, [decision("d"), decision("e")], { before: 10_000 });
      await other.post(KEY, message("b"));
      under.clock.now = 20_000;
      const again = await journal.append(lease, 1, [decision("d"), decision("e")], {
        before: 10_000,
      });
      expect(again).toMatchObject({ kind: "ok", unseen: [{ id: "d" }, { id: "e" }, { id: "b" }] });
      expect(await ids()).toEqual(["a", "d", "e", "b"]);
    });

    test("past its deadline an append is late and writes nothing", async () => {
      await journal.post(KEY, message("a"));
      const { lease } = await take();
      under.clock.now = 10_000;
      expect(await journal.append(lease, 1, [decision("d")], { before: 10_000 })).toMatchObject({
        kind: "late",
      });
      expect(await journal.append(lease, 1, [decision("d")], { before: 10_001 })).toMatchObject({
        kind: "ok",
      });
    });

    test("whoever lost the lease can write, renew and release nothing; the true holder's facts are never refused", async () => {
      await journal.post(KEY, message("a"));
      const old = await take();
      under.clock.now += 1_000;
      const fresh = await take(other);
      expect(await journal.append(old.lease, 1, [decision("x")])).toEqual({ kind: "fenced" });
      expect(await journal.append(old.lease, 1, [fact("x")])).toEqual({ kind: "fenced" });
      expect(await journal.renew(old.lease)).toEqual({ kind: "fenced" });
      expect(await journal.release(old.lease, 1)).toEqual({ kind: "fenced" });
      await journal.post(KEY, message("b"));
      expect(await other.append(fresh.lease, 1, [fact("f")])).toMatchObject({ kind: "ok" });
      expect(await ids()).toEqual(["a", "b", "f"]);
    });

    test("past its end a lease still writes and renews, until somebody takes it", async () => {
      await journal.post(KEY, message("a"));
      const { lease } = await take();
      under.clock.now += 50_000;
      expect(await journal.append(lease, 1, [decision("d")])).toMatchObject({ kind: "ok" });
      expect(await journal.renew(lease)).toMatchObject({ kind: "ok", last: 2 });
      expect(await other.lease(KEY, 1_000)).toBeUndefined();
    });

    test("release is refused while something is unseen, and says when the journal is next due", async () => {
      await journal.post(KEY, message("a"));
      const { lease } = await take();
      await other.post(KEY, message("b"));
      expect(await journal.release(lease, 1)).toMatchObject({
        kind: "unseen",
        unseen: [{ id: "b" }],
      });
      expect(await journal.release(lease, 2, 90_000)).toEqual({ kind: "ok" });
      expect(await due()).toEqual([]);
      under.clock.now = 90_000;
      expect(await due()).toEqual([KEY]);
      expect(await take()).toMatchObject({ attempts: 1 });
    });

    test("a journal is due from a post on, while a dead worker's lease has run out, and not otherwise", async () => {
      expect(await due()).toEqual([]);
      await journal.post(KEY, message("a"));
      expect(await due()).toEqual([KEY]);
      const { lease } = await take();
      expect(await due()).toEqual([]);
      await journal.post(KEY, message("b"));
      expect(await due()).toEqual([]);
      under.clock.now += 1_000;
      expect(await due()).toEqual([KEY]);
      expect(await journal.release(lease, 2)).toEqual({ kind: "ok" });
      expect(await due()).toEqual([]);
      await journal.post(KEY, message("a"));
      expect(await due()).toEqual([]);
    });

    test("a journal that only records is not due, and is there like any other", async () => {
      const key: JournalKey = "incident:inc-20261120-k3qa";
      for (const id of ["a", "b"]) await journal.post(key, record(id));
      under.clock.now += 1_000_000;
      expect(await due()).toEqual([]);
      expect(await other.read(key)).toMatchObject([{ id: "a" }, { id: "b" }]);
      const summaries = [];
      for await (const summary of other.list({ prefix: "incident:" })) summaries.push(summary);
      expect(summaries).toEqual([
        {
          key,
          last: 2,
          head: expect.any(String),
          lastAt: expect.any(Number),
          changed: expect.any(Number),
          dueAt: undefined,
          leased: false,
          now: expect.any(Number),
        },
      ]);
      expect(await other.check()).toBeUndefined();
    });

    test("what is due stays so when something is only recorded", async () => {
      await journal.post(KEY, message("a"));
      await journal.post(KEY, record("b"));
      expect(await due()).toEqual([KEY]);
      const { lease } = await take();
      await journal.release(lease, 2, under.clock.now + 5_000);
      await journal.post(KEY, record("c"));
      expect(await due()).toEqual([]);
      under.clock.now += 5_000;
      expect(await due()).toEqual([KEY]);
    });

    test("attempts count leases that were never released; a release or a post forgets them", async () => {
      await journal.post(KEY, message("a"));
      for (const attempts of [1, 2, 3]) {
        expect(await take()).toMatchObject({ attempts });
        under.clock.now += 1_000;
      }
      await journal.post(KEY, message("b"));
      const { attempts, lease } = await take();
      expect(attempts).toBe(1);
      await journal.release(lease, 2);
      expect(await take()).toMatchObject({ attempts: 1 });
    });

    test("watchers hear of every write by anyone within a second, the later ones too", async () => {
      await journal.post(KEY, message("a"));
      const heard = new Map<number, PromiseWithResolvers<void>>();
      const hear = (seq: number) => {
        const each = heard.get(seq) ?? Promise.withResolvers<void>();
        heard.set(seq, each);
        return each;
      };
      const watch = journal.watch(KEY, (seq) => hear(seq).resolve());
      for (const [i, writer] of [journal, other, other, journal, other].entries()) {
        await writer.post(KEY, message(`w${i}`));
        await hear(2 + i).promise;
      }
      await watch.stop();
      expect((await ids()).slice(1)).toEqual(["w0", "w1", "w2", "w3", "w4"]);
    });

    test("artifacts come back byte for byte and by range, belong to their journal, and have a limit", async () => {
      await journal.post(KEY, message("a"));
      const bytes = Uint8Array.from({ length: 5_000 }, (_, i) => i % 251);
      const ref = await journal.putArtifact(KEY, bytes);
      expect(ref.bytes).toBe(5_000);
      expect(await journal.putArtifact(KEY, bytes)).toEqual(ref);
      expect(Buffer.from(await other.readArtifact(KEY, ref.id)).equals(bytes)).toBe(true);
      const part = await other.readArtifact(KEY, ref.id, { start: 100, end: 110 });
      expect([...part]).toEqual([...bytes.subarray(100, 110)]);
      await journal.post("test:another", message("a"));
      await expect(journal.readArtifact("test:another", ref.id)).rejects.toMatchObject({
        code: "ARTIFACT_UNKNOWN",
      });
      const large = new Uint8Array(MAX_ARTIFACT_BYTES + 1);
      await expect(journal.putArtifact(KEY, large)).rejects.toMatchObject({
        code: "ARTIFACT_TOO_LARGE",
      });
    });

    test("a place is the first thread's that shows itself there, for every process, until it is over", async () => {
      const place: JournalKey = "other:place";
      const mirrors = createMirrors(other);
      const post = (id: string, of: JournalKey, over: { over?: true } = {}) =>
        journal.post(mirrorOf(place), { id, kind: "mirror", of, ...over });
      expect(await mirrors.homeOf(place)).toBe(place);
      await Promise.all([post("link", KEY), journal.post(place, message("m"))]);
      await post("later", "test:another");
      expect(await mirrors.homeOf(place)).toBe(KEY);
      expect(await mirrors.among("other:")).toEqual([{ place, home: KEY }]);
      expect(await mirrors.among("test:")).toEqual([]);
      await post("over", KEY, { over: true });
      expect(await mirrors.homeOf(place)).toBe(place);
      expect(await mirrors.among("other:")).toEqual([]);
    });

    test("whatever two workers do in whatever order, every verb answers as the protocol's model says", async () => {
      let round = 0;
      const answers = new Map<string, number>();
      await fc.assert(
        fc.asyncProperty(verbs, async (done) => {
          await compareVerbs(under, `test:round${round++}`, done, answers);
        }),
        { numRuns: 60 },
      );
      expect(ANSWERS.filter((answer) => !answers.has(answer))).toEqual([]);
    });
  });
}
