import { parseArgs } from "node:util";
import { BotError, messageOf } from "../../core/errors.ts";
import { suggest } from "../../core/suggest.ts";
import { artifact } from "./artifact.ts";
import { ask } from "./ask.ts";
import { audit } from "./audit.ts";
import type { CliCommand, CommandInput } from "./command.ts";
import { doctor } from "./doctor.ts";
import { incidents } from "./incidents.ts";
import { mcp } from "./mcp.ts";
import { packs } from "./packs.ts";
import { replay } from "./replay.ts";
import { evals } from "./evals.ts";
import { secrets } from "./secrets.ts";
import { skills } from "./skills.ts";
import { start } from "./start.ts";
import { trace } from "./trace.ts";
import { commandLine } from "../../core/installation.ts";

/** Every command, in the order of the usage. A new one is its file and one line here. */
const COMMANDS: readonly CliCommand[] = [
  start,
  ask,
  doctor,
  trace,
  replay,
  artifact,
  audit,
  evals,
  incidents,
  packs,
  skills,
  mcp,
  secrets,
];

const FORM_WIDTH = 40;
const FLAG = { type: "boolean" } as const;

export function usage(commands: readonly CliCommand[] = COMMANDS): string {
  const lines = commands.flatMap(({ forms }) =>
    Object.entries(forms).flatMap(([words, about]) => {
      const form = commandLine(words);
      const [first = "", ...more] = about.split("\n");
      const pad = " ".repeat(FORM_WIDTH + 3);
      const head =
        form.length < FORM_WIDTH
          ? [`  ${form.padEnd(FORM_WIDTH)} ${first}`]
          : [`  ${form}`, pad + first];
      return [...head, ...more.map((line) => pad + line)];
    }),
  );
  return `Usage:\n${lines.join("\n")}\nExit codes: 0 answered, 1 what was asked failed, 2 wrong use or configuration, 3 needs approval or an answer.`;
}

const seeAll = () => `\`${commandLine("help")}\` lists every command.`;

/** What is wrong with the command line, and what would be right. */
function wrong(problem: string, right = seeAll(), cause?: unknown): BotError {
  return new BotError("USAGE", `${problem}\n${right}`, { cause });
}

interface Read {
  command: CliCommand;
  input: Pick<CommandInput, "words" | "options">;
}

/**
 * The command that the arguments name, with its words and options, or what is only asked about the program itself.
 * @throws BotError USAGE with the mistake and the right forms
 */
export function readCommand(argv: readonly string[]): Read | "help" | "version" {
  const { values, positionals } = readArguments(argv);
  const [name, ...words] = positionals;
  if (values["help"] === true || name === "help") return "help";
  if (values["version"] === true || name === "version") return "version";
  const command = COMMANDS.find((each) => each.name === name);
  if (command === undefined) throw unknownCommand(name ?? "");
  const { options: own = {}, words: { min, max } = { min: 0, max: 0 } } = command;
  const called = name ?? commandLine("");
  const forms = `\n${usage([command])}`;
  const foreign = Object.keys(values).find((option) => !Object.hasOwn(own, option));
  if (foreign !== undefined) throw wrong(`${called} takes no --${foreign}.`, forms);
  if (words.length < min) throw wrong(`Something is missing after ${called}.`, forms);
  if (words.length > max) throw wrong(`There are too many words after ${called}.`, forms);
  return { command, input: { words, options: values } };
}

function unknownCommand(name: string): BotError {
  const names = COMMANDS.flatMap((each) => each.name ?? []);
  const meant = suggest(name, names);
  const problem = `Unknown command: ${name}.`;
  return wrong(meant === undefined ? problem : `${problem} Did you mean ${meant}?`);
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
      options: { ...options, help: { ...FLAG, short: "h" }, version: FLAG },
    });
  } catch (error) {
    // Node adds how to pass a word that begins with a hyphen, which no command here takes.
    const [problem = ""] = messageOf(error).split(". To specify");
    throw wrong(`${problem.replace(/\.$/, "")}.`, seeAll(), error);
  }
}
