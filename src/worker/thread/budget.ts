import { estimatedTokens, type RequestContext } from "../../agent/request.ts";
import type { RunTerms } from "../../core/run-terms.ts";
import type { ModelRun } from "../../thread/model-run.ts";
import {
  countedTokens,
  estimateTokens,
  NO_USAGE,
  totalTokens,
  type Usage,
} from "../../core/block.ts";
import { BotError, isBotError } from "../../core/errors.ts";
import { isoUtc } from "../../core/instant.ts";
import { addMoney, moneyOf, NO_MONEY } from "../../core/money.ts";
import { tokenCounter } from "../../core/token-counters.ts";
import type { Reservation } from "../../journal/journal.ts";
import type { ModelResponse } from "../../models/model.ts";
import { payersOf } from "../../thread/spending.ts";
import type { Run } from "../../thread/state.ts";
import { retryUntilStored } from "../store.ts";
import { book, bookMoney, costIn, opened, openMoney } from "./money.ts";
import type { Allowance, ThreadContext } from "./parts.ts";
import { allPlaces } from "./places.ts";
import { channelsIn, peopleOf } from "./permission/look-up.ts";

/** Tokens that the request will use, its response apart: counted for the one before and estimated for what came since. */
export function tokensOf({ last, filling }: ModelRun, asked: RequestContext): number {
  return last === undefined ? estimatedTokens(asked) : filling.size;
}

/** What came of a request, whose answer it is, and how many attempts at it were cut before. */
export interface Generated {
  response: ModelResponse;
  model: string;
  cuts: number;
}

/** A response, and what it cost; nothing is said of that where the model's price is not known. */
interface Paid {
  response: ModelResponse;
  cost: { microdollars?: number };
}

export interface Spend {
  run: string;
  /** The run's own. */
  model: string;
  /** The one that gave its newest turn, where that is another. */
  newest?: string | undefined;
  /** Requests that the run has made. */
  steps: number;
  requestTokens: number;
  /** Accounts whose words instruct it. */
  askers: readonly string[];
  signal: AbortSignal;
}

/** A request of the run, for those whose words instruct it. */
export function spendOf(
  { run, modelRun }: { run: Run; modelRun: ModelRun },
  {
    instructs,
    ...request
  }: Pick<Spend, "requestTokens" | "signal"> & { instructs: readonly string[] | undefined },
): Spend {
  const { steps, terms, last } = modelRun;
  return {
    run: run.started.run,
    model: terms.model,
    newest: last?.model,
    steps,
    askers: payersOf(run, instructs),
    ...request,
  };
}

const DAY_MS = 24 * 60 * 60_000;
/** Of the day's tokens, what one run may set aside beyond its next request. */
const AHEAD = 1 / 100;

/**
 * Sets the day's tokens aside before they are used and books what was used after: several processes together stay below
 * the limit. A run that has made requests sets aside for as many more at once, within `AHEAD`. What a crashed run had set
 * aside stays so for the day. A server that counts nothing has what was estimated counted. Whose share is used up is refused
 * before that.
 * @throws BotError BUDGET_EXHAUSTED, and PEOPLE_UNAVAILABLE when nobody can say who asks
 */
export async function withinBudget(
  ctx: ThreadContext,
  terms: RunTerms,
  spend: Spend,
  work: () => Promise<Generated>,
): Promise<Paid> {
  const { run, requestTokens } = spend;
  const output = terms.maxOutputTokens;
  const amount = requestTokens + output;
  const allowance = await takeAllowance(ctx, terms, spend, amount);
  let used = 0;
  let goesOn = false;
  const pay = (model: string, usage: Usage) => {
    used += countedTokens(usage);
    const money = costIn(ctx, model, usage);
    allowance.money = addMoney(allowance.money, moneyOf({ usage, ...money }));
    return money;
  };
  try {
    const { response, model, cuts } = await work();
    const counted = isCounted(response) ? response : estimated(response, requestTokens);
    const cost = pay(model, counted.usage);
    if (cuts > 0) pay(model, { ...NO_USAGE, input: cuts * requestTokens });
    goesOn = counted.content.some(({ kind }) => kind === "tool_use");
    return { response: counted, cost };
  } catch (error) {
    // What was used of a response that was cut, nobody says.
    if (isBotError(error, "MODEL_CUT", "ABORTED", "TIMEOUT"))
      pay(modelsFor(ctx, spend)[0] ?? spend.model, { ...NO_USAGE, input: requestTokens, output });
    throw error;
  } finally {
    allowance.used += used;
    allowance.left -= used;
    if (goesOn && !ctx.over && allowance.deposit === undefined) ctx.allowances.set(run, allowance);
    else await settle(ctx, allowance);
  }
}

