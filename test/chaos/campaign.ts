import type { Bug } from "./faults.ts";
import { type BatchWish, planBatch } from "./draw.ts";
import {
  type BatchPlan,
  type Blow,
  LEASE_MS,
  type Life,
  POINTS,
  type Signal,
  type Trap,
} from "./plan.ts";
import { MIX } from "./recipes.ts";
import { between, type Random, seededRandom, shuffled } from "./random.ts";

/**
 * The size of a batch: threads, the time over which people write, how many lives each worker has and how many of them end
 * in a trap. About half of the threads are in the hands of a worker when it is struck.
 */
const SIZES = {
  short: { threads: 90, spanMs: 4_500, lives: 6, trapped: 5 },
  full: { threads: 130, spanMs: 7_000, lives: 5, trapped: 3 },
} as const;
/** Traps that no life of a worker crossed are set again in batches of so many. */
const MISSED_AT_ONCE = 4;

/** What has people do what leads to these points, where others rarely do. */
const LEADING: readonly [RegExp, string][] = [
  [/^verify:/, "quorum"],
  [/artifact$/, "looked"],
];
/** How often each stands beside the usual mix, which is about as long. */
const LEADING_SHARE = 20;

/** One trap of the deck, with what must come before it for the point to be reached at all. */
type Ambush = Trap[];

/** Points that are only crossed by a worker that was frozen somewhere else before. */
const PRELUDES: Record<string, Trap> = {
  retract: { point: "after:say", crossing: 1, signal: "SIGSTOP" },
  "post:signal": { point: "tool:before-effect", crossing: 1, signal: "SIGSTOP" },
};

function ambush(point: string, crossing: number, signal: Signal): Ambush {
  const prelude = PRELUDES[point.replace(/^(?:before|after):/, "")];
  const trap: Trap = { point, crossing: prelude === undefined ? crossing : 1, signal };
  return prelude === undefined ? [trap] : [prelude, trap];
}

/** Every point; in full also its second and third crossing, and freezing there. */
function deckOf(depth: "short" | "full", random: Random): Ambush[] {
  const deck = POINTS.flatMap((point) => {
    const once = [ambush(point, 1, "SIGKILL")];
    if (depth === "short") return once;
    const freeze = ambush(point, between(random, 1, 3), "SIGSTOP");
    return [...once, ambush(point, 2, "SIGKILL"), ambush(point, 3, "SIGKILL"), freeze];
  });
  return shuffled(random, deck);
}

export interface Campaign {
  seed: number;
  depth: "short" | "full";
}

/** So many batches set a trap at every point once. */
export function batchesOf({ depth }: Campaign): number {
  return Math.ceil(deckOf(depth, seededRandom(0)).length / (SIZES[depth].trapped * 2));
}

/** The `index`-th batch (from 0) of a campaign; it depends on nothing else, so that one can be run alone. */
export function campaignBatch({ seed, depth }: Campaign, index: number): BatchPlan {
  const size = SIZES[depth];
  const perBatch = size.trapped * 2;
  const batchSeed = seed * 10_007 + index;
  const random = seededRandom(batchSeed);
  const ambushes = Array.from({ length: perBatch }, (_, i) => {
    const drawn = index * perBatch + i;
    const cards = deckOf(depth, seededRandom(0)).length;
    const deck = deckOf(depth, seededRandom(seed + Math.floor(drawn / cards)));
    return deck[drawn % cards] ?? [];
  });
  const untrappedEach = size.lives - size.trapped;
  const lives = (worker: 0 | 1, mine: Ambush[]) =>
    shuffled(random, [
      ...mine.map((traps) => trapped(random, traps)),
      ...Array.from({ length: untrappedEach }, (_, i) =>
        untrapped(random, (index * 2 + worker) * untrappedEach + i),
      ),
    ]);
  return planBatch({
    name: `${index}`,
    seed: batchSeed,
    threads: size.threads,
    spanMs: size.spanMs,
    lives: [lives(0, ambushes.slice(0, size.trapped)), lives(1, ambushes.slice(size.trapped))],
    bothKilledAtMs: index % 3 === 0 ? [between(random, 600, 1_800)] : [],
    poison: index % 3 === 1,
  });
}

/**
 * A batch for traps that have not sprung so far. Each is set for both workers, since either may come by, and after a death
 * within a write, since what follows an unknown outcome is not reached without one.
 */
