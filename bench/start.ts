import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Figure, median } from "./journal.ts";

const MAIN = join(import.meta.dirname, "../src/main.ts");
const PAIRS = 9;

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
  const folder = mkdtempSync(join(tmpdir(), "wk-start-"));
  const path = { PATH: process.env["PATH"] ?? "" };
  // As `npm start` starts it.
  const cache = { NODE_COMPILE_CACHE: join(folder, "cache") };
  const env = { ...path, ...cache, DATA_DIR: folder, TERM: "xterm" };
  // `script` gives it a terminal: the prompt of a conversation is what is waited for.
  const ours = () =>
    spawn("script", ["-qec", `'${process.execPath}' '${MAIN}'`, "/dev/null"], { env });
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
      name: "start to first prompt ÷ import of @langchain/langgraph (aim ≤ 0.6)",
      value: `${ratio.toFixed(2)} (${a.toFixed(0)} ms, ${b.toFixed(0)} ms)`,
    },
    { name: "idle memory (aim ≤ 120 MB)", value: `${memory.toFixed(0)} MB` },
  ];
}

/** Resident memory, MB, of a conversation that nobody talks to, two seconds after its greeting. */
async function idleMemory(env: Record<string, string>): Promise<number> {
  const child = spawn(process.execPath, [MAIN], { env });
  await once(child.stdout, "data");
  await new Promise((resolve) => setTimeout(resolve, 2_000));
  const status = readFileSync(`/proc/${child.pid}/status`, "utf8");
  child.kill("SIGKILL");
  await once(child, "close");
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1_024;
}
