import { changeOf } from "../../incidents/facts.ts";
import { putOff } from "../background.ts";
import { conclude } from "./conclude.ts";
import type { Learn } from "./parts.ts";
import { isLookUpFailure } from "./permission/look-up.ts";
import { audienceOf } from "./places.ts";

/**
 * Writes into the records of the thread's incidents what happened here, each fact once, also after a crash in between. Where nobody
 * can say now who reads the thread, it waits.
 */
export const record: Learn<"record"> = async (ctx, step, signal) => {
  const { key, adapter, parts } = ctx;
  const { facts, incidents } = step.owed;
  try {
    const audience = parts.ledger && (await audienceOf(ctx));
    const place = { thread: key, link: adapter.link(key), audience };
    for (const { id: fact, at, what } of facts)
      for (const id of incidents)
        await parts.ledger?.happened({ ...place, fact, at }, id, (incident) =>
          changeOf(incident, what, at),
        );
  } catch (error) {
    if (!isLookUpFailure(error)) throw error;
    return async () => putOff(ctx, step.key, error);
  }
  return async () => {
    if (!signal.aborted) await conclude(ctx, { ...step, facts: "told" });
  };
};
