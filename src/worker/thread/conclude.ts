import { type Drafts, draftsOf, type Learnt } from "../../thread/drafts.ts";
import { storeNow } from "../context.ts";
import { append, appendDecision } from "../store.ts";
import type { ThreadContext } from "./context.ts";

/** Which entries follow from what was learnt, as the thread is now. */
export function draftsFrom(ctx: ThreadContext, learnt: Learnt): Drafts {
  const { dispatcher, encoder, personOf, run } = ctx.parts;
  return draftsOf(learnt, {
    thread: ctx.thread,
    now: storeNow(ctx),
    run,
    here: dispatcher.host,
    isBound: (tool) => dispatcher.isHostBound(tool),
    heard: ctx.hosts?.heard,
    personOf,
    encode: encoder.encode,
  });
}

/** Writes what follows from what was learned, computed again after every refusal. */
export async function conclude(ctx: ThreadContext, learnt: Learnt): Promise<void> {
  if (ctx.over || ctx.fenced) return;
  await appendDecision(ctx, () => draftsFrom(ctx, learnt));
}

/** Writes it only if nothing came since it was learnt: a call starts on what was looked at. False: it was not written. */
export async function concludeUnchanged(
  ctx: ThreadContext,
  learnt: Learnt,
  options?: { before?: number },
): Promise<boolean> {
  if (ctx.over || ctx.fenced || ctx.draining || ctx.thread.newer !== undefined) return false;
  const drafts = draftsFrom(ctx, learnt);
  return drafts !== undefined && (await append(ctx, drafts, options)) === "ok";
}
