import { type Drafts, draftsOf, type Learned } from "../../thread/drafts.ts";
import { append, appendDecision } from "../store.ts";
import type { ThreadContext } from "./parts.ts";

export function draftsFrom(ctx: ThreadContext, learned: Learned): Drafts {
  const { dispatcher, encoder, personOf, run } = ctx.parts;
  return draftsOf(learned, {
    thread: ctx.thread,
    now: ctx.now(),
    run,
    here: dispatcher.host,
    isBound: (tool) => dispatcher.isHostBound(tool),
    answeredBy: (tool) => dispatcher.find(tool)?.answeredBy,
    heard: ctx.hosts?.heard,
    personOf,
    encode: encoder.encode,
  });
}

/** Writes what follows from what was learned, computed again after every refusal. */
export async function conclude(ctx: ThreadContext, learned: Learned): Promise<void> {
  if (ctx.over || ctx.fenced) return;
  await appendDecision(ctx, () => draftsFrom(ctx, learned));
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
