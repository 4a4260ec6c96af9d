import * as z from "zod";
import { binaryTypeOf } from "../../core/file-type.ts";
import { lineFields, searchLines } from "../line-search.ts";
import { defineTool, type ToolContext, type ToolOutput } from "../tool.ts";

/** Less than what of a result is kept uncut, so that reading an artifact does not make another one. */
const MAX_TEXT_BYTES = 12_000;
const SHARE = 3 / 4;
/** A longer line is counted as several: an output may be a single line of megabytes. */
const MAX_LINE_LENGTH = 1_000;

const input = z.strictObject({
  id: z
    .string()
    .min(1)
    .max(64)
    .describe("The artifact's id, as a cut result names it")
    .meta({ examples: ["0f1e2d3c4b5a6978"] }),
  fromLine: z
    .int()
    .min(1)
    .default(1)
    .describe(
      "The first line to read or search, from 1; a line of more than 1000 characters counts as several",
    ),
  ...lineFields(" at the most", ", each with its number"),
});
type Input = z.infer<typeof input>;

/** Reads what a cut result left out, page by page, or searches it. */
export const readArtifact = defineTool<Input>({
  name: "read_artifact",
  summary: "reads the full output of an earlier call, by lines or by pattern",
  description:
    "Reads the full output of an earlier call of this thread whose result was cut: a range of its lines, or those that match an expression.",
  input,
  effect: "read",
  doing: () => "Reading the rest of an earlier result",
  timeoutMs: 20_000,
  async run(wanted, ctx) {
    const bytes = await ctx.readArtifact(wanted.id);
    const type = binaryTypeOf(bytes) ?? (bytes.includes(0) ? "binary data" : undefined);
    if (type !== undefined) {
      return { text: `${wanted.id} is ${type}, which cannot be read as text.`, failed: true };
    }
    const lines = linesOf(new TextDecoder().decode(bytes));
    if (wanted.fromLine > lines.length) {
      return { text: `${wanted.id} has ${lines.length} lines only.`, failed: true };
    }
    return wanted.grep === undefined
      ? page(lines, wanted, ctx)
      : matching(lines, { ...wanted, grep: wanted.grep }, ctx);
  },
});

function linesOf(text: string): string[] {
  const whole = new RegExp(`[^]{1,${MAX_LINE_LENGTH}}`, "gu");
  return text
    .replace(/\n$/, "")
    .split("\n")
    .flatMap((line) => (line.length <= MAX_LINE_LENGTH ? [line] : (line.match(whole) ?? [])));
}

function page(
  lines: readonly string[],
  { id, fromLine, lines: most }: Input,
  ctx: ToolContext,
): ToolOutput {
  const shown = fitting(lines.slice(fromLine - 1, fromLine - 1 + most), ctx);
  const last = fromLine - 1 + shown.length;
  const more = last < lines.length ? `; fromLine=${last + 1} goes on` : "";
  const conclusion = `Lines ${fromLine} to ${last} of the ${lines.length} of ${id}${more}.`;
  return { text: [conclusion, ...shown].join("\n") };
}

async function matching(
  lines: readonly string[],
  { id, fromLine, lines: most, grep, ignoreCase }: Input & { grep: string },
  ctx: ToolContext,
): Promise<ToolOutput> {
  const pattern = { pattern: grep, ignoreCase, wanted: most };
  const from = fromLine - 1;
  const found = await searchLines(lines.slice(from), pattern, ctx.signal);
  const numbered = found.indices.map((i) => `${from + i + 1}: ${lines[from + i]}`);
  const shown = fitting(numbered, ctx);
  const isCut = shown.length < numbered.length;
  // What did not fit is found again by going on behind the last line that is shown.
  const last = isCut ? from + (found.indices[shown.length - 1] ?? 0) + 1 : from + found.searched;
  const more = last < lines.length ? `; fromLine=${last + 1} goes on` : "";
  const scope = `lines ${fromLine} to ${last} of its ${lines.length} were searched${more}`;
  const conclusion = `${shown.length} lines of ${id} match ${JSON.stringify(grep)}; ${scope}.`;
  return { text: [conclusion, ...shown].join("\n") };
}

/** As many of the lines as an answer holds, at least one. */
function fitting(
  lines: readonly string[],
  { maxBytes = Infinity }: Pick<ToolContext, "maxBytes">,
): string[] {
  const most = Math.min(MAX_TEXT_BYTES, maxBytes * SHARE);
  let bytes = 0;
  const end = lines.findIndex((line) => (bytes += Buffer.byteLength(line) + 1) > most);
  return lines.slice(0, end < 0 ? lines.length : Math.max(1, end));
}
