import type { JournalKey } from "../../core/journal-key.ts";
import type {
  ActionCard,
  HistoryItem,
  Notice,
  Outgoing,
  Progress,
  ThreadSummary,
} from "../adapter.ts";
import { briefArgs, formatMs } from "../render/phrases.ts";
import { indent, outcomeMark, renderAnswer } from "./answer.ts";
import { renderStanding } from "./card.ts";
import type { Look } from "./style.ts";
import { formatAge, formatClock, formatExpiry } from "./time.ts";
import { clip, wrapWords } from "./wrap.ts";

/** What a printed text that should be taken back is replaced by. */
export const DELIVERED_TWICE = "The last message was delivered twice; it counts once.";

/** Lines of a result or of words that an opened thread's history shows; the rest is counted. */
const HISTORY_LINES = 6;

/** The part of a key that people type: the first eight characters of the uuid. */
export function shortKey(key: JournalKey): string {
  return key.slice(key.indexOf(":") + 1).slice(0, 8);
}

/** What a person can type about an outcome that nobody knows. */
function settleLine(action: string): string {
  return `h ${action} it happened · x ${action} it did not · h ${action} because …`;
}

function renderNotice(notice: Notice, look: Look): string {
  const { settles, asks, holds, approves = [], confirms } = notice;
  const lines = hang(`${noticeSign(notice, look)} `, 2, notice.text, look);
  if (settles !== undefined) lines.push(`  ${settleLine(settles)}`);
  for (const { action } of approves) lines.push(`  y ${action} approves it`);
  for (const action of holds) lines.push(`  c ${action} withdraws it`);
  if (confirms !== undefined) lines.push(`  cancel ${confirms} for everyone`);
  if (asks !== undefined) lines.push(...questionLines(asks.choices, look));
  return lines.join("\n");
}

function noticeSign({ settles, asks }: Notice, { paint }: Look): string {
  if (settles !== undefined) return paint("destructive", "?");
  return asks === undefined ? paint("yellow", "•") : paint("cyan", "?");
}

/** The answers to choose from, numbered from 1, and how to answer. */
function questionLines(choices: readonly string[], look: Look): string[] {
  if (choices.length === 0) return [look.paint("dim", "  Answer in your own words.")];
  const numbered = choices.flatMap((choice, at) => {
    const label = `  ${at + 1}) `;
    return hang(label, label.length, choice, look);
  });
  const numbers = choices.length === 1 ? "1" : `1–${choices.length}`;
  return [...numbered, look.paint("dim", `  Type ${numbers}, or answer in your own words.`)];
}

/** `text` in lines that stand behind `head`, which is `width` cells wide. */
function hang(head: string, width: number, text: string, look: Look): string[] {
  const [first = "", ...rest] = wrapWords(text, Math.max(1, look.columns - width));
  return [head + first, ...rest.map((line) => (line === "" ? "" : " ".repeat(width) + line))];
}

export async function renderOutgoing(message: Outgoing, look: Look): Promise<string> {
  return message.kind === "answer" ? renderAnswer(message, look) : renderNotice(message, look);
}

/** One plain line per start and finish of a tool, where nothing can be redrawn; what a model is at is not told there. */
export function tryRenderProgress(update: Progress, look: Look): string | undefined {
  if (!("call" in update)) return undefined;
  if (update.kind === "tool_started") {
    const line = `… ${update.tool} ${briefArgs(update.args)}`.trimEnd();
    return look.paint("dim", clip(line, look.columns));
  }
  const how = update.outcome === "ok" ? "" : ` ${update.outcome}`;
  const took = update.ms === undefined ? "" : ` ${formatMs(update.ms)}`;
  return `${outcomeMark(update.outcome, look.paint)} ${update.tool}${how}${took}`;
}

/** Said before, shown again: the beginning of it, and how much more there was. */
function shorten(text: string): string {
  const lines = text.split("\n");
  if (lines.length <= HISTORY_LINES + 1) return text;
  const more = `… ${lines.length - HISTORY_LINES} more lines`;
  return [...lines.slice(0, HISTORY_LINES), more].join("\n");
}

function shortenMessage(message: Outgoing): Outgoing {
  if (message.kind === "notice") return message;
  const results = message.results.map((each) => ({ ...each, text: shorten(each.text.trimEnd()) }));
  const text = message.text === undefined ? undefined : shorten(message.text.trimEnd());
  return { ...message, text, results };
}

/** One thing of the past, with its time in front; open cards are shown whole, so not by this. */
export async function renderPast(item: HistoryItem, look: Look): Promise<string> {
  const clock = formatClock(item.at, look.now);
  const room = { ...look, columns: look.columns - clock.length - 2 };
  const body = await pastBody(item, room);
  const [first = "", ...rest] = body.split("\n");
  const below = rest.map((line) => indent(line, " ".repeat(clock.length + 2)));
  return [`${look.paint("dim", clock)}  ${first}`, ...below].join("\n");
}

async function pastBody(item: HistoryItem, look: Look): Promise<string> {
  if (item.kind === "card") return renderStanding(item.card, look.paint);
  if (item.kind === "out") return renderOutgoing(shortenMessage(item.message), look);
  return `${look.paint("cyan", item.name)} › ${shorten(item.text)}`;
}

/** A thread in a list: its number there, short key, age, what it began with, what waits for a person. */
export function renderThread(
  thread: ThreadSummary,
  number: number,
  here: JournalKey,
  look: Look,
): string {
  const age = formatAge(look.now - thread.lastAt).padStart(6);
  const head = `${String(number).padStart(3)}  ${shortKey(thread.key)}  ${age}  `;
  const asks = thread.questions.length > 0 ? ["a question"] : [];
  const open = [...thread.openActions, ...asks];
  const waits = open.length > 0 ? `waits: ${open.join(", ")}` : "";
  const work = waits === "" && thread.open ? "working" : "";
  const where = thread.key === here ? "this one" : thread.leased ? "in use" : "";
  const tags = [waits, work, where].filter((tag) => tag !== "");
  const tail = tags.length === 0 ? "" : `  ${tags.join(" · ")}`;
  const title = clip(thread.title, Math.max(12, look.columns - head.length - tail.length));
  return look.paint("dim", head) + title + look.paint("yellow", tail);
}

/** An open card in a list of all threads'. Too short to be approved from: that takes the thread. */
export function renderWaiting(card: ActionCard, here: JournalKey, look: Look): string {
  const effect = card.effect === "destructive" ? "DESTRUCTIVE" : card.effect;
  const head = `${card.action}  ${effect} ${card.tool} `;
  const args = look.paint("dim", clip(card.canonical, Math.max(12, look.columns - head.length)));
  const where = card.key === here ? "in this thread" : `/resume ${shortKey(card.key)}`;
  return `${head}${args}\n    expires ${formatExpiry(card.expiresAt, look.now)} · ${where}`;
}
