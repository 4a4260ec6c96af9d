import { open, readFile } from "node:fs/promises";
import { BotError, isBotError, messageOf } from "../../core/errors.ts";
import type { Gap } from "../../core/finding.ts";
import type { Change, ChangeSource, Window } from "../change.ts";
import { isRecord, textOf, tryParse } from "../decode.ts";
import type { ToolContext } from "../tool.ts";

/** What changed on this machine: packages, units that were started, and the machine itself. */

/** Where a machine keeps it; the defaults are Debian's. */
export interface ChangeFiles {
  dpkgLogs?: readonly string[];
  stat?: string;
}

/** The end of a package log: a month of an ordinary server. */
const MAX_BYTES = 2 * 1024 * 1024;
const DPKG =
  /^(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d) (install|upgrade|remove|purge) (\S+?)(?::\S+)? (\S+) (\S+)$/;
/** Steps of one run of apt are no further apart. */
const SAME_RUN_MS = 3 * 60_000;
const MAX_NAMED = 6;
/** systemd's own id of "unit started": https://www.freedesktop.org/wiki/Software/systemd/catalog */
const STARTED = "MESSAGE_ID=39f53479d3a045ac8e11786248231fbf";
/** Started by timers and logins, again and again. */
const ROUTINE =
  /^(?:session-|user[@-]|run-|apt-|logrotate|man-db|e2scrub|fstrim|dpkg-db|systemd-|motd|phpsessionclean|sysstat|anacron|exim4-base|fwupd|getty|serial-getty)/;

export function changeSource({
  dpkgLogs = ["/var/log/dpkg.log.1", "/var/log/dpkg.log"],
  stat = "/proc/stat",
}: ChangeFiles = {}): ChangeSource {
  return {
    name: "host",
    endpoints: {},
    async changes(window, ctx) {
      const gaps: Gap[] = [];
      const logs = await Promise.all(dpkgLogs.map(tryTail));
      const packages = packagesIn(logs.join("\n"), window);
      const units = await unitsIn(window, ctx, gaps);
      const boot = bootOf(await readFile(stat, "utf8").catch(() => ""), window);
      const changes = [...packages, ...units, ...boot].map((each) => ({
        ...each,
        where: "this machine",
        isLive: true,
      }));
      return { changes, gaps };
    },
  };
}

type Found = Omit<Change, "where" | "isLive">;

/** A machine with other packages has no such file. */
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

/** One change for each run of the package manager. */
function packagesIn(log: string, { from, to }: Window): Found[] {
  const runs: { at: number; last: number; steps: { name: string; text: string }[] }[] = [];
  for (const line of log.split("\n")) {
    const [, day, hour, verb = "", name = "", before = "", after = ""] = DPKG.exec(line) ?? [];
    // dpkg writes the machine's own time, without a zone.
    const at = day === undefined ? Number.NaN : Date.parse(`${day}T${hour}`);
    if (!(at >= from && at <= to)) continue;
    const text =
      verb === "upgrade"
        ? `${name} ${before} → ${after}`
        : verb === "install"
          ? `${name} ${after} (new)`
          : `${name} (${verb === "purge" ? "purged" : "removed"})`;
    const run = runs.at(-1);
    if (run === undefined || at - run.last > SAME_RUN_MS)
      runs.push({ at, last: at, steps: [{ name, text }] });
    else {
      run.last = at;
      run.steps.push({ name, text });
    }
  }
  return runs.map(({ last, steps }) => {
    const texts = [...new Set(steps.map(({ text }) => text))];
    const more = texts.length > MAX_NAMED ? `; and ${texts.length - MAX_NAMED} more` : "";
    return {
      at: last,
      text: `packages: ${texts.slice(0, MAX_NAMED).join("; ")}${more}`,
      about: [...new Set(steps.map(({ name }) => name))],
    };
  });
}

/** Services that were started, each once, however often. */
async function unitsIn({ from, to }: Window, ctx: ToolContext, gaps: Gap[]): Promise<Found[]> {
  const seconds = (ms: number) => `@${Math.floor(ms / 1_000)}`;
  const asked = [
    "journalctl",
    "--no-pager",
    "--quiet",
    "--output=json",
    "--output-fields=UNIT,__REALTIME_TIMESTAMP",
    `--since=${seconds(from)}`,
    `--until=${seconds(to)}`,
    "_PID=1",
    STARTED,
  ];
  const gap = (why: string) =>
    void gaps.push({
      what: "units that were started on this machine",
      why,
      help: "Let the bot's user read the journal: add it to the group systemd-journal.",
    });
  try {
    const { exitCode, stdout, stderr } = await ctx.exec(asked, { maxBytes: MAX_BYTES });
    if (exitCode !== 0) {
      gap(stderr.trim().split("\n")[0]?.slice(0, 200) || `journalctl ended with ${exitCode}`);
      return [];
    }
    return startsOf(stdout);
  } catch (error) {
    if (ctx.signal.aborted || !(error instanceof BotError)) throw error;
    // Without systemd there is nothing to be seen.
    if (!isBotError(error, "COMMAND_UNKNOWN")) gap(messageOf(error));
    return [];
  }
}

function startsOf(journal: string): Found[] {
  const starts = journal.split("\n").flatMap((line) => {
    const entry = tryParse(line);
    const { UNIT: unit, __REALTIME_TIMESTAMP: time } = isRecord(entry) ? entry : {};
    const name = textOf(unit);
    const isTold = name.endsWith(".service") && !ROUTINE.test(name);
    return isTold ? [{ name: name.slice(0, 100), at: Math.floor(Number(time) / 1_000) }] : [];
  });
  return [...Map.groupBy(starts, ({ name }) => name)].map(([name, all]) => ({
    at: Math.max(...all.map(({ at }) => at)),
    text: `${name} started${all.length > 1 ? ` ×${all.length}` : ""}`,
    about: [name.replace(/\.service$/, "").replace(/@.*$/, "")],
  }));
}

function bootOf(stat: string, { from, to }: Window): Found[] {
  const [, seconds] = /^btime (\d+)$/m.exec(stat) ?? [];
  const at = Number(seconds) * 1_000;
  if (!(at >= from && at <= to)) return [];
  return [{ at, text: "the machine was started", about: [] }];
}
