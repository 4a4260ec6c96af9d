import type { Draft } from "../core/entry.ts";
import { isBotError, messageOf } from "../core/errors.ts";
import { type JournalKey, transportOf } from "../core/journal-key.ts";
import { nextWaitMs } from "../core/retry-wait.ts";
import { runInBackground } from "../worker/background.ts";
import type { JournalContext, KeyHandler, Wait } from "../worker/key-handler.ts";
import { append, barrier, catchUp, retryUntilStored } from "../worker/store.ts";
import {
  DigestState,
  type DigestOwed,
  dueId,
  foldDigest,
  lateMs,
  nextTime,
  owedFor,
} from "./digest-state.ts";
import type { Schedule } from "./schedule.ts";

/** The transport of the journals that decide when a digest is made. */
export const DIGEST = "digest";

/** One digest, as it is configured. */
export interface Digest {
  readonly key: JournalKey;
  readonly channel: string;
  readonly schedule: Schedule;
  /** As it is called, such as `digest`. */
  readonly what: string;
  /** What the channel is told of the time that has come; undefined: there is nothing to say. `now`: the store's clock. */
  text?(at: number, now: number): Promise<string | undefined>;
  /**
   * Begins something there instead. `id`: the same in every attempt; `last`: what was last begun. Returns what was begun, else why it
   * was not. @throws BotError as `Announce`
   */
  begin?(due: {
    at: number;
    id: string;
    last: string | undefined;
    say: Announce;
  }): Promise<{ ref: string; why?: string }>;
}

/** Says it in a channel, or finds what an earlier attempt of the same `id` said. */
export type Announce = (
  channel: string,
  text: string,
  delivery: { id: string; isRetry: true },
) => Promise<string>;

interface DigestParts {
  /** As it is configured here; undefined: it is not. */
  digestOf(key: JournalKey): Digest | undefined;
  /** Undefined where this process does not serve the channel's platform. */
  announcerOf(transport: string): Announce | undefined;
  /** Operators hear of what goes wrong, each once. */
  tellOps(id: string, text: string): Promise<unknown>;
}

type DigestContext = JournalContext<DigestState>;
type Step = DigestOwed & { key: string };

/** How long a channel that cannot be written to is left alone; longer each time. */
const RETRY_MS = { min: 5_000, max: 10 * 60_000 };

/**
 * Makes each digest once, for all replicas and restarts: that its time has come is an entry of its journal, and so is what became
 * of it. What is said is made when it is said, of the period that ended at that time.
 */
export function createDigestHandler(parts: DigestParts): KeyHandler<DigestContext, Step> {
  const announcerOf = ({ channel }: Digest) => parts.announcerOf(transportOf(channel));
  return {
    isShared: true,
    serves(key) {
      const digest = transportOf(key) === DIGEST ? parts.digestOf(key) : undefined;
      return digest !== undefined && announcerOf(digest) !== undefined;
    },
    empty: () => new DigestState(),
    fold: foldDigest,
    open: () => ({}),
    next({ key, state }, { now, busy, draining }): Step | Wait {
      const schedule = parts.digestOf(key)?.schedule;
      if (schedule === undefined) return { do: "wait", until: undefined };
      const owed = draining ? undefined : owedFor(state, schedule, now);
      const step = owed && { ...owed, key: `make:${dueId(owed.at)}` };
      if (step !== undefined && !busy.has(step.key)) return step;
      // What is tried again may be given up before the next is due.
      const end = owed && owed.at + lateMs(owed.at, schedule) + 1;
      return { do: "wait", until: end ?? nextTime(state, schedule, now) };
    },
    async execute(ctx, step) {
      const digest = parts.digestOf(ctx.key);
      const announce = digest && announcerOf(digest);
      if (digest === undefined || announce === undefined) return;
      if (step.do === "ring") return ring(ctx, step.at);
      if (step.do === "leave") return leave(ctx, step.at, digest, parts);
      runInBackground(ctx, { key: step.key, run: undefined, kept: true }, () =>
        make(ctx, step.at, digest, announce).catch(async (error: unknown) => {
          if (!isBotError(error)) throw error;
          return troubled(ctx, step, digest, parts, error);
        }),
      );
    },
    // Nothing of it can crash a process twice: what cannot be said is put off.
    park: async () => {},
  };
}

async function ring(ctx: DigestContext, at: number): Promise<void> {
  const timer = { id: dueId(at), kind: "timer" } as const;
  await retryUntilStored(ctx, () => ctx.journal.post(ctx.key, timer));
  await catchUp(ctx);
}

type Conclusion = () => Promise<void>;

/** @throws BotError what the store, a look-up or the platform said */
async function make(
  ctx: DigestContext,
  at: number,
  { channel, text, begin }: Digest,
  announce: Announce,
): Promise<Conclusion> {
  const name = `${ctx.key} ${dueId(at)}`;
  if (begin !== undefined) {
    if (!(await barrier(ctx))) return async () => {};
    const begun = { at, id: name, last: ctx.state.newest, say: announce };
    const { ref, why } = await begin(begun);
    return over(ctx, at, ref, why);
  }
  const said = await text?.(at, ctx.now());
  if (said === undefined) return over(ctx, at, "", "there is nothing to say");
  if (!(await barrier(ctx))) return async () => {};
  // Whether an earlier attempt came through nobody wrote down; digests are made seldom.
  const ref = await announce(channel, said, { id: name, isRetry: true });
  return over(ctx, at, ref);
}

function over(ctx: DigestContext, at: number, ref: string, why?: string): Conclusion {
  const entry = dueId(at);
  const draft: Draft<"delivered"> = {
    id: `over:${entry}`,
    kind: "delivered",
    view: "channel",
    entry,
    stage: "final",
    ref,
    ...(why !== undefined && { instead: { to: "nobody", why } }),
  };
  return async () => {
    if (ctx.state.times.get(at)?.isOver !== true) await append(ctx, [draft]);
  };
}

/** It is too late: nobody needs it any more. */
async function leave(
  ctx: DigestContext,
  at: number,
  { channel, what }: Digest,
  { tellOps }: DigestParts,
): Promise<void> {
  const text = `The ${what} for ${channel} that was due at ${dueId(at).slice(4)} was not made in time, so it is left out.`;
  ctx.log.warn({ key: ctx.key }, text);
  await retryUntilStored(ctx, () => tellOps(`${ctx.key} ${dueId(at)} left`, text));
  await over(ctx, at, "", "it is too late")();
}

async function troubled(
  ctx: DigestContext,
  { at, key }: Step,
  { channel, what }: Digest,
  { tellOps }: DigestParts,
  error: unknown,
): Promise<Conclusion> {
  const text = `The ${what} for ${channel} that was due at ${dueId(at).slice(4)} could not be shown, and is tried again. ${messageOf(error)}`;
  ctx.log.warn({ key: ctx.key }, text);
  await tellOps(`${ctx.key} ${dueId(at)} trouble`, text).catch((failed: unknown) =>
    ctx.log.warn({ err: failed, key: ctx.key }, "operators could not be told"),
  );
  return async () => {
    const since = ctx.now() - (ctx.state.times.get(at)?.rungAt ?? ctx.now());
    ctx.deferred.set(key, ctx.now() + nextWaitMs(error, since, RETRY_MS));
  };
}
