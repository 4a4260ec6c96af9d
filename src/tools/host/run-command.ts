import * as z from "zod";
import { formatElapsed } from "../../core/instant.ts";
import { defineTool, type Tool } from "../tool.ts";
import {
  blastOf,
  checkedFiles,
  commandLines,
  pinnedField,
  programOf,
  runPinned,
  shownResult,
} from "./command.ts";
import { hostArgument } from "./host-argument.ts";
import { pinCommand } from "./pinned-files.ts";
import { onlyReads } from "./reading-commands.ts";

const argument = z
  .string()
  .max(10_000)
  .regex(/^[^\0]*$/, "must not hold a NUL byte");
/** The arguments of a tool that runs a program. */
export const commandArguments = {
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
};
/** A command as people read it; the card has each argument exactly. */
export function commandText(argv: readonly string[]): string {
  return argv.map((word) => (/^[^\s"]+$/.test(word) ? word : JSON.stringify(word))).join(" ");
}

const input = z.strictObject({
  ...commandArguments,
  host: hostArgument,
  pinned: pinnedField,
});
type Input = z.infer<typeof input>;

/**
 * Runs any program, without a shell. The program and the files its arguments name are fixed by their digests when it
 * is proposed: when one of them is another afterwards, it does not run.
 */
export function createRunCommand({ path }: { path?: string } = {}): Tool<Input> {
  return defineTool<Input>({
    name: "run_command",
    summary: "runs one program, without a shell, in a clean environment",
    description:
      "Runs one program with arguments on this machine, when no other tool does it. There is no shell: no pipes, redirections, variables, globs or quotes; each item of argv is one argument as it is. Paths must be absolute.",
    input,
    effect: "destructive",
    title: ({ argv }) => `Run ${commandText(argv)}`,
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
      await checkedFiles(given.argv, given.pinned, path);
    },
    async preview({ argv, timeoutSeconds, host = "this machine" }) {
      return {
        command: commandText(argv),
        lines: [
          ...(await commandLines(argv, path)),
          {
            label: "Runs in",
            value:
              "an empty directory, with a clean environment: only PATH, LANG and an empty HOME",
            detail: true,
          },
          { label: "Time limit", value: formatElapsed(timeoutSeconds * 1000), detail: true },
        ],
        blastRadius: blastOf(host),
        undo: "Can't be undone automatically.",
      };
    },
    async run(given, ctx) {
      const files = await checkedFiles(given.argv, given.pinned, path);
      const limits = { maxBytes: 128 * 1024, timeoutMs: given.timeoutSeconds * 1000 };
      return shownResult(await runPinned(given.argv, files, ctx, limits));
    },
  });
}
