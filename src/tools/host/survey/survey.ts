import { filesystemsIn, type Filesystem, mountTypes } from "../disk-usage.ts";
import { statusIn } from "../process-table.ts";
import type { Answers } from "./script.ts";

/** How a machine is, as it said at one moment. What it could not tell is undefined or empty. */
export interface Survey {
  name: string;
  system: string;
  upSeconds: number;
  cores: number;
  /** Over 1, 5 and 15 min. */
  load: readonly number[];
  /** Shares of all cores' time, from 0 to 1, over about a second. */
  cpu: { busy: number; waiting: number; stolen: number } | undefined;
  memory: { total: number; available: number; swap: number; swapFree: number };
  /** Shares of the last minute in which some or all work waited for it, in percent. */
  pressure: ReadonlyMap<string, number>;
  disks: readonly Disk[];
  filesystems: readonly Filesystem[];
  /** Mount points that are read-only now, of disks that are meant to be written to. */
  readOnly: readonly string[];
  processes: readonly SurveyedProcess[];
  sockets: readonly Socket[];
  failedUnits: readonly string[];
  /** Processes that the kernel killed for want of memory since the boot, and what it said of the newest. */
  memoryKills: { count: number; lines: readonly string[] };
  handles: { used: number; limit: number } | undefined;
  tracked: { used: number; limit: number } | undefined;
  restartFor: readonly string[] | undefined;
  clockIsSet: boolean | undefined;
  /** What it said nothing of. */
  missing: ReadonlySet<string>;
}

interface Disk {
  name: string;
  /** Share of the time in which it had work, from 0 to 1. */
  busy: number;
  /** Bytes per second. */
  read: number;
  written: number;
}

export interface SurveyedProcess {
  pid: number;
  /** As it calls itself; then in parentheses the program, where that is another and may be seen. */
  name: string;
  user: string;
  /** Bytes that are in memory. */
  resident: number;
  seconds: number;
  /** As ps(1) writes it; `D`: it waits for a disk and cannot be ended. */
  state: string;
  /** Of cores, over about a second. */
  cores: number;
}

interface Socket {
  protocol: string;
  address: string;
  process: string;
}

/** Bytes of a sector in /proc/diskstats, whatever the disk's own are (Documentation/admin-guide/iostats.rst). */
const SECTOR = 512;
/** Whole disks, of which partitions and the layers above would tell the same again. */
const DISK = /^(?:sd[a-z]+|vd[a-z]+|xvd[a-z]+|hd[a-z]+|nvme\d+n\d+|mmcblk\d+)$/;

export function surveyOf(answers: Answers): Survey {
  const said = (part: string) => answers.get(part) ?? "";
  const lines = (part: string) =>
    said(part)
      .split("\n")
      .filter((line) => line.trim() !== "");
  const numbers = (part: string) => said(part).split(/\s+/).map(Number);
  const [name = "", kernel = ""] = lines("name");
  const cores = lines("cpu2").filter((line) => /^cpu\d/.test(line)).length;
  const before = cpuTimes(said("cpu1"));
  const after = cpuTimes(said("cpu2"));
  const elapsed = after.all - before.all;
  const share = (of: (times: CpuTimes) => number) => (of(after) - of(before)) / elapsed;
  const seconds = elapsed / HERTZ / Math.max(1, cores);
  const [used = NaN, , limit = NaN] = numbers("handles");
  const [count = NaN, most = NaN] = numbers("tracked");
  const restart = lines("restart").filter((line) => !line.startsWith("***"));
  return {
    name,
    system: [/^PRETTY_NAME="?([^"\n]+)/m.exec(said("os"))?.[1], kernel].filter(Boolean).join(", "),
    upSeconds: numbers("uptime")[0] ?? 0,
    cores,
    load: numbers("load").slice(0, 3),
    cpu:
      elapsed > 0
        ? {
            busy: 1 - share((times) => times.idle + times.waiting),
            waiting: share((times) => times.waiting),
            stolen: share((times) => times.stolen),
          }
        : undefined,
    memory: memoryIn(said("memory")),
    pressure: pressureIn(said("pressure")),
    disks: seconds > 0 ? disksIn(said("disks1"), said("disks2"), seconds) : [],
    filesystems: filesystemsIn({
      space: said("space"),
      inodes: said("inodes"),
      types: mountTypes(said("mounts")),
    }),
    readOnly: readOnlyIn(said("mounts")),
    processes: processesIn(lines("processes"), {
      cpu: cpuByProcess(said("times1"), said("times2"), seconds),
      programs: programsIn(said("programs")),
    }),
    sockets: lines("sockets").flatMap((line) => socketIn(line)),
    failedUnits: lines("failed").map((line) => line.trim().split(/\s+/)[0] ?? ""),
    memoryKills: { count: numbers("kills")[1] ?? 0, lines: lines("killed") },
    handles: limit > 0 ? { used, limit } : undefined,
    tracked: most > 0 ? { used: count, limit: most } : undefined,
    restartFor: answers.get("restart") ? restart : undefined,
    clockIsSet: /=(yes|no)/.exec(said("clock"))?.[1]?.startsWith("y"),
    missing: new Set([...answers].filter(([, text]) => text === "").map(([part]) => part)),
  };
}

