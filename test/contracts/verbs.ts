import fc from "fast-check";
import { expect } from "vitest";
import type { AppendKind, Draft, PostKind } from "../../src/core/entry.ts";
import type { JournalKey } from "../../src/core/journal-key.ts";
import { type Journal, type Lease } from "../../src/journal/journal.ts";
import { HOST_GONE_MS } from "../../src/core/host-beat.ts";
import * as model from "../protocol/journal.mjs";
import { RULES } from "../protocol/protocol-model.mjs";
import type { JournalUnderTest } from "./journal-under-test.ts";

/**
 * The verbs of a store against those of the protocol's model: whatever two workers do, in whatever order, each reply is the
 * model's, the same hosts find the journal due, and the same entries are there.
 */

/** The lease's life, ms; what is due at once is due now, and what is due at the expiry long after all leases. */
const TTL_MS = 1_000;
const EXPIRY_MS = 2 * HOST_GONE_MS;
const HOSTS = [1, 2] as const;

type Verb =
  | { do: "post"; entry: string }
  | { do: "lease" | "renew" | "read" | "lease ends" | "expiry passes" }
  | { do: "append"; entry: string; isRepeated: boolean; isLost: boolean }
  | { do: "release"; at: "now" | "expiry" | "never"; host: 0 | 1 | 2; isLost: boolean }
  | { do: "flush"; isLost: boolean }
  | { do: "beat"; host: 1 | 2 };

const rarely = fc.integer({ min: 1, max: 6 }).map((n) => n === 6);
const letterOf = (letters: string) => fc.constantFrom(...letters.split(""));
const named = (...names: ("lease" | "renew" | "read" | "lease ends" | "expiry passes")[]) =>
  fc.constantFrom(...names).map((name): Verb => ({ do: name }));

const verb: fc.Arbitrary<Verb> = fc.oneof(
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant("post" as const), entry: letterOf(model.POSTS) }),
  },
  { weight: 3, arbitrary: named("lease") },
  { weight: 3, arbitrary: named("renew", "read", "read", "lease ends", "lease ends") },
  { weight: 4, arbitrary: appending(letterOf("PASURFD")) },
  { weight: 1, arbitrary: appending(fc.constant("S")) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant("release" as const),
      at: fc.constantFrom("now", "expiry", "never"),
      host: fc.constantFrom(0, ...HOSTS),
      isLost: rarely,
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant("beat" as const), host: fc.constantFrom(...HOSTS) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant("flush" as const), isLost: rarely }),
  },
);

function appending(entry: fc.Arbitrary<string>) {
  return fc.record({
    do: fc.constant("append" as const),
    entry,
    isRepeated: rarely,
    isLost: rarely,
  });
}

/** What two workers do, each with which of them does it. */
export const verbs = fc
  .tuple(
    fc.array(fc.tuple(fc.constantFrom(0, 1), verb), { minLength: 20, maxLength: 40 }),
    fc.nat(60),
  )
  // The expiry passes once, in two of three.
  .map(
    ([all, late]) =>
      [...all.slice(0, late), [0, { do: "expiry passes" }] as const, ...all.slice(late)] as const,
  );

/** Every answer that a verb can have. */
export const ANSWERS = [
  "post new",
  "post there",
  "lease granted",
  "lease taken",
  "renew ok",
  "renew fenced",
  ...["ok", "fenced", "lost", "late", "unseen"].map((kind) => `append ${kind}`),
  ...["ok", "fenced", "lost", "unseen"].map((kind) => `release ${kind}`),
  ...["ok", "lost"].map((kind) => `flush ${kind}`),
];

/** One worker: its own way to the store, the newest lease that it got, and what it has read. */
interface Hand {
  readonly who: 1 | 2;
  readonly journal: Journal;
  lease: Lease | undefined;
  after: { last: number; head: string | undefined };
}

