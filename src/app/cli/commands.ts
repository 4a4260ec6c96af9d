import { parseArgs } from "node:util";
import { BotError, messageOf } from "../../core/errors.ts";
import { artifact } from "./artifact.ts";
import { ask } from "./ask.ts";
import { audit } from "./audit.ts";
import type { CliCommand, CommandInput } from "./command.ts";
import { doctor } from "./doctor.ts";
import { mcp } from "./mcp.ts";
import { packs } from "./packs.ts";
import { replay } from "./replay.ts";
import { secrets } from "./secrets.ts";
import { start } from "./start.ts";
import { trace } from "./trace.ts";

/** Every command, in the order of the usage. A new one is its file and one line here. */
const COMMANDS: readonly CliCommand[] = [
  start,
  ask,
  doctor,
  trace,
  replay,
  artifact,
  audit,
  packs,
  mcp,
  secrets,
];

const FORM_WIDTH = 40;

export function usage(commands: readonly CliCommand[] = COMMANDS): string {
  const lines = commands.flatMap(({ forms }) =>
    Object.entries(forms).flatMap(([form, about]) => {
      const [first = "", ...more] = about.split("\n");
      const pad = " ".repeat(FORM_WIDTH + 3);
      const head =
        form.length < FORM_WIDTH
          ? [`  ${form.padEnd(FORM_WIDTH)} ${first}`]
          : [`  ${form}`, pad + first];
      return [...head, ...more.map((line) => pad + line)];
    }),
  );
  return `Usage:\n${lines.join("\n")}\nExit codes: 0 answered, 1 failed, 2 usage or configuration, 3 needs approval or an answer.`;
}

/** What is wrong with the command line, and the forms that are right. */
function wrong(problem: string, commands: readonly CliCommand[] = COMMANDS, cause?: unknown) {
  return new BotError("USAGE", `${problem}\n\n${usage(commands)}`, { cause });
}

/**
 * The command that the arguments name, with its words and options; undefined: help was asked for.
 * @throws BotError USAGE with the mistake and the right forms
 */
export function readCommand(
  argv: readonly string[],
): { command: CliCommand; input: Pick<CommandInput, "words" | "options"> } | undefined {
  const { values, positionals } = readArguments(argv);
  const [name, ...words] = positionals;
  if (values["help"] === true || name === "help") return undefined;
  const command = COMMANDS.find((each) => each.name === name);
  if (command === undefined) throw wrong(`Unknown command: ${JSON.stringify(name)}.`);
  const { options: own = {}, words: { min, max } = { min: 0, max: 0 } } = command;
  const called = name ?? "npm start";
  const foreign = Object.keys(values).find((option) => !Object.hasOwn(own, option));
  if (foreign !== undefined) throw wrong(`${called} takes no --${foreign}.`, [command]);
  if (words.length < min) throw wrong(`Something is missing after ${called}.`, [command]);
  if (words.length > max) throw wrong(`There are too many words after ${called}.`, [command]);
  return { command, input: { words, options: values } };
}

function readArguments(argv: readonly string[]) {
  const options = Object.fromEntries(
    COMMANDS.flatMap(({ options: own = {} }) =>
      Object.entries(own).map(
        ([name, kind]) => [name, { type: kind === "flag" ? "boolean" : "string" }] as const,
      ),
    ),
  );
  try {
    return parseArgs({
      args: [...argv],
      allowPositionals: true,
      options: { ...options, help: { type: "boolean", short: "h" } },
    });
  } catch (error) {
    // Node adds how to pass a word that begins with a hyphen, which no command here takes.
    const [problem = ""] = messageOf(error).split(". To specify");
    throw wrong(`${problem.replace(/\.$/, "")}.`, COMMANDS, error);
  }
}
