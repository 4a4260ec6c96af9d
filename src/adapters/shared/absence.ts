import type { JournalKey } from "../../core/journal-key.ts";
import type { Queries } from "../queries.ts";

/** What was written while nobody listened, on any platform. */

/** As far back as places are looked at: what is older than `TAKEN_MS` is not taken up, and people are told. */
export const LOOK_BACK_MS = 72 * 3_600_000;
/** A journal knows its events again for at least a day. */
const TAKEN_MS = 12 * 3_600_000;
/** Of one place: questions that are older than the newest so many are not taken up either. */
const MAX_NEWEST = 30;

/** One message of a place. */
export interface Found<M> {
  message: M;
  at: number;
  /** The journal that it belongs to, and its post there. */
  key: JournalKey;
  post: string;
  /** A person wrote it, and to the bot. */
  isQuestion: boolean;
}

/**
 * Of a place's messages, oldest first: what is taken up now, and the questions before it that never are. What is in a journal
 * already is neither, nor what others said in a thread before the bot was in it.
 */
export async function splitMissed<M>(
  found: readonly Found<M>[],
  { queries, isThread }: { queries: Pick<Queries, "isPosted">; isThread: boolean },
): Promise<{ taken: M[]; left: Found<M>[] }> {
  const isPosted = await Promise.all(found.map(({ key, post }) => queries.isPosted(key, post)));
  const first = isThread ? Math.max(0, isPosted.indexOf(true)) : 0;
  const since = Date.now() - TAKEN_MS;
  const [oldest] = found.filter(({ isQuestion }) => isQuestion).slice(-MAX_NEWEST);
  // Several may be of the same millisecond.
  const limit = oldest === undefined ? 0 : found.indexOf(oldest);
  const taken: M[] = [];
  const left: Found<M>[] = [];
  for (const [i, each] of found.entries()) {
    if (i < first || isPosted[i] === true) continue;
    if (i >= limit && each.at >= since) taken.push(each.message);
    else if (each.isQuestion) left.push(each);
  }
  return { taken, left };
}

/**
 * Without the bots' messages that tell only of alerts that a later one says are over: nobody has to look into those any more.
 * `alertsOf`: what a message tells of alerts; nothing for any other.
 */
export function withoutOver<M>(
  messages: readonly M[],
  alertsOf: (message: M) => readonly { alert: string; isOver: boolean }[],
): M[] {
  const over = new Set<string>();
  const kept: M[] = [];
  for (const message of messages.toReversed()) {
    const alerts = alertsOf(message);
    const isNews = alerts.some(({ alert, isOver }) => isOver || !over.has(alert));
    if (alerts.length === 0 || isNews) kept.push(message);
    for (const { alert, isOver } of alerts) {
      if (isOver) over.add(alert);
      else over.delete(alert);
    }
  }
  return kept.toReversed();
}
