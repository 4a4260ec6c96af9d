import { systemName } from "../executable.ts";

/**
 * Command lines that only read, and so need nobody's approval. Reviewed by hand against each program's manual page; what
 * is not here is destructive, so when in doubt a line is left out. None of them
 * - names a file, an address or another machine, so that nothing secret is read and nothing is sent anywhere;
 * - asks the DNS, which would tell its servers whom this machine talks to: what could must be told not to (`-n`);
 * - shows the arguments or environments of all programs, which may hold secrets. `systemctl status` has no option that leaves
 *   out the command lines of the processes of the one service it names; `docker ps` shows 20 characters of a container's;
 * - shows the whole journal: that of one service, or the kernel's, and a bounded number of lines;
 * - runs, loads or pages through anything else: no shells, no interpreters, no wrappers, no formats of its own;
 * - waits for more than some seconds.
 */

interface Shape {
  program: string;
  /** What has to be there, in this order: one of these lists. */
  words: readonly (readonly string[])[];
  /**
   * What may be there, each once and anywhere; `-n:<count>` is followed by its argument. Of `-{abc!n}` there has to be one with
   * an `n` in it.
   */
  options: readonly string[];
}

/** Placeholders, each one whole argument or the part of it behind `=`. None matches what begins with `-`. */
const PLACEHOLDERS: Readonly<Record<string, string>> = {
  count: String.raw`(?:[1-9]\d{0,2}|1000)`,
  few: "[1-9]",
  unit: String.raw`[A-Za-z0-9][A-Za-z0-9@_:.]*(?:-[A-Za-z0-9@_:.]+)*`,
  // What systemd takes for a service, a timer or a socket. A number is a process; a slice is every service there is.
  service: String.raw`(?!\d+$)[A-Za-z0-9][A-Za-z0-9@_:]*(?:-[A-Za-z0-9@_:]+)*|[A-Za-z0-9][A-Za-z0-9@_:.]*(?:-[A-Za-z0-9@_:.]+)*\.(?:service|timer|socket)`,
  since: String.raw`today|yesterday|now|\d{1,5} ?(?:s|sec|seconds?|m|min|minutes?|h|hours?|d|days?) ago|\d{4}-\d\d-\d\d(?: \d\d:\d\d(?::\d\d)?)?`,
  priority: "(?:[0-7]|emerg|alert|crit|err|warning|notice|info|debug)",
  property:
    "(?:Id|LoadState|ActiveState|SubState|Result|MainPID|NRestarts|ExecMainStatus|ExecMainStartTimestamp|ActiveEnterTimestamp|InactiveEnterTimestamp|MemoryCurrent|TasksCurrent|CPUUsageNSec|UnitFileState|FragmentPath|Requires|Wants|After|Before)",
  // No args, cmd or environment: they show other programs' arguments.
  fields:
    "(?:pid|ppid|pgid|sid|tid|user|uid|group|gid|stat|state|etime|etimes|pcpu|pmem|%cpu|%mem|rss|vsz|sz|comm|nlwp|pri|ni|tty|lstart|start|time|wchan|psr|cgroup)(?:,(?:pid|ppid|pgid|sid|tid|user|uid|group|gid|stat|state|etime|etimes|pcpu|pmem|%cpu|%mem|rss|vsz|sz|comm|nlwp|pri|ni|tty|lstart|start|time|wchan|psr|cgroup))*",
  sort: "-?(?:pid|pcpu|pmem|%cpu|%mem|rss|vsz|etime|etimes|time|start)",
  port: String.raw`:\d{1,5}`,
  level: "(?:emerg|alert|crit|err|warn|notice|info)(?:,(?:emerg|alert|crit|err|warn|notice|info))*",
  package: String.raw`[a-z0-9][a-z0-9+.]*(?:-[a-z0-9+.]+)*`,
};

/** `words`: between bars, the lists of which one has to be there. */
function shape(program: string, words = "", options = ""): Shape {
  const split = (text: string) => text.split(" ").filter((word) => word !== "");
  return { program, words: words.split(" | ").map(split), options: split(options) };
}

const JOURNAL_OPTIONS =
  "--no-pager -q --utc -r --since=<since> --until=<since> -S:<since> -U:<since> -p:<priority> --priority=<priority> -b -k";

