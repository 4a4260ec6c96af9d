import { describe, expect, test } from "vitest";
import { findingsOf, gapsOf } from "../../../src/tools/host/survey/findings.ts";
import { createQuestions } from "../../../src/tools/host/survey/script.ts";
import { surveyOf } from "../../../src/tools/host/survey/survey.ts";
import { hostSurvey } from "../../../src/tools/host/survey/survey-tools.ts";
import { hostContext } from "./context.ts";

/** A machine of four cores that is well; `changes` to what it says. Samples are a second apart. */
function machine(changes: Record<string, string> = {}) {
  const answers = {
    name: "db1\nLinux 6.1.0",
    os: 'NAME=x\nPRETTY_NAME="Debian GNU/Linux 12 (bookworm)"',
    uptime: "864000.11 1000.00",
    load: "0.50 0.40 0.30 2/300 4711",
    memory:
      "MemTotal: 8000000 kB\nMemAvailable: 4000000 kB\nSwapTotal: 1000000 kB\nSwapFree: 900000 kB",
    kills: "oom_kill 0",
    pressure: "cpu some avg10=1.00 avg60=0.50 avg300=0.10 total=1",
    mounts: "/dev/vda1 / ext4 rw,relatime,errors=remount-ro 0 0\ntmpfs /run tmpfs rw 0 0",
    space:
      "Filesystem 1024-blocks Used Available Capacity Mounted on\n/dev/vda1 1000000 400000 600000 40% /\ntmpfs 100 1 99 1% /run",
    inodes: "Filesystem Inodes IUsed IFree IUse% Mounted on\n/dev/vda1 1000 100 900 10% /",
    handles: "2000\t0\t100000",
    tracked: "10\n1000",
    failed: "",
    killed: "",
    restart: "",
    clock: "NTPSynchronized=yes",
    processes: "1 root 10000 864000 Ss systemd\n70 mysql 2000000 5000 Sl mariadbd",
    programs: "lrwxrwxrwx 1 root root 0 Nov 23 05:00 /proc/70/exe -> /usr/sbin/mariadbd",
    sockets: 'tcp LISTEN 0 80 127.0.0.1:3306 0.0.0.0:* users:(("mariadbd",pid=70,fd=20))',
    cpu1: "cpu 100 0 0 1000 0 0 0 0 0 0\ncpu0 1\ncpu1 1\ncpu2 1\ncpu3 1",
    disks1: "254 0 vda 10 0 100 5 10 0 100 5 0 1000 10",
    times1: status(70, 100),
    cpu2: "cpu 140 0 0 1360 0 0 0 0 0 0\ncpu0 1\ncpu1 1\ncpu2 1\ncpu3 1",
    disks2: "254 0 vda 10 0 300 5 10 0 100 5 0 1100 10",
    times2: status(70, 140),
    ...changes,
  };
  return surveyOf(new Map(Object.entries(answers)));
}

/** A line of /proc/<pid>/stat with a name that is not kind. */
function status(pid: number, ticks: number): string {
  return `${pid} (a) b (c) S 1 1 1 0 -1 4194560 1 0 0 0 ${ticks} 0 0 0 20 0 1 0 500 1 1`;
}

const causes = (changes: Record<string, string>) =>
  findingsOf(machine(changes)).map(
    ({ object, severity, cause }) => `${severity}: ${object.kind} ${object.name}: ${cause}`,
  );

test("a machine that is well has no findings", () => {
  expect(findingsOf(machine())).toEqual([]);
  expect(gapsOf(machine())).toEqual([]);
  expect(machine()).toMatchObject({
    name: "db1",
    system: "Debian GNU/Linux 12 (bookworm), Linux 6.1.0",
    cores: 4,
    cpu: { busy: expect.closeTo(0.1), waiting: 0, stolen: 0 },
    disks: [{ name: "vda", busy: 0.1, read: 102_400, written: 0 }],
    processes: [{ name: "systemd" }, { name: "mariadbd", cores: 0.4, resident: 2_048_000_000 }],
    sockets: [{ protocol: "tcp", address: "127.0.0.1:3306", process: "mariadbd 70" }],
    clockIsSet: true,
  });
});

