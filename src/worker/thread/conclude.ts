import { type Drafts, draftsOf, type Learned } from "../../thread/drafts.ts";
import { isFact } from "../../core/entry.ts";
import { append, appendBehind, appendDecision } from "../store.ts";
import type { ThreadContext } from "./parts.ts";
import { runPartsOf } from "./places.ts";

export function draftsFrom(ctx: ThreadContext, learned: Learned): Drafts {
  const { dispatcher, encoder, personOf } = ctx.parts;
  return draftsOf(learned, {
    thread: ctx.thread,
    now: ctx.now(),
    run: runPartsOf(ctx),
    here: dispatcher.host,
    isBound: (tool) => dispatcher.isHostBound(tool),
    answeredBy: (tool) => dispatcher.find(tool)?.answeredBy,
    channels: channelsHere(ctx),
    heard: ctx.hosts?.heard,
    personOf,
    encode: encoder.encode,
  });
}

/** Its own one first; it is looked up where anything depends on it. */
function channelsHere({ channel, thread }: ThreadContext): string[] {
  return [...(channel === undefined ? [] : [channel]), ...thread.channels.values()];
}

/** Writes what follows from what was learned, computed again after every refusal. */
export async function conclude(ctx: ThreadContext, learned: Learned): Promise<void> {
  if (ctx.over || ctx.fenced) return;
  if (mayBeBehind(ctx, learned)) {
    const drafts = draftsFrom(ctx, learned);
    if (drafts?.every(isFact) === true) return appendBehind(ctx, drafts);
  }
  await appendDecision(ctx, () => draftsFrom(ctx, learned));
}

/**
 * What a model says and what a read found is nobody's to rest on yet. Not beside work that is not cut: should somebody else write
 * first, its outcome would have no place in this fold.
 */
function mayBeBehind({ busy, thread }: ThreadContext, { do: what }: Learned): boolean {
  if (what !== "think" && what !== "read") return false;
  return thread.newer === undefined && [...busy.values()].every(({ kept }) => !kept);
}

/** Writes it only if nothing came since it was learned: a call starts on what was looked at. False: it was not written. */
export async function concludeUnchanged(
  ctx: ThreadContext,
  learned: Learned,
  options?: { before?: number },
): Promise<boolean> {
  if (ctx.over || ctx.fenced || ctx.draining || ctx.thread.newer !== undefined) return false;
  const drafts = draftsFrom(ctx, learned);
  return drafts !== undefined && (await append(ctx, drafts, options)) === "ok";
}