/** `-{abc}` is one flag or several of these letters together, `-{abc!n}` with an `n` among them. */
const SHAPES: readonly Shape[] = [
  shape("uptime", "", "-p -s"),
  shape("nproc", "", "--all"),
  shape("arch"),
  shape("uname", "", "-{asrnvmpio}"),
  shape("hostname", "", "-{sI}"),
  shape("hostnamectl", " | status"),
  shape("timedatectl", " | status"),
  shape("date", "", "-u -R -Is -Iseconds"),
  shape("whoami"),
  shape("id", "", "-{uGgn}"),
  shape("who", "", "-{bruH}"),
  shape("last", "-n <count>", "-w -F"),
  shape("df", "", "-{hHiTlPka} --total"),
  shape("free", "", "-{bkmghwtlv}"),
  shape("vmstat", "", "-{asdwtn}"),
  shape("vmstat", "<few> <few>", "-{awtn}"),
  shape("iostat", "", "-{cdxzhkmt}"),
  shape("iostat", "<few> <few>", "-{cdxzhkmt}"),
  shape("mpstat", "", "-P:ALL"),
  shape("mpstat", "<few> <few>", "-P:ALL"),
  shape("lscpu", "", "-{ep}"),
  shape("lsmem"),
  shape("lsblk", "", "-{fmpatdSl}"),
  shape("swapon", "--show"),
  shape("lspci", "", "-{vknt}"),
  shape("lsusb", "", "-t"),
  shape("lsmod"),
  shape("dmesg", "", "-{Tkux} --level=<level>"),
  shape("top", "-b -n <few>", "-{Hi} -o:%CPU -o:%MEM"),
  shape("top", "-bn1"),
  shape("ps", "-e | -A | -eo <fields> | -e -o <fields>", "--sort=<sort>"),
  shape("pgrep", "<unit> | -c <unit>", "-x"),
  shape("pidof", "<unit>"),
  shape("ss", "", "-{ltunap46sxoeim}"),
  shape("netstat", "", "-{ltunap46sir!n}"),
  shape("lsof", "-i | -iUDP", "-{nP!n} -P"),
  shape("lsof", "-i<port> | -i <port> | -iTCP", "-{nP!n} -P -sTCP:LISTEN"),
  shape("ip", "a | addr | addr show", "-br -4 -6 -s"),
  shape("ip", "l | link | link show", "-br -s"),
  shape("ip", "r | route | route show | n | neigh | rule", "-4 -6"),
  shape("systemctl", "status <service>", "--no-pager -n:<count> --lines=<count>"),
  shape("systemctl", "is-active <unit> | is-enabled <unit> | is-failed <unit>", "-q"),
  shape("systemctl", "is-system-running"),
  shape("systemctl", "--failed", "--no-pager --no-legend"),
  shape(
    "systemctl",
    "list-units",
    "--no-pager --no-legend --all -a --failed --type=service --type=timer --type=socket --type=mount --state=failed --state=running",
  ),
  shape("systemctl", "list-timers | list-sockets", "--no-pager --all -a"),
  shape("systemctl", "list-unit-files", "--no-pager --type=service --type=timer --state=enabled"),
  shape("systemctl", "list-jobs", "--no-pager"),
  shape("systemctl", "list-dependencies <unit>", "--no-pager --reverse"),
  shape(
    "systemctl",
    "show <unit> -p <property> | show <unit> --property=<property>",
    "--no-pager --value",
  ),
  shape("loginctl", "list-sessions", "--no-pager"),
  shape(
    "journalctl",
    "-u <service> -n <count> | -n <count> -u <service> | --unit=<service> -n <count> | -u <service> --lines=<count>",
    JOURNAL_OPTIONS,
  ),
  shape("journalctl", "-k -n <count>", "--no-pager -q --utc -r -p:<priority>"),
  shape("journalctl", "--disk-usage"),
  shape("journalctl", "--list-boots", "--no-pager"),
  shape("docker", "ps", "-a -q -s"),
  shape("docker", "images", "-a -q"),
  shape("docker", "stats --no-stream | version | --version"),
  shape("dpkg", "-l <package> | -s <package>"),
  shape("rpm", "-q <package>"),
  shape("nginx", "-v"),
];

/** True when the command line is known to change nothing and to show nothing secret. */
export function onlyReads(argv: readonly string[]): boolean {
  const [path = "", ...rest] = argv;
  const program = systemName(path) ?? path;
  return SHAPES.some(
    ({ program: known, words, options }) =>
      known === program && words.some((needed) => fits(needed, options, rest)),
  );
}

function fits(
  words: readonly string[],
  options: readonly string[],
  args: readonly string[],
): boolean {
  const needed = [...words];
  const left = new Set(options);
  for (let at = 0; at < args.length; at += 1) {
    const arg = args[at] ?? "";
    const [next] = needed;
    if (next !== undefined && matches(next, arg)) {
      needed.shift();
      continue;
    }
    const option = [...left].find((each) => matches(partsOf(each).flag, arg));
    if (option === undefined) return false;
    left.delete(option);
    const { value } = partsOf(option);
    if (value === undefined) continue;
    at += 1;
    if (!matches(value, args[at] ?? "")) return false;
  }
  return needed.length === 0 && ![...left].some((option) => option.includes("!"));
}

/** Of `-n:<count>` the flag and what must follow it. */
function partsOf(option: string): { flag: string; value?: string | undefined } {
  const [, flag = option, value] = /^(-[A-Za-z]):(.+)$/.exec(option) ?? [];
  return { flag, value };
}

function matches(pattern: string, arg: string): boolean {
  const parts = pattern.split(/(<[a-z]+>|\{[^}]+\})/);
  const source = parts.map((part) => {
    if (part.startsWith("<")) return `(?:${PLACEHOLDERS[part.slice(1, -1)]})`;
    if (part.startsWith("{")) {
      const [letters = "", needed = ""] = part.slice(1, -1).split("!");
      return `(?=.*${needed})[${letters}]+`;
    }
    return part.replaceAll(/[^A-Za-z0-9]/g, String.raw`\$&`);
  });
  return new RegExp(`^${source.join("")}$`).test(arg);
}
