import { type AssistantBlock, NO_USAGE } from "../../src/core/block.ts";
import type { Draft } from "../../src/core/entry.ts";

/** Entries of a conversation with ana, as little as each may say. */

export const ana = { account: "test:ana", name: "ana" };

export const message = (id: string, text = id): Draft => ({
  id,
  kind: "message",
  actor: ana,
  text,
});

/** `reads`: a side run. */
export const began = (run: string, answers: string[], reads?: true): Draft => ({
  id: `run:${run}`,
  kind: "run_started",
  run,
  answers,
  principals: [ana.account],
  calls: [],
  ...(reads && { reads }),
  talk: { model: "m", prefix: "p", budget: { steps: 9, tokens: 9_000, minutes: 9 } },
});

/** What a model wrote that had seen the thread up to the entry `seen`. */
export const wrote = (
  run: string,
  step: number,
  seen: number,
  content: AssistantBlock[],
): Draft => ({
  id: `assistant:${run}.${step}`,
  kind: "assistant",
  run,
  step,
  seen,
  content,
  stop: content.some(({ kind }) => kind === "tool_use") ? "tool_use" : "end_turn",
  usage: NO_USAGE,
  model: "m",
  request: "h",
  ms: 1,
});
