import { open } from "node:fs/promises";
import { isBotError } from "../../core/errors.ts";
import type { Change, Window } from "../change.ts";
import type { ToolContext } from "../tool.ts";

/** What was installed, upgraded and removed, as the machine's package manager wrote it down. */

/** Where it does. */
export interface PackageLogs {
  dpkg: readonly string[];
  dnf: readonly string[];
}

/** The end of a log: a month of an ordinary server. */
const MAX_BYTES = 2 * 1024 * 1024;
const DPKG =
  /^(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d) (install|upgrade|remove|purge) (\S+?)(?::\S+)? (\S+) (\S+)$/;
/** `2026-11-23T04:10:00+0000 SUBDEBUG Upgrade: nginx-1:1.24.0-1.el9.x86_64`; what it replaced follows as `Upgraded`. */
const DNF =
  /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(Z|[+-]\d\d:?\d*) SUBDEBUG (Install|Upgrade|Downgrade|Obsolete|Erase|Remove)(d|ed)?: (\S+)-((?:\d+:)?[^-\s]+-[^-\s]+)\.[^.\s]+$/;
/** One that has no log of either: `1795406400 nginx 1:1.24.0-1.el9` */
const RPM = /^(\d+) (\S+) (\S+)$/;
/** Steps of one run are no further apart. */
const SAME_RUN_MS = 3 * 60_000;
const MAX_NAMED = 6;

interface Step {
  at: number;
  name: string;
  /** Null: it was not there; undefined: it is not told. */
  before: string | null | undefined;
  /** Null: it is not there any more; undefined: it is not told. */
  after: string | null | undefined;
}

/** One change for each run of the package manager. */
export async function packageChanges(
  { from, to }: Window,
  logs: PackageLogs,
  ctx: ToolContext,
): Promise<Omit<Change, "where" | "isLive">[]> {
  const tails = async (paths: readonly string[]) =>
    (await Promise.all(paths.map(tryTail))).join("\n");
  const [dpkg, dnf] = await Promise.all([tails(logs.dpkg), tails(logs.dnf)]);
  const logged = [...linesOf(dpkg, dpkgStep), ...linesOf(dnf, dnfStep)];
  const steps = logged.length > 0 ? logged : linesOf(await installedByRpm(ctx), rpmStep);
  const within = steps.filter(({ at }) => at >= from && at <= to);
  return runsOf(within.toSorted((a, b) => a.at - b.at)).map((run) => {
    const texts = [...merged(run).values()].map(stepText);
    const more = texts.length > MAX_NAMED ? `; and ${texts.length - MAX_NAMED} more` : "";
    return {
      at: run.at(-1)?.at ?? 0,
      text: `packages: ${texts.slice(0, MAX_NAMED).join("; ")}${more}`,
      about: [...new Set(run.map(({ name }) => name))],
    };
  });
}

function linesOf(text: string, read: (line: string) => Step | undefined): Step[] {
  return text.split("\n").flatMap((line) => read(line) ?? []);
}

function dpkgStep(line: string): Step | undefined {
  const [, day, hour, verb = "", name = "", before = "", after = ""] = DPKG.exec(line) ?? [];
  if (day === undefined) return undefined;
  return {
    // dpkg writes the machine's own time, without a zone.
    at: Date.parse(`${day}T${hour}`),
    name,
    before: verb === "install" ? null : before,
    after: verb === "install" || verb === "upgrade" ? after : null,
  };
}

function dnfStep(line: string): Step | undefined {
  const [, time, zone = "", verb = "", done, name = "", version] = DNF.exec(line) ?? [];
  if (time === undefined) return undefined;
  const offset = zone === "Z" ? zone : zone.replace(":", "").padEnd(5, "0");
  const at = Date.parse(`${time}${offset}`);
  if (verb === "Install") return { at, name, before: null, after: version };
  if (verb === "Upgrade" || verb === "Downgrade")
    return {
      at,
      name,
      ...(done === undefined
        ? { before: undefined, after: version }
        : { before: version, after: undefined }),
    };
  return { at, name, before: version, after: null };
}

function rpmStep(line: string): Step | undefined {
  const [, seconds, name = "", after] = RPM.exec(line) ?? [];
  if (seconds === undefined || name === "gpg-pubkey") return undefined;
  return { at: Number(seconds) * 1_000, name, before: undefined, after };
}

/** What rpm knows: what is there and since when, not what was there before. */
async function installedByRpm(ctx: ToolContext): Promise<string> {
  const format = "%{INSTALLTIME} %{NAME} %{EVR}\\n";
  try {
    const argv = ["rpm", "-qa", "--queryformat", format];
    return (await ctx.exec(argv, { maxBytes: MAX_BYTES, timeoutMs: 10_000 })).stdout;
  } catch (error) {
    if (isBotError(error, "COMMAND_UNKNOWN")) return "";
    throw error;
  }
}

function runsOf(steps: readonly Step[]): Step[][] {
  const runs: Step[][] = [];
  for (const step of steps) {
    const run = runs.at(-1);
    const last = run?.at(-1)?.at ?? Number.NEGATIVE_INFINITY;
    if (run === undefined || step.at - last > SAME_RUN_MS) runs.push([step]);
    else run.push(step);
  }
  return runs;
}

/** By name: dnf says in two lines what was there and what is. */
function merged(run: readonly Step[]): Map<string, Step> {
  const steps = new Map<string, Step>();
  for (const step of run) {
    const known = steps.get(step.name);
    steps.set(step.name, {
      ...step,
      before: known?.before === undefined ? step.before : known.before,
      after: step.after === undefined ? known?.after : step.after,
    });
  }
  return steps;
}

function stepText({ name, before, after }: Step): string {
  if (after === null) return `${name} (removed)`;
  if (before === null) return `${name} ${after} (new)`;
  return [name, [before, after].filter((each) => each !== undefined).join(" → ")].join(" ");
}

/** Empty where there is none. */
async function tryTail(path: string): Promise<string> {
  try {
    const file = await open(path);
    try {
      const { size } = await file.stat();
      const length = Math.min(size, MAX_BYTES);
      const { buffer } = await file.read(Buffer.alloc(length), 0, length, size - length);
      return buffer.toString("utf8");
    } finally {
      await file.close();
    }
  } catch {
    return "";
  }
}
