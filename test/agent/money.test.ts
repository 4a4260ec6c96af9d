import { expect, test } from "vitest";
import { countedTokens } from "../../src/core/block.ts";
import { moneyCounter, type TokenUse, unpricedCounter } from "../../src/core/token-counters.ts";
import type { Price } from "../../src/models/known.ts";
import { createModels } from "../../src/models/chain.ts";
import { createCostPerDay } from "../../src/tools/costs/cost-per-day.ts";
import { createChat } from "../fakes/chat.ts";
import { type Saying, scriptedModel } from "../fakes/scripted-model.ts";
import { fakeTool, type StageOptions } from "../fakes/stage.ts";
import { until } from "../until.ts";
import { ANSWER, call, lastAnswer, ofKind, talking } from "./talking.ts";

const NOON = Date.UTC(2026, 0, 1, 12);
const DAY = "2026-01-01";
const PRICE: Price = { input: 2, cachedInput: 0.2, cacheWrite: 2.5, output: 10 };
/** 2 000 microdollars of fresh input, 1 800 of cached, 1 250 written, 1 000 of output. */
const USAGE = { input: 1_000, cacheRead: 9_000, cacheWrite: 500, output: 100 };
const EACH = 6_050;
const priced: StageOptions = { priceOf: () => PRICE, now: () => NOON };

const fine: Saying = { text: "Fine.", usage: USAGE };
/** Something else in each step, and an answer when it is told to. */
const steps = (usage: typeof USAGE): Saying[] =>
  Array.from({ length: 40 }, (_, i): Saying => {
    const more = { calls: [call("look", `web-${i}`)], usage };
    return ({ toolChoice }) => (toolChoice === "none" ? { ...ANSWER, usage } : more);
  });

test("thirty steps at 40 000 tokens of context are had under the standard budgets, most of it from the cache", async () => {
  const context = { input: 1_000, cacheRead: 39_000, cacheWrite: 0, output: 300 };
  const shares = { person: 500_000, place: 2_500_000, guest: 50_000 };
  const stage = await talking(steps(context), { talk: { shares, maxOutputTokens: 8_192 } });
  await stage.ask("look at all of them");
  expect(stage.model.requests).toHaveLength(30);
  expect(lastAnswer(stage)).toContain("30 steps");
});

test("without a cache the same run ends at its tokens", async () => {
  const context = { input: 40_000, cacheRead: 0, cacheWrite: 0, output: 300 };
  const stage = await talking(steps(context));
  await stage.ask("look at all of them");
  expect(stage.model.requests.length).toBeLessThan(11);
  expect(lastAnswer(stage)).toContain("400000 tokens");
});

test("a cached token counts a tenth, and nothing else less than whole", () => {
  expect(countedTokens(USAGE)).toBe(1_000 + 900 + 500 + 100);
  expect(countedTokens({ input: 0, output: 0, cacheRead: 1, cacheWrite: 0 })).toBe(1);
});

test("a turn says what it cost, and `cost` what all of them did", async () => {
  const stage = await talking(
    [
      { calls: [call("look")], usage: USAGE },
      { ...ANSWER, usage: USAGE },
    ],
    priced,
  );
  await stage.ask("look");
  const turns = ofKind(await stage.entries(), "assistant");
  expect(turns.map(({ microdollars }) => microdollars)).toEqual([EACH, EACH]);
  expect(stage.chat.answers().at(-1)).toMatchObject({
    spent: { money: { microdollars: 2 * EACH, unpriced: 0 } },
  });
  await stage.ask("cost");
  expect(lastAnswer(stage)).toMatch(
    /21,200 tokens \(input 2,000, .*\) by test\/scripted, \$0\.01\./,
  );
  expect(await stage.journal.used(moneyCounter.all(DAY))).toBe(2 * EACH);
  expect(await stage.journal.used(unpricedCounter.all(DAY))).toBe(0);
});

test("`status` says what the run at work has used of what it may use", async () => {
  let status = "";
  const asks: Saying = async () => {
    await stage.say("status");
    await until(() => stage.chat.answers().length > 0);
    status = lastAnswer(stage);
    return { ...ANSWER, usage: USAGE };
  };
  const budget = { steps: 30, tokens: 400_000, minutes: 15, cents: 200 };
  const look = { calls: [call("look")], usage: USAGE };
  const stage = await talking([look, asks, look, asks], { ...priced, talk: { budget } });
  await stage.ask("look");
  await stage.settle();
  expect(status).toMatch(
    /\nr1 has used 1 of 30 steps, 2,500 of 400,000 tokens, \$0\.006\d of \$2\.00, 0 of 15 minutes of work$/m,
  );
});

test("an unknown price is told as unknown, never as nothing", async () => {
  const stage = await talking([fine], { priceOf: () => undefined, now: () => NOON });
  await stage.ask("well?");
  const [turn] = ofKind(await stage.entries(), "assistant");
  expect(turn).not.toHaveProperty("microdollars");
  await stage.ask("cost");
  expect(lastAnswer(stage)).toContain("price unknown.");
  expect(await stage.journal.used(moneyCounter.all(DAY))).toBe(0);
  expect(await stage.journal.used(unpricedCounter.all(DAY))).toBe(10_600);
});

