import { readFileSync } from "node:fs";
import type { StoredEntry } from "../../core/entry.ts";
import { withoutRemoved } from "../../core/removed.ts";
import { isPageNotice } from "../../thread/entry-ids.ts";
import { BotError, messageOf } from "../../core/errors.ts";
import type { JournalKey } from "../../core/journal-key.ts";
import type { JournalReader } from "../../journal/journal.ts";
import {
  type CliCommand,
  type CommandInput,
  EXIT,
  findThread,
  printLines,
  textOption,
  withStore,
} from "./command.ts";

export const audit: CliCommand = {
  name: "audit",
  forms: {
    "audit [--thread <id>] [--since 24h|7d|2026-11-21]":
      "requests, votes, executions and outcomes as JSON lines",
    "audit --verify [<thread>] [--against <file>]":
      "checks each thread's seal and prints its head, a JSON line each;\nwith --against, compares them with lines you kept elsewhere",
  },
  options: { thread: "text", since: "text", verify: "flag", against: "text" },
  words: { min: 0, max: 1 },
  run: (input) => (input.options["verify"] === true ? verify(input) : print(input)),
};

async function print(input: CommandInput): Promise<number> {
  const thread = textOption(input, "thread");
  const since = textOption(input, "since");
  if (input.words.length > 0 || input.options["against"] !== undefined) {
    const text = "audit takes a thread as --thread <id>; --against goes with --verify.";
    throw new BotError("USAGE", text);
  }
  const from = since === undefined ? undefined : readSince(since, Date.now());
  await withStore(input.config, async (journal) => {
    const key = thread === undefined ? undefined : await findThread(journal, thread);
    await printLines(auditLines(journal, { key, since: from }));
  });
  return EXIT.answered;
}

/** Checks each journal's seal, also against what was kept in a file. Fails when one does not hold. */
async function verify(input: CommandInput): Promise<number> {
  const { readSealLines, verifySeals } = await import("./seals.ts");
  const thread = input.words[0] ?? textOption(input, "thread");
  const against = textOption(input, "against");
  const kept = against === undefined ? [] : readSealLines(against, readKept(against));
  let failed = false;
  await withStore(input.config, async (journal) => {
    async function* lines(key: JournalKey | undefined): AsyncIterable<string> {
      for await (const line of verifySeals(journal, { key, kept })) {
        failed ||= line.problem !== undefined;
        yield JSON.stringify(line);
      }
    }
    await printLines(lines(thread === undefined ? undefined : await findThread(journal, thread)));
  });
  return failed ? EXIT.failed : EXIT.answered;
}

function readKept(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    throw new BotError("USAGE", `${path} could not be read: ${messageOf(error)}`, { cause: error });
  }
}

/** What an audit is about: who asked for what, who decided, what was executed and how it ended. */
const IS_AUDITED: Readonly<Record<StoredEntry["kind"], boolean>> = {
  message: true,
  command: true,
  edited: true,
  removed: true,
  click: true,
  stop: true,
  signal: true,
  alarm: true,
  run_started: true,
  extended: true,
  action_proposed: true,
  vote: true,
  action_closed: true,
  tool_started: true,
  tool_finished: true,
  grant_revoked: true,
  settled: true,
  // Who wanted it, and who paused, extended or ended it.
  goal_started: true,
  goal_state: true,
  // Who accepted which form of a tool.
  tool_form: true,
  freeze: true,
  feedback: true,
  memory: true,
  // Where else the thread was shown.
  view_added: true,
  view_removed: true,
  // The record of an incident repeats what calls of its threads did.
  incident: false,
  incident_state: false,
  // What came is told by its thread.
  alert: false,
  alert_state: true,
  alert_thread: true,
  alert_told: false,
  // Bookkeeping and words.
  timer: false,
  tenant: false,
  secret: false,
  mirror: false,
  moved: false,
  assistant: false,
  above: false,
  gate: false,
  plan: false,
  goal_planned: false,
  goal_judged: false,
  // What models are told changes nothing of what was done.
  condensed: false,
  overflow: false,
  // Only what came of a page.
  notice: false,
  // Only what its place refused (`isRefused`).
  delivered: false,
  run_ended: false,
  newer: false,
};

/** An alarm: it is not shown where it belongs, but to somebody else or to nobody. */
function isRefused(entry: StoredEntry): boolean {
  return entry.kind === "delivered" && entry.instead !== undefined;
}

function isPage(entry: StoredEntry): boolean {
  return entry.kind === "notice" && isPageNotice(entry.id);
}

/** Requests, votes, executions and outcomes, oldest first in each thread, one JSON object a line. */
export async function* auditLines(
  journal: JournalReader,
  { key, since = 0 }: { key: JournalKey | undefined; since: number | undefined },
): AsyncIterable<string> {
  const keys: JournalKey[] = key === undefined ? [] : [key];
  if (key === undefined) {
    for await (const summary of journal.list()) if (summary.lastAt >= since) keys.push(summary.key);
  }
  for (const thread of keys) {
    for (const entry of withoutRemoved(await journal.read(thread))) {
      if (entry.at < since || !(IS_AUDITED[entry.kind] || isRefused(entry) || isPage(entry)))
        continue;
      const { at, ...rest } = entry;
      yield JSON.stringify({ at: new Date(at).toISOString(), thread, ...rest });
    }
  }
}

const UNITS: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000 };

/**
 * `24h`, `7d`, `30m` before `now`, or a date such as `2026-11-21` or `2026-11-21T03:00Z`, as ms since 1970.
 * @throws BotError USAGE
 */
function readSince(text: string, now: number): number {
  const [, count, unit = ""] = /^(\d{1,6})([mhd])$/.exec(text) ?? [];
  const unitMs = UNITS[unit];
  if (unitMs !== undefined) return now - Number(count) * unitMs;
  const time = Date.parse(text);
  if (/^\d{4}-\d\d-\d\d/.test(text) && !Number.isNaN(time)) return time;
  const forms = "30m, 24h, 7d or a date such as 2026-11-21 or 2026-11-21T03:00Z";
  throw new BotError("USAGE", `--since takes ${forms}.`);
}
