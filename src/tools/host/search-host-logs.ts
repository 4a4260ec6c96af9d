import { basename } from "node:path";
import * as z from "zod";
import { BotError, messageOf } from "../../core/errors.ts";
import type { Gap } from "../../core/finding.ts";
import { isoUtc } from "../../core/instant.ts";
import { noSuch } from "../../core/suggest.ts";
import { counted, formatBytes, oneLine } from "../../core/text.ts";
import { logFields, type Times, timesOf } from "../logs/fields.ts";
import { readServer } from "../logs/read-server.ts";
import { type Report, report } from "../logs/report.ts";
import { createThread } from "../logs/thread.ts";
import { Refusal, orRefused } from "../refusal.ts";
import { nowOf } from "../since.ts";
import { defineTool, type Tool, type ToolContext } from "../tool.ts";
import { hostArgument } from "./host-argument.ts";
import { namesOf, type Opened, openInside, realInside } from "./log-folder.ts";
import { binaryFormat } from "./read-log.ts";
import { type Rotated, rotatedOf } from "./rotated.ts";
import { serviceName } from "./services.ts";

const input = z.strictObject({
  path: z
    .string()
    .min(1)
    .max(4_096)
    .optional()
    .describe(
      "A file in the log folders, also .gz and .zst; relative paths are looked for there. What it was rotated to counts. Not given: systemd's journal",
    ),
  unit: serviceName.optional().describe("Only lines of this unit of the journal"),
  ...logFields,
  host: hostArgument,
});
type Input = z.infer<typeof input>;

/** Lines are made safe to show at 15 MiB a second, and not each of them has to be where there is no pattern. */
const MAX_BYTES = 1024 ** 3;
const MAX_MATCHED_BYTES = 256 * 1024 ** 2;
const MAX_MS = 40_000;
const JOURNAL = { lines: 100_000, bytes: 128 * 1024 ** 2, ms: MAX_MS, page: 5_000 };
const MAX_PAGE_BYTES = 16 * 1024 ** 2;
const PACKED = ["gzip", "zstd"] as const;

/**
 * The logs of the machine that runs the bot: a file below one of `roots`, or systemd's journal. A tool of its own beside
 * `search_logs`: its calls are for a certain machine and may run a program, and cards, policy and the dispatcher see that.
 */
export function createSearchHostLogs({ roots }: { roots: readonly string[] }): Tool<Input> {
  return defineTool<Input>({
    name: "search_host_logs",
    summary:
      "folds lines of a log file or the journal into the few templates that matter, new errors first",
    description: `Reads a log file or systemd's journal of a time and folds the lines into templates: what varies is one template with a count, first and last time. Errors come first; with new_since what was not there before comes before all. Log folders: ${roots.join(", ")}.`,
    input,
    effect: "read",
    hostBound: true,
    kinds: { path: { paths: roots }, unit: "unit" },
    timeoutMs: 90_000,
    doing: ({ path = "the journal", unit }) =>
      `Searching ${path}${unit === undefined ? "" : ` of ${unit}`}`,
    async meant(given) {
      const real = given.path === undefined ? undefined : await realInside(given.path, roots);
      return (real === undefined ? [] : await namesOf(real, roots)).map((path) => ({
        ...given,
        path,
      }));
    },
    async pin(given) {
      if (given.path === undefined) return given;
      return { ...given, path: (await realInside(given.path, roots)) ?? given.path };
    },
    run: (given, ctx) =>
      orRefused(async () => {
        const now = nowOf(ctx);
        const times = await timesOf(given, ctx, now);
        const { pattern, lines } = given;
        const thread = createThread({ pattern, lines, withoutSecrets: false, now }, ctx);
        try {
          const { path } = given;
          const read =
            path === undefined
              ? await readJournal(given, times, thread, ctx)
              : await readFile({ ...given, path }, times, roots, { thread, ctx, now });
          const asked = {
            from: read.from,
            since: read.since,
            until: times.until,
            bytes: read.bytes,
            news: read.news,
            limit: given.limit,
            isRaw: lines !== undefined,
            pattern,
            now,
          };
          return report(await thread.result(), asked, read.gaps, ctx.encoder);
        } finally {
          await thread.close();
        }
      }),
  });
}

type Thread = ReturnType<typeof createThread>;
type Read = Pick<Report, "from" | "since" | "bytes" | "news"> & { gaps: Gap[] };

