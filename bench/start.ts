import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { FakeDiscord } from "../test/fakes/discord/discord.ts";
import { RedisServer } from "../test/fakes/redis-server.ts";
import { FakeSlack } from "../test/fakes/slack/slack.ts";
import { type Figure, median } from "./journal.ts";

const MAIN = join(import.meta.dirname, "../bin/watchkeeper.js");
const PAIRS = 9;
/** What `npm start` gives Node: young objects may take a few MB, not the usual 48, and have them at once. */
const FLAGS = ["--min-semi-space-size=4", "--max-semi-space-size=4"];

async function timed(
  begin: () => ChildProcess,
  until: (child: ChildProcess) => Promise<unknown>,
): Promise<number> {
  const began = performance.now();
  const child = begin();
  await until(child);
  const ms = performance.now() - began;
  child.kill("SIGKILL");
  if (child.exitCode === null && child.signalCode === null) await once(child, "close");
  return ms;
}

/** Start to the first prompt beside the import of a peer's core, pair by pair, and the memory it then takes. */
export async function startFigures(): Promise<Figure[]> {
  execFileSync("npm", ["run", "-s", "build"], { cwd: join(import.meta.dirname, "..") });
  const folder = mkdtempSync(join(tmpdir(), "wk-start-"));
  const path = { PATH: process.env["PATH"] ?? "" };
  // As `npm start` starts it.
  const cache = { NODE_COMPILE_CACHE: join(folder, "cache") };
  const env = { ...path, ...cache, DATA_DIR: folder, TERM: "xterm" };
  // `script` gives it a terminal: the prompt of a conversation is what is waited for.
  const ours = () =>
    spawn("script", ["-qec", `'${process.execPath}' ${FLAGS.join(" ")} '${MAIN}'`, "/dev/null"], {
      env,
    });
  const peer = () =>
    spawn(process.execPath, ["-e", "await import('@langchain/langgraph')"], {
      cwd: import.meta.dirname,
      env: path,
    });
  const prompt = async (child: ChildProcess) => {
    for await (const chunk of child.stdout ?? []) if (String(chunk).includes("›")) return;
    throw new Error("no prompt came");
  };
  const exit = (child: ChildProcess) => once(child, "close");
  // The first start fills the compile cache when it ends, and every later one finds it.
  await timed(ours, async (child) => {
    child.stdin?.end("/exit\r");
    await exit(child);
  });
  await timed(peer, exit);
  const pairs: { ours: number; peer: number }[] = [];
  for (let i = 0; i < PAIRS; i++)
    pairs.push({ ours: await timed(ours, prompt), peer: await timed(peer, exit) });
  const ratio = median(pairs.map((pair) => pair.ours / pair.peer));
  const [a, b] = [median(pairs.map((pair) => pair.ours)), median(pairs.map((pair) => pair.peer))];
  const memory = await idleMemory(env);
  rmSync(folder, { recursive: true, force: true });
  return [
    {
      name: "start to first prompt ÷ import of @langchain/langgraph (aim ≤ 0.3)",
      value: `${ratio.toFixed(2)} (${a.toFixed(0)} ms, ${b.toFixed(0)} ms)`,
    },
    { name: "idle memory, terminal (aim ≤ 70 MB)", value: `${memory.toFixed(0)} MB` },
    {
      name: "idle memory, everything (aim ≤ 140 MB)",
      value: `${(await everything()).toFixed(0)} MB`,
    },
  ];
}

/** Resident memory, MB, two seconds after the program has said on `stream` that it is ready. */
async function idleMemory(
  env: Record<string, string>,
  stream: "stdout" | "stderr" = "stdout",
  ready = "",
): Promise<number> {
  const child = spawn(process.execPath, [...FLAGS, MAIN], { env });
  let said = "";
  await new Promise<void>((resolve) => {
    child[stream].on("data", (chunk) => {
      said += String(chunk);
      if (said.includes(ready)) resolve();
    });
  });
  await new Promise((resolve) => setTimeout(resolve, 2_000));
  const status = readFileSync(`/proc/${child.pid}/status`, "utf8");
  child.kill("SIGKILL");
  await once(child, "close");
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1_024;
}

/** Slack, Discord, Redis and a model in one process that nobody talks to. */
async function everything(): Promise<number> {
  const [slack, discord] = [await FakeSlack.start(), await FakeDiscord.start()];
  const redis = await RedisServer.start("--appendonly", "yes");
  try {
    return await idleMemory(
      {
        PATH: process.env["PATH"] ?? "",
        DATA_DIR: redis.folder,
        SLACK_BOT_TOKEN: slack.botToken,
        SLACK_APP_TOKEN: slack.appToken,
        SLACK_API_URL: slack.apiUrl,
        DISCORD_TOKEN: discord.token,
        DISCORD_API_URL: discord.apiUrl,
        REDIS_URL: `unix://${redis.path}`,
        WATCHKEEPER_SECRET: "only for this benchmark, 32 long",
        MODEL: "anthropic/claude-sonnet-5-5",
        ANTHROPIC_API_KEY: "sk-ant-of-this-benchmark",
      },
      "stderr",
      '"serving"',
    );
  } finally {
    await Promise.all([slack.stop(), discord.stop(), redis.stop()]);
  }
}
