import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { between, seededRandom } from "../chaos/random.ts";
import { Program } from "../fakes/program.ts";
import { RedisServer } from "../fakes/redis-server.ts";
import { FakeSlack } from "../fakes/slack/slack.ts";
import { type ChatLog, isAnswer, isProgress, marksIn, openChatLog } from "./chat-log.ts";
import { type Crew, startCrew } from "./crew.ts";
import { startEchoModel } from "./echo-model.ts";
import { createPeople, type People } from "./people.ts";
import { createMachine, mortalEnv } from "./power.ts";
import { type Audited, type Verdict, verdictOf } from "./verdict.ts";

export interface TrialPlan {
  /** Mentions that people write; those who are asked to write again write more. */
  mentions: number;
  /** Two processes share a Redis; on SQLite there is one. */
  store: "SQLite" | "Redis";
  seed: number;
  /** Mentions per second. */
  pace: number;
}

export interface TrialReport extends Verdict {
  strikes: number;
  startsMs: readonly number[];
  people: People["counts"];
  warnings: ReadonlyMap<string, number>;
  /** The journals and calls of the first threads with a failure or stale progress. */
  evidence: string;
}

/** Three copies of every event, in random order; Slack's later attempts after 1 min and 5 min, here a twentieth. */
const DELIVERY = { copies: 3, retriesMs: [10, 3_000, 15_000] };
/** A response of Slack's takes a moment, in which a process can be killed. */
const LATENCY_MS = 30;
/** A model thinks; in two of three runs long enough for progress to be shown. */
const MODEL_MS = { least: 0, most: 1_500 };
const STRIKE_MS = { least: 500, most: 3_000 };
/** After the last thing that happened it is taken to be all that will. Longer than a lease, a sweep and a retry. */
const QUIET_MS = 20_000;
const SHOWN_FAILURES = 5;

/**
 * People write and press while processes are killed (SIGKILL) and started again, on SQLite with their machine, so that what was not
 * flushed is gone; then everything is left to settle and judged. The seed fixes who writes what and when processes die, not the operating system's scheduling.
 */
export async function runTrials(plan: TrialPlan): Promise<TrialReport> {
  const random = seededRandom(plan.seed);
  const { copies, retriesMs } = DELIVERY;
  const slack = await FakeSlack.start({
    shuffle: { copies, seed: plan.seed },
    seed: plan.seed,
    retryDelaysMs: retriesMs,
    latencyMs: LATENCY_MS,
  });
  const model = await startEchoModel(() => between(random, MODEL_MS.least, MODEL_MS.most));
  const redis = plan.store === "Redis" ? await startRedis() : undefined;
  const program = new Program({
    ...model.env,
    NODE_COMPILE_CACHE: "cache",
    LOG_LEVEL: "info",
    SLACK_BOT_TOKEN: slack.botToken,
    SLACK_APP_TOKEN: slack.appToken,
    SLACK_API_URL: slack.apiUrl,
    ...(redis === undefined && mortalEnv),
    ...(redis && {
      REDIS_URL: `unix://${redis.path}`,
      WATCHKEEPER_SECRET: "a secret of the trials, 32 long or more",
    }),
  });
  const machine = redis === undefined ? createMachine(program.store) : undefined;
  let crew: Crew | undefined;
  try {
    // No word of it is to be taken for a mark.
    const folder = join(program.folder, "made");
    mkdirSync(folder);
    writeFileSync(
      join(program.folder, "watchkeeper.yaml"),
      "budgets: { tokensPerDay: 1000000000 }\n",
    );
    await program.run(["doctor"]); // fills the compile cache
    crew = startCrew(program, redis === undefined ? 1 : 2, random, machine);
    await crew.ready();
    machine?.started();
    const log = openChatLog(slack);
    const people = createPeople(slack, log, folder, random);
    const tending = setInterval(() => people.tend(), 100);
    try {
      await rage(people, crew, plan);
      await crew.ready();
      await settle(slack, people, log);
    } finally {
      clearInterval(tending);
      people.end();
    }
    await crew.stop();
    return await report({ slack, program, people, log, crew });
  } finally {
    await crew?.stop();
    machine?.close();
    program.remove();
    await slack.stop();
    await model.stop();
    await redis?.stop();
  }
}

function startRedis(): Promise<RedisServer> {
  return RedisServer.start("--appendonly", "yes", "--appendfsync", "everysec");
}

/** Writes at the pace while processes are struck, and until nothing more is written. */
async function rage(people: People, crew: Crew, { mentions, pace }: TrialPlan): Promise<void> {
  const over = new AbortController();
  const striking = crew.strike(STRIKE_MS, over.signal);
  striking.catch(() => over.abort()); // thrown below
  const began = performance.now();
  for (let i = 0; i < mentions && !over.signal.aborted; i++) {
    await sleep(Math.max(0, began + (i * 1_000) / pace - performance.now()));
    people.write();
  }
  over.abort();
  await striking;
}

/** Waits until everything is answered and no progress is left, or nothing has happened for a while. */
async function settle(slack: FakeSlack, people: People, log: ChatLog): Promise<void> {
  let quietSince = Date.now();
  let before = -1;
  for (;;) {
    await sleep(250);
    await slack.idle();
    const sights = log.read();
    if (sights.length !== before) [before, quietSince] = [sights.length, Date.now()];
    const quietMs = Date.now() - quietSince;
    const answered = new Set(
      sights.flatMap((sight) => (isAnswer(sight) ? marksIn(sight.text) : [])),
    );
    const last = new Map(sights.map((sight) => [sight.ts, sight]));
    const isOver =
      people.mentions.every(({ mark }) => answered.has(mark)) &&
      ![...last.values()].some((sight) => sight.what !== "deleted" && isProgress(sight));
    if (quietMs > QUIET_MS || (isOver && quietMs > 3_000)) return;
  }
}

interface Ended {
  slack: FakeSlack;
  program: Program;
  people: People;
  log: ChatLog;
  crew: Crew;
}

async function report({ slack, program, people, log, crew }: Ended): Promise<TrialReport> {
  const { out, err } = await program.run(["audit"]);
  const lines = out.trim().split("\n");
  if (lines.length < 2) throw new Error(`the audit says nothing: ${err}`);
  const audit = lines.map((line) => JSON.parse(line) as Audited);
  const acknowledged = new Set<string>();
  for (const { mark, ts } of people.mentions) {
    const acks = await slack.acknowledged(ts);
    if (acks.some((ack) => ack.acknowledged)) acknowledged.add(mark);
  }
  const { strikes, startsMs, warnings } = crew;
  const verdict = verdictOf({ slack, people, log, strikes, acknowledged, audit });
  const failed = new Set(verdict.failures.map(({ thread }) => thread));
  for (const thread of verdict.staleProgress) failed.add(thread);
  const evidence: string[] = [];
  for (const thread of [...failed].slice(0, SHOWN_FAILURES)) {
    const key = `slack:${slack.team.id}:${people.channel.id}:${thread}`;
    evidence.push((await program.run(["trace", key])).out);
    for (const { at, ...sight } of log.read().filter((each) => each.thread === thread)) {
      evidence.push(`${new Date(at).toISOString()} ${JSON.stringify(sight)}`);
    }
    for (const { at } of strikes) evidence.push(`${new Date(at).toISOString()} SIGKILL`);
  }
  return {
    ...verdict,
    strikes: strikes.length,
    startsMs,
    people: people.counts,
    warnings,
    evidence: evidence.join("\n"),
  };
}
