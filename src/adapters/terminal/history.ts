import type { HistoryItem } from "../queries.ts";
import type { Outgoing } from "../shown.ts";
import { livingText, standingText } from "./card.ts";
import { messageText } from "./message.ts";
import type { Look } from "./style.ts";
import { formatClock } from "./time.ts";

/** Lines of a result or of words that an opened thread's history shows; the rest is counted. */
const MAX_LINES = 6;

/** Said before, shown again: the beginning of it, and how much more there was. */
function shorten(text: string): string {
  const lines = text.split("\n");
  if (lines.length <= MAX_LINES + 1) return text;
  const more = `… ${lines.length - MAX_LINES} more lines`;
  return [...lines.slice(0, MAX_LINES), more].join("\n");
}

function shortenMessage(message: Outgoing): Outgoing {
  if (message.kind === "notice") return message;
  const results = message.results.map((each) => ({ ...each, text: shorten(each.text.trimEnd()) }));
  const text = message.text === undefined ? undefined : shorten(message.text.trimEnd());
  return { ...message, text, results };
}

/** One thing of the past, with its time in front; open cards are shown whole, so not by this. */
export async function pastText(item: HistoryItem, look: Look): Promise<string> {
  const clock = formatClock(item.at, look.now);
  const margin = " ".repeat(clock.length + 2);
  const body = await bodyOf(item, { ...look, columns: look.columns - margin.length });
  const [first = "", ...rest] = body.split("\n");
  const below = rest.map((line) => (line === "" ? "" : margin + line));
  return [`${look.paint("dim", clock)}  ${first}`, ...below].join("\n");
}

async function bodyOf(item: HistoryItem, look: Look): Promise<string> {
  if (item.kind === "card") return standingText(item.card, look.paint);
  if (item.kind === "living") return livingText(item.living, look);
  if (item.kind === "out") return messageText(shortenMessage(item.message), look);
  return `${look.paint("cyan", item.name)} › ${shorten(item.text)}`;
}
