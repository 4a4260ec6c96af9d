import { createHash } from "node:crypto";
import type { Logger } from "pino";
import type { Adapter } from "../adapters/adapter.ts";
import { plainNotice } from "../adapters/render/phrases.ts";
import { type DigestSettings, digestsPart } from "../config/digests.ts";
import type { Config } from "../config/config.ts";
import { createClock, showDuration } from "../core/instant.ts";
import { type JournalKey, transportOf, tryJournalKey } from "../core/journal-key.ts";
import { settingsOf } from "../core/settings.ts";
import { viewerAt } from "../core/viewer.ts";
import { goalDigest, loadGoalSchedules, nextGoals } from "./goal-schedules.ts";
import { createDigestHandler, DIGEST, type Digest } from "../handoff/digest-handler.ts";
import { BEGIN_ID } from "../handoff/digest-state.ts";
import { isQuiet } from "../handoff/handoff.ts";
import { createSchedule, type Schedule } from "../handoff/schedule.ts";
import { handoffText } from "../handoff/words.ts";
import { readPeriod } from "../incidents/period.ts";
import type { Journal, Stoppable } from "../journal/journal.ts";
import type { Ops } from "../team/ops.ts";
import type { KeyHandler } from "../worker/key-handler.ts";
import type { createHandoffs } from "./handoffs.ts";

/** Joins digests to the program: what is said when, and the journals that see to it. */

interface DigestsParts {
  config: Pick<Config, "values" | "timezone">;
  journal: Pick<Journal, "post" | "read">;
  adapters: ReadonlyMap<string, Adapter>;
  handoffs: ReturnType<typeof createHandoffs>;
  ops: Ops;
  encode(text: string): string;
  wake(key: JournalKey): void;
  log: Logger;
}

export interface Digests {
  /** The kind of its journals, where there are any. */
  handlers(): [string, KeyHandler][];
  /** When the next ones are due, a line each, the soonest first. */
  coming(): string[];
  /** Begins to look when they are due. */
  start(): Stoppable;
}

/** What is configured, with its schedules. */
export async function loadDigests({
  values,
  timezone = "UTC",
}: Pick<Config, "values" | "timezone">) {
  const { digests } = settingsOf(digestsPart, values);
  return Promise.all(
    digests.map(async ({ zone = timezone, ...digest }) => ({
      ...digest,
      zone,
      key: keyOf({ zone, ...digest }),
      schedule: await createSchedule(digest.cron, zone),
    })),
  );
}

type Loaded = Awaited<ReturnType<typeof loadDigests>>[number];

/** What is changed is another digest, which begins when it is first seen. */
function keyOf({ channel, cron, zone, period }: Required<DigestSettings>): JournalKey {
  const name = createHash("sha256")
    .update(JSON.stringify([cron.trim(), zone, period]))
    .digest("hex");
  return `${DIGEST}:${channel}:${name.slice(0, 12)}`;
}

/** A digest that comes later says so. */
const LATE_MS = 2 * 60_000;
const RETRY_MS = 5_000;

export async function createDigests(parts: DigestsParts): Promise<Digests> {
  const { journal, adapters, ops, wake, log } = parts;
  const loaded = await loadDigests(parts.config);
  const goals = await loadGoalSchedules(parts.config);
  const byKey = new Map([
    ...loaded.map((one) => [one.key, digestOf(one, parts)] as const),
    ...goals.map((one) => [one.key, goalDigest(one, parts)] as const),
  ]);
  return {
    handlers() {
      if (byKey.size === 0) return [];
      const handler = createDigestHandler({
        digestOf: (key) => byKey.get(key),
        announcerOf(transport) {
          const announce = adapters.get(transport)?.announce?.bind(adapters.get(transport));
          return (
            announce &&
            ((channel, text, delivery) => announce(channel, plainNotice(text), delivery))
          );
        },
        tellOps: (id, text) => ops.tell(id, parts.encode(text)),
      });
      return [[DIGEST, handler]];
    },
    coming: () => [...nextLines(loaded, Date.now()), ...nextGoals(goals, Date.now())],
    start() {
      const ended = new AbortController();
      async function begin(): Promise<void> {
        for (const { key, channel } of byKey.values()) {
          // Where nobody speaks in it, nobody looks.
          if (adapters.get(transportOf(channel))?.announce === undefined) continue;
          await journal.post(key, { id: BEGIN_ID, kind: "timer" });
          wake(key);
        }
      }
      const trying = () => {
        if (ended.signal.aborted) return;
        begin().catch((error: unknown) => {
          if (ended.signal.aborted) return;
          log.warn({ err: error }, "digests could not begin yet; tried again");
          setTimeout(trying, RETRY_MS).unref();
        });
      };
      trying();
      return { stop: async () => ended.abort() };
    },
  };
}

/** `Next digest: Wed 2026-11-25 08:00 Europe/Madrid in slack:T1:C1 (last 12 hours)` */
export function nextLines(digests: readonly Loaded[], now: number): string[] {
  const next = digests.flatMap((digest) => {
    const at = digest.schedule.next(now);
    return at === undefined ? [] : [{ ...digest, at }];
  });
  return next
    .toSorted((a, b) => a.at - b.at)
    .map(({ at, zone, channel, period }) => {
      const clock = createClock(zone);
      return `Next digest: ${clock.weekday(at)} ${clock.dateTime(at)} ${zone} in ${channel} (${period})`;
    });
}

function digestOf(
  { key, channel, zone, period, schedule }: Loaded & { schedule: Schedule },
  { adapters, handoffs, encode }: DigestsParts,
): Digest {
  return {
    key,
    channel,
    what: "digest",
    schedule,
    async text(at, now) {
      const place = tryJournalKey(channel) ?? key;
      // A platform that is not there cannot say who reads it: what is public is all that is told.
      const adapter = adapters.get(transportOf(place));
      const [audience, hasOutsiders = false] = await Promise.all([
        adapter?.audience(place),
        adapter?.hasOutsiders?.(place),
      ]);
      const viewer = viewerAt(place, { audience, hasOutsiders });
      const found = await handoffs.of(await readPeriod(period, { zone, now: at }), viewer, now);
      if (isQuiet(found)) return undefined;
      const late = now - at < LATE_MS ? [] : [`This was due ${showDuration(now - at)} ago.`];
      return [...late, handoffText(found, encode)].join(" ");
    },
  };
}
