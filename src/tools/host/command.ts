import { realpath } from "node:fs/promises";
import { userInfo } from "node:os";
import * as z from "zod";
import type { Preview } from "../../core/entry.ts";
import type { Encoder } from "../../security/encoder.ts";
import { cleanText } from "../../security/sanitize.ts";
import { resolveExecutable } from "../executable.ts";
import type { ExecOptions, ExecResult, ToolContext, ToolOutput } from "../tool.ts";
import {
  type CommandFiles,
  findChange,
  isOther,
  pinCommand,
  type PinnedFile,
} from "./pinned-files.ts";
import { withCopies } from "./private-copies.ts";

/** A command line on its way from the proposal to its output: what of it is fixed, what its card shows, how it is run. */

/** The field in which a tool keeps the files that were fixed. */
export const pinnedField = z
  .array(z.strictObject({ path: z.string(), sha256: z.string().regex(/^[0-9a-f]{64}$/) }))
  .optional()
  .meta({ internal: true });

/** The files of the command line, once they were found to be those that were pinned. @throws BotError PRECHECK_FAILED */
export async function checkedFiles(
  argv: readonly string[],
  pinned: PinnedFile[] | undefined,
  path?: string,
): Promise<CommandFiles> {
  const now = await pinCommand(argv, path);
  const changed = findChange(pinned ?? now.pinned, now.pinned);
  if (changed !== undefined) throw isOther(changed);
  return now;
}

const DETAIL = { detail: true } as const;

/** What a card and its details show of it, to the last byte. */
export async function commandLines(
  argv: readonly string[],
  path?: string,
): Promise<Preview["lines"]> {
  const { pinned, loose, copied } = await pinCommand(argv, path);
  const program = pinned[0]?.path ?? "";
  const real = await realpath(program);
  const via = real === program ? "" : ` (a link to ${quote(real)})`;
  return [
    { label: "Program", value: `${quote(program)}${via}`, ...(via === "" && DETAIL) },
    ...argv
      .slice(1)
      .map((text, at) => ({ label: `Argument ${at + 1}`, value: quote(text), ...DETAIL })),
    ...pinned.map((file) => ({
      label: "SHA-256",
      value: `${file.sha256} of ${quote(file.path)}`,
      ...DETAIL,
    })),
    ...copied.map((file) => ({
      label: "Run from",
      value: `a private copy of ${quote(file)}, because others can change the file. It has another path, among links to the files beside it`,
    })),
    ...loose.map((file) => ({
      label: "Not fixed",
      value: `${quote(file.path)}: ${file.reason}`,
    })),
  ];
}

/** What somebody who is asked about a program has to know. */
export function blastOf(host: string): string {
  const user = userInfo();
  return `A command can do anything that user ${user.username} (uid ${user.uid}) can do on ${host}, and to other machines from there.`;
}

/** Runs the program itself, or the copy, that was found to be the pinned one. */
export async function runPinned(
  argv: readonly string[],
  files: CommandFiles,
  ctx: ToolContext,
  limits: ExecOptions,
): Promise<ExecResult> {
  const command = [files.pinned[0]?.path ?? "", ...argv.slice(1)];
  const result = await withCopies(command, files, (each) => ctx.exec(each, limits));
  return withoutSplit(result, ctx.encoder);
}

/** The program itself where `name` is a link to it. */
export async function programOf(
  name: string,
  path: string | undefined,
): Promise<string | undefined> {
  try {
    return await realpath(await resolveExecutable(name, path));
  } catch {
    return undefined;
  }
}

/** A secret may begin in one stream and end in the other: each is encoded with the other on both sides of it. */
export async function withoutSplit(result: ExecResult, encoder: Encoder): Promise<ExecResult> {
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

/** How it ended, and all that it printed. */
export function shownResult({ exitCode, signal, stdout, stderr }: ExecResult): ToolOutput {
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
