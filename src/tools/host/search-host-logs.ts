import { basename } from "node:path";
import * as z from "zod";
import { BotError } from "../../core/errors.ts";
import type { Gap } from "../../core/finding.ts";
import { isoUtc } from "../../core/instant.ts";
import { noSuch } from "../../core/suggest.ts";
import { formatBytes, oneLine } from "../../core/text.ts";
import { logFields, type Times, timesOf } from "../logs/fields.ts";
import { readServer } from "../logs/read-server.ts";
import { type Report, report } from "../logs/report.ts";
import { createThread } from "../logs/thread.ts";
import { Refusal, orRefused } from "../refusal.ts";
import { nowOf } from "../since.ts";
import { defineTool, type Tool, type ToolContext } from "../tool.ts";
import { hostArgument } from "./host-argument.ts";
import { openInside, realInside, namesOf } from "./log-folder.ts";
import { binaryFormat } from "./read-log.ts";
import { serviceName } from "./services.ts";

const input = z.strictObject({
  path: z
    .string()
    .min(1)
    .max(4_096)
    .optional()
    .describe(
      "A file in the log folders; relative paths are looked for there. Not given: systemd's journal",
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

async function readFile(
  { path, pattern, lines }: Input & { path: string },
  { since, until, news }: Times,
  roots: readonly string[],
  { thread, ctx, now }: { thread: Thread; ctx: ToolContext; now: number },
): Promise<Read> {
  const opened = await openInside(path, roots);
  try {
    const { kind, path: real, bytes, handle } = opened;
    const refusal = real === path ? undefined : await ctx.permit({ path: real });
    if (refusal !== undefined)
      throw new BotError(
        "PATH_REFUSED",
        `${JSON.stringify(path)} leads to ${real}, which was not read. ${refusal}`,
      );
    if (kind === "folder") throw new Refusal(`${real} is a folder; read_log lists its files.`);
    const format = await binaryFormat(opened);
    if (format !== undefined)
      throw new Refusal(`${real} is ${format}, which this tool does not read.`);
    const isEach = pattern !== undefined || lines !== undefined;
    const maxBytes = isEach ? MAX_MATCHED_BYTES : MAX_BYTES;
    const service = basename(real);
    const window = { fd: handle.fd, bytes, since, until, now, maxBytes, maxMs: MAX_MS };
    const read = await thread.file({ service, window });
    return {
      from: real,
      since,
      bytes: read.bytes,
      news:
        news === undefined || read.untimed
          ? undefined
          : { since: news, before: `its lines before ${isoUtc(news, "second")}Z` },
      gaps: fileGaps(real, read, { maxBytes, since }),
    };
  } finally {
    await opened.handle.close();
  }
}

function fileGaps(
  path: string,
  { cut, untimed }: Awaited<ReturnType<Thread["file"]>>,
  { maxBytes, since }: { maxBytes: number; since: number },
): Gap[] {
  const gaps: Gap[] = [];
  if (untimed)
    gaps.push({
      what: `when the lines of ${path} were written`,
      why: "they begin with no time that I can read, so all of them were taken",
      help: "Use pattern to choose lines.",
    });
  if (cut === "bytes")
    gaps.push({
      what: `the first lines of ${path} since ${new Date(since).toISOString()}`,
      why: `of a file the last ${formatBytes(maxBytes)} are read`,
      help: "Name a shorter time.",
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
  throw new BotError("INPUT_INVALID", noSuch("unit", `${unit}.service`, units.slice(0, 50)));
}

/** As journalctl takes an instant. */
function micros(us: bigint): string {
  return `@${us / 1_000_000n}.${String(us % 1_000_000n).padStart(6, "0")}`;
}
