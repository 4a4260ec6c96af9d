import { bySeverity, type Finding, type Gap } from "../../../core/finding.ts";
import { formatElapsed } from "../../../core/instant.ts";
import { counted, formatBytes, percent } from "../../../core/text.ts";
import { fillingOf, fullness, isFull, isShown } from "../disk-usage.ts";
import type { Survey, SurveyedProcess } from "./survey.ts";

/** A share of the cores' time that leaves nothing for a burst. */
const BUSY = 0.9;
/** Percent of a minute in which every process waited for memory: the machine crawls. */
const STARVED = 10;
const LOW_MEMORY = 0.05;
/** Percent of a minute in which some work waited for its turn. */
const CROWDED = 20;
const STOLEN = 0.2;
const MANY_STUCK = 5;
const MANY_DEAD = 20;
const RECENT_S = 3_600;

type Found = Omit<Finding, "object" | "since"> & { object?: [kind: string, name: string] };

/** What is wrong with a machine now, what stops work before what may. */
export function findingsOf(survey: Survey): Finding[] {
  const looks = [disks, memory, processors, waits, units, limits, oddities];
  return looks
    .flatMap((look) => [...look(survey)])
    .toSorted(bySeverity)
    .map(({ object: [kind, name] = ["Host", survey.name], ...rest }) => {
      const namespace = kind === "Host" ? "" : survey.name;
      return { object: { kind, namespace, name }, since: null, ...rest };
    });
}

function* disks({ filesystems, readOnly }: Survey): Iterable<Found> {
  const full = filesystems.filter((each) => isShown(each) && isFull(each));
  for (const each of full.toSorted((a, b) => fullness(b) - fullness(a)))
    yield { object: ["Filesystem", each.mount], ...fillingOf(each) };
  for (const mount of readOnly)
    yield {
      object: ["Filesystem", mount],
      cause: "it is mounted read-only, as the kernel does after errors of its disk",
      severity: "error",
      evidence: "Its options have errors=remount-ro, and ro.",
      fix: "Read the kernel's log for the disk's errors before you mount it again.",
    };
}

function* memory({ memory: has, memoryKills, processes, pressure }: Survey): Iterable<Found> {
  const [largest] = tops(processes, ({ resident }) => resident, 1);
  const starved = pressure.get("memory full") ?? 0;
  const isLow = has.total > 0 && has.available / has.total < LOW_MEMORY;
  const free = `${formatBytes(has.available)} of ${formatBytes(has.total)} is available`;
  if (isLow || starved >= STARVED) {
    const who = largest && ` ${named(largest)} has ${formatBytes(largest.resident)}.`;
    yield {
      cause: isLow
        ? `memory is used up: ${free}`
        : `all work waits for memory for ${starved} % of the time`,
      severity: "error",
      evidence: `${free}, ${swapText(has)}.${who ?? ""}`,
      fix: "End or restart what grows, or give it a limit.",
    };
  }
  const newest = memoryKills.lines.at(-1);
  if (newest !== undefined)
    yield {
      cause: "the kernel killed a process for want of memory within the last day",
      severity: "warning",
      evidence: `${newest} (${counted(memoryKills.count, "such kill")} since the boot).`,
      fix: "Look at what was killed, and at what used the memory then.",
    };
}

function* processors(survey: Survey): Iterable<Found> {
  const { cpu, cores, processes, pressure } = survey;
  if (cpu === undefined) return;
  const [top] = tops(processes, coresOf, 1);
  const isBusy = cpu.busy >= BUSY;
  const isOne = top !== undefined && top.cores >= (isBusy ? cores / 2 : BUSY);
  if (top !== undefined && (isBusy || isOne)) {
    // Work that gives way to all other uses what is left, and nobody waits.
    const isCrowded = (pressure.get("cpu some") ?? 100) >= CROWDED;
    yield {
      ...(isOne && { object: ["Process", named(top)] }),
      cause: isOne
        ? `it uses ${top.cores.toFixed(1)} of ${counted(cores, "core")}`
        : `the processors are ${percent(cpu.busy)} busy`,
      severity: isBusy ? (isCrowded ? "error" : "warning") : "info",
      evidence: `${processorsText(survey)}. ${coresText(survey)}.`,
      fix: "Find out what it works on; end it, or give it fewer cores.",
    };
  }
  if (cpu.stolen >= STOLEN)
    yield {
      cause: `the machine's host takes ${percent(cpu.stolen)} of the processors' time (steal)`,
      severity: "warning",
      evidence: `${processorsText(survey)}.`,
      fix: "Move it to a less busy host, or to a size without CPU credits.",
    };
}

/** `Processors: 2 cores, 97 % busy, 0 % waiting for disks; load 2.1, 1.8, 1.2` */
export function processorsText({ cores, cpu, load }: Survey): string {
  const use =
    cpu === undefined
      ? "unknown"
      : `${percent(cpu.busy)} busy, ${percent(cpu.waiting)} waiting for disks`;
  return `Processors: ${counted(cores, "core")}, ${use}; load ${load.join(", ")}`;
}

