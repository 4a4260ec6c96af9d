import { LRUCache } from "lru-cache";
import type { Logger } from "pino";
import { isBotError } from "../../core/errors.ts";
import { askedWaitMs } from "../../core/retry-wait.ts";
import type { MessageRef } from "../view.ts";
import type { Progress } from "../shown.ts";
import { createRunProgress, type RunProgress } from "../render/progress.ts";

/**
 * Slack lets an app edit about 50 messages a minute (chat.update, tier 3); Discord documents no fixed limit for edits,
 * and takes so many in practice.
 */
const INTERVAL_MS = 1_200;
/** Messages whose progress is shown at once, and ended ones that are remembered; each is small. */
const MAX_LIVES = 1_000;
const DAY_MS = 24 * 3_600_000;
/**
 * What could not be shown for so long is not shown any more, be it that the platform asked to wait or that this process
 * stood still: another may have taken the run over meanwhile (after 6 s without a word) and answered in this message.
 */
const MAX_LATE_MS = 3_000;

interface Live<Place> {
  place: Place;
  progress: RunProgress;
  timer: NodeJS.Timeout | undefined;
  /** An edit that is on its way; never rejects. */
  sending: Promise<void> | undefined;
  /** Something is to be shown that no edit has taken along. */
  news: boolean;
}

export interface ProgressBoardParts<Place> {
  /** Brings the message up to date. False when it is gone. */
  show(place: Place, ref: MessageRef, progress: RunProgress): Promise<boolean>;
  threadOf(place: Place): string;
  /** True: what was just posted counts as an edit. */
  postCounts: boolean;
  log: Logger;
}

/** The messages in which runs show what they do. Disposable: what cannot be shown is dropped. */
export function createProgressBoard<Place>(parts: ProgressBoardParts<Place>) {
  const { show, threadOf, postCounts, log } = parts;
  const lives = new LRUCache<MessageRef, Live<Place>>({
    max: MAX_LIVES,
    dispose: ({ timer }) => clearTimeout(timer),
  });
  const over = new LRUCache<MessageRef, true>({ ttl: DAY_MS, max: MAX_LIVES });
  /** By thread, when it may be edited again. */
  const nextAt = new LRUCache<string, number>({ max: MAX_LIVES });
  let stopped = false;

  function schedule(ref: MessageRef, live: Live<Place>): void {
    if (live.timer !== undefined || live.sending !== undefined || !live.news) return;
    const now = performance.now();
    const at = Math.max(nextAt.get(threadOf(live.place)) ?? 0, now);
    // The next news takes it along.
    if (at - now > MAX_LATE_MS) return;
    const send = () => {
      live.timer = undefined;
      if (performance.now() - at > MAX_LATE_MS) return;
      live.sending = edit(ref, live).finally(() => {
        live.sending = undefined;
        if (lives.get(ref) === live) schedule(ref, live);
      });
    };
    live.timer = setTimeout(send, at - now);
    live.timer.unref();
  }

  function count(place: Place, waitMs = INTERVAL_MS): void {
    nextAt.set(threadOf(place), performance.now() + waitMs);
  }

  async function edit(ref: MessageRef, live: Live<Place>): Promise<void> {
    live.news = false;
    count(live.place);
    try {
      // A message that somebody deleted would be asked for at every step.
      if (!(await show(live.place, ref, live.progress))) over.set(ref, true);
    } catch (error) {
      if (isBotError(error, "PLATFORM_REFUSED")) over.set(ref, true);
      count(live.place, Math.max(INTERVAL_MS, askedWaitMs(error, "PLATFORM_RATE_LIMITED") ?? 0));
      log.debug({ err: error }, "progress could not be shown");
    }
  }

  function enter(place: Place, ref: MessageRef, progress: RunProgress): Live<Place> {
    const live = { place, progress, timer: undefined, sending: undefined, news: false };
    lives.set(ref, live);
    return live;
  }

  return {
    /** Posts the message with what is known so far and keeps it up to date from then on. Throws what `post` throws. */
    async begin(
      place: Place,
      soFar: readonly Progress[],
      run: string | undefined,
      post: (progress: RunProgress) => Promise<MessageRef>,
    ): Promise<MessageRef> {
      const progress = createRunProgress(Date.now, run);
      for (const update of soFar) progress.note(update);
      const ref = await post(progress);
      if (stopped || over.has(ref) || lives.has(ref)) return ref;
      enter(place, ref, progress);
      if (postCounts) count(place);
      return ref;
    },
    /** Shows the newest state, at most every 1.2 s in one thread; without an update, though nothing is new. */
    note(place: Place, ref: MessageRef, update?: Progress): void {
      if (stopped || over.has(ref)) return;
      const live = lives.get(ref) ?? enter(place, ref, createRunProgress());
      if (update !== undefined && !live.progress.note(update)) return;
      live.news = true;
      schedule(ref, live);
    },
    /** Nothing of this message's progress is shown from now on; resolves when no edit is on its way. */
    async end(ref: MessageRef): Promise<void> {
      over.set(ref, true);
      const live = lives.get(ref);
      lives.delete(ref);
      await live?.sending;
    },
    stop(): void {
      stopped = true;
      lives.clear();
    },
  };
}

export type ProgressBoard<Place> = ReturnType<typeof createProgressBoard<Place>>;
