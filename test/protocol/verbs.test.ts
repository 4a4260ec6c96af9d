import fc from "fast-check";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import type { AppendKind, Draft, PostKind } from "../../src/core/entry.ts";
import type { JournalKey } from "../../src/core/journal-key.ts";
import type { Journal, Lease } from "../../src/journal/journal.ts";
import { openRedisJournal } from "../../src/journal/redis.ts";
import { openSqliteJournal } from "../../src/journal/sqlite.ts";
import { RedisServer } from "../fakes/redis-server.ts";
import {
  append,
  emptyJournal,
  isDue,
  lease,
  leaseEnds,
  type ModelJournal,
  NOBODY,
  post,
  release,
  renew,
} from "./journal.mjs";
import { RULES } from "./protocol-model.mjs";

/** The same verbs in the same order, asked of the model's journal and of a store: both must answer alike and hold the same. */

const TTL_MS = 1_000;
const EXPIRY_MS = 1_000_000;
const ACTOR = { account: "test:ana", name: "ana" };

const REF = { run: "r1", call: "r1.t1" };
const POSTS: Record<string, Draft<PostKind>> = {
  m: { id: "m", kind: "message", actor: ACTOR, text: "m" },
  n: { id: "n", kind: "message", actor: ACTOR, text: "n" },
  s: { id: "s", kind: "stop", actor: ACTOR },
  t: { id: "t", kind: "timer", action: "a1" },
  l: { id: "l", kind: "signal", call: REF.call, outcome: "ok", text: "" },
};
const APPENDS: Record<string, Draft<AppendKind>> = {
  V: { id: "V", kind: "action_closed", action: "a1", outcome: "void" },
  S: { id: "S", kind: "tool_started", ...REF, tool: "act", effect: "write", digest: "d" },
  U: { id: "U", kind: "tool_finished", ...REF, outcome: "unknown", text: "", recovered: true },
  F: { id: "F", kind: "tool_finished", ...REF, outcome: "ok", text: "" },
  D: { id: "D", kind: "delivered", view: "main", entry: "R", stage: "final", ref: "1" },
  R: { id: "R", kind: "run_ended", run: "r1", status: "completed" },
};

type Who = 1 | 2;
type Verb =
  | { verb: "post"; entry: string }
  | { verb: "lease" | "renew"; who: Who }
  | { verb: "append"; who: Who; entry: string; stale: boolean }
  | { verb: "release"; who: Who; at: "now" | "never" | "expiry"; stale: boolean }
  | { verb: "the lease's end passes" | "the expiry passes" };

const byWhom = fc.constantFrom<Who>(1, 2);
/** Mostly up to date, or nothing but refusals would be compared. */
const maybeStale = fc.boolean().chain((odd) => (odd ? fc.boolean() : fc.constant(false)));
const verbs = fc.oneof(
  fc.record({ verb: fc.constant("post" as const), entry: fc.constantFrom(...Object.keys(POSTS)) }),
  { weight: 3, arbitrary: fc.record({ verb: fc.constant("lease" as const), who: byWhom }) },
  fc.record({ verb: fc.constant("renew" as const), who: byWhom }),
  {
    weight: 3,
    arbitrary: fc.record({
      verb: fc.constant("append" as const),
      who: byWhom,
      entry: fc.constantFrom(...Object.keys(APPENDS)),
      stale: maybeStale,
    }),
  },
  fc.record({
    verb: fc.constant("release" as const),
    who: byWhom,
    at: fc.constantFrom("now" as const, "never" as const, "expiry" as const),
    stale: maybeStale,
  }),
  fc.constant<Verb>({ verb: "the lease's end passes" }),
);
/** A journal begins with a post. The expiry passes once, late in some of the walks. */
const walks = fc
  .tuple(fc.array(verbs, { minLength: 15, maxLength: 30 }), fc.nat({ max: 60 }))
  .map(([all, late]): Verb[] => [
    { verb: "post", entry: "m" },
    ...all.slice(0, late),
    { verb: "the expiry passes" },
    ...all.slice(late),
  ]);

/** What the verbs were answered, and how often. */
const answered = new Map<string, number>();

/** One journal, in the model and in a store, and the two workers' leases. */
class Twins {
  readonly key: JournalKey;
  readonly #store: Journal;
  readonly #clock: { now: number };
  readonly #leases = new Map<Who, Lease>();
  readonly #expiresAt: number;
  #model: ModelJournal = emptyJournal;

  constructor(key: JournalKey, store: Journal, clock: { now: number }) {
    this.key = key;
    this.#store = store;
    this.#clock = clock;
    this.#expiresAt = clock.now + EXPIRY_MS;
  }

  /** Asks both. Returns both answers, in the same words. */
  async ask(asked: Verb): Promise<[string, string]> {
    switch (asked.verb) {
      case "post":
        return this.#post(asked.entry);
      case "lease":
        return this.#lease(asked.who);
      case "renew": {
        const held = this.#leases.get(asked.who);
        if (held === undefined) return ["", ""];
        const renewed = renew(this.#model, asked.who, RULES);
        this.#model = renewed ?? this.#model;
        const { kind } = await this.#store.renew(held);
        return [renewed === undefined ? "fenced" : "ok", kind];
      }
      case "append":
        return this.#append(asked);
      case "release":
        return this.#release(asked);
      case "the lease's end passes":
        this.#clock.now += TTL_MS + 1;
        return this.#leaseEnds();
      case "the expiry passes":
        this.#clock.now = this.#expiresAt;
        this.#model = { ...this.#model, lateAt: this.#model.entries.length };
        return this.#leaseEnds();
    }
  }

  #leaseEnds(): [string, string] {
    const { holder, expired } = this.#model;
    if (holder !== NOBODY && !expired) this.#model = leaseEnds(this.#model, RULES);
    return ["", ""];
  }

