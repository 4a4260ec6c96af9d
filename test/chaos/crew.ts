import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync } from "node:fs";
import { join } from "node:path";
import type { Setup } from "./child.ts";
import type { Bug } from "./faults.ts";
import type { BatchPlan, Blow, Life } from "./plan.ts";
import { POISON } from "./tools.ts";
import type { Line } from "./witness.ts";

/** Something that was done to a worker process. */
export interface Strike {
  kind: "kill" | "freeze" | "drain";
  /** Where it stood, when its own trap did it. */
  point: string | undefined;
  pid: number;
  at: number;
  /** A frozen one was woken, a drained one had ended. */
  until: number | undefined;
}

export interface Crew {
  start(): void;
  /** Takes note of what the witness saw: who is ready, who ran into a trap. */
  see(line: Line): void;
  killBoth(): void;
  /** Both are killed and do not come back before `rise`. Returns once they are gone. */
  fall(): Promise<void>;
  /** On the store as it is now. */
  rise(): void;
  /** Every life that was planned is over, and both workers are up. */
  isPeaceful(): boolean;
  /** Ends every process, and waits for that. */
  end(): Promise<void>;
  readonly strikes: Strike[];
  /** What processes did that nobody made them do. */
  readonly misdeeds: string[];
}

interface Slot {
  lives: Life[];
  life: Life;
  child: ChildProcess | undefined;
  ready: boolean;
  /** The next exit is somebody's doing. */
  struck: boolean;
  timers: Set<NodeJS.Timeout>;
}

const PEACE: Life = { traps: [], leases: 3, blows: [], lost: 0 };

/** SAFETY.md, "Fault plan": a drain ends within 25 s; here the grace is a second. On a quiet machine. */
const END_MS = 4_000;

export interface CrewOptions {
  plan: BatchPlan;
  paths: Paths;
  bug: Bug | undefined;
  /** Has everything that the witness saw so far passed to `see`. */
  catchUp(): void;
  /** A worker's trap has cut the machine's power. */
  powerless(): void;
}

/** Where a batch keeps its files; `cache` is Node's, of compiled code, and makes a start twice as fast. */
export interface Paths {
  folder: string;
  readonly store: string;
  witness: string;
  cache: string;
}

