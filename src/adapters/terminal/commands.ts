import { randomUUID } from "node:crypto";
import type { JournalKey } from "../../core/journal-key.ts";
import type { Queries, ThreadSummary } from "../adapter.ts";
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

export async function listThreads(parts: CommandParts): Promise<string> {
  const threads = await parts.queries.threads(TRANSPORT);
  if (threads.length === 0) return "No threads yet.";
  const lines = threads.map((thread, index) =>
    threadLine(thread, index + 1, parts.key, parts.look()),
  );
  return lines.join("\n");
}

/** The thread that a number of the list, a key or the beginning of one means; else what is wrong with it. */
export async function findThread(
  parts: CommandParts,
  wanted: string,
): Promise<{ key: JournalKey } | { why: string }> {
  if (wanted === "") return { why: "/resume <number or key>; /threads lists them." };
  const threads = await parts.queries.threads(TRANSPORT);
  const numbered = /^\d{1,3}$/.test(wanted) ? threads[Number(wanted) - 1] : undefined;
  const [found, ...others] = numbered === undefined ? matching(threads, wanted) : [numbered];
  if (found === undefined) return { why: `No thread ${wanted}. /threads lists them.` };
  if (others.length > 0) {
    const keys = [found, ...others].map((each) => shortKey(each.key)).join(", ");
    return { why: `${wanted} could be any of ${keys}; type more of the key.` };
  }
  if (found.key === parts.key) return { why: "You are in that thread already." };
  return { key: found.key };
}

function matching(threads: ThreadSummary[], wanted: string): ThreadSummary[] {
  const key = wanted.startsWith(`${TRANSPORT}:`) ? wanted : `${TRANSPORT}:${wanted}`;
  return threads.filter((each) => each.key.startsWith(key));
}

export async function listApprovals(parts: CommandParts): Promise<string> {
  const cards = await parts.queries.openActions(TRANSPORT);
  if (cards.length === 0) return "No open approvals.";
  return cards.map((card) => waitingText(card, parts.key, parts.look())).join("\n");
}

/** The full card of an action of this thread, in the state that this screen has shown. */
export async function describeAction(parts: CommandParts, wanted: string): Promise<string> {
  const { board, look } = parts;
  if (wanted === "") return "/details <action>, such as /details a1";
  const waiting = await parts.queries.openActions(TRANSPORT);
  const card =
    board.card(wanted) ?? waiting.find((each) => each.key === parts.key && each.action === wanted);
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
