import * as z from "zod";
import { formatBytes } from "../../core/text.ts";
import { BotError } from "../../core/errors.ts";
import { lineFields, searchFile } from "../line-search.ts";
import { findLines } from "../lines.ts";
import { defineTool, type Tool, type ToolContext, type ToolOutput } from "../tool.ts";
import { hostArgument } from "./host-argument.ts";
import { listFolder, namesOf, type Opened, openInside, realInside } from "./log-folder.ts";

const input = z.strictObject({
  path: z
    .string()
    .min(1)
    .max(4096)
    .describe(
      "A file, or a folder to see its files; relative paths are looked for in the log folders",
    ),
  ...lineFields(", the newest", ""),
  host: hostArgument,
});
type Input = z.infer<typeof input>;

/** Formats that are not text, by their first bytes. */
const MAGIC: readonly [format: string, hex: string][] = [
  ["gzip", "1f8b"],
  ["xz", "fd377a585a00"],
  ["zstd", "28b52ffd"],
  ["bzip2", "425a68"],
  ["systemd's binary journal", "4c504b5348485248"],
];

/** Reads the end of a log file below one of `roots`, or searches it from the end backwards. */
export function createReadLog({ roots }: { roots: readonly string[] }): Tool<Input> {
  return defineTool<Input>({
    name: "read_log",
    summary: "reads the end of a log file, or the lines that match a pattern, in folders you allow",
    description: `Reads the newest lines of a log file, or the newest that match an expression; lists a folder's files. Log folders: ${roots.join(", ")}.`,
    input,
    effect: "read",
    hostBound: true,
    kinds: { path: { paths: roots } },
    timeoutMs: 20_000,
    doing: ({ path }) => `Reading ${path}`,
    async unavailable() {
      return roots.length === 0 ? "No log folder is configured." : undefined;
    },
    async meant(given) {
      const real = await realInside(given.path, roots);
      return (real === undefined ? [] : await namesOf(real, roots)).map((path) => ({
        ...given,
        path,
      }));
    },
    // What is shown and approved is the file, not the link to it.
    pin: async (given) => ({ ...given, path: (await realInside(given.path, roots)) ?? given.path }),
    async run({ path, ...wanted }, ctx) {
      const opened = await openInside(path, roots);
      try {
        const refusal = opened.path === path ? undefined : await ctx.permit({ path: opened.path });
        if (refusal !== undefined) {
          const text = `${JSON.stringify(path)} leads to ${opened.path}, which was not read. ${refusal}`;
          throw new BotError("PATH_REFUSED", text);
        }
        if (opened.kind === "folder") {
          const files = await listFolder(opened, roots);
          return { text: [`${opened.path} holds ${files.length} entries:`, ...files].join("\n") };
        }
        const format = await binaryFormat(opened);
        if (format !== undefined) {
          const size = formatBytes(opened.bytes);
          return {
            text: `${opened.path} (${size}) is ${format}, which this tool does not read; search_host_logs reads gzip and zstd.`,
            failed: true,
          };
        }
        return await readLines(opened, wanted, ctx);
      } finally {
        await opened.handle.close();
      }
    },
  });
}

export async function binaryFormat({ handle }: Opened): Promise<string | undefined> {
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(8), 0, 8, 0);
  const start = buffer.toString("hex", 0, bytesRead);
  return MAGIC.find(([, hex]) => start.startsWith(hex))?.[0];
}

async function readLines(
  { handle, path, bytes }: Opened,
  { lines: wanted, grep, ignoreCase }: Omit<Input, "path">,
  { signal, encoder }: ToolContext,
): Promise<ToolOutput> {
  const file = { fd: handle.fd, bytes };
  const { lines, ...found } =
    grep === undefined
      ? await findLines(file, wanted, { signal, encoder })
      : await searchFile(file, { pattern: grep, ignoreCase, wanted }, { signal, encoder });
  const name = `${path} (${formatBytes(bytes)})`;
  const why = found.limit === undefined ? "" : `: ${found.limit}`;
  const scope = found.isAll
    ? "all of it"
    : `only its last ${formatBytes(found.searchedBytes)}${why}`;
  const tail = `${found.isAll ? "All" : "The last"} ${lines.length} lines of ${name}`;
  const matches = `${lines.length} lines of ${name} match ${JSON.stringify(grep)}, newest last`;
  const conclusion =
    grep === undefined
      ? `${tail}${found.limit === undefined ? "" : `; read: ${scope}`}.`
      : `${matches}; searched: ${scope}.`;
  const parts = found.inParts ? ["Lines longer than 64 KiB were read in parts."] : [];
  return { text: [conclusion, ...parts, ...lines.toReversed()].join("\n") };
}
