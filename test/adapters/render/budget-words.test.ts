import { expect, test } from "vitest";
import type { Meter } from "../../../src/adapters/shown.ts";
import { estimateWords, meterWords } from "../../../src/adapters/render/budget-words.ts";
import { readButtonAction } from "../../../src/adapters/render/button-ids.ts";
import { planOf } from "../../../src/adapters/render/plan.ts";
import { createRunProgress, renderProgress } from "../../../src/adapters/render/progress.ts";
import { textOf } from "../../../src/adapters/render/rich-text.ts";

const METER: Meter = {
  budget: { steps: 30, tokens: 400_000, minutes: 15 },
  steps: 12,
  tokens: 140_300,
  money: { microdollars: 420_000, unpriced: 0 },
  workMs: 190_000,
  extendedBy: [],
};
const NEAR: Meter = {
  ...METER,
  steps: 25,
  tokens: 290_000,
  extension: {
    number: 1,
    more: { steps: 15, tokens: 200_000, minutes: 7.5, microdollars: 250_000 },
  },
};
const thinking = (step: number, meter: Meter) =>
  ({ kind: "thinking", run: "r1", step, meter }) as const;

test.each<[Partial<Meter>, string]>([
  [{}, "12 of 30 steps · 140k of 400k tokens · $0.42 · 3 of 15 min"],
  [
    { money: { microdollars: 0, unpriced: 9 } },
    "12 of 30 steps · 140k of 400k tokens · 3 of 15 min",
  ],
  [
    { money: { microdollars: 420_000, unpriced: 9 }, extendedBy: ["Ana", "Bob"] },
    "12 of 30 steps · 140k of 400k tokens · at least $0.42 · 3 of 15 min · extended by Ana and Bob",
  ],
  [
    { budget: { steps: 30, tokens: 2_000_000, minutes: 15, cents: 200 } },
    "12 of 30 steps · 140k of 2.0M tokens · $0.42 of $2.00 · 3 of 15 min",
  ],
])(
  "a meter says what is used of each limit, and money only as far as it is known (%j)",
  (more, words) => {
    expect(meterWords({ ...METER, ...more })).toBe(words);
  },
);

test("what more would cost is told in money, and where no price is known in tokens", () => {
  const more = { steps: 15, tokens: 200_000, minutes: 7.5 };
  expect(estimateWords({ ...more, microdollars: 250_000 })).toBe("up to 15 steps, about $0.25");
  expect(estimateWords(more)).toBe("up to 15 steps, 200k tokens");
});

test("the meter stands below what is done, with Extend near a limit; Slack's plan has it with what the model does", async () => {
  const log = createRunProgress();
  const shown = async () => {
    const { blocks, buttons } = await renderProgress(log, () => false);
    return [blocks.map(textOf), buttons.map(({ label, id }) => [label, readButtonAction(id)])];
  };
  log.note(thinking(13, METER));
  const stop = ["Stop", { kind: "stop", run: "r1" }];
  expect(await shown()).toEqual([["⏳ thinking", meterWords(METER)], [stop]]);
  expect(planOf(log).tasks[0]?.title).toBe(`Thinking it over · ${meterWords(METER)}`);
  log.note(thinking(26, NEAR));
  const click = { kind: "click", action: "r1", revision: 1, choice: { kind: "extend" } };
  const extend = ["Extend: up to 15 steps, about $0.25", click];
  expect(await shown()).toEqual([
    ["⏳ thinking", meterWords(NEAR)],
    [extend, stop],
  ]);
});

test("what helpers use goes with the next news, what a person adds is news, and what comes late is neither", () => {
  const log = createRunProgress();
  expect(log.note(thinking(3, METER))).toBe(true);
  expect(log.note(thinking(2, { ...METER, tokens: 150_000 }))).toBe(false);
  expect(log.meter?.tokens).toBe(150_000);
  expect(log.note(thinking(2, METER))).toBe(false);
  expect(log.meter?.tokens).toBe(150_000);
  const budget = { ...METER.budget, steps: 45 };
  const extended = { ...METER, tokens: 150_000, budget, extendedBy: ["Bob"] };
  expect(log.note(thinking(3, extended))).toBe(true);
  expect(log.meter).toEqual(extended);
  expect(log.isWaiting).toBe(false);
  log.wait();
  expect(log.note(thinking(3, { ...extended, tokens: 160_000 }))).toBe(false);
  expect(log.isWaiting).toBe(true);
});
