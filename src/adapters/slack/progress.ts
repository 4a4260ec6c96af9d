import type { Logger } from "pino";
import { isBotError } from "../../core/errors.ts";
import type { MessageRef, Progress } from "../adapter.ts";
import { createProgressLog, type ProgressLog, type Told } from "../told.ts";
import type { Place } from "./place.ts";
import { createRecent, dropOldest } from "./recent.ts";

/** Slack lets an app edit about 50 messages a minute (tier 3, PLATFORM 1.5). */
const INTERVAL_MS = 1_200;
/** Runs whose progress is shown at once, and ended ones that are remembered; each is small. */
const MAX_LOGS = 1_000;
const HOUR_MS = 3_600_000;

interface Live {
  place: Place;
  log: ProgressLog;
  timer: NodeJS.Timeout | undefined;
  /** An edit that is on its way; never rejects. */
  sending: Promise<void> | undefined;
  /** Something is to be shown that no edit has taken along. */
  news: boolean;
}

/** The messages in which runs show what they do. Disposable: what cannot be shown is dropped. */
export interface ProgressBoard {
  /** The message was just posted and shows what the log says. */
  begin(place: Place, ref: MessageRef, log: ProgressLog): void;
  /** Keeps the message up to date, the newest state first, at most every 1.2 s in one thread. */
  note(place: Place, ref: MessageRef, update: Progress): void;
  /** Nothing of this message's progress is shown from now on; resolves when no edit is on its way. */
  end(ref: MessageRef): Promise<void>;
  /** Ends everything. */
  stop(): void;
}

export interface ProgressBoardParts {
  show(place: Place, ref: MessageRef, told: Told): Promise<void>;
  allowLink(url: string): boolean;
  log: Logger;
}

export function createProgressBoard({ show, allowLink, log }: ProgressBoardParts): ProgressBoard {
  const lives = new Map<MessageRef, Live>();
  const over = createRecent({ ttlMs: 24 * HOUR_MS, max: MAX_LOGS });
  /** By thread, when it may be edited again; and when any may. */
  const nextAt = new Map<string, number>();
  let pausedUntil = 0;
  let stopped = false;

  const threadOf = ({ channel, root }: Place) => `${channel} ${root}`;

  function schedule(ref: MessageRef, live: Live): void {
    if (live.timer !== undefined || live.sending !== undefined || !live.news) return;
    const at = Math.max(nextAt.get(threadOf(live.place)) ?? 0, pausedUntil);
    live.timer = setTimeout(
      () => {
        live.timer = undefined;
        live.sending = send(ref, live).finally(() => {
          live.sending = undefined;
          if (lives.get(ref) === live) schedule(ref, live);
        });
      },
      Math.max(0, at - performance.now()),
    );
    live.timer.unref();
  }

  async function send(ref: MessageRef, live: Live): Promise<void> {
    live.news = false;
    nextAt.delete(threadOf(live.place));
    nextAt.set(threadOf(live.place), performance.now() + INTERVAL_MS);
    dropOldest(nextAt, MAX_LOGS);
    try {
      const told = await live.log.told();
      if (lives.get(ref) === live) await show(live.place, ref, told);
    } catch (error) {
      const waitMs = isBotError(error, "PLATFORM_RATE_LIMITED") ? (error.retryAfterMs ?? 0) : 0;
      pausedUntil = Math.max(pausedUntil, performance.now() + waitMs);
      log.debug({ err: error }, "progress could not be shown");
    }
  }

  function drop(ref: MessageRef): Promise<void> | undefined {
    const live = lives.get(ref);
    lives.delete(ref);
    clearTimeout(live?.timer);
    return live?.sending;
  }

  function enter(place: Place, ref: MessageRef, known: ProgressLog): Live {
    const live = { place, log: known, timer: undefined, sending: undefined, news: false };
    lives.set(ref, live);
    for (const oldest of lives.keys()) {
      if (lives.size <= MAX_LOGS) break;
      void drop(oldest);
    }
    return live;
  }

  return {
    begin(place, ref, known) {
      if (!stopped && !lives.has(ref)) enter(place, ref, known);
    },
    note(place, ref, update) {
      if (stopped || over.has(ref)) return;
      const live = lives.get(ref) ?? enter(place, ref, createProgressLog(allowLink));
      if (!live.log.note(update)) return;
      live.news = true;
      schedule(ref, live);
    },
    async end(ref) {
      over.add(ref);
      await drop(ref);
    },
    stop() {
      stopped = true;
      for (const ref of lives.keys()) void drop(ref);
    },
  };
}
