import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { FakeSlack } from "../../test/fakes/slack/slack.ts";

const MAIN = fileURLToPath(import.meta.resolve("../../src/main.ts"));
const FLOOR = fileURLToPath(import.meta.resolve("../peers/bolt.ts"));
const LOOP_DELAY = import.meta.resolve("./loop-delay.ts");

/** A program that is measured: in a process of its own, connected to the fake. */
export interface Child {
  /** From here on its event loop is watched. */
  watch(): void;
  /** Ends it: its peak memory, MB, and the longest its event loop was held up, ms. */
  end(): Promise<{ peakMb: number; loopMs: number }>;
  /** Whatever it does. */
  kill(): void;
}

/** Ours or the floor, with this environment beside the fake's addresses. */
export async function startChild(
  which: "ours" | "floor",
  slack: FakeSlack,
  env: Record<string, string>,
): Promise<Child> {
  const folder = mkdtempSync(join(tmpdir(), "wk-bench-chat-"));
  const delayFile = join(folder, "delay");
  writeFileSync(join(folder, "watchkeeper.yaml"), "budgets: { tokensPerDay: 1000000000 }\n");
  const child = spawn(process.execPath, ["--import", LOOP_DELAY, which === "ours" ? MAIN : FLOOR], {
    cwd: folder,
    stdio: ["ignore", "ignore", "pipe"],
    env: {
      PATH: process.env["PATH"] ?? "",
      DATA_DIR: join(folder, "data"),
      SLACK_BOT_TOKEN: slack.botToken,
      SLACK_APP_TOKEN: slack.appToken,
      SLACK_API_URL: slack.apiUrl,
      LOOP_DELAY_FILE: delayFile,
      ...env,
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
  return {
    watch: () => void child.kill("SIGUSR2"),
    async end() {
      const peakMb = peakOf(child);
      child.kill("SIGTERM");
      if (child.exitCode === null) await once(child, "close");
      const loopMs = Number(readFileSync(delayFile, "utf8"));
      return { peakMb, loopMs };
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