/** `answers` counts what the verbs were answered. */
export async function compareVerbs(
  under: JournalUnderTest,
  key: JournalKey,
  done: readonly (readonly [number, Verb])[],
  answers: Map<string, number>,
): Promise<void> {
  const { clock } = under;
  const expiry = clock.now + EXPIRY_MS;
  const hands: readonly Hand[] = [
    { who: 1, journal: under.first, lease: undefined, after: { last: 0, head: undefined } },
    { who: 2, journal: under.second, lease: undefined, after: { last: 0, head: undefined } },
  ];
  const appended: { draft: Draft<AppendKind>; entry: string }[] = [];
  const beats = new Map((await under.first.hosts()).map(({ host, beatAt }) => [host, beatAt]));
  let expected = model.emptyJournal;
  // A journal is there from its first post on.
  await post(hands[0], "m");
  for (const [i, [by, each]] of done.entries()) {
    await play(hands[by], each);
    // Now and then: Redis looks through all partitions each time.
    if (i % 3 === 0) await compareDue(i % 2 === 0 ? 1 : 2);
  }
  const entries = await under.first.read(key);
  expect(entries.map(({ id }) => id[0]).join("")).toBe(expected.entries);
  expect(entries.map(({ seq }) => seq)).toEqual(entries.map((_, i) => i + 1));

  async function play(hand: Hand | undefined, each: Verb): Promise<void> {
    if (each.do === "post") return post(hand, each.entry);
    if (each.do === "lease ends") return pass(TTL_MS);
    if (each.do === "expiry passes") {
      if (expected.lateAt >= 0) return;
      expected = { ...expected, lateAt: expected.entries.length };
      return pass(expiry - clock.now);
    }
    if (hand === undefined) return;
    if (each.do === "flush") return flush(hand, each.isLost);
    if (each.do === "beat") {
      beats.set(`host${each.host}`, clock.now);
      return hand.journal.beat(`host${each.host}`);
    }
    if (each.do === "lease") return take(hand);
    if (each.do === "read") {
      see(hand, await hand.journal.read(key, hand.after));
      expect(hand.after.last).toBe(expected.entries.length);
    } else if (hand.lease !== undefined) {
      if (each.do === "renew") await renew(hand, hand.lease);
      else if (each.do === "append") await append(hand, hand.lease, each);
      else if (each.do === "release") await release(hand, hand.lease, each);
    }
  }

  /** The store's clock goes on: a lease's end passes. */
  function pass(ms: number): void {
    clock.now += Math.max(0, ms);
    if (expected.holder !== model.NOBODY) expected = model.leaseEnds(expected, RULES);
  }

  /** Both said the same. */
  function agree(name: Verb["do"], said: string, wanted: string): void {
    expect(`${name}: ${said}`).toBe(`${name}: ${wanted}`);
    const answer = `${name} ${said}`;
    answers.set(answer, (answers.get(answer) ?? 0) + 1);
  }

  function see(hand: Hand, unseen: readonly { seq: number; head?: string | undefined }[]): void {
    const newest = unseen.at(-1);
    if (newest !== undefined) hand.after = { last: newest.seq, head: newest.head };
  }

  async function post(hand: Hand | undefined, entry: string): Promise<void> {
    const actor = { account: "test:ana", name: "ana" };
    const draft: Draft<PostKind> = { id: entry, kind: "message", actor, text: entry };
    const reply = await hand?.journal.post(key, draft);
    const isThere = expected.entries.includes(entry);
    agree("post", reply?.duplicate === true ? "there" : "new", isThere ? "there" : "new");
    expected = model.post(expected, entry, RULES);
  }

  async function take(hand: Hand): Promise<void> {
    const granted = await hand.journal.lease(key, TTL_MS);
    const leased = model.lease(expected, hand.who);
    const words = (got: unknown) => (got === undefined ? "taken" : "granted");
    agree("lease", words(granted), words(leased));
    hand.lease = granted?.lease ?? hand.lease;
    expected = leased ?? expected;
  }

  async function renew(hand: Hand, lease: Lease): Promise<void> {
    const renewed = model.renew(expected, hand.who, RULES);
    const reply = await hand.journal.renew(lease);
    agree("renew", reply.kind, renewed === undefined ? "fenced" : "ok");
    expected = renewed ?? expected;
  }

  async function append(
    hand: Hand,
    lease: Lease,
    { entry, isRepeated, isLost }: Extract<Verb, { do: "append" }>,
  ): Promise<void> {
    const earlier = isRepeated ? appended.at(-1) : undefined;
    const what = earlier ?? { entry, draft: draftOf(entry, `${entry}${appended.length}`) };
    const lost = isLost && hand.after.last > 0;
    const how = { lost, repeated: earlier !== undefined };
    const said = model.append(expected, hand.who, hand.after.last, what.entry, RULES, how);
    const deadline = what.entry === "S" ? { before: expiry } : {};
    const after = lost ? { ...hand.after, head: "x".repeat(43) } : hand.after;
    const reply = await hand.journal.append(lease, after, [what.draft], deadline);
    agree("append", reply.kind, said.kind);
    if (reply.kind === "ok" || reply.kind === "unseen") see(hand, reply.unseen);
    if (said.kind !== "ok") return;
    expected = said.journal;
    if (earlier === undefined) appended.push(what);
  }

  async function release(
    hand: Hand,
    lease: Lease,
    { at, host, isLost }: Extract<Verb, { do: "release" }>,
  ): Promise<void> {
    const lost = isLost && hand.after.last > 0;
    // For a host it is due at once, and for others never: that is how the model has it.
    const when = host === 0 ? at : "now";
    const said = model.release(expected, hand.who, hand.after.last, when, RULES, { lost, host });
    const dueAt = { now: clock.now, expiry, never: undefined }[at];
    const after = lost ? { ...hand.after, head: "x".repeat(43) } : hand.after;
    const reply =
      host === 0
        ? await hand.journal.release(lease, after, dueAt)
        : await hand.journal.release(lease, after, undefined, `host${host}`);
    agree("release", reply.kind, said.kind);
    if (reply.kind === "unseen") see(hand, reply.unseen);
    if (said.kind === "ok") expected = said.journal;
  }

  async function flush({ journal, after }: Hand, isLost: boolean): Promise<void> {
    const lost = isLost && after.last > 0;
    const said = model.flush(expected, RULES, { lost });
    agree(
      "flush",
      await journal.flush(key, lost ? { ...after, head: "x".repeat(43) } : after),
      said.kind,
    );
  }

  async function compareDue(host: 1 | 2): Promise<void> {
    const beat = beats.get(`host${expected.dueFor}`) ?? -Infinity;
    const gone = beat <= clock.now - HOST_GONE_MS;
    const found: JournalKey[] = [];
    for await (const each of under.second.due(`host${host}`)) if (each === key) found.push(each);
    expect(found).toEqual(model.isDue(expected, host, gone) ? [key] : []);
  }
}

/** An entry of the model's as one of the product's, of the same right to be written. */
function draftOf(entry: string, id: string): Draft<AppendKind> {
  const call = { run: "r1", call: "r1.t1" };
  if (entry === "S") {
    return { id, kind: "tool_started", ...call, tool: "act", effect: "write", digest: "" };
  }
  if (entry === "F") return { id, kind: "tool_finished", ...call, outcome: "ok", text: "" };
  if (entry === "U") return { id, kind: "tool_finished", ...call, outcome: "unknown", text: "" };
  if (entry === "D") {
    return { id, kind: "delivered", view: "main", entry: id, stage: "final", ref: id };
  }
  return { id, kind: "notice", text: id };
}
