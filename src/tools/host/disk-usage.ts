import { hostname } from "node:os";
import * as z from "zod";
import { bySeverity, type Finding } from "../../core/finding.ts";
import { formatBytes } from "../../core/text.ts";
import { BotError, isBotError } from "../../core/errors.ts";
import { defineTool, type ToolContext } from "../tool.ts";
import { resolveExecutable } from "../executable.ts";
import { hostArgument } from "./host-argument.ts";
import { tryRead } from "./process-table.ts";

const input = z.strictObject({
  path: z
    .string()
    .regex(/^\/[^\0]*$/, "must be an absolute path")
    .max(4096)
    .optional()
    .describe("Only the filesystem that holds this absolute path"),
  host: hostArgument,
});

/** Ends df before the call's own time is up, so that there is time to say why. */
const LIMITS = { maxBytes: 256 * 1024, timeoutMs: 8_000 };

/** Where a write fails soon, and where it may be failing now, in percent of space or inodes. */
const FULL_PERCENT = 90;
const OVER_PERCENT = 98;

/** Kernel interfaces and read-only images: they are always full or always empty. */
const PSEUDO_TYPES = new Set(
  "devtmpfs squashfs iso9660 efivarfs nsfs fuse.lxcfs fuse.portal fuse.gvfsd-fuse".split(" "),
);
const NETWORK_TYPE =
  /^(nfs|cifs|smb|9p$|ceph|glusterfs|afs|lustre|fuse\.(sshfs|s3fs|rclone|glusterfs|ceph))/;

/**
 * How full the filesystems are. It asks df(1) in a process of its own: a network mount that hangs would otherwise
 * hold one of our few file threads for ever.
 */
export const diskUsage = defineTool({
  name: "disk_usage",
  summary: "shows space and inodes of each filesystem, fullest first",
  description:
    "Lists this machine's filesystems, fullest first, with space and inodes used. Use it when a disk may be full.",
  input,
  effect: "read",
  hostBound: true,
  doing: ({ path }) => `Looking at disk space${path === undefined ? "" : ` of ${path}`}`,
  timeoutMs: 15_000,
  async unavailable() {
    return resolveExecutable("df").then(
      () => undefined,
      () => "This machine has no df.",
    );
  },
  async run({ path }, ctx) {
    const types = await readMountTypes();
    const target = path === undefined ? [] : ["--", path];
    const [space, inodes] = await Promise.all([
      askDf(["-P", "-k", ...target], ctx, types),
      askDf(["-P", "-i", ...target], ctx, types),
    ]);
    const complaint = space.stderr.trim();
    const all = filesystemsIn({ space: space.stdout, inodes: inodes.stdout, types });
    const shown = path === undefined ? all.filter((row) => isShown(row)) : all;
    if (shown.length === 0) return { text: complaint || "df listed no filesystem.", failed: true };
    const left = all.length - shown.length;
    return {
      text: [
        ...render(shown),
        ...(left === 0
          ? []
          : [`Left out: ${left} pseudo or memory filesystems below ${FULL_PERCENT} %.`]),
        ...(complaint === "" ? [] : [`df also said: ${complaint}`]),
      ].join("\n"),
      findings: shown
        .filter((row) => isFull(row))
        .map((row) => ({
          object: { kind: "Filesystem", namespace: hostname(), name: row.mount },
          since: null,
          ...fillingOf(row),
        }))
        .toSorted(bySeverity),
    };
  },
});

interface Row {
  source: string;
  total: number;
  used: number;
  available: number;
  /** Undefined when the filesystem does not count. */
  percent: number | undefined;
  mount: string;
}

export interface Filesystem extends Row {
  type: string;
  inodePercent: number | undefined;
}

/** The filesystems by what `df -P -k` and `df -P -i` say, and each mount point's type. */
export function filesystemsIn(said: {
  space: string;
  inodes: string;
  types: ReadonlyMap<string, string>;
}): Filesystem[] {
  const inodesByMount = new Map(parseDf(said.inodes).map((row) => [row.mount, row.percent]));
  return parseDf(said.space).map((row) => ({
    ...row,
    type: said.types.get(row.mount) ?? "",
    inodePercent: inodesByMount.get(row.mount),
  }));
}

