/**
 * The kill tests: real worker processes on one real SQLite folder, with people who write and click meanwhile and a model
 * that does what they ask for, are killed (SIGKILL) and frozen (SIGSTOP past their lease) at every named point and at
 * random, drained (SIGTERM), two at once and again while they recover; and the machine dies under both, so that the store is again
 * what was flushed of it. What happened is seen by a witness outside of them; the invariants of SAFETY.md must hold.
 * Then stores with a planted bug must each be caught, and attackers whom the model obeys must get nothing (test/puppet).
 *
 * A trial is a thread that a worker had in its hands when it was struck (`verdictOf`). The seed fixes who writes what,
 * when people react and where workers die; it does not fix the operating system's scheduling. Some of the workers' requests
 * to the store fail, before or after they are carried out.
 *
 * Not covered: disk errors, a disk that loses what it says is flushed, other stores than SQLite, more than two workers,
 * a chat that refuses, real tools and their child processes, clocks that jump.
 */

import { rm } from "node:fs/promises";
import { parseArgs } from "node:util";
import { type BatchRecord, makeFolder, removeFolder, runBatch } from "./batch.ts";
import {
  batchesOf,
  campaignBatch,
  type Campaign,
  controlOf,
  type Missed,
  missedBatch,
  missedOf,
  powerBatch,
} from "./campaign.ts";
import { type Bug, BUGS, isBug } from "./faults.ts";
import { casesOf, runCases } from "../puppet/campaign.ts";
import { type BatchPlan, POINTS } from "./plan.ts";
import { pointTable, table, total } from "./report.ts";
import { type Verdict, verdictOf } from "./verdict.ts";

const USAGE = `Usage: npm run chaos [-- options]
  --short       every point once, two batches whose machine dies, and the planted bugs, in about four minutes
  --trials N    how many trials at least (2000; --short: 250)
  --seed S      repeats a plan (default: drawn from the clock)
  --only I      only the I-th batch of the plan
  --keep        keeps the folders of failed batches
  --no-bugs     leaves out the planted bugs`;

interface Options {
  campaign: Campaign;
  trials: number;
  only: number | undefined;
  keep: boolean;
  bugs: boolean;
}

interface Tally {
  verdicts: Verdict[];
  failedTrials: number;
  checks: { passed: number; failed: number };
}

/** Of attacks by way of what the model reads: about 20 ms each. */
const ATTACKS = 30_000;
const SHORT_ATTACKS = 1_000;
/** Batches at most for traps that did not spring by themselves. */
const MAX_MISSED_ROUNDS = 20;
/** Batches whose machine dies. */
const POWER_BATCHES = { short: 2, full: 20 };
/** More rounds than any campaign needs: a batch makes dozens of trials. */
const MAX_BATCHES = 2_000;
/** A control whose bug leaves something undone waits no longer for it. */
const CONTROL_PATIENCE_MS = 4_000;
/** The window of a bug may be missed once; three batches that all miss it mean that it cannot be seen. */
const CONTROL_ROUNDS = 3;

function readOptions(argv: string[]): Options | undefined {
  const { values } = parseArgs({
    args: argv,
    allowNegative: true,
    options: {
      short: { type: "boolean", default: false },
      trials: { type: "string" },
      seed: { type: "string", default: String(Date.now() % 1_000_000) },
      only: { type: "string" },
      keep: { type: "boolean", default: false },
      bugs: { type: "boolean", default: true },
      help: { type: "boolean", default: false },
    },
  });
  const only = values.only === undefined ? undefined : Number(values.only);
  const trials = Number(values.trials ?? (values.short ? 250 : 2_000));
  const seed = Number(values.seed);
  const numbers = [trials, seed, only ?? 0];
  if (values.help || !numbers.every((each) => Number.isSafeInteger(each) && each >= 0))
    return undefined;
  const campaign: Campaign = { seed, depth: values.short ? "short" : "full" };
  return { campaign, trials, only, keep: values.keep, bugs: values.bugs && only === undefined };
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}

async function main(argv: string[]): Promise<number> {
  const options = readOptions(argv);
  if (options === undefined) {
    print(USAGE);
    return 2;
  }
  const began = performance.now();
  const stop = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    process.once(signal, () => stop.abort(new Error("interrupted")));
  }
  const folder = await makeFolder();
  let kept = false;
  const tally: Tally = { verdicts: [], failedTrials: 0, checks: { passed: 0, failed: 0 } };
  const seconds = () => (performance.now() - began) / 1_000;

  async function run(plan: BatchPlan): Promise<void> {
    stop.signal.throwIfAborted();
    const record = await runBatch(plan, { folder, signal: stop.signal });
    stop.signal.throwIfAborted();
    const verdict = verdictOf(record);
    tally.verdicts.push(verdict);
    const { figures, failed } = verdict;
    const said = failed.size === 0 ? "ok" : `${failed.size} FAILED`;
    print(
      `batch ${plan.name}: ${figures.trials} trials, ${record.strikes.length} strikes, ${said} (${seconds().toFixed(0)} s, pace ${record.plan.pace.toFixed(1)})`,
    );
    for (const [key, what] of failed) for (const each of what) print(`  ${key}: ${each}`);
    tally.failedTrials += failed.size;
    await tidy(record, failed.size > 0);
  }

  async function tidy(record: BatchRecord, failed: boolean): Promise<void> {
    if (failed) print(`  again: npm run chaos -- ${again(options, record.plan)} --keep`);
    if (failed && options?.keep === true) {
      kept = true;
      print(`  kept: ${record.folder}`);
    } else await removeFolder(record);
  }

  try {
    await strike(options, tally, run);
    if (options.only === undefined) await deceive(options, tally, stop.signal);
    if (options.bugs) await plant(options, tally, { folder, signal: stop.signal });
  } catch (error) {
    if (!stop.signal.aborted) throw error;
    print("interrupted");
    return 1;
  } finally {
    if (!kept) await rm(folder, { recursive: true, force: true });
  }
  return conclude(options, tally, seconds());
}