  async #post(entry: string): Promise<[string, string]> {
    const isNew = !this.#model.entries.includes(entry);
    this.#model = post(this.#model, entry, RULES);
    const draft = POSTS[entry];
    if (draft === undefined) throw new Error(`no post ${entry}`);
    const { duplicate } = await this.#store.post(this.key, draft);
    return [isNew ? "new" : "there", duplicate ? "there" : "new"];
  }

  async #lease(who: Who): Promise<[string, string]> {
    const taken = lease(this.#model, who);
    this.#model = taken ?? this.#model;
    const granted = await this.#store.lease(this.key, TTL_MS);
    if (granted !== undefined) this.#leases.set(who, granted.lease);
    const words = (it: unknown) => (it === undefined ? "taken" : "granted");
    return [words(taken), words(granted)];
  }

  async #append({ who, entry, stale }: Verb & { verb: "append" }): Promise<[string, string]> {
    const held = this.#leases.get(who);
    const draft = APPENDS[entry];
    if (held === undefined || draft === undefined) return ["", ""];
    const { entries } = this.#model;
    const after = stale ? Math.max(0, entries.length - 1) : entries.length;
    const repeated = entries.includes(entry);
    const reply = append(this.#model, who, after, entry, RULES, { repeated });
    if (reply.kind === "ok") this.#model = reply.journal;
    const deadline = entry === "S" ? { before: this.#expiresAt } : {};
    const stored = await this.#store.append(held, after, [draft], deadline);
    return [reply.kind, stored.kind];
  }

  async #release({ who, at, stale }: Verb & { verb: "release" }): Promise<[string, string]> {
    const held = this.#leases.get(who);
    if (held === undefined) return ["", ""];
    const { length } = this.#model.entries;
    const after = stale ? Math.max(0, length - 1) : length;
    const reply = release(this.#model, who, after, at, RULES);
    if (reply.kind === "ok") this.#model = reply.journal;
    const dueAt = { now: this.#clock.now, never: undefined, expiry: this.#expiresAt }[at];
    const stored = await this.#store.release(held, after, dueAt);
    return [reply.kind, stored.kind];
  }

  /** What both hold, in the same words: the entries, and whether the journal is due. */
  async held(): Promise<[string, string]> {
    const due: JournalKey[] = [];
    for await (const key of this.#store.due()) due.push(key);
    const ids = (await this.#store.read(this.key)).map(({ id }) => id).join("");
    return [
      `${this.#model.entries} ${isDue(this.#model) ? "due" : ""}`,
      `${ids} ${due.includes(this.key) ? "due" : ""}`,
    ];
  }
}

async function compare(store: Journal, clock: { now: number }, runs: number): Promise<void> {
  let journals = 0;
  const property = fc.asyncProperty(walks, async (walk) => {
    // The store's clock never goes back.
    clock.now += 10 * EXPIRY_MS;
    const twins = new Twins(`test:${++journals}`, store, clock);
    for (const asked of walk) {
      const [model, real] = await twins.ask(asked);
      const what = JSON.stringify(asked);
      expect(`${what}: ${real}`).toBe(`${what}: ${model}`);
      const [should, is] = await twins.held();
      expect(`${what}: ${is}`).toBe(`${what}: ${should}`);
      const name = `${asked.verb} ${model}`;
      answered.set(name, (answered.get(name) ?? 0) + 1);
    }
    // Not due any more, or all that come after it would find it among theirs.
    await twins.ask({ verb: "the lease's end passes" });
    await twins.ask({ verb: "lease", who: 1 });
    await twins.ask({ verb: "release", who: 1, at: "never", stale: false });
  });
  await fc.assert(property, { numRuns: runs });
}

let server: RedisServer;
beforeAll(async () => {
  server = await RedisServer.start();
});
afterAll(() => server.stop());

const STORES = {
  SQLite: (now: () => number) => openSqliteJournal({ path: ":memory:", now }),
  Redis: (now: () => number) => {
    const { address } = server;
    return openRedisJournal({ address, secret: "a secret of the tests, 32 long or more", now });
  },
};

test.each([
  ["SQLite", 60],
  ["Redis", 40],
] as const)(
  "%s answers each verb as the model's journal does, and holds the same",
  async (name, runs) => {
    const clock = { now: 0 };
    const store = await STORES[name](() => clock.now);
    onTestFinished(() => store.close());
    await expect(compare(store, clock, runs)).resolves.toBeUndefined();
  },
);

test("every answer that a verb can have was compared, often", () => {
  const all = {
    post: ["new", "there"],
    lease: ["granted", "taken"],
    renew: ["ok", "fenced"],
    append: ["ok", "fenced", "unseen", "late"],
    release: ["ok", "fenced", "unseen"],
  };
  const names = Object.entries(all).flatMap(([verb, answers]) =>
    answers.map((answer) => `${verb} ${answer}`),
  );
  expect(names.filter((name) => (answered.get(name) ?? 0) < 10)).toEqual([]);
});