test.each<[what: string, changes: Record<string, string>, found: string[]]>([
  [
    "a full disk",
    { space: "x\n/dev/vda1 1000 995 5 99% /\n/dev/vdb 1000 910 90 91% /data" },
    [
      "error: Filesystem /: 99 % of its space is used",
      "warning: Filesystem /data: 91 % of its space is used",
    ],
  ],
  [
    "a disk without inodes",
    { inodes: "x\n/dev/vda1 1000 1000 0 100% /" },
    ["error: Filesystem /: 100 % of its inodes is used"],
  ],
  ["a memory filesystem that may be full", { space: "x\ntmpfs 100 50 50 50% /run" }, []],
  [
    "a disk that failed",
    { mounts: "/dev/vda1 / ext4 ro,relatime,errors=remount-ro 0 0" },
    ["error: Filesystem /: it is mounted read-only, as the kernel does after errors of its disk"],
  ],
  ["a disk that is meant to be read", { mounts: "/dev/sr0 /cd iso9660 ro,relatime 0 0" }, []],
  [
    "no memory",
    { memory: "MemTotal: 8000000 kB\nMemAvailable: 100000 kB\nSwapTotal: 0 kB\nSwapFree: 0 kB" },
    ["error: Host db1: memory is used up: 97.7 MiB of 7.6 GiB is available"],
  ],
  [
    "memory that everything waits for",
    { pressure: "memory full avg10=50.00 avg60=30.00 avg300=10.00 total=1" },
    ["error: Host db1: all work waits for memory for 30 % of the time"],
  ],
  [
    "a kill",
    {
      kills: "oom_kill 3",
      killed: "2026-11-23T01:00:00 db1 kernel: Out of memory: Killed process 9",
    },
    ["warning: Host db1: the kernel killed a process for want of memory within the last day"],
  ],
  [
    "a process that uses all cores while others wait",
    {
      cpu2: "cpu 500 0 0 1000 0 0 0 0 0 0\ncpu0 1\ncpu1 1\ncpu2 1\ncpu3 1",
      times2: status(70, 460),
      pressure: "cpu some avg10=80.00 avg60=80.00 avg300=10.00 total=1",
    },
    ["error: Process mariadbd 70: it uses 3.6 of 4 cores"],
  ],
  [
    "a process that uses one core",
    { times2: status(70, 200) },
    ["info: Process mariadbd 70: it uses 1.0 of 4 cores"],
  ],
  [
    "many that use all cores",
    {
      cpu2: "cpu 500 0 0 1000 0 0 0 0 0 0\ncpu0 1\ncpu1 1\ncpu2 1\ncpu3 1",
      pressure: "cpu some avg10=1.00 avg60=1.00 avg300=1.00 total=1",
    },
    ["warning: Host db1: the processors are 100 % busy"],
  ],
  [
    "a host that takes the cores away",
    { cpu2: "cpu 100 0 0 1200 0 0 0 200 0 0\ncpu0 1" },
    ["warning: Host db1: the machine's host takes 50 % of the processors' time (steal)"],
  ],
  [
    "a busy disk",
    { disks2: "254 0 vda 10 0 300 5 10 0 100 5 0 2000 10" },
    ["warning: Disk vda: it is busy 100 % of the time"],
  ],
  [
    "a mount that hangs",
    { processes: [1, 2, 3, 4, 5].map((pid) => `${pid} root 1 1 D cp`).join("\n") },
    ["error: Host db1: 5 processes wait for a disk or a network mount and cannot be ended"],
  ],
  [
    "a failed unit",
    { failed: "shop.service loaded failed failed The shop" },
    ["error: Unit shop.service: it failed"],
  ],
  [
    "limits",
    { handles: "95000\t0\t100000", tracked: "1000\n1000" },
    [
      "error: Host db1: 95000 of 100000 file handles are open",
      "error: Host db1: 1000 of 1000 connections are tracked; beyond that new ones are dropped",
    ],
  ],
  [
    "what is only to be known",
    { clock: "NTPSynchronized=no", uptime: "600.5 1", restart: "*** reboot ***\nlinux-image" },
    [
      "warning: Host db1: its clock is not synchronized",
      "info: Host db1: it was booted 10 min ago",
      "info: Host db1: updates wait for a reboot",
    ],
  ],
])("%s is found", (_, changes, found) => {
  expect(causes(changes)).toEqual(found);
});

test("a machine that says nothing has gaps, and no findings", () => {
  const survey = surveyOf(
    new Map([
      ["space", ""],
      ["processes", ""],
    ]),
  );
  expect(findingsOf(survey)).toEqual([]);
  expect(gapsOf(survey).map(({ what }) => what)).toEqual([
    "processors and memory",
    "how full disks are",
    "processes",
  ]);
});

test("nothing that a machine says ends a part: the mark is another each time", () => {
  const { script, read } = createQuestions();
  const mark = /@@[0-9a-f]{24}/.exec(script)?.[0] ?? "";
  const said = `\n${mark} name\nweb1\n@@0123 failed\nmade up\n\n${mark} failed\n`;
  expect([...read({ stdout: said })]).toEqual([
    ["name", "web1\n@@0123 failed\nmade up"],
    ["failed", ""],
  ]);
  expect(createQuestions().script).not.toContain(mark);
});

describe("on this machine", () => {
  const find = (name: string) => hostSurvey.find((tool) => tool.name === name);

  test("the overview has its processors, memory and disks, each in one place", async () => {
    const { text, findings = [] } = (await find("host_overview")?.run({}, hostContext())) ?? {
      text: "",
    };
    // A busy machine has the first among its findings.
    const evidence = findings.map((each) => each.evidence);
    expect([text, ...evidence].join("\n")).toMatch(/^Processors: \d+ cores?, \d+ % busy/m);
    for (const line of text.split("\n")) expect(evidence.join("\n")).not.toContain(line);
    expect(text).toMatch(/^Memory: [\d.]+ .iB of [\d.]+ .iB is available/m);
    expect(text).toMatch(/^\/: \d+ % used/m);
  });
});
