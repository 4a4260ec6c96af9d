import { userInfo } from "node:os";
import { dirname, join } from "node:path";
import { type Logger, type LoggerOptions, pino } from "pino";
import type { Config } from "../config/config.ts";
import { makeFolder } from "../core/folder.ts";
import { createRedactor } from "../security/redaction.ts";
import type { Bot } from "./assemble.ts";
import { createRepeats, shownError } from "./log-errors.ts";
import { isWarning, readableLine } from "./log-lines.ts";

/** The log of what a person talks to: lines of it would stand between what is said. */
export function logFile({ dataDir }: Config): string {
  return join(dataDir, "watchkeeper.log");
}

/**
 * Logs JSON to a file or, without one, to stderr, where somebody who watches sees lines in words instead. A log that cannot be
 * written is lost; the program goes on. `warnsAloud`: warnings are told on stderr too, in words.
 */
export function createLogger(
  config: Config,
  file?: string,
  { warnsAloud = false }: { warnsAloud?: boolean } = {},
): Logger {
  const redactor = createRedactor(config.secrets);
  if (file !== undefined) makeFolder(dirname(file));
  const dest = file ?? process.stderr.fd;
  const destination = pino.destination({ dest, sync: true, mode: 0o600 });
  destination.on("error", () => undefined);
  const isWatched = file === undefined && process.stderr.isTTY;
  const withoutRepeats = createRepeats();
  const hooks: NonNullable<LoggerOptions["hooks"]> = {
    logMethod(args, method, level) {
      const line = withoutRepeats(args, level);
      if (line !== undefined) method.apply(this, line);
    },
    streamWrite(json: string) {
      const line = redactor.redact(json);
      if (warnsAloud && isWarning(line)) process.stderr.write(readableLine(line));
      return isWatched ? readableLine(line) : line;
    },
  };
  return pino({ level: config.logLevel, hooks, serializers: { err: shownError } }, destination);
}

export function account(): { account: string; name: string } {
  const name = userInfo().username;
  return { account: `terminal:${name}`, name };
}

/** Ends `bot` and then the process on the first signal, the process at once on the second. What it returns is aborted by the first. */
export function stopOnSignal(bot: Pick<Bot, "stop">): AbortSignal {
  const codes = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 };
  const signalled = new AbortController();
  const stop = (signal: keyof typeof codes) => {
    if (signalled.signal.aborted) process.exit(1);
    signalled.abort();
    void bot.stop().finally(() => process.exit(codes[signal]));
  };
  process.on("SIGINT", stop).on("SIGTERM", stop).on("SIGHUP", stop);
  return signalled.signal;
}