/** Two worker processes on one folder, brought back to life whenever they end. */
export function createCrew(options: CrewOptions): Crew {
  const { plan, paths, bug, catchUp, powerless } = options;
  const strikes: Strike[] = [];
  const misdeeds: string[] = [];
  const errors = openSync(join(paths.folder, "worker.log"), "a");
  let seed = plan.seed;
  let ending = false;
  let fallen = false;
  const slots = plan.lives.map((lives): Slot => {
    return {
      lives: [...lives],
      life: PEACE,
      child: undefined,
      ready: false,
      struck: false,
      timers: new Set(),
    };
  });

  function after(slot: Slot, ms: number, act: () => void): void {
    const timer = setTimeout(() => {
      slot.timers.delete(timer);
      act();
    }, ms);
    slot.timers.add(timer);
  }

  function live(slot: Slot): void {
    slot.life = slot.lives.shift() ?? PEACE;
    slot.ready = false;
    slot.struck = false;
    const { traps, lost } = slot.life;
    const { leaseMs, sweepMs } = plan;
    seed += 1;
    const setup: Setup = {
      store: paths.store,
      witness: paths.witness,
      leaseMs,
      sweepMs,
      traps,
      lost,
      seed,
      bug,
    };
    const child = spawn(
      process.execPath,
      [
        "--disable-warning=ExperimentalWarning",
        join(import.meta.dirname, "child.ts"),
        JSON.stringify(setup),
      ],
      {
        stdio: ["pipe", "ignore", errors],
        env: { ...process.env, NODE_COMPILE_CACHE: paths.cache, NODE_OPTIONS: "" },
      },
    );
    slot.child = child;
    child.once("error", (error) =>
      misdeeds.push(`a worker could not be started: ${error.message}`),
    );
    child.once("exit", (code, signal) => {
      catchUp(); // its own trap may have done it
      for (const timer of slot.timers) clearTimeout(timer);
      slot.timers.clear();
      const drained = strikes.findLast(({ pid, kind }) => pid === child.pid && kind === "drain");
      if (drained !== undefined) drained.until = Date.now();
      if (ending || fallen) return;
      if (!slot.struck) misdeeds.push(`a worker ended by itself (${signal ?? `code ${code}`})`);
      after(slot, 20, () => live(slot));
    });
  }

  function strike(
    slot: Slot,
    kind: Strike["kind"],
    at: number,
    point?: string,
  ): Strike | undefined {
    const pid = slot.child?.pid;
    if (slot.child === undefined || pid === undefined || isGone(slot.child)) return undefined;
    const done: Strike = { kind, point, pid, at, until: undefined };
    strikes.push(done);
    if (kind !== "freeze") slot.struck = true;
    return done;
  }

  function freeze(slot: Slot, leases: number, at: number, point?: string): void {
    const { child } = slot;
    const done = strike(slot, "freeze", at, point);
    if (done === undefined) return;
    if (point === undefined) child?.kill("SIGSTOP");
    after(slot, leases * plan.leaseMs, () => {
      done.until = Date.now();
      child?.kill("SIGCONT");
    });
  }

  function hit(slot: Slot, blow: Blow): void {
    if (blow.kind === "freeze") {
      freeze(slot, blow.leases, Date.now());
    } else if (strike(slot, blow.kind, Date.now()) !== undefined) {
      slot.child?.kill(blow.kind === "kill" ? "SIGKILL" : "SIGTERM");
    }
  }

  return {
    strikes,
    misdeeds,

    start() {
      for (const slot of slots) live(slot);
    },

    see(line) {
      const slot = slots.find(({ child }) => child?.pid === line.pid);
      if (slot === undefined) return;
      if (line.what === "ready") {
        slot.ready = true;
        for (const blow of slot.life.blows) after(slot, blow.afterMs, () => hit(slot, blow));
      }
      if (line.what !== "trap") return;
      if (line.signal === "SIGSTOP") freeze(slot, slot.life.leases, line.at, line.point);
      else {
        slot.struck = true;
        strikes.push({
          kind: "kill",
          point: line.point,
          pid: line.pid,
          at: line.at,
          until: undefined,
        });
      }
      if (line.signal === "power") powerless();
    },

    killBoth() {
      for (const slot of slots) hit(slot, { kind: "kill", afterMs: 0 });
    },

    async fall() {
      fallen = true;
      await Promise.all(
        slots.map(async (slot) => {
          for (const timer of slot.timers) clearTimeout(timer);
          slot.timers.clear();
          slot.ready = false;
          const { child } = slot;
          if (child === undefined || isGone(child)) return;
          const exit = once(child, "exit");
          const isKilled = strikes.some(({ pid, kind }) => pid === child.pid && kind === "kill");
          if (!isKilled) strike(slot, "kill", Date.now());
          child.kill("SIGKILL");
          await exit;
        }),
      );
    },

    rise() {
      fallen = false;
      for (const slot of slots) live(slot);
    },

    isPeaceful: () => slots.every(({ life, ready }) => life === PEACE && ready),

    async end() {
      ending = true;
      for (const slot of slots) {
        for (const timer of slot.timers) clearTimeout(timer);
        slot.child?.kill("SIGCONT");
        slot.child?.kill("SIGTERM");
      }
      await Promise.all(slots.map(({ child }) => gone(child, END_MS * plan.pace, misdeeds)));
      closeSync(errors);
    },
  };
}

function isGone({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode !== null || signalCode !== null;
}

async function gone(
  child: ChildProcess | undefined,
  limitMs: number,
  misdeeds: string[],
): Promise<void> {
  if (child === undefined || isGone(child)) return;
  const exit = once(child, "exit");
  const late = setTimeout(() => {
    misdeeds.push(`a worker did not end within ${Math.round(limitMs)} ms of SIGTERM`);
    child.kill("SIGKILL");
  }, limitMs);
  await exit;
  clearTimeout(late);
}

/** Where the poisoned read killed its worker is no named point. */
export function isNamedPoint(point: string | undefined): point is string {
  return point !== undefined && point !== POISON;
}
