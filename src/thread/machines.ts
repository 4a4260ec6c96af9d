import { type Busy, workKey } from "./work-keys.ts";
import { type Action, editedArgs, isApproved, isOpen } from "./action.ts";
import type { Entry, JsonObject } from "../core/entry.ts";
import { HOST_GONE_MS, type HostBeat } from "../core/host-beat.ts";
import type { LaterCheck, Run, Thread } from "./state.ts";
import type { Call } from "./call.ts";

export interface Machines {
  readonly here: string;
  /** The tool acts on the machine that it runs on. */
  isBound(tool: string): boolean;
  /** Processes of other machines can take up this thread too. */
  readonly isShared: boolean;
  /** Those that the store has heard of, by name; undefined: it was not asked lately. */
  readonly heard: ReadonlyMap<string, HostBeat> | undefined;
}

export interface Scenery {
  /** The store's clock, ms since 1970. */
  readonly now: number;
  /** Work of this worker's in progress or put off, by step key, and calls whose tool it is running, as `call:<id>`. */
  readonly busy: Busy;
  /** Shutting down: no tool is begun and no run, as in a parked thread. */
  readonly draining: boolean;
  /** Undefined: for whoever only looks, any machine may do anything. */
  readonly machines?: Machines;
}

/** Something of a thread that only a process of another machine may do. */
export interface Elsewhere {
  readonly host: string;
  /** A call, a click that edits one, or one that is to be looked at again. */
  readonly of: Call | Entry<"click"> | LaterCheck;
  /** That machine could do it now. */
  readonly isDue: boolean;
  /** When it is no longer left to that machine, ms since 1970. */
  readonly until: number;
}

/** Why it is not left to that machine: no beat for too long, never heard of, not taken up, or no other process can. */
export type Absence = "gone" | "unknown" | "late" | "alone";

/** Longer than any tool takes and a restart on top: that machine's processes may serve other platforms. */
const MAX_LEFT_MS = 15 * 60_000;
/** Four beats. From then on people hear what the thread waits for, and calls that name no machine go elsewhere. */
const QUIET_MS = 60_000;

/** The machine that arguments name, if they do so in a way that one can be called. */
function hostIn({ host }: JsonObject): string | undefined {
  return typeof host === "string" && /^\w[\w.-]{0,62}$/.test(host) ? host : undefined;
}

/** All that is for another machine; none where nobody knows which one this is. */
export function elsewhereIn(thread: Thread, scenery: Scenery): Elsewhere[] {
  const { machines } = scenery;
  if (machines === undefined) return [];
  const found: Elsewhere[] = [];
  for (const run of thread.going) {
    for (const call of run.open.values())
      found.push(...callElsewhere(thread, run, call, scenery, machines));
  }
  for (const click of thread.clicks.values()) {
    const action = thread.actions.get(click.action);
    if (click.choice.kind !== "edit" || action === undefined || !isOpen(action)) continue;
    if (!machines.isBound(action.proposal.tool)) continue;
    const host = hostIn(editedArgs(action.proposal, click.choice.args));
    if (host === undefined || host === machines.here) continue;
    found.push({ host, of: click, isDue: true, until: click.at + MAX_LEFT_MS });
  }
  for (const of of thread.checks.values()) {
    const { host } = of.of.started ?? {};
    if (host === undefined || host === machines.here) continue;
    found.push({ host, of, isDue: of.isDue, until: of.dueAt + MAX_LEFT_MS });
  }
  return found;
}

function callElsewhere(
  thread: Thread,
  run: Run,
  call: Call,
  { busy, now, draining }: Scenery,
  machines: Machines,
): Elsewhere[] {
  const { started, action, askedAt, asked } = call;
  const isResting = draining || thread.parked;
  if (asked !== undefined || busy.has(workKey.call(call.call))) return [];
  const of = (host: string | undefined, isDue: boolean, until: number): Elsewhere[] =>
    host === undefined || host === machines.here ? [] : [{ host, of: call, isDue, until }];
  if (started !== undefined) {
    const isLeft = isResting && started.effect === "read";
    return isLeft ? [] : of(started.host, true, started.at + MAX_LEFT_MS);
  }
  if (isResting || run.stopped) return [];
  if (action !== undefined) {
    if (!isOpen(action)) return [];
    const isDue = isApproved(action) && thread.clicks.size === 0;
    return of(action.proposal.host, isDue, action.proposal.expiresAt);
  }
  if (!machines.isBound(call.tool)) return [];
  const named = hostIn(call.args);
  if (named !== undefined) return of(named, true, askedAt + MAX_LEFT_MS);
  const { host = machines.here } = thread;
  const beat = machines.heard?.get(host);
  const isThere =
    machines.heard === undefined || (beat !== undefined && now < beat.beatAt + QUIET_MS);
  return machines.isShared && isThere ? of(host, true, askedAt + MAX_LEFT_MS) : [];
}

/** The store has to be asked who is there before anything is left to others or given up. */
export function mustAsk(items: readonly Elsewhere[], { machines, now }: Scenery): boolean {
  if (machines?.isShared !== true) return false;
  return items.some(({ host }) => {
    const beat = machines.heard?.get(host);
    // Long ago when it was asked, and maybe back since.
    const mayBeGone = beat !== undefined && !beat.gone && now >= beat.beatAt + HOST_GONE_MS;
    return machines.heard === undefined || mayBeGone;
  });
}

/** Why it is not left to its machine, or undefined. Call it once the store was asked. */
export function absenceOf(
  { host, until }: Elsewhere,
  { machines, now }: Scenery,
): Absence | undefined {
  if (machines?.isShared !== true) return "alone";
  const beat = machines.heard?.get(host);
  if (beat === undefined) return "unknown";
  if (beat.gone) return "gone";
  return now >= until ? "late" : undefined;
}

/** The first call whose machine was not heard of for a while, which nobody was told. */
export function quietCall(
  items: readonly Elsewhere[],
  { machines, now }: Scenery,
): Elsewhere | undefined {
  return items.find(({ host, of, isDue }) => {
    const beat = machines?.heard?.get(host);
    return (
      isDue && "tool" in of && !of.waits && beat !== undefined && now >= beat.beatAt + QUIET_MS
    );
  });
}

/** When time alone makes something of this due. */
export function timesOf(items: readonly Elsewhere[], { machines }: Scenery): number[] {
  return items.flatMap(({ host, of, isDue, until }) => {
    const beatAt = machines?.heard?.get(host)?.beatAt;
    if (beatAt === undefined) return until;
    const isQuiet = isDue && "tool" in of && !of.waits;
    return [until, beatAt + HOST_GONE_MS, ...(isQuiet ? [beatAt + QUIET_MS] : [])];
  });
}

/** It is open and for a machine of ours, and does not say which, as versions before 0.4 asked: nobody may approve that. */
export function namesNoMachine(action: Action, isBound: Machines["isBound"]): boolean {
  const { tool, args } = action.proposal;
  return isOpen(action) && isBound(tool) && args["host"] === undefined;
}

/** When another machine has to see whether this one is still there, for the actions that wait for people. */
export function checkTimes({ live }: Thread, { machines, now }: Scenery): number[] {
  if (machines?.isShared !== true) return [];
  const isOurs = [...live].some((action) => isOpen(action) && action.proposal.host !== undefined);
  return isOurs ? [now + HOST_GONE_MS] : [];
}
