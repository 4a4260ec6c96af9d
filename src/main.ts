import { existsSync } from "node:fs";
import { parseArgs } from "node:util";
import { BotError, isBotError, messageOf } from "./core/errors.ts";

/** Exit codes: scripts rely on them. */
const EXIT = { answered: 0, failed: 1, usage: 2, needsApproval: 3 } as const;

const USAGE = `Usage:
  npm start                                serves Slack and Discord, whichever is configured; with neither, a conversation in
                                           this terminal: the newest thread with open work, else a new one
  npm start -- --thread <id>               opens one of the terminal's threads
  npm start -s -- ask "<text>" [--json]    one question or command; the answer is on stdout
  npm start -s -- doctor                   what works here and what does not
  npm start -s -- trace <thread>           a thread's journal
  npm start -s -- replay <thread> [--step n]
                                           the model calls of a thread; one of them with its exact request
  npm start -s -- artifact <thread> <id>   a call's whole output, where its result was cut
  npm start -s -- audit [--thread <id>] [--since 24h|7d|2026-11-21]
                                           requests, votes, executions and outcomes as JSON lines
  npm start -s -- audit --verify [<thread>] [--against <file>]
                                           whether each thread's entries are those that were written, with its head, a JSON line
                                           each; compared with such lines that were kept elsewhere
Exit codes: 0 answered, 1 failed, 2 usage or configuration, 3 needs approval or an answer.`;

/** 24: runs TypeScript as it is and has node:sqlite without a flag. */
const OLDEST_NODE = 24;

/** The program. Everything heavy is imported only once it is known to be needed. */
async function main(argv: readonly string[]): Promise<number> {
  if (Number(process.versions.node.split(".")[0]) < OLDEST_NODE) {
    throw new BotError(
      "NODE_TOO_OLD",
      `Node ${process.versions.node} is too old, ${OLDEST_NODE} is needed. On Linux \`npm ci\` brings it and \`npm start\` uses it.`,
    );
  }
  const { values, positionals } = readArguments(argv);
  const [command, ...words] = positionals;
  if (values.help) return print(USAGE);
  const envFile = readEnvFile();
  const { loadConfig } = await import("./config/config.ts");
  const config = await loadConfig(process.env);
  const cli = await import("./app/cli/cli.ts");
  // npm runs its scripts in this program's folder, and says where it was called.
  const folder = process.env["INIT_CWD"] ?? process.cwd();
  switch (command) {
    case undefined: {
      const serves = config.slack !== undefined || config.discord !== undefined;
      if (serves && values.thread === undefined) return cli.serve(config);
      return cli.converse(config, values.thread, folder);
    }
    case "ask":
      if (words.length === 0) break;
      return cli.ask(config, words.join(" "), { json: values.json, folder });
    case "doctor":
      return cli.doctor(config, envFile);
    case "trace":
      if (words[0] === undefined || words.length > 1) break;
      return cli.trace(config, words[0]);
    case "replay":
      if (words[0] === undefined || words.length > 1) break;
      return cli.replay(config, words[0], values.step);
    case "artifact":
      if (words[0] === undefined || words[1] === undefined || words.length > 2) break;
      return cli.artifact(config, words[0], words[1]);
    case "audit":
      if (values.verify && words.length <= 1) {
        return cli.verify(config, words[0] ?? values.thread, values.against);
      }
      if (words.length > 0 || values.verify || values.against !== undefined) break;
      return cli.audit(config, values.thread, values.since);
  }
  throw new BotError("USAGE", USAGE);
}

/**
 * Reads the variables of `.env`, if there is one; those that are set already stay. Returns its name if it was read. Node's own
 * flag for it says on every start that there is none.
 */
function readEnvFile(): string | undefined {
  const file = ".env";
  if (!existsSync(file)) return undefined;
  try {
    process.loadEnvFile(file);
    return file;
  } catch (error) {
    throw new BotError("CONFIG_INVALID", `${file} could not be read: ${messageOf(error)}`, {
      cause: error,
    });
  }
}

function readArguments(argv: readonly string[]) {
  try {
    return parseArgs({
      args: [...argv],
      allowPositionals: true,
      options: {
        thread: { type: "string" },
        since: { type: "string" },
        step: { type: "string" },
        verify: { type: "boolean", default: false },
        against: { type: "string" },
        json: { type: "boolean", default: false },
        help: { type: "boolean", short: "h", default: false },
      },
    });
  } catch (error) {
    throw new BotError("USAGE", `${messageOf(error)}\n\n${USAGE}`, { cause: error });
  }
}

function print(text: string): number {
  process.stdout.write(`${text}\n`);
  return EXIT.answered;
}

// Who reads the output may have enough of it before its end, as `| head` does.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code !== "EPIPE") throw error;
});
try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  process.stderr.write(`${messageOf(error)}\n`);
  const usage = isBotError(error, "USAGE", "CONFIG_INVALID", "THREAD_UNKNOWN", "NODE_TOO_OLD");
  if (!isBotError(error)) process.stderr.write(`${error instanceof Error ? error.stack : ""}\n`);
  process.exitCode = usage ? EXIT.usage : EXIT.failed;
}