/** A file, after those that it was rotated to in that time. */
async function readFile(
  { path, pattern, lines }: Input & { path: string },
  times: Times,
  roots: readonly string[],
  { thread, ctx, now }: { thread: Thread; ctx: ToolContext; now: number },
): Promise<Read> {
  const { since, news } = times;
  const isEach = pattern !== undefined || lines !== undefined;
  const budget = {
    bytes: isEach ? MAX_MATCHED_BYTES : MAX_BYTES,
    until: performance.now() + MAX_MS,
  };
  const main = await openPermitted(path, path, roots, ctx);
  try {
    const { kind, path: real } = main;
    if (kind === "folder") throw new Refusal(`${real} is a folder; read_log lists its files.`);
    const name = basename(real);
    const looking: Looking = { thread, times, now, name, budget, bytes: 0, gaps: [] };
    const older = await rotatedOf(real, times);
    const chosen = affordable(older, budget.bytes - main.bytes);
    const files: string[] = [];
    for (const [index, each] of chosen.entries())
      if (
        await readOlder(each.path, { path, roots, ctx, files: chosen.length - index + 1 }, looking)
      )
        files.push(basename(each.path));
    const read = await readOpened(main, looking, 1);
    const { gaps } = looking;
    if (chosen.length < older.length)
      gaps.push({
        what: counted(older.length - chosen.length, "older file") + ` of ${real}`,
        why: "they hold more than is read at once",
        help: "Name a shorter time.",
      });
    return {
      from: files.length === 0 ? real : `${files.join(", ")} and ${real}`,
      since,
      bytes: looking.bytes,
      news:
        news === undefined || read.untimed
          ? undefined
          : { since: news, before: `its lines before ${isoUtc(news, "second")}Z` },
      gaps,
    };
  } finally {
    await main.handle.close();
  }
}

/** What the files of one log are read with. */
interface Looking {
  thread: Thread;
  times: Times;
  now: number;
  /** What its lines are of, whichever file they stand in. */
  name: string;
  /** What is left of it. */
  budget: { bytes: number; until: number };
  /** Were read. */
  bytes: number;
  gaps: Gap[];
}

/** With this one so many `files` are still to be read, and have an equal share of the time. */
async function readOpened(opened: Opened, looking: Looking, files: number) {
  const { thread, times, now, name, budget, gaps } = looking;
  const { path, handle, bytes } = opened;
  const format = await binaryFormat(opened);
  const packed = PACKED.find((each) => each === format);
  if (format !== undefined && packed === undefined)
    throw new Refusal(`${path} is ${format}, which this tool does not read.`);
  const maxMs = (budget.until - performance.now()) / files;
  const maxBytes = budget.bytes;
  const window = { fd: handle.fd, bytes, ...times, now, maxBytes, maxMs, packed };
  const read = await thread.file({ service: name, window });
  gaps.push(...fileGaps(path, read, { maxBytes, since: times.since }));
  budget.bytes = Math.max(0, maxBytes - read.bytes);
  looking.bytes += read.bytes;
  return read;
}

/** One that may not be read is a gap. */
async function readOlder(
  older: string,
  {
    path,
    roots,
    ctx,
    files,
  }: { path: string; roots: readonly string[]; ctx: ToolContext; files: number },
  looking: Looking,
): Promise<boolean> {
  try {
    const opened = await openPermitted(older, path, roots, ctx);
    try {
      await readOpened(opened, looking, files);
    } finally {
      await opened.handle.close();
    }
    return true;
  } catch (error) {
    if (ctx.signal.aborted || !(error instanceof BotError)) throw error;
    const why = messageOf(error).replace(/\.$/, "");
    looking.gaps.push({ what: `lines of ${older}`, why, help: "Let the bot's user read it." });
    return false;
  }
}

/** What it leads to has to be permitted unless the call names just that. */
async function openPermitted(
  path: string,
  named: string,
  roots: readonly string[],
  ctx: ToolContext,
): Promise<Opened> {
  const opened = await openInside(path, roots);
  const { path: real } = opened;
  const refusal = real === named ? undefined : await ctx.permit({ path: real });
  if (refusal === undefined) return opened;
  await opened.handle.close();
  const text = `${JSON.stringify(path)} leads to ${real}, which was not read. ${refusal}`;
  throw new BotError("PATH_REFUSED", text);
}

/** Of a log, lines take so many times as much space when they are unpacked. */
const PACKED_FACTOR = 10;
const MAX_OLDER = 20;

/** The newest that together are no longer than that. */
function affordable(older: readonly Rotated[], bytes: number): readonly Rotated[] {
  let left = bytes;
  const first = older.findLastIndex(({ path, bytes: size }) => {
    left -= /\.(?:gz|zst)$/.test(path) ? size * PACKED_FACTOR : size;
    return left < 0;
  });
  return older.slice(first + 1).slice(-MAX_OLDER);
}

