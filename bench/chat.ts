import { execFileSync, spawn } from "node:child_process";
import { availableParallelism } from "node:os";
import { parseArgs } from "node:util";
import { RedisServer } from "../test/fakes/redis-server.ts";
import { runTrials, type TrialPlan, type TrialReport } from "../test/trials/trials.ts";
import { PLANTED } from "../test/trials/planted.ts";
import { runWeather, type WeatherPlan } from "../test/trials/weather.ts";
import { burst, type Load, type Loaded, measureLoad, spaced } from "./chat/load.ts";

const USAGE = `Usage: npm run bench -- chat [options]
  --trials N   mentions at least in the trials on each store, and in bad weather on both platforms (1000; 0: no trials)
  --no-load    only the trials
  --burst      of the loads only the first, 1 000 mentions at once
  --busy       beside the loads, each core has another process that never rests
  --planted    at last the trial in bad weather with each planted fault, which it must see
  --seed S     who writes what and when processes die (default: drawn from the clock)
`;

const SLOW_DISK = { SLOW_FLUSH_MS: "5" };

/** The floor last, so that it does not have the machine's best minute. */
const PROGRAMS = {
  "ours, SQLite": (load: Load, thinkMs: number) => measureLoad("ours", load, { thinkMs }),
  "ours, slow disk": (load: Load, thinkMs: number) =>
    measureLoad("ours", load, { env: SLOW_DISK, thinkMs }),
  async "ours, Redis"(load: Load, thinkMs: number) {
    const redis = await RedisServer.start("--appendonly", "yes", "--appendfsync", "everysec");
    try {
      const env = {
        REDIS_URL: `unix://${redis.path}`,
        WATCHKEEPER_SECRET: "a secret of the bench, 32 long or more",
      };
      return await measureLoad("ours", load, { env, thinkMs });
    } finally {
      await redis.stop();
    }
  },
  "bare bolt": (load: Load) => measureLoad("floor", load),
};

type Name = keyof typeof PROGRAMS;

/** What is said of each program under a load. */
const ROWS: readonly (readonly [string, (loaded: Loaded) => number])[] = [
  ["acknowledged, p50 ms", ({ acks }) => quantile(acks, 0.5)],
  ["acknowledged, p99 ms", ({ acks }) => quantile(acks, 0.99)],
  ["events not acknowledged at once", ({ late }) => late],
  ["first sign, p50 ms", ({ signs }) => quantile(signs, 0.5)],
  ["first sign, p99 ms", ({ signs }) => quantile(signs, 0.99)],
  ["first thing in the thread, p50 ms", ({ first }) => quantile(first, 0.5)],
  ["first thing in the thread, p99 ms", ({ first }) => quantile(first, 0.99)],
  ["answer, p50 ms", ({ answered }) => quantile(answered, 0.5)],
  ["answer, p99 ms", ({ answered }) => quantile(answered, 0.99)],
  ["mentions answered per second", ({ answered, seconds }) => answered.length / seconds],
  ["answers", ({ answers }) => answers],
  ["notifications per answer", ({ notifications, answers }) => notifications / answers],
  ["statuses set per answer", (loaded) => statusesOf(loaded) / loaded.answers],
  ["Web API calls per answer", ({ calls, answers }) => sum(calls.values()) / answers],
  ["Web API calls per mention", ({ calls, answered }) => sum(calls.values()) / answered.length],
  ["peak memory, MB", ({ peakMb }) => peakMb],
  ["event loop held up at most, ms", ({ loopMs }) => loopMs],
  ["flushes per mention", ({ flushes, answered }) => flushes / answered.length],
  ["CPU ms per mention", ({ cpuSeconds, answered }) => (cpuSeconds * 1_000) / answered.length],
];

/**
 * `npm run bench -- chat`: the chat path beside a bare bolt app, then the trials. Returns the exit code: 1 when a trial
 * failed, 2 for arguments that it does not know.
 */