/** Ticks of a second that Linux counts to programs in (USER_HZ, time(7)). */
const HERTZ = 100;

interface CpuTimes {
  all: number;
  idle: number;
  waiting: number;
  stolen: number;
}

/** The first line of /proc/stat: user, nice, system, idle, iowait, irq, softirq, steal; guests' time is in user's. */
function cpuTimes(text: string): CpuTimes {
  const [, ...fields] = (/^cpu .*$/m.exec(text)?.[0] ?? "").split(/\s+/);
  const ticks = fields.slice(0, 8).map(Number);
  const [, , , idle = 0, waiting = 0, , , stolen = 0] = ticks;
  return { all: ticks.reduce((sum, each) => sum + each, 0), idle, waiting, stolen };
}

/** Clock ticks that each process used, by pid and start: a number may be given again. */
function ticksByProcess(text: string): Map<string, number> {
  return new Map(
    text.split("\n").flatMap((line): [string, number][] => {
      const status = statusIn(line);
      return status === undefined ? [] : [[`${status.pid} ${status.startTicks}`, status.usedTicks]];
    }),
  );
}

function cpuByProcess(before: string, after: string, seconds: number): Map<number, number> {
  const earlier = ticksByProcess(before);
  return new Map(
    [...ticksByProcess(after)].map(([key, ticks]) => [
      Number.parseInt(key, 10),
      seconds > 0 ? (ticks - (earlier.get(key) ?? ticks)) / HERTZ / seconds : 0,
    ]),
  );
}

/** A filesystem that says what to do when its disk fails is one that is written to; `ro` then says that it has. */
function readOnlyIn(mounts: string): string[] {
  return mounts.split("\n").flatMap((line) => {
    const [, mount = "", , options = ""] = line.split(" ");
    const set = new Set(options.split(","));
    return set.has("ro") && set.has("errors=remount-ro") ? [mount] : [];
  });
}

/** In bytes. */
function memoryIn(text: string): Survey["memory"] {
  const bytes = (field: string) =>
    Number(new RegExp(`^${field}:\\s+(\\d+)`, "m").exec(text)?.[1] ?? 0) * 1024;
  return {
    total: bytes("MemTotal"),
    available: bytes("MemAvailable"),
    swap: bytes("SwapTotal"),
    swapFree: bytes("SwapFree"),
  };
}

/** `memory full avg10=0.00 avg60=0.31 …` (Documentation/accounting/psi.rst) */
function pressureIn(text: string): Map<string, number> {
  const found = text.matchAll(/^(\w+) (some|full) .*?avg60=([\d.]+)/gm);
  return new Map([...found].map(([, what, kind, share]) => [`${what} ${kind}`, Number(share)]));
}

function disksIn(before: string, after: string, seconds: number): Disk[] {
  const read = (text: string) =>
    new Map(
      text.split("\n").map((line) => {
        const fields = line.trim().split(/\s+/);
        return [fields[2] ?? "", fields.slice(3).map(Number)] as const;
      }),
    );
  const earlier = read(before);
  return [...read(after)].flatMap(([name, now]) => {
    const then = earlier.get(name);
    if (then === undefined || !DISK.test(name)) return [];
    const rate = (field: number) => ((now[field] ?? 0) - (then[field] ?? 0)) / seconds;
    return {
      name,
      busy: Math.min(1, rate(9) / 1_000),
      read: rate(2) * SECTOR,
      written: rate(6) * SECTOR,
    };
  });
}

/** Names of programs by process: `… /proc/7/exe -> /usr/sbin/nginx`. */
function programsIn(text: string): Map<number, string> {
  const found = text.matchAll(/ \/proc\/(\d+)\/exe -> \S*\/([^/\s]+)/g);
  return new Map([...found].map(([, pid, program = ""]) => [Number(pid), program]));
}

function processesIn(
  lines: readonly string[],
  { cpu, programs }: { cpu: ReadonlyMap<number, number>; programs: ReadonlyMap<number, string> },
): SurveyedProcess[] {
  return lines.flatMap((line) => {
    const match = /^\s*(\d+)\s+(\S+)\s+(\d+)\s+(\d+)\s+(\S+)\s+(.*)$/.exec(line);
    if (match === null) return [];
    const [, pid, user = "", resident, seconds, state = "", name = ""] = match;
    const program = programs.get(Number(pid));
    return {
      pid: Number(pid),
      name: program === undefined || program.startsWith(name) ? name : `${name} (${program})`,
      user,
      resident: Number(resident) * 1024,
      seconds: Number(seconds),
      state,
      cores: cpu.get(Number(pid)) ?? 0,
    };
  });
}

/** `tcp LISTEN 0 511 0.0.0.0:80 0.0.0.0:* users:(("nginx",pid=7,fd=6))` (ss(8)) */
function socketIn(line: string): Socket[] {
  const [protocol = "", , , , address = "", , users = ""] = line.trim().split(/\s+/);
  if (address === "") return [];
  const names = [...users.matchAll(/\("([^"]*)",pid=(\d+)/g)].map(
    ([, name, pid]) => `${name} ${pid}`,
  );
  return [{ protocol, address, process: [...new Set(names)].join(", ") }];
}