function fileGaps(
  path: string,
  { cut, untimed, broken }: Awaited<ReturnType<Thread["file"]>>,
  { maxBytes, since }: { maxBytes: number; since: number },
): Gap[] {
  const gaps: Gap[] = [];
  if (untimed)
    gaps.push({
      what: `when the lines of ${path} were written`,
      why: "I can't read a time at their beginning, so I took all of them",
      help: "Use pattern to choose lines.",
    });
  if (cut === "bytes")
    gaps.push({
      what: `the first lines of ${path} since ${new Date(since).toISOString()}`,
      why: `only the last ${formatBytes(maxBytes)} of a file are read`,
      help: "Name a shorter time.",
    });
  if (cut === "packed")
    gaps.push({
      what: `the last lines of ${path}`,
      why: `only the first ${formatBytes(maxBytes)} of that time are read from a compressed file`,
      help: "Name a shorter time.",
    });
  if (broken !== undefined)
    gaps.push({
      what: `the rest of ${path}`,
      why: `it is cut or broken: ${broken}`,
      help: "Look at it with gzip -t or zstd -t.",
    });
  if (cut === "time")
    gaps.push({
      what: `the last lines of ${path}`,
      why: `reading took longer than ${MAX_MS / 1_000} s`,
      help: "Name a shorter time.",
    });
  return gaps;
}

async function readJournal(
  { unit, lines, pattern }: Input,
  times: Times,
  thread: Thread,
  ctx: ToolContext,
): Promise<Read> {
  const run = async (args: readonly string[]) => {
    const result = await ctx
      .exec(["journalctl", "--no-pager", "--quiet", ...args], { maxBytes: MAX_PAGE_BYTES })
      .catch((error: unknown) => {
        throw error instanceof BotError && error.code === "COMMAND_UNKNOWN"
          ? new Refusal("This machine has no journalctl; name a file with path.")
          : error;
      });
    const { exitCode, stdout, stderr } = result;
    // Without entries it exits with 1.
    if (exitCode !== 0 && stdout === "" && stderr.trim() !== "")
      throw new Refusal(`journalctl: ${oneLine(stderr).slice(0, 300)}`);
    return result;
  };
  const name = unit === undefined ? undefined : await unitNamed(unit, run);
  const gaps: Gap[] = [];
  const source = {
    async page(from: bigint, to: bigint, most: number) {
      for (let count = most; ; count = Math.ceil(count / 4)) {
        const args = [
          "--output=json",
          "--all",
          "--reverse",
          `--lines=${count}`,
          `--since=${micros(from)}`,
        ];
        const shown = await run([
          ...args,
          `--until=${micros(to - 1n)}`,
          ...(name === undefined ? [] : [`--unit=${name}`]),
        ]);
        const hint = shown.stderr.includes("not seeing messages from other users");
        if (hint && gaps.length === 0) gaps.push(OTHERS);
        if (shown.droppedBytes === 0) return { text: shown.stdout, most: count };
        if (count <= 20) throw new Refusal("The journal's lines are longer than is read at once.");
      }
    },
  };
  const server = { system: "journald", title: "journald" } as const;
  const asked = { times, lines, pattern };
  const read = await readServer(server, source, asked, { thread, budget: JOURNAL });
  const from = `journal${name === undefined ? "" : ` of ${name}`}`;
  return { ...read, from, gaps: [...gaps, ...read.gaps] };
}

const OTHERS: Gap = {
  what: "the journal's lines of other users and of the system",
  why: "this user may not read them",
  help: "Add the bot's user to the group systemd-journal.",
};

async function unitNamed(
  unit: string,
  run: (args: readonly string[]) => Promise<{ stdout: string }>,
): Promise<string> {
  const { stdout } = await run(["--field=_SYSTEMD_UNIT"]);
  const units = stdout.split("\n").filter((each) => each !== "");
  const found = [unit, `${unit}.service`].find((each) => units.includes(each));
  if (found !== undefined) return found;
  if (units.length === 0)
    throw new Refusal("The journal holds no lines of any unit; name a log file with path.");
  throw new BotError("INPUT_INVALID", noSuch("unit", `${unit}.service`, units.slice(0, 50)));
}

/** As journalctl takes an instant. */
function micros(us: bigint): string {
  return `@${us / 1_000_000n}.${String(us % 1_000_000n).padStart(6, "0")}`;
}
