import * as z from "zod";
import { BotError } from "../../core/errors.ts";
import { serviceName } from "../host/services.ts";
import { hostArgument } from "../host/host-argument.ts";
import { encodeEach } from "../labels.ts";
import { searchLines } from "../line-search.ts";
import { defineTool } from "../tool.ts";
import { type SshClient, shellWord, type Which } from "./client.ts";

const ROOT = "/var/log";
/** A shell's exit code for what is not ours to read; no program of the line uses it. */
const OUTSIDE = 77;
const MAX_BYTES = 4 * 1024 * 1024;
/** What is read to be searched, where only some lines are wanted. */
const SEARCHED_LINES = 20_000;

const LINES = {
  unit: serviceName.optional(),
  path: z
    .string()
    .regex(/^\/var\/log\/[^\0]+$/, `must be a file below ${ROOT}`)
    .max(1_000)
    .optional()
    .describe(`A file below ${ROOT}, in place of a unit`),
  since: z
    .string()
    .regex(/^\d{1,5}[smhd]$/, "must be such as 15m, 2h or 1d")
    .optional()
    .describe("For a unit: from how long ago on, such as 15m, 2h or 1d"),
  lines: z.int().min(1).max(2_000).default(100).describe("How many lines, the newest"),
  grep: z
    .string()
    .min(1)
    .max(1_000)
    .optional()
    .describe("Only lines that match this RE2 expression"),
  host: hostArgument,
};

/** The newest lines of a unit or a file, as they were written. */
export function createLogs(client: SshClient, which: Which) {
  return defineTool({
    name: "ssh_logs",
    summary: "reads the log of a unit or a file on another machine",
    description: `Reads the newest log lines of a systemd unit, or of a file below ${ROOT}, on another machine over SSH.`,
    input: z.strictObject({ server: which.server, ...LINES }),
    effect: "read",
    doing: ({ server, unit, path }) =>
      `Reading the log of ${unit ?? path ?? "the system"} on ${server}`,
    hostBound: true,
    kinds: { unit: "unit" },
    timeoutMs: 40_000,
    async run({ server, unit, path, since, lines, grep }, ctx) {
      if ((unit === undefined) === (path === undefined))
        throw new BotError("INPUT_INVALID", "Give a unit or a path, one of them.");
      const count = grep === undefined ? lines : SEARCHED_LINES;
      const line = path === undefined ? ofUnit(unit ?? "", count, since) : ofFile(path, count);
      const limits = { maxBytes: MAX_BYTES, timeoutMs: 30_000 };
      const { exitCode, stdout, stderr } = await client.run(server, line, ctx, limits);
      const subject = path ?? `unit ${unit}`;
      if (exitCode === OUTSIDE)
        return { text: `${path} leads out of ${ROOT} and was not read.`, failed: true };
      if (exitCode !== 0) {
        const said = stderr.trim().split("\n").at(-1) ?? "";
        return {
          text: `${subject} on ${server} was not read: ${said || `exit code ${exitCode}`}`,
          failed: true,
        };
      }
      const all = await encodeEach(stdout.trimEnd().split("\n"), ctx.encoder);
      const read = all.length === 1 && all[0] === "" ? [] : all;
      if (grep === undefined)
        return {
          text: [`The last ${read.length} lines of ${subject} on ${server}:`, ...read].join("\n"),
        };
      const newestFirst = read.toReversed();
      const found = await searchLines(
        newestFirst,
        { pattern: grep, ignoreCase: false, wanted: lines },
        ctx.signal,
      );
      const shown = found.indices.map((index) => newestFirst[index] ?? "").toReversed();
      const head = `${shown.length} of the last ${read.length} lines of ${subject} on ${server} match ${JSON.stringify(grep)}, newest last:`;
      return { text: [head, ...shown].join("\n") };
    },
  });
}

function ofUnit(unit: string, count: number, since: string | undefined): string {
  const from = since === undefined ? [] : [`--since=-${since}`];
  const words = [
    "journalctl",
    "--no-pager",
    "-q",
    "-o",
    "short-iso",
    `--unit=${unit}`,
    `--lines=${count}`,
    ...from,
  ];
  return words.map(shellWord).join(" ");
}

/** A link may lead anywhere: the file that is meant has to lie there. */
function ofFile(path: string, count: number): string {
  return `f=$(readlink -e -- ${shellWord(path)}) || { echo 'there is no such file' >&2; exit 1; }; case $f in ${ROOT}/*) tail -n ${count} -- "$f";; *) exit ${OUTSIDE};; esac`;
}