export async function printChat(args: readonly string[]): Promise<number> {
  const { values } = parseArgs({
    args: [...args],
    allowNegative: true,
    options: {
      trials: { type: "string", default: "1000" },
      load: { type: "boolean", default: true },
      burst: { type: "boolean", default: false },
      busy: { type: "boolean", default: false },
      seed: { type: "string", default: String(Date.now() % 1_000_000) },
      planted: { type: "boolean", default: false },
    },
  });
  const [mentions, seed] = [Number(values.trials), Number(values.seed)];
  if (!Number.isSafeInteger(mentions) || !Number.isSafeInteger(seed)) {
    process.stderr.write(USAGE);
    return 2;
  }
  let failed = 0;
  if (values.load) {
    // What an operator starts.
    execFileSync("npm", ["run", "-s", "build"]);
    const others = values.busy ? Array.from({ length: availableParallelism() }, startBusy) : [];
    failed += await printLoads(values.burst).finally(() => others.map((other) => other.kill()));
  }
  if (mentions > 0) {
    for (const store of ["SQLite", "Redis"] as const) {
      failed += await printTrials({ mentions, store, seed, pace: 8 });
    }
    failed += await printWeather({ mentions, seed, pace: 8 });
  }
  if (values.planted) failed += await printPlanted(seed);
  return failed === 0 ? 0 : 1;
}

/** A process that never rests. */
function startBusy() {
  return spawn(process.execPath, ["--eval", "for (;;);"], { stdio: "ignore" });
}

/** The number of promises that are broken. */
async function printLoads(onlyBurst: boolean): Promise<number> {
  let failed = 0;
  for (const [name, loaded] of await printLoad("1 000 mentions at once in 100 threads", burst))
    failed += printCounts(name, loaded);
  if (onlyBurst) return failed;
  const quick = "20 mentions per second for 10 s, each in a thread of its own";
  for (const [name, loaded] of await printLoad(quick, spaced))
    failed += printPromises(name, loaded, { statuses: 0 });
  const slow = "the same, with a model that thinks for 0.8 s";
  for (const [name, loaded] of await printLoad(slow, spaced, 800))
    failed += printPromises(name, loaded, { statuses: Infinity });
  return failed;
}

/** What holds however fast the machine is. */
function printCounts(name: Name, { late, doubled, flushes, answered }: Loaded): number {
  return printKept(name, "every count", [
    ["every event is acknowledged at once", late === 0],
    ["every mention is answered once", doubled === 0],
    ["at most 0.1 flushes per mention", flushes <= 0.1 * answered.length],
  ]);
}

/** What stands above is read, words are shown and taken away by the answer; one in ten asks for a name. */
const MAX_CALLS = 3.1;

/** What a person meets with each answer; the number of promises that are broken. */
function printPromises(name: Name, loaded: Loaded, most: { statuses: number }): number {
  const { signs, notifications, answers, calls } = loaded;
  const promises: [string, boolean][] = [
    ["the first sign comes within 1 s (p99)", quantile(signs, 0.99) < 1_000],
    ["exactly one notification per answer", notifications === answers],
    [
      `at most ${MAX_CALLS} calls per answer`,
      Number((sum(calls.values()) / answers).toFixed(1)) <= MAX_CALLS,
    ],
    ["an answer within 0.5 s sets no status", statusesOf(loaded) <= most.statuses],
  ];
  return printKept(name, "every promise to people", promises);
}

function printKept(name: Name, all: string, promises: readonly [string, boolean][]): number {
  if (name === "bare bolt") return 0;
  const broken = promises.filter(([, isKept]) => !isKept);
  for (const [promise] of broken) print(`BROKEN, ${name}: ${promise}`);
  if (broken.length === 0) print(`${name}: ${all} is kept`);
  return broken.length;
}

const STATUSES = ["agents.sessions.setStatus", "assistant.threads.setStatus", "reactions.add"];

function statusesOf({ calls }: Loaded): number {
  return sum(STATUSES.map((method) => calls.get(method) ?? 0));
}

async function printLoad(
  title: string,
  load: Load,
  thinkMs = 0,
): Promise<ReadonlyMap<Name, Loaded>> {
  const measured = new Map<Name, Loaded>();
  for (const name of Object.keys(PROGRAMS) as Name[]) {
    process.stderr.write(`${name} …\n`);
    measured.set(name, await PROGRAMS[name](load, thinkMs));
  }
  const floor = measured.get("bare bolt");
  const rows = ROWS.map(([label, of]) => [
    label,
    ...[...measured.values()].map((loaded) => {
      const [value, least] = [of(loaded), floor === undefined ? Number.NaN : of(floor)];
      const ratio = loaded === floor || least === 0 ? "" : ` (× ${(value / least).toFixed(1)})`;
      return `${rounded(value)}${ratio}`;
    }),
  ]);
  print(`\n${title}`);
  for (const [label = "", ...cells] of [["", ...measured.keys()], ...rows]) {
    print(`${label.padEnd(36)}${cells.map((cell) => cell.padStart(20)).join("")}`);
  }
  for (const [name, { calls, answers }] of measured) {
    const each = [...calls].map(([method, count]) => `${method} ${(count / answers).toFixed(2)}`);
    print(`calls per answer, ${name}: ${each.join(", ")}`);
  }
  return measured;
}

