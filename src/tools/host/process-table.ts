import { readFileSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";

/** A process as /proc/<pid>/stat shows it (proc_pid_stat(5)). */
export interface ProcessEntry {
  pid: number;
  /** The first 15 bytes of its name. */
  name: string;
  /** One letter; "Z" and "X" have ended. */
  state: string;
  parent: number;
  /** Fields 14 and 15: clock ticks that it has run, in programs and in the kernel. */
  usedTicks: number;
  /**
   * Field 22: clock ticks from boot to its start. With `bootId` it tells a process from a later one of the same
   * number.
   */
  startTicks: number;
}

/** Clock ticks have been 10 ms to programs on every architecture that Node runs on (USER_HZ, time(7)). */
const TICK_MS = 10;

/**
 * How far `startTime` may be off: a tick for the start, a hundredth of a second for the uptime, a millisecond for the
 * clock.
 */
export const START_TIME_ERROR_MS = 21;

/** The process with this number, or undefined when there is none. */
export async function readProcess(pid: number): Promise<ProcessEntry | undefined> {
  const line = await tryRead(`/proc/${pid}/stat`);
  return line === undefined ? undefined : statusIn(line);
}

/** What is in a process' /proc/<pid>/stat; undefined for any other text. */
export function statusIn(line: string): ProcessEntry | undefined {
  // The name is in parentheses and may hold parentheses and spaces itself.
  const open = line.indexOf("(");
  const close = line.lastIndexOf(")");
  if (open < 0 || close < open) return undefined;
  const fields = line.slice(close + 2).split(" ");
  return {
    pid: Number(line.slice(0, open)),
    name: line.slice(open + 1, close),
    state: fields[0] ?? "",
    parent: Number(fields[1]),
    usedTicks: Number(fields[11]) + Number(fields[12]),
    startTicks: Number(fields[19]),
  };
}

/** All processes that are visible here, in the order of their numbers. */
export async function listProcesses(): Promise<ProcessEntry[]> {
  const names = await readdir("/proc").catch(() => []);
  const pids = names.filter((name) => /^\d+$/.test(name)).map(Number);
  const entries = await Promise.all(pids.map((pid) => readProcess(pid)));
  return entries.filter((entry) => entry !== undefined).toSorted((a, b) => a.pid - b.pid);
}

/** True for a process that still runs. One that has ended stays listed until its parent has asked how. */
export function isAlive(entry: ProcessEntry | undefined): entry is ProcessEntry {
  return entry !== undefined && entry.state !== "Z" && entry.state !== "X";
}

/** This boot's identity, or "unknown". */
export async function readBootId(): Promise<string> {
  return (await tryRead("/proc/sys/kernel/random/boot_id"))?.trim() ?? "unknown";
}

/**
 * When a process started, ms since 1970, give or take START_TIME_ERROR_MS; undefined where the uptime is not that of
 * the machine (some containers), which our own start time shows.
 */
export async function startTime(entry: ProcessEntry): Promise<number | undefined> {
  const self = await readProcess(process.pid);
  const bootedAt = bootTime();
  if (bootedAt === undefined || self === undefined) return undefined;
  const ourStart = Date.now() - process.uptime() * 1000;
  if (Math.abs(bootedAt + self.startTicks * TICK_MS - ourStart) > 2_000) return undefined;
  return bootedAt + entry.startTicks * TICK_MS;
}

/**
 * When the machine was booted, ms since 1970. Read in one go: a wait between the two clocks would shift every start
 * time.
 */
function bootTime(): number | undefined {
  try {
    const now = Date.now();
    return now - Number.parseFloat(readFileSync("/proc/uptime", "utf8")) * 1000;
  } catch {
    return undefined;
  }
}

/**
 * A file's text, or undefined for any error. Only for /proc and /run, where a read does not wait for a disk or
 * network.
 */
export async function tryRead(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, "utf8");
  } catch {
    return undefined;
  }
}
