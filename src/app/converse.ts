import { randomUUID } from "node:crypto";
import { createTerminal } from "../adapters/terminal/adapter.ts";
import type { ThreadSummary } from "../adapters/queries.ts";
import type { Config } from "../config/config.ts";
import { BotError } from "../core/errors.ts";
import { type JournalKey, transportOf } from "../core/journal-key.ts";
import { assemble, type Bot, LEASE_MS } from "./assemble.ts";
import { findThread } from "./cli/command.ts";
import { account, createLogger, logFile, stopOnSignal } from "./process.ts";

const newThread = (): JournalKey => `terminal:${randomUUID()}`;

/** A conversation: the named thread, else the newest with open work that nobody else serves, else a new one. */
export async function converse(
  config: Config,
  thread: string | undefined,
  folder: string,
): Promise<number> {
  const interactive = process.stdin.isTTY && process.stdout.isTTY && !config.terminal.dumb;
  const log = createLogger(config, interactive ? logFile(config) : undefined);
  const bot = await assemble(config, log, { local: true });
  const terminal = createTerminal({
    input: process.stdin,
    output: process.stdout,
    color: process.stdout.isTTY && config.terminal.color,
    interactive,
    ...account(),
    folder,
    note: modelNote(config.model),
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

function modelNote({ id, isStandard }: Config["model"]): string {
  if (id === undefined)
    return "No AI model is set: commands and the checks of skills answer. Set ANTHROPIC_API_KEY, or MODEL and its key.";
  return `${id} answers.${isStandard ? " Its key is set; MODEL chooses another." : ""}`;
}

async function firstThread(
  bot: Bot,
  name: string | undefined,
  interactive: boolean,
): Promise<JournalKey> {
  if (name !== undefined) {
    const key = await findThread(bot.journal, name);
    if (transportOf(key) === "terminal") return key;
    const text = `--thread opens the terminal's own threads. ${key} is decided where its people are; \`trace ${key}\` shows it.`;
    throw new BotError("USAGE", text);
  }
  // A pipe's lines are meant for a thread of their own.
  if (!interactive) return newThread();
  for await (const thread of unfinished(bot.queries)) {
    if (!thread.leased || (await isAbandoned(bot, thread.key))) return thread.key;
  }
  return newThread();
}

/** Threads that a start looks into for something that has ended without its answer; it may not take longer with each thread. */
const LATELY = 100;

/** Those in which something waits: of the newest first. */
async function* unfinished({ threads }: Bot["queries"]): AsyncIterable<ThreadSummary> {
  const isUnfinished = ({ open, unsettled, openActions, questions }: ThreadSummary) =>
    open || unsettled || openActions.length > 0 || questions.length > 0;
  let left = LATELY;
  for await (const thread of threads("terminal:")) {
    if (isUnfinished(thread)) yield thread;
    if ((left -= 1) === 0) break;
  }
  for await (const thread of threads("terminal:", "owed")) if (isUnfinished(thread)) yield thread;
}

/** A lease whose end does not move for longer than a renewal takes belongs to a process that is gone. */
async function isAbandoned(bot: Bot, key: JournalKey): Promise<boolean> {
  const leaseEnd = async () => (await bot.journal.summary(key))?.dueAt;
  const before = await leaseEnd();
  await new Promise((resolve) => setTimeout(resolve, LEASE_MS / 3 + 500));
  return (await leaseEnd()) === before;
}
