import { type ChildProcess, spawn } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readRecording } from "./recording.ts";
import { startRecordedModel } from "./recorded-model.ts";
import { startShop } from "./shop.ts";

/**
 * `npm run demo`: the real program beside a small shop that is out of order. Only the model is a recording. Everything is on
 * loopback and in a folder of its own, and nothing is left of it.
 */

const MAIN = join(import.meta.dirname, "../src/main.ts");
const beside = (name: string) => join(import.meta.dirname, name);
/** The exit code of `ask` when a card waits. */
const NEEDS_APPROVAL = 3;

const isWatched = process.stdin.isTTY && process.stdout.isTTY;
const say = (text: string) => void process.stdout.write(`${text}\n`);

const folder = mkdtempSync(join(tmpdir(), "watchkeeper-demo-"));
const log = join(folder, "shop.log");
const shop = await startShop(log);
const recording = readRecording(readFileSync(beside("recording.json"), "utf8"), {
  shop: shop.url,
  log,
});
const model = await startRecordedModel(recording, { wordMs: isWatched ? 30 : 0 });
mkdirSync(join(folder, "packs"));
copyFileSync(beside("shop.yaml"), join(folder, "packs/shop.yaml"));
writeFileSync(join(folder, "watchkeeper.yaml"), `logs: { roots: [${JSON.stringify(folder)}] }\n`);

let running: ChildProcess | undefined;

interface Ended {
  code: number;
  /** What it printed, unless that went straight to this terminal. */
  printed: string;
}

/** Runs the program to its end: in this terminal, or with `input` typed and everything that it prints on stdout. */
async function run(args: readonly string[], input?: string): Promise<Ended> {
  const typed = args.map((arg) => (arg.includes(" ") ? JSON.stringify(arg) : arg)).join(" ");
  say(isWatched ? `\u001b[2m$ npm start -- ${typed}\u001b[0m` : `$ npm start -- ${typed}`);
  // oxlint-disable-next-line node/no-process-env -- the program that it starts needs some of it
  const { PATH, HOME, TERM, LANG, NO_COLOR, NODE_COMPILE_CACHE } = process.env;
  const child = spawn(process.execPath, [MAIN, ...args], {
    // Neither a .env nor a variable of the person's: it must reach for nothing of theirs.
    cwd: folder,
    env: {
      PATH,
      HOME,
      TERM,
      LANG,
      ...(NO_COLOR !== undefined && { NO_COLOR }),
      ...(NODE_COMPILE_CACHE !== undefined && { NODE_COMPILE_CACHE }),
      DATA_DIR: join(folder, "data"),
      PACKS_DIR: join(folder, "packs"),
      SHOP_URL: shop.url,
      MODEL: "openai-compatible/recorded",
      OPENAI_BASE_URL: model.url,
      LOG_LEVEL: "error",
    },
    stdio: input === undefined ? "inherit" : "pipe",
  });
  running = child;
  let printed = "";
  for (const stream of [child.stdout, child.stderr])
    stream?.on("data", (piece: Buffer) => {
      printed += piece.toString();
      process.stdout.write(piece);
    });
  child.stdin?.end(input);
  const code = await new Promise<number | null>((resolve) => child.on("close", resolve));
  running = undefined;
  return { code: code ?? 1, printed };
}

async function play(): Promise<boolean> {
  say(`A small shop runs at ${shop.url}, and its checkout fails since the last deploy.
The program, its tools and the shop are real. Only the model is a recording, so it needs no key.
`);
  const asked = await run(["ask", `Why does the checkout fail? ${shop.url}/checkout`], "");
  const thread = /--thread (terminal:\S+)/.exec(asked.printed)?.[1];
  if (asked.code !== NEEDS_APPROVAL || thread === undefined) return false;
  say(`
That process has ended. What it asked is in the journal, so the next one shows the card again.${
    isWatched ? "\nPress y and Enter to approve, n to deny, d for details; exit leaves." : ""
  }
`);
  await run(["--thread", thread], isWatched ? undefined : "y\n");
  say(
    shop.isHealthy
      ? "\nThe shop works again. Nothing is left running, and the demo's folder is gone."
      : "\nThe shop is as it was. Nothing is left running, and the demo's folder is gone.",
  );
  // A person may have decided otherwise.
  return isWatched || (shop.isHealthy && model.problems.length === 0);
}

async function end(): Promise<void> {
  running?.kill("SIGTERM");
  await Promise.all([shop.stop(), model.stop()]);
  rmSync(folder, { recursive: true, force: true });
}

for (const signal of ["SIGTERM", "SIGHUP"] as const)
  process.on(signal, () => void end().finally(() => process.exit(1)));
// The program takes Ctrl-C itself, and says how to leave.
process.on("SIGINT", () => undefined);
try {
  if (!(await play())) process.exitCode = 1;
  for (const problem of model.problems) process.stderr.write(`The recording: ${problem}\n`);
} finally {
  await end();
}
