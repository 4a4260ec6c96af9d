import type { Effect, JsonObject } from "../../../core/entry.ts";
import { maySeeFreezes, type Viewer } from "../../../core/viewer.ts";
import { freezeOn, freezesSeen, freezeText } from "../../../team/freezes.ts";
import { askerIn } from "../../../thread/state.ts";
import { namesIn } from "../../../tools/places.ts";
import { retryUntilStored } from "../../store.ts";
import { conclude } from "../conclude.ts";
import type { Learn, ThreadContext } from "../parts.ts";
import { viewerIn } from "./look-up.ts";

/** A freeze that a call has to wait for. */
export interface Frozen {
  /** The freeze's own. */
  id: string;
  /** For people: what is frozen, until when, by whom and why. Where people from elsewhere read along, only that the call waits. */
  text: string;
  /** The text says what is frozen. If not, nothing that is shown may depend on `until`. */
  isNamed: boolean;
  until: number;
}

/**
 * The freeze that holds a write, whoever asks for it and however it was allowed; undefined: none does. Reads, this program's own
 * records and freezing itself go on.
 */
export async function frozenFor(
  ctx: ThreadContext,
  {
    run,
    tool: name,
    effect,
    args,
  }: { run: string; tool: string; effect: Effect; args: JsonObject },
  signal: AbortSignal,
): Promise<Frozen | undefined> {
  const { dispatcher, freezes, encoder } = ctx.parts;
  const tool = dispatcher.find(name);
  if (effect === "read" || tool === undefined || tool.own === true || tool.freezes === true)
    return undefined;
  const holding = await retryUntilStored(ctx, () => freezes.at(ctx.now()));
  const found = freezeOn(holding, namesIn(tool, args));
  if (found === undefined) return undefined;
  const asked = ctx.thread.runs.get(run);
  const viewer = await tryViewer(ctx, (asked && askerIn(asked)?.account) ?? "", signal);
  const isNamed = viewer !== undefined && maySeeFreezes(viewer);
  const text = isNamed ? encoder.encode(freezeText(found)) : UNNAMED;
  return { id: found.id, text, isNamed, until: found.until };
}

const UNNAMED = "it goes on by itself as soon as it may run, unless its card expires before";

/** Undefined: nobody can say who reads along. */
function tryViewer(
  ctx: ThreadContext,
  account: string,
  signal: AbortSignal,
): Promise<Viewer | undefined> {
  return viewerIn(ctx, account, signal).catch(() => undefined);
}

/** What a command is told of freezes: nothing while nobody can say who reads the answer. */
export const surveyFreezes: Learn<"survey"> = async (ctx, step, signal) => {
  const { freezes, encoder } = ctx.parts;
  const { account } = step.pending.entry.actor;
  const viewer = await tryViewer(ctx, account, signal);
  const facts = viewer
    ? freezesSeen(await retryUntilStored(ctx, () => freezes.at(ctx.now())), viewer, encoder.encode)
    : [];
  return async () => {
    if (!signal.aborted) await conclude(ctx, { ...step, facts });
  };
};
