import { randomUUID } from "node:crypto";
import type { JournalKey } from "../../core/journal-key.ts";
import type { Queries, ThreadSummary } from "../queries.ts";
import { callInlines } from "../render/call.ts";
import type { Block } from "../render/rich-text.ts";
import type { Board } from "./board.ts";
import { detailsText, replyLine, standingText } from "./card.ts";
import { terminalLines } from "./encode.ts";
import { LOCAL_COMMANDS, THREAD_COMMANDS } from "./input.ts";
import type { Look } from "./style.ts";
import { shortKey, threadLine, waitingText } from "./lists.ts";
import { wrapWords } from "./wrap.ts";

const TRANSPORT = "terminal";
const MAX_ARGS = 400;

/** What the commands of a screen read: they change nothing. */
export interface CommandParts {
  key: JournalKey;
  queries: Queries;
  board: Board;
  look: () => Look;
}

export function newThreadKey(): JournalKey {
  return `${TRANSPORT}:${randomUUID()}`;
}

/** Lines of a list that are shown at once. */
const PAGE = 50;

export async function listThreads(parts: CommandParts, written: string): Promise<string> {
  const threads = parts.queries.threads(`${TRANSPORT}:`);
  return pageOf(threads, "threads", written, (thread, number) =>
    threadLine(thread, number, parts.key, parts.look()),
  );
}

/** One page of a list, and how to see the next. */
async function pageOf<T>(
  items: AsyncIterable<T>,
  name: "threads" | "approvals",
  written: string,
  lineOf: (item: T, number: number) => string,
): Promise<string> {
  const none = { threads: "No threads yet.", approvals: "No open approvals." }[name];
  const page = written === "" ? 1 : Number(written);
  if (!Number.isSafeInteger(page) || page < 1) return `/${name} <page>, such as /${name} 2`;
  const lines: string[] = [];
  let number = 0;
  for await (const item of items) {
    number += 1;
    if (number > page * PAGE) return [...lines, `More: /${name} ${page + 1}`].join("\n");
    if (number > (page - 1) * PAGE) lines.push(lineOf(item, number));
  }
  if (lines.length > 0) return lines.join("\n");
  return number === 0 ? none : `There is no page ${page}.`;
}

/** The thread that a number of the list, a key or the beginning of one means; else what is wrong with it. */
export async function findThread(
  parts: CommandParts,
  wanted: string,
): Promise<{ key: JournalKey } | { why: string }> {
  if (wanted === "") return { why: "/resume <number or key>; /threads lists them." };
  const { queries } = parts;
  const numbered = /^\d{1,4}$/.test(wanted) ? await nth(queries, Number(wanted)) : undefined;
  const [found, ...others] =
    numbered === undefined ? await startingWith(queries, wanted) : [numbered];
  if (found === undefined) return { why: `No thread ${wanted}. /threads lists them.` };
  if (others.length > 0) {
    const keys = [found, ...others].map((each) => shortKey(each.key)).join(", ");
    return { why: `${wanted} could be any of ${keys}; type more of the key.` };
  }
  if (found.key === parts.key) return { why: "You are in that thread already." };
  return { key: found.key };
}

async function nth({ threads }: Queries, number: number): Promise<ThreadSummary | undefined> {
  let left = number;
  for await (const thread of threads(`${TRANSPORT}:`)) if ((left -= 1) === 0) return thread;
  return undefined;
}

/** Threads whose keys begin so that are named where it could be any. */
const MAX_NAMED = 10;

async function startingWith({ threads }: Queries, wanted: string): Promise<ThreadSummary[]> {
  const found: ThreadSummary[] = [];
  const prefix = wanted.startsWith(`${TRANSPORT}:`) ? wanted : `${TRANSPORT}:${wanted}`;
  for await (const thread of threads(prefix)) if (found.push(thread) === MAX_NAMED) break;
  return found;
}

export async function listApprovals(parts: CommandParts, written: string): Promise<string> {
  return pageOf(parts.queries.openActions(TRANSPORT), "approvals", written, (card) =>
    waitingText(card, parts.key, parts.look()),
  );
}

/** The full card of an action of this thread, in the state that this screen has shown. */
export async function describeAction(parts: CommandParts, wanted: string): Promise<string> {
  const { board, look, queries, key } = parts;
  if (wanted === "") return "/details <action>, such as /details a1";
  const card = board.card(wanted) ?? (await queries.action(key, wanted));
  if (card === undefined) return `There is no action ${wanted} in this thread.`;
  const footer = card.phase === "open" ? replyLine(card.action) : standingText(card, look().paint);
  return detailsText(card, look(), footer);
}

/** All that a check returned, on as many lines as it has. */
export async function showOutput(
  { key, queries, look }: CommandParts,
  wanted: string,
): Promise<string> {
  if (wanted === "") return "/output <check>, such as /output t3";
  const output = await queries.output(key, wanted.toLowerCase());
  if (output === undefined) return `I have no output of ${wanted} in this thread.`;
  const line: Block = { kind: "line", inlines: callInlines(output.result, MAX_ARGS) };
  const code: Block = { kind: "code", text: output.text.trimEnd() || "(empty)", isOutput: true };
  return terminalLines([line, code], look()).join("\n");
}

/** Only what this screen does itself; the thread's own `help` tells the rest. */
export function describeCommands(parts: CommandParts): string {
  const { paint, columns } = parts.look();
  const list = (commands: readonly (readonly [name: string, does: string])[]): string[] =>
    commands.map(([name, does]) => `  ${paint("bold", `/${name}`.padEnd(11))} ${does}`);
  const tools = parts.queries.tools().map((tool) => tool.name);
  const known = tools.length === 0 ? "No tools are available." : `Tools: ${tools.join(", ")}`;
  return [
    "On this screen, with or without the slash:",
    ...list(LOCAL_COMMANDS),
    "In the thread:",
    ...list(THREAD_COMMANDS),
    `Cards: ${replyLine(undefined)}`,
    "Unknown outcomes: h it happened · x it did not · both with because …",
    "Questions: type the number of a choice, or answer in your own words",
    'Files, in your message: @shot.png, @~/app.log, @"a name with spaces.pdf"',
    ...wrapWords(`${known}${tools.length === 0 ? "" : "; run <tool> name=value …"}`, columns),
  ].join("\n");
}

/** What Tab offers: this screen's commands and `run <tool>`. */
export function completions(queries: Queries): string[] {
  const local = [...LOCAL_COMMANDS, ...THREAD_COMMANDS].map(([name]) => `/${name} `);
  return [...local, ...queries.tools().map((tool) => `run ${tool.name} `)];
}
