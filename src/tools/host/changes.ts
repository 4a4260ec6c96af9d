import { readFile } from "node:fs/promises";
import { BotError, isBotError, messageOf } from "../../core/errors.ts";
import type { Gap } from "../../core/finding.ts";
import type { Change, ChangeSource, Window } from "../change.ts";
import { isRecord, textOf, tryParse } from "../decode.ts";
import type { ToolContext } from "../tool.ts";
import { packageChanges, type PackageLogs } from "./packages.ts";

/** What changed on this machine: packages, units that were started, and the machine itself. */

/** Where a machine keeps it. */
export interface ChangeFiles {
  packageLogs?: PackageLogs;
  stat?: string;
}

const PACKAGE_LOGS: PackageLogs = {
  dpkg: ["/var/log/dpkg.log.1", "/var/log/dpkg.log"],
  dnf: ["/var/log/dnf.rpm.log.1", "/var/log/dnf.rpm.log"],
};

const MAX_BYTES = 2 * 1024 * 1024;
/** systemd's own id of "unit started": https://www.freedesktop.org/wiki/Software/systemd/catalog */
const STARTED = "MESSAGE_ID=39f53479d3a045ac8e11786248231fbf";
/** Started by timers and logins, again and again. */
const ROUTINE =
  /^(?:session-|user[@-]|run-|apt-|logrotate|man-db|e2scrub|fstrim|dpkg-db|systemd-|motd|phpsessionclean|sysstat|anacron|exim4-base|fwupd|getty|serial-getty)/;

export function changeSource({
  packageLogs = PACKAGE_LOGS,
  stat = "/proc/stat",
}: ChangeFiles = {}): ChangeSource {
  return {
    name: "host",
    endpoints: {},
    async changes(window, ctx) {
      const gaps: Gap[] = [];
      const packages = await packageChanges(window, packageLogs, ctx);
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
