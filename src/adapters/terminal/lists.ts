import type { JournalKey } from "../../core/journal-key.ts";
import type { ActionCard } from "../shown.ts";
import type { ThreadSummary } from "../queries.ts";
import type { Look } from "./style.ts";
import { formatAge, formatMoment } from "./time.ts";
import { clip } from "./wrap.ts";

/** The part of a key that people type: the first eight characters of the uuid. */
export function shortKey(key: JournalKey): string {
  return key.slice(key.indexOf(":") + 1).slice(0, 8);
}

/** A thread in a list: its number there, short key, age, what it began with, what waits for a person. */
export function threadLine(
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
export function waitingText(card: ActionCard, here: JournalKey, look: Look): string {
  const effect = card.effect === "destructive" ? "DESTRUCTIVE" : card.effect;
  const head = `${card.action}  ${effect} ${card.tool} `;
  const what = card.preview.title ?? card.canonical;
  const args = look.paint("dim", clip(what, Math.max(12, look.columns - head.length)));
  const where = card.key === here ? "in this thread" : `/resume ${shortKey(card.key)}`;
  return `${head}${args}\n    expires ${formatMoment(card.expiresAt, look.now)} · ${where}`;
}
