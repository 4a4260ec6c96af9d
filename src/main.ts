import { existsSync } from "node:fs";
import { EXIT, exitOf } from "./app/cli/command.ts";
import { readCommand, usage } from "./app/cli/commands.ts";
import { BotError, isBotError, messageOf } from "./core/errors.ts";

/** The program. Everything heavy is imported only once it is known to be needed. */
async function main(argv: readonly string[]): Promise<number> {
  const found = readCommand(argv);
  if (found === "help" || found === "version") {
    process.stdout.write(`${found === "help" ? usage() : await version()}\n`);
    return EXIT.answered;
  }
  const known = process.env["NODE_EXTRA_CA_CERTS"];
  const envFile = readEnvFile();
  const { loadConfig } = await import("./config/config.ts");
  const config = await loadConfig(process.env);
  const { connectAsConfigured } = await import("./app/outgoing.ts");
  await connectAsConfigured(config, known, process.env);
  // npm runs its scripts in this program's folder, and says where it was called.
  const folder = process.env["INIT_CWD"] ?? process.cwd();
  return found.command.run({ ...found.input, config, envFile, folder });
}

async function version(): Promise<string> {
  const { programVersion } = await import("./core/installation.ts");
  return `watchkeeper ${programVersion()}, Node.js ${process.versions.node}`;
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

// Who reads the output may have enough of it before its end, as `| head` does.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code !== "EPIPE") throw error;
});
try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  process.stderr.write(`${messageOf(error)}\n`);
  if (!isBotError(error)) process.stderr.write(`${error instanceof Error ? error.stack : ""}\n`);
  process.exitCode = exitOf(error);
}
