import type { Logger } from "pino";
import { isBotError } from "../../core/errors.ts";
import type { MessageRef, Progress } from "../adapter.ts";
import { createProgressLog, type ProgressLog, type Told } from "../told.ts";
import type { Place } from "./place.ts";
import { put } from "./remember.ts";
import { isWithin } from "./say.ts";

/** Discord documents no fixed limit for edits; this is what practice allows (PLATFORM section 2). */
const INTERVAL_MS = 1_200;
/** Messages whose progress is shown at once, and ended ones that are remembered; each is small. */
const MAX_LIVES = 1_000;

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
  /** The message to begin with. */
  begin(place: Place, soFar: readonly Progress[]): Promise<{ told: Told; log: ProgressLog }>;
  /** It has been posted: its progress goes on from `log`. */
  begun(place: Place, ref: MessageRef, log: ProgressLog): void;
  /** Keeps the message up to date, the newest state first, at most every 1.2 s in one thread. */
  note(place: Place, ref: MessageRef, update: Progress): void;
  /** Nothing of this message's progress is shown from now on; resolves when no edit is on its way. */
  end(ref: MessageRef): Promise<void>;
  /** Ends everything. */
  stop(): void;
}

export interface ProgressBoardParts {
  show(place: Place, ref: MessageRef, told: Told): Promise<void>;
  log: Logger;
}

export function createProgressBoard({ show, log }: ProgressBoardParts): ProgressBoard {
  const lives = new Map<MessageRef, Live>();
  const over = new Map<MessageRef, true>();
  /** By thread, when it may be edited again; and when any may. */
  const nextAt = new Map<string, number>();
  let pausedUntil = 0;
  let stopped = false;

  function schedule(ref: MessageRef, live: Live): void {
    if (live.timer !== undefined || live.sending !== undefined || !live.news) return;
    const at = Math.max(nextAt.get(live.place.channel) ?? 0, pausedUntil);
    const send = () => {
      live.timer = undefined;
      live.sending = edit(ref, live).finally(() => {
        live.sending = undefined;
        if (lives.get(ref) === live) schedule(ref, live);
      });
    };
    live.timer = setTimeout(send, Math.max(0, at - performance.now()));
    live.timer.unref();
  }

  async function edit(ref: MessageRef, live: Live): Promise<void> {
    live.news = false;
    put(nextAt, live.place.channel, performance.now() + INTERVAL_MS, MAX_LIVES);
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

  function open(place: Place, ref: MessageRef, progress: ProgressLog): Live {
    const live = { place, log: progress, timer: undefined, sending: undefined, news: false };
    lives.set(ref, live);
    for (const oldest of lives.keys()) {
      if (lives.size <= MAX_LIVES) break;
      void drop(oldest);
    }
    return live;
  }

  return {
    async begin(place, soFar) {
      const progress = createProgressLog(isWithin(place));
      for (const update of soFar) progress.note(update);
      return { told: await progress.told(), log: progress };
    },
    begun(place, ref, progress) {
      if (stopped || over.has(ref)) return;
      open(place, ref, progress);
      // What was just posted counts as an edit.
      put(nextAt, place.channel, performance.now() + INTERVAL_MS, MAX_LIVES);
    },
    note(place, ref, update) {
      if (stopped || over.has(ref)) return;
      const live = lives.get(ref) ?? open(place, ref, createProgressLog(isWithin(place)));
      if (!live.log.note(update)) return;
      live.news = true;
      schedule(ref, live);
    },
    async end(ref) {
      put(over, ref, true, MAX_LIVES);
      await drop(ref);
    },
    stop() {
      stopped = true;
      for (const ref of lives.keys()) void drop(ref);
    },
  };
}
