import type { AppendKind, Choice } from "../../src/core/entry.ts";
import type { JournalKey } from "../../src/core/journal-key.ts";

const IS_APPENDED: Readonly<Record<AppendKind, boolean>> = {
  run_started: true,
  // No chat of the batch has anything above.
  above: false,
  assistant: true,
  gate: true,
  action_proposed: true,
  vote: true,
  action_closed: true,
  tool_started: true,
  tool_finished: true,
  settled: true,
  notice: true,
  delivered: true,
  run_ended: true,
  // Written by no worker of the batch.
  plan: false,
  goal_started: false,
  goal_planned: false,
  goal_judged: false,
  goal_state: false,
  view_added: false,
  alert_thread: false,
  alert_told: false,
  view_removed: false,
  grant_revoked: false,
  extended: false,
  // No thread of the batch fills a window.
  condensed: false,
  overflow: false,
};
const APPENDED = Object.entries(IS_APPENDED).flatMap(([kind, is]) => (is ? `append:${kind}` : []));
const ASKED = ["lease", "renew", "release", "post:timer", "post:signal", "artifact"];
const COUNTED = ["reserve", "booked"];
const SHOWN = ["begin", "say", "whisper", "card", "settle", "retract"];

/** Every place where a worker can be made to die or freeze. */
export const POINTS: readonly string[] = [...APPENDED, ...ASKED, ...COUNTED, ...SHOWN]
  .flatMap((name) => [`before:${name}`, `after:${name}`])
  .concat(["tool:begin", "tool:before-effect", "tool:after-effect", "tool:end"])
  .concat(["read:begin", "read:end", "verify:begin", "verify:end", "model:begin", "model:end"]);

export type Signal = "SIGKILL" | "SIGSTOP";

/** The process sends itself `signal` when it crosses the point for the `crossing`-th time; `power`: the whole machine dies with it. */
export interface Trap {
  point: string;
  crossing: number;
  signal: Signal | "power";
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
export type ToolName = "look" | "act" | "nudge" | "wreck" | "brief" | "banned" | "poison" | "ask";

/** A click, or else a Stop or another message, which asks the model for `rounds` (see `errand.ts`). */
type Deed = Choice | { kind: "stop" } | { kind: "message"; rounds: ToolName[][] };

/**
 * What somebody does, so long after the request was posted, or after they first saw: the card of that revision, the
 * model's question, or the word that their message is held up by an action.
 */
export interface Reply {
  id: string;
  from: "ask" | "card" | "question" | "hold";
  afterMs: number;
  by: Account;
  choice: Deed;
  revision: number;
  /** The platform sends the same event again so much later. */
  againMs: number | undefined;
}

/** One request of a person. `name` is unique in the batch and an argument of the tool, so effects can be told apart. */
export interface Ask {
  id: string;
  key: JournalKey;
  name: string;
  /** Undefined: plain language, for the model. */
  tool: ToolName | undefined;
  /** What the model is to call, round by round; none: it only answers. */
  rounds: ToolName[][];
  by: Account;
  atMs: number;
  /** How long the tool takes before and after it changes the world. */
  workMs: number;
  /** Asks for so much output that it is kept as an artifact. */
  long: boolean;
  replies: Reply[];
  againMs: number | undefined;
}

export interface ThreadPlan {
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
  /** The machine dies, and with it what is not flushed: so long after the beginning, and once so many posts are acknowledged. */
  powerCuts: { atMs: number[]; acknowledged: number[] };
  /** How many times as long work takes as on a quiet machine: what is waited for may take as much longer. */
  pace: number;
}

/**
 * The plan for a machine on which work takes `pace` times as long, because others use it too: leases last longer, and so
 * does what is counted in them, and the time to run into a trap. What people do stays as it is, so that workers are struck
 * at work.
 */
export function paced(plan: BatchPlan, pace: number): BatchPlan {
  const slow = (ms: number) => Math.round(ms * pace);
  const life = (each: Life): Life => {
    const isTimed = each.traps.length === 0 && each.blows.every(({ kind }) => kind !== "freeze");
    if (isTimed) return each;
    const blows = each.blows.map((blow) => ({ ...blow, afterMs: slow(blow.afterMs) }));
    return { ...each, blows };
  };
  const [first, second] = plan.lives;
  return {
    ...plan,
    pace,
    leaseMs: slow(plan.leaseMs),
    sweepMs: slow(plan.sweepMs),
    lives: [first.map(life), second.map(life)],
  };
}

/** 6 s in the product (`LEASE_MS`), here as short as two busy cores allow. */
export const LEASE_MS = 400;
export const SWEEP_MS = 100;
