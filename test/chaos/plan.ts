import type { Choice } from "../../src/core/entry.ts";
import type { JournalKey } from "../../src/core/journal-key.ts";

/** Numbers in [0, 1), the same for the same seed (mulberry32). */
export type Random = () => number;

export function seededRandom(seed: number): Random {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** An integer in [from, to]. */
export function between(random: Random, from: number, to: number): number {
  return from + Math.floor(random() * (to - from + 1));
}

function pick<T>(random: Random, items: readonly T[]): T {
  const item = items[Math.floor(random() * items.length)];
  if (item === undefined) throw new TypeError("nothing to pick from");
  return item;
}

export function shuffled<T>(random: Random, items: readonly T[]): T[] {
  return items
    .map((item) => ({ item, rank: random() }))
    .toSorted((a, b) => a.rank - b.rank)
    .map(({ item }) => item);
}

const APPENDED = [
  "run_started",
  "action_proposed",
  "vote",
  "action_closed",
  "tool_started",
  "tool_finished",
  "settled",
  "notice",
  "delivered",
  "run_ended",
].map((kind) => `append:${kind}`);
const ASKED = ["lease", "renew", "release", "post:timer", "post:signal", "artifact"];
const SHOWN = ["say", "whisper", "card", "settle", "retract"];

/** Every place where a worker can be made to die or freeze. */
export const POINTS: readonly string[] = [...APPENDED, ...ASKED, ...SHOWN]
  .flatMap((name) => [`before:${name}`, `after:${name}`])
  .concat(["tool:begin", "tool:before-effect", "tool:after-effect", "tool:end"])
  .concat(["read:begin", "read:end", "verify:begin", "verify:end"]);

export type Signal = "SIGKILL" | "SIGSTOP";

/** The process sends itself `signal` when it crosses the point for the `crossing`-th time. */
export interface Trap {
  point: string;
  crossing: number;
  signal: Signal;
}

/** What is done to a worker, `afterMs` after it was ready. A frozen one is woken after `leases` × the lease. */
export type Blow =
  | { kind: "kill" | "drain"; afterMs: number }
  | { kind: "freeze"; afterMs: number; leases: number };

/** One process's life. Its traps spring in order: the second is counted from the first on. */
export interface Life {
  traps: Trap[];
  /** How long a trap freezes it, in leases. */
  leases: number;
  blows: Blow[];
  /** Share of its requests to the store that fail, before or after they are carried out. */
  lost: number;
}

export type Account = "test:ana" | "test:bob" | "test:cy" | "test:gus";
export type ToolName = "look" | "act" | "nudge" | "wreck" | "brief" | "banned" | "poison";

/** A click or Stop, so long after its revision's card was first seen or after the request was posted. */
export interface Reply {
  id: string;
  from: "card" | "ask";
  afterMs: number;
  by: Account;
  choice: Choice | { kind: "stop" };
  revision: number;
  /** The platform sends the same event again so much later. */
  againMs: number | undefined;
}

/** One request of a person. `name` is unique in the batch and an argument of the tool, so effects can be told apart. */
export interface Ask {
  id: string;
  key: JournalKey;
  name: string;
  /** Undefined: plain language. */
  tool: ToolName | undefined;
  by: Account;
  atMs: number;
  /** How long the tool takes before and after it changes the world. */
  workMs: number;
  /** Asks for so much output that it is kept as an artifact. */
  long: boolean;
  replies: Reply[];
  againMs: number | undefined;
}

interface ThreadPlan {
  key: JournalKey;
  asks: Ask[];
  /** Somebody settles its unknown outcomes. */
  settles: boolean;
}

export interface BatchPlan {
  name: string;
  seed: number;
  leaseMs: number;
  sweepMs: number;
  threads: ThreadPlan[];
  /** Of each worker; who has lived them all goes on in peace. */
  lives: [Life[], Life[]];
  /** Both are killed at once, so long after the beginning. */
  bothKilledAtMs: number[];
}

/** 6 s in the product (`LEASE_MS`), here as short as two busy cores allow. */
export const LEASE_MS = 400;
const SWEEP_MS = 100;

type Recipe = (made: Maker) => Partial<Ask> & { tool: ToolName | undefined };

interface Maker {
  random: Random;
  reply(changes: Partial<Reply> & Pick<Reply, "choice">): Reply;
}

const APPROVE: Choice = { kind: "approve" };
const DENY: Choice = { kind: "deny", reason: "not now" };
const STOP = { kind: "stop" } as const;

/** What people do. Each is as likely as it is often listed. */
const RECIPES: Record<string, Recipe> = {
  looked: ({ random }) => ({ tool: "look", long: random() < 0.6 }),
  lookStopped: ({ random, reply }) => ({
    tool: "look",
    workMs: between(random, 100, 400),
    replies: [reply({ from: "ask", choice: STOP, afterMs: between(random, 0, 400) })],
  }),
  talked: () => ({ tool: undefined }),
  approved: ({ reply }) => ({ tool: "act", replies: [reply({ choice: APPROVE })] }),
  approvedSlow: ({ random, reply }) => ({
    tool: "act",
    workMs: between(random, 200, 500),
    replies: [reply({ choice: APPROVE })],
  }),
  approvedLate: ({ reply }) => ({
    tool: "act",
    replies: [reply({ choice: APPROVE }), reply({ choice: APPROVE, by: "test:bob", afterMs: 700 })],
  }),
  denied: ({ reply }) => ({ tool: "act", replies: [reply({ choice: DENY, by: "test:bob" })] }),
  raced: ({ random, reply }) => ({
    tool: "act",
    replies: [
      reply({ choice: APPROVE, afterMs: between(random, 0, 50) }),
      reply({ choice: DENY, by: "test:bob", afterMs: between(random, 0, 50) }),
    ],
  }),
  stopped: ({ random, reply }) => ({
    tool: "act",
    replies: [
      reply({ choice: APPROVE, afterMs: 10 }),
      reply({ choice: STOP, by: "test:cy", afterMs: between(random, 5, 90) }),
    ],
  }),
  quorum: ({ random, reply }) => ({
    tool: "wreck",
    workMs: between(random, 50, 400),
    replies: shuffled(random, [
      reply({ choice: APPROVE, by: "test:ana" }),
      reply({ choice: APPROVE, by: "test:bob" }),
      reply({ choice: APPROVE, by: "test:bob" }),
      reply({ choice: APPROVE, by: "test:cy" }),
    ]),
  }),
  quorumMissed: ({ reply }) => ({
    tool: "wreck",
    replies: [
      reply({ choice: APPROVE, by: "test:bob" }),
      reply({ choice: APPROVE, by: "test:gus" }),
      reply({ choice: APPROVE, by: "test:ana" }),
    ],
  }),
  allowed: ({ random }) => ({ tool: "nudge", workMs: between(random, 20, 400) }),
  edited: ({ reply }) => ({
    tool: "act",
    replies: [
      reply({ choice: { kind: "edit", args: {} }, by: "test:bob", afterMs: 5 }),
      reply({ choice: APPROVE, afterMs: 30 }),
      reply({ choice: APPROVE, by: "test:cy", revision: 2 }),
    ],
  }),
  expired: () => ({ tool: "brief" }),
  brink: ({ random, reply }) => ({
    tool: "brief",
    replies: [reply({ choice: APPROVE, afterMs: between(random, 450, 620) })],
  }),
  ignored: () => ({ tool: "act" }),
  guest: ({ reply }) => ({ tool: "act", replies: [reply({ choice: APPROVE, by: "test:gus" })] }),
  banned: () => ({ tool: "banned" }),
};

const OFTEN = [
  "approved",
  "approvedSlow",
  "quorum",
  "quorum",
  "allowed",
  "stopped",
  "raced",
  "looked",
];
const MIX = [...Object.keys(RECIPES), ...OFTEN];

/** What of a batch can be asked for; the rest is drawn. */
export interface BatchWish {
  name: string;
  seed: number;
  threads: number;
  /** Requests are spread over this time. */
  spanMs: number;
  lives: [Life[], Life[]];
  bothKilledAtMs?: number[];
  /** Only these recipes. */
  recipes?: string[];
  poison?: boolean;
}

/** Draws people and what they do; the same wish gives the same plan. */
export function planBatch(wish: BatchWish): BatchPlan {
  const random = seededRandom(wish.seed);
  const mix = wish.recipes ?? MIX;
  const threads = Array.from({ length: wish.threads }, (_, index): ThreadPlan => {
    const key: JournalKey = `test:${index + 1}`;
    const asks: Ask[] = [];
    for (let i = 0, n = pick(random, [1, 1, 2, 3]); i < n; i++) {
      const atMs = between(random, 0, wish.spanMs);
      asks.push({ ...drawAsk(random, key, i + 1, pick(random, mix)), atMs });
    }
    return { key, asks, settles: random() < 0.6 };
  });
  if (wish.poison === true) threads.push(poisoned());
  return {
    name: wish.name,
    seed: wish.seed,
    leaseMs: LEASE_MS,
    sweepMs: SWEEP_MS,
    threads,
    lives: wish.lives,
    bothKilledAtMs: wish.bothKilledAtMs ?? [],
  };
}

function drawAsk(random: Random, key: JournalKey, index: number, recipe: string): Ask {
  const name = `${key.replace("test:", "t")}-${index}-${recipe}`;
  let replies = 0;
  const reply: Maker["reply"] = (changes) => ({
    id: `${name}:reply${++replies}`,
    from: "card",
    afterMs: between(random, 0, 300),
    by: "test:ana",
    revision: 1,
    againMs: random() < 0.2 ? between(random, 0, 300) : undefined,
    ...changes,
  });
  const make = RECIPES[recipe];
  if (make === undefined) throw new TypeError(`no recipe ${recipe}`);
  return {
    id: name,
    key,
    name,
    by: "test:ana",
    atMs: 0,
    workMs: between(random, 0, 200),
    long: false,
    replies: [],
    againMs: random() < 0.25 ? between(random, 0, 400) : undefined,
    ...make({ random, reply }),
  };
}

/** A read that kills its worker twice; it is parked, somebody writes, and then it succeeds. */
function poisoned(): ThreadPlan {
  const key: JournalKey = "test:poison";
  const ask: Ask = {
    id: "poison",
    key,
    name: "poison",
    tool: "poison",
    by: "test:ana",
    atMs: 100,
    workMs: 0,
    long: false,
    replies: [],
    againMs: undefined,
  };
  return { key, asks: [ask], settles: false };
}
