import { realpath } from "node:fs/promises";
import { userInfo } from "node:os";
import * as z from "zod";
import { formatElapsed } from "../../core/instant.ts";
import { cleanText } from "../../security/sanitize.ts";
import type { Encoder } from "../../security/encoder.ts";
import { defineTool, type ExecResult, type Tool, type ToolOutput } from "../tool.ts";
import { resolveExecutable } from "../executable.ts";
import { hostArgument } from "./host-argument.ts";
import { type CommandFiles, findChange, isOther, pinCommand } from "./pinned-files.ts";
import { withCopies } from "./private-copies.ts";
import { onlyReads } from "./reading-commands.ts";

const argument = z
  .string()
  .max(10_000)
  .regex(/^[^\0]*$/, "must not hold a NUL byte");
const input = z.strictObject({
  argv: z
    .array(argument)
    .min(1)
    .max(64)
    .refine(([program = ""]) => program !== "" && !program.startsWith("-"), {
      message: "must start with a program, not with an option",
    })
    .meta({
      description: "The program and its arguments, one item each",
      examples: [["uptime"]],
    }),
  timeoutSeconds: z.int().min(1).max(600).default(60).describe("Stop it after this many seconds"),
  host: hostArgument,
  pinned: z
    .array(z.strictObject({ path: z.string(), sha256: z.string().regex(/^[0-9a-f]{64}$/) }))
    .optional()
    .meta({ internal: true }),
});
type Input = z.infer<typeof input>;

/**
 * Runs any program, without a shell. The program and the files its arguments name are fixed by their digests when it
 * is proposed: when one of them is another afterwards, it does not run.
 */
export function createRunCommand({ path }: { path?: string } = {}): Tool<Input> {
  /** The files of the command line, once they were found to be those that were pinned. */
  async function checked({ argv, pinned }: Input): Promise<CommandFiles> {
    const now = await pinCommand(argv, path);
    const changed = findChange(pinned ?? now.pinned, now.pinned);
    if (changed !== undefined) throw isOther(changed);
    return now;
  }
  return defineTool<Input>({
    name: "run_command",
    summary: "runs one program, without a shell, in a clean environment",
    description:
      "Runs one program with arguments on this machine, when no other tool does it. There is no shell: no pipes, redirections, variables, globs or quotes; each item of argv is one argument as it is. Paths must be absolute.",
    input,
    effect: "destructive",
    hostBound: true,
    effectOf: ({ argv }) => (onlyReads(argv) ? "read" : "destructive"),
    timeoutMs: 615_000,
    async meant(given) {
      const [name = "", ...rest] = given.argv;
      const program = await programOf(name, path);
      return program === undefined ? [] : [{ ...given, argv: [program, ...rest] }];
    },
    async pin(given) {
      return { ...given, pinned: (await pinCommand(given.argv, path)).pinned };
    },
    async precheck(given) {
      await checked(given);
    },
    async preview({ argv, timeoutSeconds, host = "this machine" }) {
      const { pinned, loose, copied } = await pinCommand(argv, path);
      const program = pinned[0]?.path ?? "";
      const real = await realpath(program);
      const via = real === program ? "" : ` (a link to ${quote(real)})`;
      const user = userInfo();
      return {
        lines: [
          { label: "Program", value: `${quote(program)}${via}` },
          ...argv.slice(1).map((text, at) => ({ label: `Argument ${at + 1}`, value: quote(text) })),
          ...pinned.map((file) => ({
            label: "SHA-256",
            value: `${file.sha256} of ${quote(file.path)}`,
          })),
          ...copied.map((file) => ({
            label: "Run from",
            value: `a private copy of ${quote(file)}, because others can change the file. It has another path, among links to the files beside it`,
          })),
          ...loose.map((file) => ({
            label: "Not fixed",
            value: `${quote(file.path)}: ${file.reason}`,
          })),
          {
            label: "Runs in",
            value:
              "an empty directory, with a clean environment: only PATH, LANG and an empty HOME",
          },
          { label: "Time limit", value: formatElapsed(timeoutSeconds * 1000) },
        ],
        blastRadius: `A command can do anything that user ${user.username} (uid ${user.uid}) can do on ${host}, and to other machines from there.`,
        undo: "Can't be undone automatically.",
      };
    },
    async run(given, ctx) {
      const files = await checked(given);
      const limits = { maxBytes: 128 * 1024, timeoutMs: given.timeoutSeconds * 1000 };
      const command = [files.pinned[0]?.path ?? "", ...given.argv.slice(1)];
      const result = await withCopies(command, files, (argv) => ctx.exec(argv, limits));
      return render(await withoutSplit(result, ctx.encoder));
    },
  });
}

/** The program itself where `name` is a link to it. */
async function programOf(name: string, path: string | undefined): Promise<string | undefined> {
  try {
    return await realpath(await resolveExecutable(name, path));
  } catch {
    return undefined;
  }
}

/** A secret may begin in one stream and end in the other: each is encoded with the other on both sides of it. */
async function withoutSplit(result: ExecResult, encoder: Encoder): Promise<ExecResult> {
  const [stdout, stderr] = [cleanText(result.stdout), cleanText(result.stderr)];
  if (stdout === "" || stderr === "") return result;
  const between = (text: string, other: string): Promise<string> => {
    const [before, behind] = [other.slice(-encoder.reach), other.slice(0, encoder.reach)];
    const from = before.length;
    return encoder.aside.encodeWithin(before + text + behind, from, from + text.length);
  };
  return {
    ...result,
    stdout: await between(stdout, stderr),
    stderr: await between(stderr, stdout),
  };
}

function render({ exitCode, signal, stdout, stderr }: ExecResult): ToolOutput {
  const ended = signal === undefined ? `Exit code ${exitCode}.` : `Ended by ${signal}.`;
  const streams = [
    ["Standard output:", stdout.trimEnd()],
    ["Standard error:", stderr.trimEnd()],
  ].filter(([, text]) => text !== "");
  const said = streams.length === 0 ? ["It printed nothing."] : streams.flat();
  return { text: [ended, ...said].join("\n"), failed: exitCode !== 0 };
}

/** In quotes and in plain ASCII, so that no two arguments look the same. */
function quote(text: string): string {
  return JSON.stringify(text).replace(
    /[^ -~]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}
