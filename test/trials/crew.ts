import { type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { between, pick, type Random } from "../chaos/random.ts";
import type { Program } from "../fakes/program.ts";
import type { Machine } from "./power.ts";

/** A process killed, and what it was seen to have in its hands: runs it had begun, as `<key> <run>`. */
export interface Strike {
  /** ms since 1970. */
  at: number;
  runs: ReadonlySet<string>;
}

/** The processes of one installation, which are killed and come back. */
export interface Crew {
  readonly strikes: readonly Strike[];
  /** From each start to serving, ms. */
  readonly startsMs: readonly number[];
  /** Log lines of level warn and above, by their text. */
  readonly warnings: ReadonlyMap<string, number>;
  /** Resolves when all of them serve. @throws Error when one ended by itself before */
  ready(): Promise<void>;
  /**
   * Kills one after the other, each `everyMs` after the last or, where none serves yet, as soon as one does. Where they have a machine
   * it dies with them.
   */
  strike(everyMs: { least: number; most: number }, signal: AbortSignal): Promise<void>;
  stop(): Promise<void>;
}

interface Replica {
  child: ChildProcess;
  serving: Promise<void>;
  isServing: boolean;
  runs: Set<string>;
}

interface LogLine {
  level: number;
  msg: string;
  key?: string;
  run?: string;
}

const START_MS = 60_000;

/** A line that is no JSON is Node's own word, such as of a crash. */
function readLine(line: string): LogLine {
  return line.startsWith("{") ? (JSON.parse(line) as LogLine) : { level: 60, msg: line };
}

export function startCrew(
  program: Program,
  count: number,
  random: Random,
  machine?: Machine,
): Crew {
  const strikes: Strike[] = [];
  const startsMs: number[] = [];
  const warnings = new Map<string, number>();
  let stopped = false;

  function hear(replica: Replica, { level, msg, key, run }: LogLine, serve: () => void): void {
    if (level >= 40) warnings.set(msg, (warnings.get(msg) ?? 0) + 1);
    if (msg === "run started") replica.runs.add(`${key} ${run}`);
    if (msg === "serving") serve();
  }

  function start(): Replica {
    const began = performance.now();
    const child = program.start();
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    promise.catch(() => undefined); // whoever waits for it hears of it
    const replica: Replica = { child, serving: promise, isServing: false, runs: new Set() };
    const serve = () => {
      startsMs.push(performance.now() - began);
      replica.isServing = true;
      resolve();
    };
    let rest = "";
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      const lines = (rest + text).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) if (line !== "") hear(replica, readLine(line), serve);
    });
    child.stdout.resume();
    child.on("exit", (code) => {
      if (code === null) return;
      const said = [...warnings.keys()].join("\n");
      reject(new Error(`a process ended by itself with code ${code}; logged:\n${said}`));
    });
    return replica;
  }

  const replicas = Array.from({ length: count }, start);

  async function kill({ child }: Replica): Promise<void> {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const gone = once(child, "close");
    child.kill("SIGKILL");
    await gone;
  }

  async function ready(): Promise<void> {
    const late = Promise.withResolvers<never>();
    const timer = setTimeout(() => late.reject(new Error("a process does not serve")), START_MS);
    const all = Promise.all(replicas.map(({ serving }) => serving));
    await Promise.race([all, late.promise]).finally(() => clearTimeout(timer));
  }

  return {
    strikes,
    startsMs,
    warnings,
    ready,
    async strike({ least, most }, signal) {
      while (!signal.aborted) {
        await sleep(between(random, least, most), undefined, { signal }).catch(() => {});
        // Mostly the others are there to take over; now and then all are struck at once.
        const isWhole = between(random, 1, 4) > 1;
        const starts = replicas.map(({ serving }) => serving);
        await (isWhole ? Promise.all(starts) : Promise.race(starts));
        if (signal.aborted || stopped) return;
        const serving = replicas.filter(({ isServing }) => isServing);
        if (serving.length === 0) continue;
        const struck = pick(random, serving);
        strikes.push({ at: Date.now(), runs: struck.runs });
        machine?.die();
        await kill(struck);
        machine?.restart();
        replicas[replicas.indexOf(struck)] = start();
      }
    },
    async stop() {
      stopped = true;
      await Promise.all(replicas.map(kill));
    },
  };
}
