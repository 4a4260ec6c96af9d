import { execFile } from "node:child_process";
import { closeSync, mkdtempSync, openSync, readSync, rmSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { promisify } from "node:util";
import { createEncoder } from "../src/security/encoder.ts";
import { Miner } from "../src/tools/logs/miner.ts";
import { createThread } from "../src/tools/logs/thread.ts";
import { type Figure, median } from "./journal.ts";

const MB = 1_000_000;
const CHUNK_BYTES = 1024 * 1024;
const ROUNDS = 7;
const STEP_MS = 250;

/** Lines as five kinds of programs write them, all of them different. */
const KINDS: ((i: number, time: string) => string)[] = [
  (i, time) =>
    `${time} INFO  [http-${i % 40}] c.s.OrderController - order ${i * 7} accepted for customer ${i * 13} in ${i % 300} ms`,
  (i, time) =>
    `10.0.${i % 256}.${i % 100} - - [${time}] "GET /api/items/${i}?page=${i % 9} HTTP/1.1" ${i % 50 === 0 ? 502 : 200} ${i % 9_999} "-" "Mozilla/5.0 (X11; Linux x86_64)"`,
  (i, time) =>
    `{"time":"${time}","level":"${i % 9 === 0 ? "error" : "info"}","msg":"request ${i} finished","user":"u${i}","status":${i % 9 === 0 ? 500 : 200},"ms":${i % 977}}`,
  (i, time) =>
    `${time} web-1 sshd[${i % 30_000}]: Failed password for invalid user guest${i % 50} from 10.1.${i % 256}.7 port ${i % 60_000} ssh2`,
  (i, time) =>
    `ts=${time} caller=main.go:${i % 200} level=warn msg="slow query" duration=${i % 100}ms id=${(i * 2_654_435_761).toString(16)}`,
];

/** A file of so many bytes, written piece by piece. */
function writeLines(path: string, bytes: number): void {
  const file = openSync(path, "w");
  const start = Date.parse("2026-11-23T00:00:00Z");
  let [written, i] = [0, 0];
  while (written < bytes) {
    const lines: string[] = [];
    for (let n = 0; n < 5_000; n++, i++)
      lines.push(KINDS[i % KINDS.length]?.(i, new Date(start + i * 5).toISOString()) ?? "");
    written += writeSync(file, `${lines.join("\n")}\n`);
  }
  closeSync(file);
}

/** CPU time of this process in ms: other work on the machine counts for neither side. */
function cpuMs(work: () => void): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}

/** The loop that templates are measured against: it reads the same file and makes its lines, and nothing of them. */
function split(path: string): number {
  const file = openSync(path, "r");
  const chunk = Buffer.alloc(CHUNK_BYTES);
  let [carry, count] = ["", 0];
  for (;;) {
    const length = readSync(file, chunk, 0, chunk.length, null);
    if (length === 0) break;
    const lines = (carry + chunk.toString("utf8", 0, length)).split("\n");
    carry = lines.pop() ?? "";
    for (const line of lines) if (line !== "") count += 1;
  }
  closeSync(file);
  return count;
}

function mine(path: string): number {
  const file = openSync(path, "r");
  const miner = new Miner();
  const chunk = Buffer.alloc(2 * CHUNK_BYTES);
  let carried = 0;
  for (;;) {
    const length = readSync(file, chunk, carried, CHUNK_BYTES, null);
    if (length === 0) break;
    const bytes = chunk.subarray(0, carried + length);
    const to = bytes.lastIndexOf(10) + 1;
    const encoded = (start: number, end: number) => bytes.toString("utf8", start, end);
    miner.mine({ bytes, from: 0, to, service: "bench", timeAt: () => undefined, encoded });
    carried = bytes.length - to;
    bytes.copyWithin(0, to);
  }
  closeSync(file);
  const { lines, templates } = miner.result();
  if (templates.length > 20) throw new Error(`${templates.length} templates`);
  return lines;
}

export async function logFigures(): Promise<Figure[]> {
  const folder = mkdtempSync(join(tmpdir(), "wk-logs-"));
  try {
    const small = join(folder, "small.log");
    writeLines(small, 64 * MB);
    if (split(small) !== mine(small)) throw new Error("not the same lines");
    const ratios: number[] = [];
    for (let round = 0; round < ROUNDS; round++)
      ratios.push(cpuMs(() => mine(small)) / cpuMs(() => split(small)));
    const large = join(folder, "large.log");
    writeLines(large, 1_000 * MB);
    // In a process of its own, since this one's memory holds what the loops left.
    const main = join(import.meta.dirname, "main.ts");
    const { stdout } = await promisify(execFile)(process.execPath, [main, "tools", large]);
    const { seconds, rss, p99 } = JSON.parse(stdout) as Large;
    return [
      {
        name: "log templates, CPU ÷ that of a loop that splits the same lines",
        value: `${median(ratios).toFixed(1)} (aim ≤ 4)`,
      },
      { name: "1 GB of log lines: time", value: `${seconds.toFixed(1)} s` },
      { name: "  most memory of the whole process", value: `${Math.round(rss)} MB (aim ≤ 300)` },
      { name: "  event loop's delay, p99", value: `${p99.toFixed(1)} ms (aim < 50)` },
    ];
  } finally {
    rmSync(folder, { recursive: true });
  }
}

interface Large {
  seconds: number;
  rss: number;
  p99: number;
}

/** As the tool does it: in its thread, with secrets taken out of what is shown. */
export async function readLarge(path: string): Promise<Large> {
  const encoder = createEncoder([{ name: "PASSWORD", value: "bench-secret-bench-secret" }]);
  const signal = new AbortController().signal;
  const now = Date.parse("2026-11-24T00:00:00Z");
  const file = openSync(path, "r");
  const wanted = { pattern: undefined, lines: undefined, withoutSecrets: false, now };
  const thread = createThread(wanted, { signal, encoder });
  let rss = 0;
  const watch = setInterval(() => {
    rss = Math.max(rss, process.memoryUsage.rss() / MB);
  }, STEP_MS);
  const delay = monitorEventLoopDelay({ resolution: 5 });
  delay.enable();
  const began = performance.now();
  const window = {
    fd: file,
    bytes: 1_000 * MB,
    since: 0,
    until: now,
    now,
    maxBytes: 2_000 * MB,
    maxMs: 300_000,
  };
  await thread.file({ service: "bench", window });
  const { templates, lines } = await thread.result();
  const seconds = (performance.now() - began) / 1_000;
  delay.disable();
  clearInterval(watch);
  await thread.close();
  closeSync(file);
  if (lines < 5 * MB || templates.length > 20)
    throw new Error(`${lines} lines, ${templates.length} templates`);
  return { seconds, rss, p99: delay.percentile(99) / 1e6 };
}
