import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { estimateTokens } from "../src/core/block.ts";
import type { Lab } from "./lab.ts";
import type { Fault } from "./part.ts";

/** Breaks things one after the other, and asks the bot, without a model, what is wrong. */

/** Alerts and rates need a few scrapes. */
const NOTICED_MS = 60_000;
const AGAIN_MS = 2_000;

interface Trial {
  fault: string;
  isNamed: boolean;
  /** Until the answer named the cause, and the answer's size. */
  seconds: number;
  tokens: number;
  /** What the commands print that a person would have typed, and how many they are. */
  raw: { tokens: number; commands: number };
  answer: string;
}

/** @throws Error when the fault cannot be made or mended */
export async function tryFault(lab: Lab, fault: Fault): Promise<Trial | undefined> {
  if (fault.named === undefined) return undefined;
  const { ask, says, raw } = fault.named;
  await fault.break(lab);
  const began = Date.now();
  try {
    for (;;) {
      const answer = askBot(lab, ask);
      const seconds = Math.round((Date.now() - began) / 1_000);
      const isNamed = says.test(answer);
      if (isNamed || Date.now() - began > NOTICED_MS)
        return {
          fault: fault.name,
          isNamed,
          seconds,
          tokens: estimateTokens(answer),
          raw: { tokens: measure(lab, raw), commands: raw.length },
          answer,
        };
      await sleep(AGAIN_MS);
    }
  } finally {
    await fault.mend(lab);
  }
}

function askBot(lab: Lab, text: string): string {
  const root = join(import.meta.dirname, "..");
  const { stdout } = spawnSync("npm", ["start", "-s", "--", "ask", asked(lab, text)], {
    cwd: root,
    encoding: "utf8",
    env: { ...process.env, ...lab.state.variables, DATA_DIR: lab.place("bot") },
  });
  return stdout;
}

/** Tokens of what these commands print in a shell of the lab's folder. */
function measure(lab: Lab, commands: readonly string[]): number {
  const printed = commands.map((command) => {
    const { stdout, stderr } = spawnSync("sh", ["-c", command], {
      cwd: lab.folder,
      encoding: "utf8",
      env: { ...process.env, ...lab.state.variables },
    });
    return stdout + stderr;
  });
  return estimateTokens(printed.join(""));
}

/** `$SHOP_URL` and the like stand for the lab's addresses. */
function asked({ state }: Lab, text: string): string {
  return text.replaceAll(/\$([A-Z_]+)/g, (_, name: string) => state.variables[name] ?? "");
}