test("`cost today` says everybody's tokens and money, the asker's own and their channel's, and how much of each there may be", async () => {
  const chat = createChat();
  const used = (counter: string) => journal.used(counter);
  const sharesOf: TokenUse["sharesOf"] = async (key, account) => ({
    place: await chat.adapter.channel(key),
    ofPerson: { tokens: account === "test:bob" ? 500_000 : 0, cents: 50 },
    ofPlace: { tokens: 2_500_000 },
  });
  const costs = createCostPerDay(() => ({
    used,
    perDay: 5_000_000,
    centsPerDay: 2_000,
    sharesOf,
  }));
  const shares = { person: 500_000, place: 2_500_000, guest: 50_000 };
  const { journal, ask, ...stage } = await talking([fine, fine], {
    ...priced,
    chat,
    talk: { shares },
    tools: [costs, fakeTool({ name: "look" })],
  });
  await ask("well?", "test:ana");
  await ask("well?", "test:bob");
  await ask("cost today", "test:bob");
  expect(lastAnswer({ ...stage, chat })).toMatch(
    /- 2026-01-01: 5,000 tokens of at most 5,000,000, \$0\.01 of at most \$20\.00; of that 2,500 tokens of at most 500,000, \$0\.006\d of at most \$0\.50 for bob and 5,000 tokens of at most 2,500,000, \$0\.01 in this channel$/,
  );
});

test("a run ends with an answer before it costs more than it may", async () => {
  const budget = { steps: 30, tokens: 1e9, minutes: 15, cents: 3 };
  const stage = await talking(steps(USAGE), { ...priced, talk: { budget } });
  await stage.ask("look at all of them");
  // 30 000 microdollars are four requests and a bit.
  expect(stage.model.requests).toHaveLength(4);
  expect(stage.chat.answers()).toMatchObject([
    { status: "wrapped_up", text: expect.stringContaining("$0.03") },
  ]);
});

test.each([
  [
    { all: 2.3 },
    /day's budget of \$0\.02 is used up or set aside \(budgets\.centsPerDay\).*00:00 UTC/,
  ],
  [{ person: 1.2 }, /\$0\.01 for one person is used up \(budgets\.centsPerPersonDay\)/],
  [{ place: 1.2 }, /\$0\.01 for this channel is used up \(budgets\.centsPerPlaceDay\)/],
])("the day's money (%j) is refused in words when it is used up", async (cents, words) => {
  const shares = { person: 500_000, place: 2_500_000, guest: 50_000 };
  const stage = await talking([fine, fine, fine], { ...priced, talk: { cents, shares } });
  await stage.ask("well?");
  await stage.ask("well?");
  expect(stage.model.requests).toHaveLength(2);
  await stage.ask("well?");
  expect(stage.model.requests).toHaveLength(2);
  expect(lastAnswer(stage)).toMatch(words);
});

/** What a day of so many cents leaves a thread whose own model costs a tenth of another that may answer in its place. */
async function dearer(cents: number, options: { chain?: string[]; route?: string }) {
  const { chain = [], route } = options;
  const own = scriptedModel([fine, fine], "cheap/own");
  const other = scriptedModel([fine, fine], "dear/other");
  const asked: string[] = [];
  const models = createModels({
    chain,
    health: { ...WELL, outage: (id) => (id === own.id && chain.length > 0 ? OUT : undefined) },
    ...(route !== undefined && { routeOf: () => route }),
    load: async (id) => {
      asked.push(id);
      return id === own.id ? own : other;
    },
  });
  const times = (id: string) => (id === own.id ? 1 : 10);
  const stage = await talking([], {
    model: own,
    models,
    now: () => NOON,
    priceOf: (id) => ({ input: times(id), cachedInput: 0, cacheWrite: 0, output: times(id) }),
    talk: { cents: { all: cents }, maxOutputTokens: 1_000 },
  });
  await stage.ask("well?");
  return {
    answer: lastAnswer(stage),
    asked,
    used: await stage.journal.used(moneyCounter.all(DAY)),
  };
}

const WELL = { answered: () => {}, failed: () => {}, look: async () => {} };
const OUT = { code: "MODEL_OVERLOADED", since: NOON } as const;

test.each([
  ["of its place", { route: "dear/other" }],
  ["behind it", { chain: ["cheap/own", "dear/other"] }],
])("the day's money is set aside by the price of the model %s that answers", async (_, options) => {
  // About 2 000 tokens: 0.2 cents of the cheap model, 2 of the dear one, which uses 1.1 of them.
  expect(await dearer(0.5, options)).toMatchObject({
    answer: expect.stringContaining("budgets.centsPerDay"),
    asked: [],
    used: 0,
  });
  expect(await dearer(3, options)).toEqual({
    answer: "Fine.",
    asked: ["dear/other"],
    used: 11_000,
  });
});

test("where money is limited, a model of an unknown price is not asked", async () => {
  const talk = { cents: { all: 100 } };
  const stage = await talking([fine], { priceOf: () => undefined, talk });
  await stage.ask("well?");
  expect(stage.model.requests).toHaveLength(0);
  expect(lastAnswer(stage)).toMatch(/price of test\/scripted is unknown.*Say its price/);
});