/** What runs this batch again; one for missed points depends on all before it. */
function again(options: Options | undefined, { name }: BatchPlan): string {
  if (options === undefined) return "";
  const { seed, depth } = options.campaign;
  const only = /^\d+$/.test(name) ? ` --only ${name}` : "";
  return `${depth === "short" ? "--short " : ""}--seed ${seed}${only}`;
}

/** The campaign's batches until there are enough trials and a trap was set at every point, then more for points that were not reached. */
async function strike(
  options: Options,
  tally: Tally,
  run: (plan: BatchPlan) => Promise<void>,
): Promise<void> {
  const { campaign, only, trials } = options;
  if (only !== undefined) return run(campaignBatch(campaign, only));
  const done = () => total(tally.verdicts);
  const missed = () => {
    const { killsAtPoint, freezesAtPoint } = done();
    return missedOf(campaign, new Set(killsAtPoint.keys()), new Set(freezesAtPoint.keys()));
  };
  const isEnough = (batches: number) =>
    done().trials >= trials && (batches >= batchesOf(campaign) || missed().length === 0);
  for (let index = 0; !isEnough(index) && index < MAX_BATCHES; index++) {
    await run(campaignBatch(campaign, index));
  }
  const named = (points: Missed[]) =>
    points.map(({ point, signal }) => `${signal} ${point}`).join(", ");
  for (let round = 0; missed().length > 0 && round < MAX_MISSED_ROUNDS; round++) {
    print(`not reached yet: ${named(missed())}`);
    await run(missedBatch(campaign, missed(), round));
  }
  for (let index = 0; index < POWER_BATCHES[campaign.depth]; index++)
    await run(powerBatch(campaign, index));
  const left = missed();
  if (left.length === 0) tally.checks.passed += 1;
  else {
    tally.checks.failed += 1;
    print(`points that no worker came by: ${named(left)}`);
  }
}

/** Attacks on a bot whose model obeys every word: the model falls for all of them, the bot for none. */
async function deceive(
  { campaign: { depth, seed } }: Options,
  tally: Tally,
  signal: AbortSignal,
): Promise<void> {
  const count = depth === "short" ? SHORT_ATTACKS : ATTACKS;
  const { cases, modelSuccesses, systemSuccesses, failures } = await runCases(
    casesOf(count, seed),
    { signal, onProgress: (done) => done % 3_000 === 0 && print(`attacks: ${done} of ${count}`) },
  );
  const failed = systemSuccesses + cases - modelSuccesses;
  tally.checks.failed += failed;
  tally.checks.passed += Math.max(0, cases - failed);
  for (const failure of failures.slice(0, 100)) print(`  ${failure}`);
  print(
    `attacks: the model obeyed ${modelSuccesses} of ${cases}, ${systemSuccesses} got something from the bot`,
  );
}

/** Every planted bug must be seen, as what it is. Two at a time: a batch mostly waits. */
async function plant(
  { campaign }: Options,
  tally: Tally,
  where: { folder: string; signal: AbortSignal },
): Promise<void> {
  const bugs = Object.keys(BUGS).filter(isBug).values();
  await Promise.all([tryEach(), tryEach()]);

  async function tryEach(): Promise<void> {
    for (const bug of bugs) await tryOne(bug);
  }

  async function tryOne(bug: Bug): Promise<void> {
    let said: string[] = [];
    let proof: string | undefined;
    for (let round = 0; round < CONTROL_ROUNDS && proof === undefined; round++) {
      where.signal.throwIfAborted();
      const { plan, expected } = controlOf(bug, campaign.seed + round);
      const record = await runBatch(plan, { ...where, bug, patienceMs: CONTROL_PATIENCE_MS });
      said = [...verdictOf(record).failed.values()].flat();
      const caught = said.filter((each) => expected.test(each));
      if (caught[0] !== undefined) proof = `caught ${caught.length} times, such as: ${caught[0]}`;
      await removeFolder(record);
    }
    tally.checks[proof === undefined ? "failed" : "passed"] += 1;
    print(`planted: ${bug}: ${proof ?? `NOT CAUGHT (said: ${said.join("; ")})`}`);
  }
}

function conclude(
  options: Options,
  { verdicts, failedTrials, checks }: Tally,
  seconds: number,
): number {
  const figures = total(verdicts);
  const passed = figures.trials - failedTrials + checks.passed;
  const failed = failedTrials + checks.failed;
  print("");
  print(pointTable(figures, POINTS));
  print("");
  print(table(figures, seconds, options.campaign.seed));
  if (failedTrials === 0 && figures.trials > 0) {
    print(
      `no failure in ${figures.trials} trials: fewer than ${((3 / figures.trials) * 100).toFixed(2)} % fail (3/N, 95 %)`,
    );
  }
  print(`${Math.max(0, passed)} passed, ${failed} failed`);
  return failed === 0 ? 0 : 1;
}

process.exitCode = await main(process.argv.slice(2));
