import { BotError, isBotError } from "../../core/errors.ts";
import type { Config } from "../../config/config.ts";
import type { JournalKey } from "../../core/journal-key.ts";
import type { JournalReader } from "../../journal/journal.ts";
import { commandLine } from "../../core/installation.ts";

/** Exit codes of every command; scripts rely on them. 3: it needs an approval or an answer. */
export const EXIT = { answered: 0, failed: 1, usage: 2, needsApproval: 3 } as const;

/** What was typed, or the configuration, is wrong: a command's form, a value, or the name of something that is not there. */
const USAGE_ERRORS = [
  "USAGE",
  "CONFIG_INVALID",
  "INPUT_INVALID",
  "THREAD_UNKNOWN",
  "ARTIFACT_UNKNOWN",
] as const;

/** How a command ends that throws: 2 for wrong use, else 1. No command says it in another way. */
export function exitOf(error: unknown): 1 | 2 {
  return isBotError(error, ...USAGE_ERRORS) ? EXIT.usage : EXIT.failed;
}

export interface CommandInput {
  config: Config;
  envFile: string | undefined;
  /** Where the person stands. */
  folder: string;
  words: readonly string[];
  options: Readonly<Record<string, string | boolean | undefined>>;
}

/**
 * A command of the program. Its file is read at every start, so what is heavy is imported in `run`.
 */
export interface CliCommand {
  /** Undefined: what is done when no command is named. */
  readonly name?: string;
  /** Its forms, each the words after the program's name, with what it does, as the usage shows them. */
  readonly forms: Readonly<Record<string, string>>;
  /** Its own options, each a text unless `flag`. */
  readonly options?: Readonly<Record<string, "text" | "flag">>;
  readonly words?: { min: number; max: number };
  run(input: CommandInput): Promise<number>;
}

export function textOption({ options }: CommandInput, name: string): string | undefined {
  const value = options[name];
  return typeof value === "string" ? value : undefined;
}

/** The journal of a store that is only looked at, closed afterwards. */
export async function withStore<T>(
  config: Config,
  look: (journal: JournalReader) => Promise<T>,
): Promise<T> {
  const { chosenStore } = await import("../../journal/stores.ts");
  const journal = await chosenStore(config.values).read();
  try {
    return await look(journal);
  } finally {
    await journal.close();
  }
}

/**
 * The thread that a person names by its key or by a beginning of it that only one thread has, with or without
 * `terminal:`.
 * @throws BotError THREAD_UNKNOWN
 */
export async function findThread(journal: JournalReader, name: string): Promise<JournalKey> {
  const found: JournalKey[] = [];
  for (const prefix of [name, `terminal:${name}`]) {
    for await (const { key } of journal.list({ prefix })) {
      if (key === name) return key;
      found.push(key);
    }
  }
  const [only, another] = found;
  if (only !== undefined && another === undefined) return only;
  const problem = only === undefined ? "No thread begins with" : "Several threads begin with";
  const { exactText } = await import("../../security/sanitize.ts");
  const text = `${problem} ${exactText(name)}; /threads in \`${commandLine("")}\` lists them.`;
  throw new BotError("THREAD_UNKNOWN", text);
}

/** Prints lines until there are no more or the reader has gone, as `| head` does. */
export async function printLines(lines: AsyncIterable<string> | Iterable<string>): Promise<void> {
  let gone = false;
  process.stdout.on("error", () => {
    gone = true;
  });
  for await (const line of lines) {
    if (gone) return;
    if (!process.stdout.write(`${line}\n`)) await new Promise((resolve) => setImmediate(resolve));
  }
}
