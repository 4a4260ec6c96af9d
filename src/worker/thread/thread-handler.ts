import type { Adapter } from "../../adapters/adapter.ts";
import { BEAT_MS } from "../../core/host-beat.ts";
import { decide } from "../../thread/decide.ts";
import type { Step } from "../../thread/steps.ts";
import { notice } from "../../thread/drafts-notices.ts";
import { noticeId } from "../../thread/entry-ids.ts";
import { listedCards } from "../../queries/open-cards.ts";
import { OPEN_TOOL } from "../../thread/incident-offer.ts";
import type { Machines } from "../../thread/machines.ts";
import { notices } from "../../thread/phrases.ts";
import { abortWork } from "../background.ts";
import type { KeyHandler, Wait } from "../key-handler.ts";
import { append } from "../store.ts";
import { settleAll } from "./budget.ts";
import { bytesOf, Conversation, foldConversation } from "./conversation.ts";
import { execute } from "./effects.ts";
import type { ThreadContext, ThreadParts } from "./parts.ts";
import { noteOurs } from "./show.ts";
import { snapshots } from "./snapshot.ts";

/** So long after the last change a long thread is summed up. */
const SUM_AFTER_MS = 60_000;

/** The kind of journal that a conversation is, as far as this adapter's views show it. */
export function createThreadHandler(
  parts: ThreadParts,
  adapter: Adapter,
): KeyHandler<ThreadContext, Exclude<Step, Wait>> {
  return {
    isShared: adapter.isLocal !== true,
    serves: (key) => adapter.view(key) !== undefined,
    empty: () => new Conversation(),
    fold: foldConversation,
    bytesOf,
    snapshots,
    open: ({ state }) => ({
      parts,
      adapter,
      thread: state,
      allowances: new Map(),
      tried: new Map(),
      takenAt: performance.now(),
      isTaskJudged: false,
      channel: undefined,
      hosts: undefined,
    }),
    folded(ctx, entries, ours) {
      noteOurs(ctx, ours);
      ctx.isTaskJudged ||= entries.some(({ id, kind }) => kind === "goal_judged" && ours.has(id));
      const { runs, goals } = ctx.thread;
      const isStopped = (name: string) =>
        runs.get(name)?.stopped === true || goals.get(name)?.stoppedBy !== undefined;
      abortWork(ctx, ({ run }) => run !== undefined && isStopped(run));
    },
    next(ctx, moment) {
      const step = decide(ctx.thread, {
        ...moment,
        showAfterMs: ctx.draining ? undefined : showAfterMs(ctx),
        sumAfterMs: adapter.view(ctx.key)?.linkTo === undefined ? undefined : SUM_AFTER_MS,
        records: parts.dispatcher.find(OPEN_TOOL) !== undefined,
        owesPlace: parts.run.terms?.modes?.chat !== undefined && ctx.channel === undefined,
        reports: parts.reports !== undefined,
        remembers: parts.memory !== undefined,
        readsAbove: adapter.view(ctx.key)?.earlier !== undefined,
        machines: machinesOf(ctx),
      });
      return mayRest(ctx, step) ? { do: "wait", until: 0 } : step;
    },
    isAwaited: ({ clicks, untold, assents, going }) =>
      clicks.size + untold.size + assents.size > 0 || [...going].some(({ stopped }) => stopped),
    listed: ({ key, thread }) => listedCards(key, thread, parts.encoder.encode),
    execute,
    close: settleAll,
    park,
    async storeReturned(ctx, awayMs) {
      const text = notices.storeBack(Math.round(awayMs / 1_000));
      await append(ctx, [notice(noticeId.back(ctx.thread.last), text)]);
    },
  };
}

/** So long a goal works under one lease. */
const REST_AFTER_MS = 30_000;

/**
 * A process that dies with the lease counts against the thread, and two such set it aside. Of hours of work those that went well
 * count for it: between two tasks the lease is given back, and taken again at once.
 */
function mayRest({ parts, busy, takenAt, isTaskJudged }: ThreadContext, step: Step): boolean {
  const isNext = step.do === "planGoal" || step.do === "moveGoal";
  const isLong = performance.now() - takenAt >= (parts.restAfterMs ?? REST_AFTER_MS);
  return isTaskJudged && isNext && isLong && busy.size === 0;
}

/** The machines as the store last named them; an answer older than a beat is forgotten, so the store is asked again. */
function machinesOf({ parts, hosts, handler }: ThreadContext): Machines {
  const isFresh = hosts !== undefined && performance.now() - hosts.at < BEAT_MS;
  return {
    here: parts.dispatcher.host,
    isBound: (tool) => parts.dispatcher.isHostBound(tool),
    isShared: handler.isShared,
    heard: isFresh ? hosts.heard : undefined,
  };
}

/** Undefined where this view shows no progress. */
function showAfterMs({ adapter, key, parts }: ThreadContext): number | undefined {
  return adapter.view(key)?.openProgress === undefined ? undefined : parts.showAfterMs;
}

/** Tells the thread; from then on only what is owed to people is shown, until somebody writes. */
async function park(ctx: ThreadContext): Promise<void> {
  const { last, parked } = ctx.thread;
  if (parked) return;
  await append(ctx, [notice(noticeId.parked(last), notices.parked, { parks: true })]);
}