/** Those that may be asked: a place's own, or the run's and what stands behind it. */
function modelsFor(ctx: ThreadContext, { model: own, newest = own }: Spend): readonly string[] {
  return ctx.parts.models.asks({ own, newest, places: allPlaces(ctx) });
}

/** The run's own for as long as a request is under way; one that does not do is settled, and another is opened. */
async function takeAllowance(
  ctx: ThreadContext,
  terms: RunTerms,
  spend: Spend,
  amount: number,
): Promise<Allowance> {
  const { allowances } = ctx;
  const { run, askers } = spend;
  const now = ctx.now();
  const found = allowances.get(run);
  allowances.delete(run);
  const isTheirs = found !== undefined && found.askers.join() === askers.join();
  if (isTheirs && now < found.until && found.left >= amount) return found;
  if (found !== undefined) await settle(ctx, found);
  const day = isoUtc(now, "day");
  const until = (Math.floor(now / DAY_MS) + 1) * DAY_MS;
  const allowance: Allowance = {
    day,
    until,
    askers,
    left: 0,
    used: 0,
    money: NO_MONEY,
    payers: { people: [], place: undefined },
    deposit: undefined,
    charged: [],
  };
  try {
    const areMembers = await openShares(ctx, terms, allowance, spend.signal, amount);
    const models = modelsFor(ctx, spend);
    await openMoney(ctx, terms, allowance, { models, requestTokens: spend.requestTokens });
    const ahead = areMembers ? Math.floor((terms.tokensPerDay * AHEAD) / amount) : 0;
    const wanted = amount * (1 + Math.min(spend.steps, ahead));
    const set = await setAside(ctx, terms, day, [wanted, amount]);
    allowance.charged.push([set]);
    allowance.left = set.amount;
    return allowance;
  } catch (error) {
    await settle(ctx, allowance);
    throw error;
  }
}

/** The first of these amounts that the day has left. @throws BotError BUDGET_EXHAUSTED */
async function setAside(
  ctx: ThreadContext,
  { tokensPerDay }: RunTerms,
  day: string,
  amounts: readonly number[],
): Promise<Reservation> {
  const counter = tokenCounter.all(day);
  for (const amount of amounts) {
    const set = await retryUntilStored(ctx, () =>
      ctx.journal.reserve(counter, amount, tokensPerDay),
    );
    if (set !== undefined) return set;
  }
  throw spent(tokensPerDay, "", "tokensPerDay", "used up or set aside");
}

/** Books what was used of what the thread's runs had set aside: who goes on opens others. */
export async function settleAll(ctx: ThreadContext): Promise<void> {
  for (const allowance of ctx.allowances.values()) await settle(ctx, allowance);
  ctx.allowances.clear();
}

async function settle(ctx: ThreadContext, allowance: Allowance): Promise<void> {
  const { charged, used } = allowance;
  for (const counters of charged) {
    // Several who ask together use a part each.
    const each = Math.ceil(used / counters.length);
    for (const counter of counters) await book(ctx, counter, each);
  }
  await bookMoney(ctx, allowance);
}

/**
 * Nobody uses up everybody's day. Of a member and of a place counts what was used and not what is set aside, so that many
 * requests at once are not refused for what they might use: such a share may be passed by those that were under way. Of
 * anybody else it is set aside, so that a burst of theirs holds up nobody's day: as much as is left, so theirs is passed by
 * one request at most. Who asks together with others may as long as one of them has something left. Where one person sits
 * there are no shares. False: somebody's is looked at before each request.
 * @throws BotError BUDGET_EXHAUSTED
 */
async function openShares(
  ctx: ThreadContext,
  { shares }: Pick<RunTerms, "shares">,
  allowance: Allowance,
  signal: AbortSignal,
  amount: number,
): Promise<boolean> {
  const { parts, adapter, journal } = ctx;
  const { day, askers, charged } = allowance;
  if (shares === undefined) return true;
  if (parts.policy.singleOperator || adapter.singleOperator) {
    const own = [...new Set(askers.map(parts.personOf))];
    charged.push(
      await Promise.all(own.map((person) => opened(ctx, tokenCounter.person(day, person)))),
    );
    allowance.payers = { people: own, place: undefined };
    return true;
  }
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
  allowance.payers = { people: [...people.keys()], place: channel };
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
  return ![...people.values()].includes(false);
}

/** Who these accounts are, and whether they are full members of the thread. */
export async function peopleAmong(
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

export function spent(tokens: number, whose: string, setting: string, how = "used up"): BotError {
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