export function missedBatch(
  { seed }: Campaign,
  missed: readonly Missed[],
  round: number,
): BatchPlan {
  const batchSeed = seed * 10_007 + 5_000 + round;
  const random = seededRandom(batchSeed);
  const lives = missed.slice(0, MISSED_AT_ONCE).map(({ point, signal }) => {
    return { ...trapped(random, ambush(point, 1, signal)), lost: 0 };
  });
  const leading = LEADING.filter(([points]) => missed.some(({ point }) => points.test(point)));
  const recipes = leading.flatMap(([, recipe]) =>
    Array.from({ length: LEADING_SHARE }, () => recipe),
  );
  const each = lives.flatMap((life) => [...endingAt("tool:after-effect", "SIGKILL", 1), life]);
  return planBatch({
    name: `missed ${round}`,
    seed: batchSeed,
    threads: SIZES.short.threads,
    spanMs: SIZES.short.spanMs,
    recipes: [...MIX, ...recipes],
    lives: [each, each],
  });
}

/** Where what a machine loses matters most: just before and after what only what is flushed may be followed by. */
const POWER_POINTS: readonly string[] = POINTS.filter((point) =>
  /^(?:tool|model):|append:(?:tool_|action_proposed|vote|run_ended|delivered|notice|assistant)|:(?:card|say|settle|whisper)$/.test(
    point,
  ),
);
const DEATHS = 5;

/** A batch whose machine dies again and again: at points that the workers cross, after an acknowledgement, and at any time. */
export function powerBatch({ seed }: Campaign, index: number): BatchPlan {
  const batchSeed = seed * 10_007 + 7_000 + index;
  const random = seededRandom(batchSeed);
  const points = shuffled(random, POWER_POINTS).slice(0, DEATHS);
  const lives = points.flatMap((point) => endingAt(point, "power", between(random, 1, 6)));
  return planBatch({
    name: `machine ${index}`,
    seed: batchSeed,
    threads: 60,
    spanMs: 3_500,
    lives: [lives, lives.toReversed()],
    powerCuts: { atMs: [between(random, 500, 4_000)], acknowledged: [between(random, 5, 90)] },
  });
}

/** A point and what should have happened to a worker there. */
export interface Missed {
  point: string;
  signal: Signal;
}

/** What every campaign owes: a kill at every point, and in full a freeze at every point too. */
export function missedOf(
  { depth }: Campaign,
  killed: ReadonlySet<string>,
  frozen: ReadonlySet<string>,
): Missed[] {
  const left = (done: ReadonlySet<string>, signal: Signal) =>
    POINTS.filter((point) => !done.has(point)).map((point) => ({ point, signal }));
  return [...left(killed, "SIGKILL"), ...(depth === "full" ? left(frozen, "SIGSTOP") : [])];
}

/** Ends at its trap; when that is not crossed, by a kill. */
function trapped(random: Random, traps: Trap[]): Life {
  const freezes = traps.some(({ signal }) => signal === "SIGSTOP");
  return {
    traps,
    leases: between(random, 2, 5),
    blows: [
      {
        kind: "kill",
        afterMs: freezes ? between(random, 2_000, 3_000) : between(random, 1_200, 2_000),
      },
    ],
    lost: drawLost(random),
  };
}

/** Killed, told to end, or frozen and then one of these, at any time; which one goes in turns. */
function untrapped(random: Random, turn: number): Life {
  const afterMs = between(random, 100, 700);
  const leases = between(random, 2, 5);
  const kind = random() < 0.5 ? "kill" : "drain";
  const later = afterMs + leases * LEASE_MS + between(random, 0, 400);
  const turns: Blow[][] = [
    [{ kind: "kill", afterMs }],
    [{ kind: "drain", afterMs }],
    [
      { kind: "freeze", afterMs, leases },
      { kind, afterMs: later },
    ],
  ];
  return { traps: [], leases, blows: turns[turn % turns.length] ?? [], lost: drawLost(random) };
}

function drawLost(random: Random): number {
  return random() < 0.5 ? 0 : 0.02;
}

/** The batch that must show a planted bug, and what must then be said of it. */
export interface Control {
  plan: BatchPlan;
  expected: RegExp;
}

interface ControlWish extends Pick<BatchWish, "recipes" | "lives" | "powerCuts"> {
  expected: RegExp;
  /** Default 40: as good as sure to hit the window. Fewer where others' flushes would close it. */
  threads?: number;
}

/** Lives that end at a point, at these crossings of it. */
function endingAt(point: string, signal: Trap["signal"], ...crossings: number[]): Life[] {
  return crossings.map((crossing) => ({
    traps: [{ point, crossing, signal }],
    leases: 3,
    blows: [{ kind: "kill", afterMs: 2_000 }],
    lost: 0,
  }));
}

