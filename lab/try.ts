import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { estimateTokens } from "../src/core/block.ts";
import type { Looked } from "./checks.ts";
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

/** How the checks of the skills did without a model. */
export interface CheckTrial {
  fault: string;
  /** Its cause is the first thing that is said. */
  isFirst: boolean;
  isNamed: boolean;
  looked: Looked;
  /** What was said while nothing was broken. */
  before: Looked;
  seconds: number;
}

/** Asks as somebody who notices it: before it is broken, and from then on until its cause is named. */
export async function tryChecks(lab: Lab, fault: Fault): Promise<CheckTrial> {
  const { question, cause } = fault.asked;
  const mended = Date.now();
  let before = askChecks(lab, question);
  // What the fault before it left fires for a while.
  while (before.causes.length > 0 && Date.now() - mended < NOTICED_MS) {
    await sleep(AGAIN_MS);
    before = askChecks(lab, question);
  }
  await fault.break(lab);
  const began = Date.now();
  try {
    for (;;) {
      const looked = askChecks(lab, question);
      const seconds = Math.round((Date.now() - began) / 1_000);
      const at = looked.causes.findIndex((text) => cause.test(text));
      if (at !== -1 || Date.now() - began > NOTICED_MS)
        return {
          fault: fault.name,
          isNamed: at !== -1,
          isFirst: at === 0,
          looked,
          before,
          seconds,
        };
      await sleep(AGAIN_MS);
    }
  } finally {
    await fault.mend(lab);
  }
}

function askChecks(lab: Lab, question: string): Looked {
  const program = join(import.meta.dirname, "checks.ts");
  const { stdout, stderr } = spawnSync(process.execPath, [program, asked(lab, question)], {
    cwd: lab.place("bot"),
    encoding: "utf8",
    env: { ...process.env, ...lab.state.variables, DATA_DIR: lab.place("bot"), MODEL: "" },
  });
  if (stdout === "") throw new Error(stderr);
  const looked: Looked = JSON.parse(stdout);
  return looked;
}
