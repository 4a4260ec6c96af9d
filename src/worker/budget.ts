import type { Asked } from "../agent/request.ts";
import type { TalkTerms } from "../agent/run.ts";
import type { Talk } from "../agent/talk.ts";
import { filesOf } from "../agent/transcript.ts";
import { estimateTokens, NO_USAGE, totalTokens } from "../core/block.ts";
import { BotError, isBotError } from "../core/errors.ts";
import type { Reservation } from "../journal/journal.ts";
import type { ModelResponse } from "../models/model.ts";
import { type Drive, persist, storeNow } from "./drive.ts";

/** About what providers count an image as; a PDF's pages are not known here. */
const IMAGE_TOKENS = 1_500;

/** Tokens that the request will use, its response apart: counted for the one before and estimated for what came since. */
export function tokensOf({ thread }: Drive, { last }: Talk, { request, turns }: Asked): number {
  if (last !== undefined) return thread.requestTokens;
  const files = turns.flatMap(filesOf).map(({ mediaType, artifact }) => {
    return mediaType.startsWith("image/") ? IMAGE_TOKENS : Math.ceil(artifact.bytes / 4);
  });
  const inFiles = files.reduce((sum, tokens) => sum + tokens, 0);
  return estimateTokens(JSON.stringify([request, turns])) + inFiles;
}

/** What came of a request, and how many attempts at it were cut before. */
export interface Generated {
  response: ModelResponse;
  cuts: number;
}

/**
 * Sets the day's tokens aside before they are used and books what was used after: several processes together stay below
 * the limit. What a crashed request had set aside stays so for the day. A server that counts nothing has what was
 * estimated counted.
 * @throws BotError BUDGET_EXHAUSTED
 */
export async function withinBudget(
  drive: Drive,
  { tokensPerDay, maxOutputTokens }: TalkTerms,
  requestTokens: number,
  work: () => Promise<Generated>,
): Promise<ModelResponse> {
  const { journal } = drive.parts;
  const day = new Date(storeNow(drive)).toISOString().slice(0, 10);
  const amount = requestTokens + maxOutputTokens;
  const set = await persist(drive, () => journal.reserve(`tokens:${day}`, amount, tokensPerDay));
  if (set === undefined) {
    const text = `The day's budget of ${tokensPerDay} tokens is used up or set aside (budgets.tokensPerDay); it begins anew at 00:00 UTC.`;
    throw new BotError("BUDGET_EXHAUSTED", text);
  }
  let used = 0;
  try {
    const { response, cuts } = await work();
    const counted = isCounted(response) ? response : estimated(response, requestTokens);
    used = totalTokens(counted.usage) + cuts * requestTokens;
    return counted;
  } catch (error) {
    // What was used of a response that was cut, nobody says.
    if (isBotError(error, "MODEL_CUT", "ABORTED", "TIMEOUT")) used = amount;
    throw error;
  } finally {
    await book(drive, set, used);
  }
}

function isCounted({ usage }: ModelResponse): boolean {
  return totalTokens(usage) > 0;
}

function estimated(response: ModelResponse, requestTokens: number): ModelResponse {
  const output = estimateTokens(JSON.stringify(response.content));
  return { ...response, usage: { ...NO_USAGE, input: requestTokens, output } };
}

async function book(drive: Drive, set: Reservation, used: number): Promise<void> {
  try {
    await drive.parts.journal.settle(set, used);
  } catch (error) {
    drive.parts.log.warn(
      { err: error, counter: set.counter },
      "used tokens could not be booked; they stay set aside",
    );
  }
}
