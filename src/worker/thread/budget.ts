import type { RequestContext } from "../../agent/request.ts";
import type { DayShares, RunTerms } from "../../core/run-terms.ts";
import type { ModelRun } from "../../thread/model-run.ts";
import { filesOf } from "../../agent/transcript-turns.ts";
import { estimateTokens, NO_USAGE, totalTokens } from "../../core/block.ts";
import { BotError, isBotError } from "../../core/errors.ts";
import { isoUtc } from "../../core/instant.ts";
import { tokenCounter } from "../../core/token-counters.ts";
import type { Reservation } from "../../journal/journal.ts";
import type { ModelResponse } from "../../models/model.ts";
import { retryUntilStored } from "../store.ts";
import type { ThreadContext } from "./parts.ts";
import { channelsIn, peopleOf } from "./permission/look-up.ts";

/** About what providers count an image as; a PDF's pages are not known here. */
const IMAGE_TOKENS = 1_500;

/** Tokens that the request will use, its response apart: counted for the one before and estimated for what came since. */
export function tokensOf(
  { thread }: ThreadContext,
  { last }: ModelRun,
  { request, turns }: RequestContext,
): number {
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

export interface Spend {
  requestTokens: number;
  /** Accounts whose words instruct it. */
  askers: readonly string[];
  signal: AbortSignal;
}

/**
 * Sets the day's tokens aside before they are used and books what was used after: several processes together stay below
 * the limit. What a crashed request had set aside stays so for the day. A server that counts nothing has what was
 * estimated counted. Whose share is used up is refused before that.
 * @throws BotError BUDGET_EXHAUSTED, and PEOPLE_UNAVAILABLE when nobody can say who asks
 */
export async function withinBudget(
  ctx: ThreadContext,
  terms: RunTerms,
  { requestTokens, askers, signal }: Spend,
  work: () => Promise<Generated>,
): Promise<ModelResponse> {
  const { journal } = ctx;
  const { tokensPerDay, maxOutputTokens } = terms;
  const day = isoUtc(ctx.now(), "day");
  const amount = requestTokens + maxOutputTokens;
  const charged: Reservation[][] = [];
  let set: Reservation | undefined;
  let used = 0;
  try {
    await openShares(ctx, terms.shares, { day, askers, signal, amount, charged });
    set = await retryUntilStored(ctx, () =>
      journal.reserve(tokenCounter.all(day), amount, tokensPerDay),
    );
    if (set === undefined) throw spent(tokensPerDay, "", "tokensPerDay", "used up or set aside");
    const { response, cuts } = await work();
    const counted = isCounted(response) ? response : estimated(response, requestTokens);
    used = totalTokens(counted.usage) + cuts * requestTokens;
    return counted;
  } catch (error) {
    // What was used of a response that was cut, nobody says.
    if (set !== undefined && isBotError(error, "MODEL_CUT", "ABORTED", "TIMEOUT")) used = amount;
    throw error;
  } finally {
    if (set !== undefined) await book(ctx, set, used);
    for (const counters of charged) {
      // Several who ask together use a part each.
      const each = Math.ceil(used / counters.length);
      for (const counter of counters) await book(ctx, counter, each);
    }
  }
}

/** Where a request's shares are looked at, and what is charged for it. */
interface Shared {
  day: string;
  askers: readonly string[];
  signal: AbortSignal;
  /** What the request may use at most. */
  amount: number;
  /** Groups of counters, each of which is charged all that is used; what is set aside is added as it is. */
  charged: Reservation[][];
}

/**
 * Nobody uses up everybody's day. Of a member and of a place counts what was used and not what is set aside, so that many
 * requests at once are not refused for what they might use: such a share may be passed by those that were under way. Of
 * anybody else it is set aside, so that a burst of theirs holds up nobody's day: as much as is left, so theirs is passed by
 * one request at most. Who asks together with others may as long as one of them has something left. Where one person sits
 * there are no shares.
 * @throws BotError BUDGET_EXHAUSTED
 */
async function openShares(
  ctx: ThreadContext,
  shares: DayShares | undefined,
  { day, askers, signal, amount, charged }: Shared,
): Promise<void> {
  const { parts, adapter, journal } = ctx;
  if (shares === undefined || parts.policy.singleOperator || adapter.singleOperator) return;
  /** Undefined: nothing is left of it. */
  const open = async (counter: string, limit: number, wanted: number) => {
    const left = limit - (await retryUntilStored(ctx, () => journal.used(counter)));
    if (left <= 0) return undefined;
    return retryUntilStored(ctx, () => journal.reserve(counter, Math.min(wanted, left), limit));
  };
  const [channel = ctx.key] = await channelsIn(ctx, signal);
  const people = await peopleAmong(ctx, askers, signal);
  const ofPlace = await open(tokenCounter.place(day, channel), shares.place, 0);
  if (ofPlace === undefined) throw spent(shares.place, " for this channel", "tokensPerPlaceDay");
  charged.push([ofPlace]);
  const ofPeople: Reservation[] = [];
  charged.push(ofPeople);
  for (const [person, isMember] of people) {
    const limit = isMember ? shares.person : shares.guest;
    const found = await open(tokenCounter.person(day, person), limit, isMember ? 0 : amount);
    if (found !== undefined) ofPeople.push(found);
  }
  if (people.size > 0 && ofPeople.length === 0) {
    const areMembers = [...people.values()].includes(true);
    throw areMembers
      ? spent(shares.person, " for one person", "tokensPerPersonDay")
      : spent(shares.guest, " for a guest", "tokensPerGuestDay", "used up or set aside");
  }
}

/** Who these accounts are, and whether they are full members of the thread. */
async function peopleAmong(
  ctx: ThreadContext,
  accounts: readonly string[],
  signal: AbortSignal,
): Promise<Map<string, boolean>> {
  const { people, key, personOf } = peopleOf(ctx, signal);
  const found = new Map<string, boolean>();
  for (const account of accounts) {
    const person = personOf(account);
    const isMember = (await people.membership(account, key)) === "member";
    found.set(person, isMember || found.get(person) === true);
  }
  return found;
}

function spent(tokens: number, whose: string, setting: string, how = "used up"): BotError {
  const text = `The day's budget of ${tokens} tokens${whose} is ${how} (budgets.${setting}); the next day begins at 00:00 UTC.`;
  return new BotError("BUDGET_EXHAUSTED", text);
}

function isCounted({ usage }: ModelResponse): boolean {
  return totalTokens(usage) > 0;
}

function estimated(response: ModelResponse, requestTokens: number): ModelResponse {
  const output = estimateTokens(JSON.stringify(response.content));
  return { ...response, usage: { ...NO_USAGE, input: requestTokens, output } };
}

async function book(ctx: ThreadContext, set: Reservation, used: number): Promise<void> {
  try {
    await ctx.journal.commitReservation(set, used);
  } catch (error) {
    ctx.log.warn(
      { err: error, counter: set.counter },
      "used tokens could not be booked; they stay set aside",
    );
  }
}
