import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { FakeSlack } from "../../test/fakes/slack/slack.ts";

/** What an operator starts, and how: `npm start`, with the build that is there. */
const OURS = [
  "--max-semi-space-size=4",
  fileURLToPath(import.meta.resolve("../../bin/watchkeeper.js")),
];
const FLOOR = [fileURLToPath(import.meta.resolve("../peers/bolt.ts"))];
const LOOP_DELAY = import.meta.resolve("./loop-delay.ts");
const FLUSHES = import.meta.resolve("./flushes.ts");

/** What a program took, from `watch` on but for its memory. */
export interface Used {
  peakMb: number;
  /** The longest its event loop was held up. */
  loopMs: number;
  /** Of files to their disk, but for those that SQLite does by itself. */
  flushes: number;
  cpuSeconds: number;
}

/** A program that is measured: in a process of its own, connected to the fake. */
export interface Child {
  /** From here on its event loop is watched. */
  watch(): void;
  /** Ends it: what `Used` says. */
  end(): Promise<Used>;
  /** Whatever it does. */
  kill(): void;
}

/** Ours or the floor, with this environment beside the fake's addresses. `SLOW_FLUSH_MS`: a flush takes so much longer. */
export async function startChild(
  which: "ours" | "floor",
  slack: FakeSlack,
  env: Record<string, string>,
): Promise<Child> {
  const folder = mkdtempSync(join(tmpdir(), "wk-bench-chat-"));
  const delayFile = join(folder, "delay");
  const flushFile = join(folder, "flushes");
  writeFileSync(flushFile, "");
  writeFileSync(join(folder, "watchkeeper.yaml"), "budgets: { tokensPerDay: 1000000000 }\n");
  const { SLOW_FLUSH_MS: slowMs = "0", ...given } = env;
  const counting = `${FLUSHES}?${new URLSearchParams({ file: flushFile, slowMs }).toString()}`;
  const hooks = ["--import", LOOP_DELAY, "--import", counting];
  const child = spawn(process.execPath, [...hooks, ...(which === "ours" ? OURS : FLOOR)], {
    cwd: folder,
    stdio: ["ignore", "ignore", "pipe"],
    env: {
      PATH: process.env["PATH"] ?? "",
      DATA_DIR: join(folder, "data"),
      SLACK_BOT_TOKEN: slack.botToken,
      SLACK_APP_TOKEN: slack.appToken,
      SLACK_API_URL: slack.apiUrl,
      LOOP_DELAY_FILE: delayFile,
      ...given,
    },
  });
  let said = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    said = (said + text).slice(-10_000);
  });
  for (const until = Date.now() + 30_000; slack.connections === 0; await sleep(10)) {
    if (Date.now() > until || child.exitCode !== null) {
      child.kill("SIGKILL");
      throw new Error(`it did not connect: ${said}`);
    }
  }
  let [flushesBefore, cpuBefore] = [0, 0];
  return {
    watch() {
      child.kill("SIGUSR2");
      [flushesBefore, cpuBefore] = [statSync(flushFile).size, cpuSecondsOf(child)];
    },
    async end() {
      const flushes = statSync(flushFile).size - flushesBefore;
      const [peakMb, cpuSeconds] = [peakOf(child), cpuSecondsOf(child) - cpuBefore];
      child.kill("SIGTERM");
      if (child.exitCode === null) await once(child, "close");
      const loopMs = Number(readFileSync(delayFile, "utf8"));
      return { peakMb, loopMs, flushes, cpuSeconds };
    },
    kill() {
      child.kill("SIGKILL");
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function peakOf({ pid }: ChildProcess): number {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  return Number(/VmHWM:\s+(\d+)/.exec(status)?.[1]) / 1_024;
}

/** Of all its threads, in user mode and in the kernel; Linux counts in hundredths. */
function cpuSecondsOf({ pid }: ChildProcess): number {
  const [, after = ""] = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ");
  const [user, system] = after.split(" ").slice(11);
  return (Number(user) + Number(system)) / 100;
}
