import type { Effect, JsonObject } from "../../../core/entry.ts";
import { freezeOn, freezesSeen, freezeText } from "../../../team/freezes.ts";
import { namesIn } from "../../../tools/places.ts";
import { retryUntilStored } from "../../store.ts";
import { conclude } from "../conclude.ts";
import type { Learn, ThreadContext } from "../parts.ts";
import { viewerIn } from "./look-up.ts";

/** A freeze that a call has to wait for. */
export interface Frozen {
  /** The freeze's own. */
  id: string;
  /** For people: what is frozen, until when, by whom and why. */
  text: string;
  until: number;
}

/**
 * The freeze that holds a write, whoever asks for it and however it was allowed; undefined: none does. Reads, this program's own
 * records and freezing itself go on.
 */
export async function frozenFor(
  ctx: ThreadContext,
  { tool: name, effect, args }: { tool: string; effect: Effect; args: JsonObject },
): Promise<Frozen | undefined> {
  const { dispatcher, freezes, encoder } = ctx.parts;
  const tool = dispatcher.find(name);
  if (effect === "read" || tool === undefined || tool.own === true || tool.freezes === true)
    return undefined;
  const holding = await retryUntilStored(ctx, () => freezes.at(ctx.now()));
  const found = freezeOn(holding, namesIn(tool, args));
  return found && { id: found.id, text: encoder.encode(freezeText(found)), until: found.until };
}

/** What a command is told of freezes: nothing while nobody can say who reads the answer. */
export const surveyFreezes: Learn<"survey"> = async (ctx, step, signal) => {
  const { freezes, encoder } = ctx.parts;
  const { account } = step.pending.entry.actor;
  const viewer = await viewerIn(ctx, account, signal).catch(() => undefined);
  const facts = viewer
    ? freezesSeen(await retryUntilStored(ctx, () => freezes.at(ctx.now())), viewer, encoder.encode)
    : [];
  return async () => {
    if (!signal.aborted) await conclude(ctx, { ...step, facts });
  };
};
