import { randomUUID } from "node:crypto";
import { mkdirSync, readFileSync } from "node:fs";
import { userInfo } from "node:os";
import { join } from "node:path";
import { type Logger, pino } from "pino";
import {
  type Bot,
  LEASE_MS,
  assemble,
  loadToolset,
  readStore,
  storeName,
  runTerms,
} from "../assemble.ts";
import type { Config } from "../../config/config.ts";
import { BotError, messageOf } from "../../core/errors.ts";
import { createRedactor } from "../../security/redaction.ts";
import { type JournalKey, transportOf } from "../../core/journal-key.ts";
import { loadModel } from "../../models/load.ts";

/** The commands of `main.ts`. Each returns the process's exit code. */

/** Logs to a file or, without one, to stderr. A log that cannot be written is lost; the program goes on. */
function logger(config: Config, file: string | undefined): Logger {
  const redactor = createRedactor(config.secrets);
  const dest = file ?? process.stderr.fd;
  const destination = pino.destination({ dest, sync: true, mkdir: true, mode: 0o600 });
  destination.on("error", () => undefined);
  const hooks = { streamWrite: (line: string) => redactor.redact(line) };
  return pino({ level: config.logLevel, hooks }, destination);
}

function account(): { account: string; name: string } {
  const name = userInfo().username;
  return { account: `terminal:${name}`, name };
}

const newThread = (): JournalKey => `terminal:${randomUUID()}`;