async function printTrials(plan: TrialPlan): Promise<number> {
  const began = performance.now();
  const report = await runTrials(plan);
  const seconds = Math.round((performance.now() - began) / 1_000);
  const { judged, failures, evidence } = report;
  print(`\ntrials on ${plan.store}, seed ${plan.seed}, ${seconds} s`);
  for (const line of trialLines(report)) print(line);
  for (const { thread, what } of failures) print(`FAILED ${thread}: ${what}`);
  if (failures.length === 0) {
    const bound = ((3 / judged) * 100).toFixed(2);
    print(
      `no failure in ${judged} mentions: fewer than ${bound} % are lost or doubled (3/N, 95 %)`,
    );
  } else print(evidence);
  return failures.length;
}

async function printWeather(plan: WeatherPlan): Promise<number> {
  const began = performance.now();
  const { answered, commands, elsewhere, drops, failures, faults, warnings } =
    await runWeather(plan);
  const seconds = Math.round((performance.now() - began) / 1_000);
  print(`\nbad weather on Slack and Discord, seed ${plan.seed}, ${seconds} s`);
  print(`${answered} messages, ${commands} commands; ${elsewhere} told to who asked, alone`);
  print(`${sum(faults.values())} faults, ${drops} dropped connections`);
  for (const [text, count] of warnings) print(`log, ${count} times: ${text}`);
  for (const failure of failures) print(`FAILED ${failure}`);
  if (failures.length === 0) print("nothing is lost, doubled or stuck");
  return failures.length;
}

/** The number of faults that the trial does not see as what they are. */
async function printPlanted(seed: number): Promise<number> {
  print("\nbad weather on a program with a planted fault");
  let unseen = 0;
  for (const [planted, { shows }] of Object.entries(PLANTED)) {
    const { failures } = await runWeather({ mentions: 60, seed, pace: 8, planted });
    const proof = failures.find((failure) => shows.test(failure));
    if (proof === undefined) unseen += 1;
    print(`${planted}: ${proof ?? `NOT SEEN (said: ${failures.join("; ")})`}`);
  }
  return unseen;
}

function* trialLines(report: TrialReport): Iterable<string> {
  const { judged, notAcknowledged, answers, takenBack, staleProgress, commands, people } = report;
  const { presses, repeated, settled, nudges } = people;
  yield `${judged} mentions acknowledged, ${notAcknowledged} not; ${answers} answers; ${report.strikes} kills`;
  yield `answers taken back and posted again: ${takenBack}; progress left behind: ${staleProgress.length}`;
  yield `commands: ${commands.once} carried out once, unknown ${commands.unknownDone} (done) and ${commands.unknownNotDone} (not), ${commands.notRun} not run`;
  yield `approvals pressed ${presses} times, ${repeated} presses not acknowledged; ${settled} outcomes settled; ${nudges} threads put aside and asked again`;
  yield `answer after ${spread(report.answeredMs)}`;
  yield `a killed process's run answered after ${spread(report.recoveredMs)} (${report.recoveredMs.length})`;
  yield `start to serving ${spread(report.startsMs)}`;
  for (const [text, count] of report.warnings) yield `log, ${count} times: ${text}`;
}

function spread(values: readonly number[]): string {
  const seconds = (share: number) => (quantile(values, share) / 1_000).toFixed(1);
  return `p50 ${seconds(0.5)} s, p95 ${seconds(0.95)} s, most ${seconds(1)} s`;
}

const sum = (values: Iterable<number>) => [...values].reduce((all, one) => all + one, 0);

function rounded(value: number): string {
  return value >= 100 || Number.isInteger(value) ? value.toFixed(0) : value.toPrecision(3);
}

function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