/** One life that is frozen at a point again and again, while the other worker takes over. */
function frozenOften(point: string, times: number): Life[] {
  const traps = Array.from({ length: times }, (): Trap => ({
    point,
    crossing: 1,
    signal: "SIGSTOP",
  }));
  return [{ traps, leases: 3, blows: [{ kind: "kill", afterMs: times * 1_400 }], lost: 0 }];
}

function calm(lost: number): Life[] {
  return [{ traps: [], leases: 3, blows: [{ kind: "drain", afterMs: 2_000 }], lost }];
}

const WRITES = ["allowed", "approved"];
const KILLED_WRITES: ControlWish["lives"] = [
  endingAt("tool:after-effect", "SIGKILL", 1, 2),
  endingAt("tool:begin", "SIGKILL", 1, 2),
];

const CONTROLS: Record<Bug, ControlWish> = {
  "write-ahead off": {
    recipes: WRITES,
    lives: [endingAt("tool:after-effect", "SIGKILL", 1), []],
    expected: /before its start was stored|effect seen \d+ times/,
  },
  "token check off": {
    recipes: WRITES,
    lives: [frozenOften("before:append:tool_started", 4), []],
    expected: /(?:begin|effect) seen \d+ times/,
  },
  "dedupe off": {
    recipes: WRITES,
    lives: [calm(0.05), calm(0.05)],
    expected: /seen \d+ times|has 2 results|started 2 times/,
  },
  "decisions unchecked": {
    recipes: ["stopped", "raced"],
    lives: [calm(0), calm(0)],
    expected: /started after a (?:Stop|deny)/,
  },
  "release unchecked": {
    recipes: ["approved", "talked"],
    lives: [calm(0), calm(0)],
    expected: /not at rest/,
  },
  "started writes run again": {
    recipes: WRITES,
    lives: KILLED_WRITES,
    expected: /(?:begin|effect) seen \d+ times/,
  },
  "unknown untold": {
    recipes: WRITES,
    lives: KILLED_WRITES,
    expected: /nobody was told/,
  },
  "turns asked again": {
    recipes: ["conversed"],
    lives: [calm(0), calm(0)],
    expected: /has the steps 1, 1/,
  },
  "Stops unheard": {
    recipes: ["conversedStopped"],
    lives: [calm(0), calm(0)],
    expected: /(?:started|went on) after (?:a|the) Stop/,
  },
  "acknowledged unflushed": {
    recipes: ["talked"],
    lives: [[], []],
    powerCuts: { acknowledged: [3, 6, 9, 12] },
    threads: 10,
    expected: /was acknowledged and is not there/,
  },
  "begun unflushed": {
    recipes: ["allowed"],
    lives: [endingAt("tool:begin", "power", 1, 1), endingAt("tool:begin", "power", 1, 1)],
    threads: 10,
    expected: /begin seen \d+ times|without a start/,
  },
  "shown unflushed": {
    recipes: ["ignored", "talked"],
    lives: [endingAt("after:card", "power", 1, 2), endingAt("after:say", "power", 2, 1)],
    threads: 10,
    expected: /was shown, and lost/,
  },
};

/** `small` has few threads and no strikes, for bugs that show without; the other is as good as sure to hit the window. */
export function controlOf(bug: Bug, seed: number, size: "small" | "sure" = "sure"): Control {
  const { expected, ...wish } = CONTROLS[bug];
  const crowd = size === "small" ? { threads: 10, spanMs: 300 } : { threads: 40, spanMs: 2_500 };
  const lives: BatchWish["lives"] = size === "small" ? [[], []] : wish.lives;
  return { plan: planBatch({ name: bug, seed, ...crowd, ...wish, lives }), expected };
}

/** A batch of each kind of strike for every run of the tests. */
export function smokeBatch(seed: number): BatchPlan {
  const struck = (...blows: Blow[]): Life => ({ traps: [], leases: 3, lost: 0.01, blows });
  return planBatch({
    name: "smoke",
    seed,
    threads: 70,
    spanMs: 1_800,
    lives: [
      [
        ...endingAt("after:append:tool_started", "SIGKILL", 3),
        ...endingAt("tool:after-effect", "SIGKILL", 2),
        ...endingAt("before:append:assistant", "SIGKILL", 2),
      ],
      [
        struck({ kind: "freeze", afterMs: 300, leases: 3 }, { kind: "kill", afterMs: 1_600 }),
        struck({ kind: "drain", afterMs: 300 }),
      ],
    ],
  });
}