/** Ends `bot` and then the process on the first signal, the process at once on the second. What it returns is aborted by the first. */
function stopOnSignal(bot: Bot): AbortSignal {
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

/** Prints lines until there are no more or the reader has gone, as `| head` does. */
async function printLines(lines: AsyncIterable<string>): Promise<void> {
  let gone = false;
  process.stdout.on("error", () => {
    gone = true;
  });
  for await (const line of lines) {
    if (gone) return;
    if (!process.stdout.write(`${line}\n`)) await new Promise((resolve) => setImmediate(resolve));
  }
}

/**
 * Serves every configured platform until it is told to stop. Returns only when none could be connected: then with what
 * was wrong on stderr.
 */
export async function serve(config: Config): Promise<number> {
  const { connectPlatforms, loadPlatforms } = await import("../platforms.ts");
  const log = logger(config, undefined);
  const bot = await assemble(config, log, { local: false });
  const stopped = stopOnSignal(bot);
  try {
    const platforms = await loadPlatforms(config, log);
    bot.start(...platforms);
    const connected = await connectPlatforms(platforms, bot, { log, signal: stopped });
    if (connected.length === 0 && !stopped.aborted) return 1;
    log.info({ store: storeName(config), model: config.model.id ?? "none" }, "serving");
    await new Promise(() => {}); // until a signal ends the process
    return 0;
  } finally {
    await bot.stop();
  }
}

/** A conversation: the named thread, else the newest with open work that nobody else serves, else a new one. */
export async function converse(
  config: Config,
  thread: string | undefined,
  folder: string,
): Promise<number> {
  const { createTerminal } = await import("../../adapters/terminal/adapter.ts");
  const interactive = process.stdin.isTTY && process.stdout.isTTY && !config.terminal.dumb;
  mkdirSync(config.dataDir, { recursive: true, mode: 0o700 });
  const log = logger(config, interactive ? join(config.dataDir, "watchkeeper.log") : undefined);
  const bot = await assemble(config, log, { local: true });
  const terminal = createTerminal({
    input: process.stdin,
    output: process.stdout,
    color: process.stdout.isTTY && config.terminal.color,
    interactive,
    ...account(),
    folder,
    now: Date.now,
  });
  stopOnSignal(bot);
  bot.start(terminal);
  try {
    let key: JournalKey | undefined = await firstThread(bot, thread, interactive);
    while (key !== undefined) key = await terminal.open(key, bot);
    return 0;
  } finally {
    await bot.stop();
  }
}

async function firstThread(
  bot: Bot,
  name: string | undefined,
  interactive: boolean,
): Promise<JournalKey> {
  if (name !== undefined) {
    const { findThread } = await import("./reports.ts");
    const key = await findThread(bot.journal, name);
    if (transportOf(key) === "terminal") return key;
    throw new BotError(
      "USAGE",
      `--thread opens the terminal's own threads. ${key} is decided where its people are; \`trace ${key}\` shows it.`,
    );
  }
  // A pipe's lines are meant for a thread of their own.
  if (!interactive) return newThread();
  for (const thread of await bot.queries.threads("terminal")) {
    const waiting = [...thread.openActions, ...thread.questions];
    if (!thread.open && !thread.unsettled && waiting.length === 0) continue;
    if (!thread.leased || (await isAbandoned(bot, thread.key))) return thread.key;
  }
  return newThread();
}

/** A lease whose end does not move for longer than a renewal takes belongs to a process that is gone. */
async function isAbandoned(bot: Bot, key: JournalKey): Promise<boolean> {
  const leaseEnd = async () => {
    for await (const summary of bot.journal.list({ prefix: key })) return summary.dueAt;
    return undefined;
  };
  const before = await leaseEnd();
  await new Promise((resolve) => setTimeout(resolve, LEASE_MS / 3 + 500));
  return (await leaseEnd()) === before;
}

/** One question or command in a thread of its own. */
export async function ask(
  config: Config,
  text: string,
  { json, folder }: { json: boolean; folder: string },
): Promise<number> {
  const { createAsk, readQuestion } = await import("../../adapters/terminal/ask.ts");
  const question = await readQuestion(text, account(), folder);
  // A person who watches sees the progress, not log lines between it.
  const file = process.stderr.isTTY ? join(config.dataDir, "watchkeeper.log") : undefined;
  const bot = await assemble(config, logger(config, file), { local: true });
  const key = newThread();
  const view = createAsk({
    key,
    queries: bot.queries,
    ...account(),
    out: process.stdout,
    err: process.stderr,
    json,
    color: process.stderr.isTTY && config.terminal.color,
    now: Date.now,
  });
  stopOnSignal(bot);
  bot.start(view);
  try {
    await bot.inbox.post(key, randomUUID(), question);
    return await view.finished;
  } finally {
    await bot.stop();
  }
}

/** `envFile`: what variables were read from, or undefined. */
export async function doctor(config: Config, envFile: string | undefined): Promise<number> {
  const { examine } = await import("./examine.ts");
  const { loadPlatforms } = await import("../platforms.ts");
  const marks = { ok: "ok     ", absent: "absent ", broken: "BROKEN " };
  const { id } = config.model;
  let broken = false;
  const parts = {
    nodeVersion: process.version,
    envFile,
    storeName: storeName(config),
    warnings: config.warnings,
    openJournal: (warn: (text: string) => void) => readStore(config, warn),
    loadModel: id === undefined ? undefined : () => loadModel(id, config.model),
    platforms: await loadPlatforms(config, pino({ level: "silent" })),
    ...(await loadToolset(config)),
  };
  async function* lines(): AsyncIterable<string> {
    for await (const { state, subject, text } of examine(parts)) {
      broken ||= state === "broken";
      yield `${marks[state]}${subject.padEnd(16)} ${text}`;
    }
  }
  await printLines(lines());
  return broken ? 1 : 0;
}

export async function trace(config: Config, thread: string): Promise<number> {
  const { findThread, traceLines } = await import("./reports.ts");
  const journal = await readStore(config);
  try {
    await printLines(traceLines(journal, await findThread(journal, thread)));
    return 0;
  } finally {
    await journal.close();
  }
}

export async function replay(
  config: Config,
  thread: string,
  step: string | undefined,
): Promise<number> {
  const { findThread } = await import("./reports.ts");
  const { replayLines } = await import("./replay-lines.ts");
  const number = step === undefined ? undefined : Number(step);
  if (number !== undefined && !Number.isSafeInteger(number)) {
    throw new BotError("USAGE", "--step takes a number, such as --step 3.");
  }
  const terms = runTerms(config, await loadToolset(config));
  if (terms === undefined) {
    throw new BotError("USAGE", "replay needs MODEL to be set as it was; no request is made.");
  }
  const journal = await readStore(config);
  try {
    const key = await findThread(journal, thread);
    await printLines(replayLines(journal, key, terms, number));
    return 0;
  } finally {
    await journal.close();
  }
}

export async function artifact(config: Config, thread: string, id: string): Promise<number> {
  const { findThread } = await import("./reports.ts");
  const journal = await readStore(config);
  try {
    process.stdout.write(await journal.readArtifact(await findThread(journal, thread), id));
    return 0;
  } finally {
    await journal.close();
  }
}

/** Says of each journal whether its seal holds, and holds it against what was kept in the file `against`. 1: of some it does not. */
export async function verify(
  config: Config,
  thread: string | undefined,
  against: string | undefined,
): Promise<number> {
  const { findThread } = await import("./reports.ts");
  const { readSealLines, verifySeals } = await import("./seals.ts");
  const kept = against === undefined ? [] : readSealLines(readKept(against));
  const journal = await readStore(config);
  let failed = false;
  async function* lines(key: JournalKey | undefined): AsyncIterable<string> {
    for await (const line of verifySeals(journal, { key, kept })) {
      failed ||= line.problem !== undefined;
      yield JSON.stringify(line);
    }
  }
  try {
    await printLines(lines(thread === undefined ? undefined : await findThread(journal, thread)));
    return failed ? 1 : 0;
  } finally {
    await journal.close();
  }
}

function readKept(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    throw new BotError("USAGE", `${path} could not be read: ${messageOf(error)}`, { cause: error });
  }
}

export async function audit(
  config: Config,
  thread: string | undefined,
  since: string | undefined,
): Promise<number> {
  const { auditLines, findThread, readSince } = await import("./reports.ts");
  const from = since === undefined ? undefined : readSince(since, Date.now());
  const journal = await readStore(config);
  try {
    const key = thread === undefined ? undefined : await findThread(journal, thread);
    await printLines(auditLines(journal, { key, since: from }));
    return 0;
  } finally {
    await journal.close();
  }
}
