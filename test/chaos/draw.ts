import type { JournalKey } from "../../src/core/journal-key.ts";
import {
  type Ask,
  type BatchPlan,
  LEASE_MS,
  type Life,
  SWEEP_MS,
  type ThreadPlan,
} from "./plan.ts";
import { between, pick, type Random, seededRandom } from "./random.ts";
import { type Maker, MIX, recipeOf } from "./recipes.ts";

/** What of a batch can be asked for; the rest is drawn. */
export interface BatchWish {
  name: string;
  seed: number;
  threads: number;
  /** Requests are spread over this time. */
  spanMs: number;
  lives: [Life[], Life[]];
  bothKilledAtMs?: number[];
  powerCuts?: Partial<BatchPlan["powerCuts"]>;
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
    powerCuts: { atMs: [], acknowledged: [], ...wish.powerCuts },
    pace: 1,
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
  return {
    id: name,
    key,
    name,
    tool: undefined,
    by: "test:ana",
    atMs: 0,
    workMs: between(random, 0, 200),
    long: false,
    rounds: [],
    replies: [],
    againMs: random() < 0.25 ? between(random, 0, 400) : undefined,
    ...recipeOf(recipe)({ random, reply }),
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
    rounds: [],
    by: "test:ana",
    atMs: 100,
    workMs: 0,
    long: false,
    replies: [],
    againMs: undefined,
  };
  return { key, asks: [ask], settles: false };
}