/** Which processes use them now. */
export function coresText({ processes }: Survey): string {
  const users = tops(processes, coresOf, 5).map(
    (each) => `${named(each)} ${each.cores.toFixed(1)}`,
  );
  return `Cores used: ${users.join(", ") || "none"}`;
}

function* waits({ disks: all, processes, pressure }: Survey): Iterable<Found> {
  const stuck = processes.filter(({ state }) => state.startsWith("D"));
  const busy = all.filter((each) => each.busy >= BUSY);
  for (const each of busy)
    yield {
      object: ["Disk", each.name],
      cause: `it is busy ${percent(each.busy)} of the time`,
      severity: (pressure.get("io full") ?? 0) >= CROWDED ? "error" : "warning",
      evidence: `Reads ${formatBytes(each.read)}/s, writes ${formatBytes(each.written)}/s. Waiting: ${namesOf(stuck)}.`,
      fix: "Find out which process reads or writes so much.",
    };
  if (busy.length === 0 && stuck.length >= MANY_STUCK)
    yield {
      cause: `${stuck.length} processes wait for a disk or a network mount and cannot be ended`,
      severity: "error",
      evidence: `In state D: ${namesOf(stuck)}.`,
      fix: "Look for a mount whose server does not answer.",
    };
}

function* units({ failedUnits }: Survey): Iterable<Found> {
  for (const unit of failedUnits)
    yield {
      object: ["Unit", unit],
      cause: "it failed",
      severity: "error",
      evidence: "systemd lists it among the failed units.",
      fix: "Read its log for why.",
    };
}

function* limits({ handles, tracked }: Survey): Iterable<Found> {
  if (handles !== undefined && handles.used / handles.limit >= BUSY)
    yield {
      cause: `${handles.used} of ${handles.limit} file handles are open`,
      severity: "error",
      evidence: "/proc/sys/fs/file-nr says so.",
      fix: "Find the process that leaks them, or raise fs.file-max.",
    };
  if (tracked !== undefined && tracked.used / tracked.limit >= BUSY)
    yield {
      cause: `${tracked.used} of ${tracked.limit} connections are tracked; beyond that new ones are dropped`,
      severity: "error",
      evidence: "nf_conntrack_count against nf_conntrack_max.",
      fix: "Find out who opens so many, or raise nf_conntrack_max.",
    };
}

function* oddities({ upSeconds, clockIsSet, restartFor, processes }: Survey): Iterable<Found> {
  if (clockIsSet === false)
    yield {
      cause: "its clock is not synchronized",
      severity: "warning",
      evidence: "timedatectl says NTPSynchronized=no.",
      fix: "Start the time service: certificates and the order of logs depend on it.",
    };
  const dead = processes.filter(({ state }) => state.startsWith("Z"));
  if (dead.length >= MANY_DEAD)
    yield {
      cause: `${dead.length} processes have ended and their parents do not collect them`,
      severity: "info",
      evidence: namesOf(dead),
    };
  if (upSeconds > 0 && upSeconds < RECENT_S)
    yield {
      cause: `it was booted ${formatElapsed(upSeconds * 1_000)} ago`,
      severity: "info",
      evidence: "Its uptime says so.",
    };
  if (restartFor !== undefined)
    yield {
      cause: "updates wait for a reboot",
      severity: "info",
      evidence: restartFor.join(", ") || "/var/run/reboot-required is there.",
    };
}

/** What a survey could not see, and what would show it. */
export function gapsOf({ missing, cpu, memory: { total } }: Survey): Gap[] {
  const gap = (what: string, why: string, help: string): Gap => ({ what, why, help });
  return [
    ...(cpu === undefined || total === 0
      ? [gap("processors and memory", "the machine has no /proc", "Only Linux is read.")]
      : []),
    ...(missing.has("space")
      ? [gap("how full disks are", "df said nothing for 5 s", "A network mount may hang.")]
      : []),
    ...(missing.has("processes")
      ? [gap("processes", "there is no ps", "Install procps there.")]
      : []),
  ];
}

/** What is shown as 0.0 is nothing. */
function coresOf({ cores }: SurveyedProcess): number {
  return cores < 0.05 ? 0 : cores;
}

export function tops(
  processes: readonly SurveyedProcess[],
  by: (each: SurveyedProcess) => number,
  count = 3,
): SurveyedProcess[] {
  return processes
    .filter((each) => by(each) > 0)
    .toSorted((a, b) => by(b) - by(a))
    .slice(0, count);
}

export function swapText({ swap, swapFree }: Survey["memory"]): string {
  return swap === 0 ? "no swap" : `${formatBytes(swapFree)} of ${formatBytes(swap)} swap is free`;
}

/** `java 4711` */
export function named({ name, pid }: SurveyedProcess): string {
  return `${name} ${pid}`;
}

function namesOf(processes: readonly SurveyedProcess[]): string {
  const shown = processes.slice(0, 5).map(named).join(", ") || "none";
  return processes.length > 5 ? `${shown} and ${processes.length - 5} more` : shown;
}
