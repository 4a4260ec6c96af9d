import type { Adapter } from "../../adapters/adapter.ts";
import { BEAT_MS } from "../../core/host-beat.ts";
import { decide, type Step } from "../../thread/decide.ts";
import { noticeId } from "../../thread/entry-ids.ts";
import { fold } from "../../thread/fold.ts";
import type { Machines } from "../../thread/machines.ts";
import { emptyThread } from "../../thread/state.ts";
import { abortWork } from "../background.ts";
import type { KeyHandler, Wait } from "../handler.ts";
import { append } from "../store.ts";
import { threadContext, type ThreadContext, type ThreadParts } from "./context.ts";
import { execute } from "./effects.ts";
import { follow } from "./transcript.ts";

/** The kind of journal that a conversation is, as far as this adapter's views show it. */
export function createThreadHandler(
  parts: ThreadParts,
  adapter: Adapter,
): KeyHandler<ThreadContext, Exclude<Step, Wait>> {
  return {
    isShared: adapter.isLocal !== true,
    serves: (key) => adapter.view(key) !== undefined,
    empty: emptyThread,
    fold,
    open: (ctx) => threadContext(ctx, parts, adapter),
    folded(ctx, entries) {
      if (ctx.transcript !== undefined) follow(ctx, ctx.transcript, entries);
      const { runs } = ctx.thread;
      abortWork(ctx, ({ run }) => run !== undefined && runs.get(run)?.stopped === true);
    },
    next: (ctx, moment) =>
      decide(ctx.thread, {
        ...moment,
        showAfterMs: ctx.draining ? undefined : showAfterMs(ctx),
        machines: machinesOf(ctx),
      }),
    execute,
    park,
    storeReturned,
  };
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
  await append(ctx, [
    {
      id: noticeId.parked(last),
      kind: "notice",
      parks: true,
      text: "Work on this thread crashed twice and is put aside. Write anything here and I'll try again.",
    },
  ]);
}

async function storeReturned(ctx: ThreadContext, awayMs: number): Promise<void> {
  const seconds = Math.round(awayMs / 1_000);
  await append(ctx, [
    {
      id: noticeId.back(ctx.thread.last),
      kind: "notice",
      text: `My store did not answer for ${seconds} s, so nothing was done meanwhile. It is back.`,
    },
  ]);
}