async function askDf(args: string[], ctx: ToolContext, types: Map<string, string>) {
  try {
    return await ctx.exec(["df", ...args], LIMITS);
  } catch (error) {
    const remote = [...types].filter(([, type]) => NETWORK_TYPE.test(type));
    if (!isBotError(error, "TIMEOUT") || remote.length === 0) throw error;
    const list = remote.map(([mount, type]) => `${mount} (${type})`).join(", ");
    throw new BotError(
      "TIMEOUT",
      `df did not answer; usually a network mount hangs. Network mounts here: ${list}. Ask with path for another one.`,
      { cause: error },
    );
  }
}

/** The rows of `df -P`, in blocks of 1 KiB or in inodes. */
function parseDf(text: string): Row[] {
  return text.split("\n").flatMap((line) => {
    const match = /^(.+?) +(\d+) +(\d+) +(-?\d+) +(\d+%|-) +(\/.*)$/.exec(line);
    if (match === null) return [];
    const [, source = "", total, used, available, percent = "", mount = ""] = match;
    return {
      source,
      total: Number(total),
      used: Number(used),
      available: Number(available),
      percent: percent === "-" ? undefined : Number.parseInt(percent, 10),
      mount,
    };
  });
}

/** Filesystem types by mount point, where the system tells them without touching the filesystems (Linux). */
async function readMountTypes(): Promise<Map<string, string>> {
  return mountTypes((await tryRead("/proc/self/mounts")) ?? "");
}

/** Types by mount point, as /proc/mounts has them. */
export function mountTypes(mounts: string): Map<string, string> {
  return new Map(
    mounts.split("\n").flatMap((line): [string, string][] => {
      const [, mount, type] = line.split(" ");
      return mount === undefined || type === undefined ? [] : [[unescapeOctal(mount), type]];
    }),
  );
}

/** Mount points are written with their spaces as \040 (fstab(5)). */
function unescapeOctal(text: string): string {
  return text.replace(/\\([0-7]{3})/g, (_, octal: string) =>
    String.fromCodePoint(Number.parseInt(octal, 8)),
  );
}

/** False for what no file of anybody's fills. */
export function isShown(row: Filesystem): boolean {
  if (row.total === 0 || PSEUDO_TYPES.has(row.type)) return false;
  // A container's layers repeat the numbers of the disk below them.
  if (row.type === "overlay" && row.mount !== "/") return false;
  return row.type !== "tmpfs" || isFull(row);
}

/** The fuller of space and inodes, in percent: either stops a write. */
export function fullness(row: Filesystem): number {
  return Math.max(row.percent ?? 0, row.inodePercent ?? 0);
}

/** How a filesystem that is nearly full or full is told of. */
export function fillingOf(row: Filesystem): Omit<Finding, "object" | "since"> {
  const ofInodes = (row.inodePercent ?? 0) > (row.percent ?? 0);
  return {
    cause: `${fullness(row)} % of its ${ofInodes ? "inodes" : "space"} is used`,
    severity: fullness(row) >= OVER_PERCENT ? "error" : "warning",
    evidence: filesystemText(row),
    fix: ofInodes
      ? "Find the folder with many small files and delete what nobody needs."
      : "Delete or compress what nobody needs, old logs first. A deleted file that a process has open keeps its space until the process ends.",
  };
}

export function isFull(row: Filesystem): boolean {
  return fullness(row) >= FULL_PERCENT;
}

function render(rows: Filesystem[]): string[] {
  const sorted = rows.toSorted(
    (a, b) => fullness(b) - fullness(a) || a.mount.localeCompare(b.mount),
  );
  const full = sorted.filter((row) => isFull(row)).map((row) => row.mount);
  const some = `${full.length} of ${rows.length} filesystems ${full.length === 1 ? "is" : "are"}`;
  const conclusion =
    full.length === 0
      ? `No filesystem is ${FULL_PERCENT} % full.`
      : `${some} at ${FULL_PERCENT} % or more: ${full.join(", ")}`;
  return [conclusion, ...sorted.map((row) => filesystemText(row))];
}

export function filesystemText(row: Filesystem): string {
  const size = (kib: number) => formatBytes(kib * 1024);
  const parts = [
    ...(row.percent === undefined ? [] : [`${row.percent} % used`]),
    `${size(row.used)} of ${size(row.total)}`,
    `${size(row.available)} available`,
    ...(row.inodePercent === undefined ? [] : [`inodes ${row.inodePercent} %`]),
  ];
  const what = row.type === "" ? row.source : `${row.type}, ${row.source}`;
  return `${isFull(row) ? "! " : ""}${row.mount}: ${parts.join(", ")} (${what})`;
}
