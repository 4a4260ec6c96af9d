import type { Outcome } from "../../core/entry.ts";
import type { JournalKey } from "../../core/journal-key.ts";
import type {
  ActionCard,
  CallResult,
  HistoryItem,
  Outgoing,
  Progress,
  ThreadSummary,
} from "../adapter.ts";
import { briefArgs } from "./args.ts";
import { renderStanding } from "./card.ts";
import type { Look, Paint, Style } from "./paint.ts";
import { formatAge, formatClock, formatExpiry, formatMs } from "./time.ts";
import { clip, wrapWords } from "./wrap.ts";

type Answer = Extract<Outgoing, { kind: "answer" }>;
type Notice = Extract<Outgoing, { kind: "notice" }>;

/** What a printed text that should be taken back is replaced by. */
export const DELIVERED_TWICE = "The last message was delivered twice; it counts once.";

/** Lines of a result or of words that an opened thread's history shows; the rest is counted. */
const HISTORY_LINES = 6;

/** The part of a key that people type: the first eight characters of the uuid. */
export function shortKey(key: JournalKey): string {
  return key.slice(key.indexOf(":") + 1).slice(0, 8);
}

const MARKS: Readonly<Record<Outcome, [style: Style | undefined, mark: string]>> = {
  ok: ["green", "✓"],
  error: ["red", "✗"],
  blocked: ["red", "✗"],
  unknown: ["destructive", "?"],
  denied: [undefined, "–"],
  expired: [undefined, "–"],
  cancelled: [undefined, "–"],
};

function mark(outcome: Outcome, paint: Paint): string {
  const [style, text] = MARKS[outcome];
  return style === undefined ? text : paint(style, text);
}

function indent(text: string, by: string): string {
  return text
    .split("\n")
    .map((line) => (line === "" ? "" : by + line))
    .join("\n");
}

/** `✓ http_check url=http://a/ · 34 ms`: what it was, how it ended unless well, how long it took. */
function resultLine(result: CallResult, look: Look): string {
  const how = result.outcome === "ok" ? "" : ` · ${result.outcome}`;
  const took = result.ms === undefined ? "" : ` · ${formatMs(result.ms)}`;
  const room = look.columns - 4 - result.tool.length - how.length - took.length;
  const args = clip(briefArgs(result.args), Math.max(8, room));
  const shown = args === "" ? "" : ` ${look.paint("dim", args)}`;
  return `${mark(result.outcome, look.paint)} ${look.paint("bold", result.tool)}${shown}${how}${look.paint("dim", took)}`;
}

function renderResult(result: CallResult, look: Look, full: boolean): string {
  const artifacts = result.artifacts.map((each) =>
    look.paint("dim", `full output: artifact ${each.id} (${each.bytes} bytes)`),
  );
  const text = full && result.text !== "" ? [result.text.trimEnd()] : [];
  const body = [...text, ...artifacts].map((each) => `\n${indent(each, "  ")}`);
  return resultLine(result, look) + body.join("");
}

/** The conclusion first: the answer's own words when it has them, then each call; else each call with its output. */
function renderAnswer(answer: Answer, look: Look): string {
  const words = answer.text?.trimEnd();
  const results = answer.results.map((each) => renderResult(each, look, words === undefined));
  const told = answer.results.some((each) => each.outcome !== "ok");
  const status = answer.status === "completed" || told ? undefined : statusMark(answer, look.paint);
  const head = words ?? (results.length === 0 || status !== undefined ? answer.status : undefined);
  const first = [status, head].filter((part) => part !== undefined).join(" ");
  return [...(first === "" ? [] : [first]), ...results].join("\n");
}

function statusMark(answer: Answer, paint: Paint): string {
  return answer.status === "failed" ? paint("red", "✗") : "–";
}

/** What a person can type about an outcome that nobody knows. */
function settleLine(action: string): string {
  return `h ${action} it happened · x ${action} it did not · h ${action} because …`;
}

function renderNotice(notice: Notice, look: Look): string {
  const { settles } = notice;
  const sign = settles === undefined ? look.paint("yellow", "•") : look.paint("destructive", "?");
  const [first = "", ...rest] = wrapWords(notice.text, look.columns - 2);
  const lines = [`${sign} ${first}`, ...rest.map((line) => `  ${line}`)];
  return [...lines, ...(settles === undefined ? [] : [`  ${settleLine(settles)}`])].join("\n");
}

export function renderOutgoing(message: Outgoing, look: Look): string {
  return message.kind === "answer" ? renderAnswer(message, look) : renderNotice(message, look);
}

/** One plain line per start and finish, where nothing can be redrawn. */
export function renderProgress(update: Progress, look: Look): string {
  if (update.kind === "tool_started") {
    const line = `… ${update.tool} ${briefArgs(update.args)}`.trimEnd();
    return look.paint("dim", clip(line, look.columns));
  }
  const how = update.outcome === "ok" ? "" : ` ${update.outcome}`;
  const took = update.ms === undefined ? "" : ` ${formatMs(update.ms)}`;
  return `${mark(update.outcome, look.paint)} ${update.tool}${how}${took}`;
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
export function renderPast(item: HistoryItem, look: Look): string {
  const clock = formatClock(item.at, look.now);
  const room = { ...look, columns: look.columns - clock.length - 2 };
  const body = pastBody(item, room);
  const [first = "", ...rest] = body.split("\n");
  const below = rest.map((line) => indent(line, " ".repeat(clock.length + 2)));
  return [`${look.paint("dim", clock)}  ${first}`, ...below].join("\n");
}

function pastBody(item: HistoryItem, look: Look): string {
  if (item.kind === "card") return renderStanding(item.card, look.paint);
  if (item.kind === "out") return renderOutgoing(shortenMessage(item.message), look);
  return `${look.paint("cyan", item.name)} › ${shorten(item.text)}`;
}

/** A thread in a list: its number there, short key, age, what it began with, the cards that wait. */
export function renderThread(
  thread: ThreadSummary,
  number: number,
  here: JournalKey,
  look: Look,
): string {
  const age = formatAge(look.now - thread.lastAt).padStart(6);
  const head = `${String(number).padStart(3)}  ${shortKey(thread.key)}  ${age}  `;
  const waits = thread.openActions.length > 0 ? `waits: ${thread.openActions.join(", ")}` : "";
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
