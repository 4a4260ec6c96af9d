import * as z from "zod";
import type { Budget } from "../core/budget.ts";
import { MAX_GOAL_TEXT } from "../core/goal.ts";
import { defineSettings, fromYaml } from "../core/settings.ts";
import { goalsEnabled } from "../tools/goals/integration.ts";
import { channel } from "./policy.ts";
import { scheduleFields } from "./schedule.ts";

const steps = z.int().min(1).max(10_000);
const minutes = z.number().min(0.1).max(10_080);
const tokens = z.int().min(1_000);
const cents = z.number().min(0.01).max(10_000_000);

/** Where nobody says how much one goal may use. */
const STANDARD = { steps: 200, minutes: 240, tokens: 2_000_000 } as const;

const budget = z.strictObject({
  steps: steps
    .default(STANDARD.steps)
    .describe("How many requests to the model one goal may take, 1 to 10000."),
  minutes: minutes
    .default(STANDARD.minutes)
    .describe(
      "Minutes that one goal may take, 0.1 to 10080 (a week). While it waits for people they do not count.",
    ),
  tokens: tokens
    .default(STANDARD.tokens)
    .describe(
      "Tokens that one goal may take, in and out, input from the provider's cache counted at a tenth; from 1000.",
    ),
  cents: cents
    .optional()
    .meta({ description: "Cents of a US dollar that one goal may cost.", unset: "no limit" }),
});

const ownBudget = z
  .strictObject({
    steps: steps.optional().meta({ description: "Its requests.", unset: "as of `goals.budget`" }),
    minutes: minutes
      .optional()
      .meta({ description: "Its minutes.", unset: "as of `goals.budget`" }),
    tokens: tokens.optional().meta({ description: "Its tokens.", unset: "as of `goals.budget`" }),
    cents: cents.optional().meta({ description: "Its cents.", unset: "as of `goals.budget`" }),
  })
  .prefault({});

const schedule = z.strictObject({
  ...scheduleFields('"0 6 * * 1" for 6:00 on Mondays'),
  channel: channel.describe(
    "Where its thread begins, such as `slack:T1:C1` or `discord:1122:3344`. The bot has to be in it.",
  ),
  goal: z
    .string()
    .trim()
    .min(1, "say what is wanted")
    .max(MAX_GOAL_TEXT)
    .describe("What is wanted, as after `goal`."),
  budget: ownBudget,
});

export type GoalSchedule = z.infer<typeof schedule>;

/** Long work that goes on without people. */
export const goalsPart = defineSettings({
  name: "goals",
  settings: z.object({
    enabled: goalsEnabled,
    folder: fromYaml(
      "goals.folder",
      z.string().trim().min(1, "name a folder").optional(),
      "A folder into which each goal's report is written too, as `<day>-<goal>-<id>.md`. It has to exist; a relative path is below the program's folder.",
      { unset: "reports are in their threads only" },
    ),
    budget: fromYaml("goals.budget", budget.prefault({})),
    replan: fromYaml(
      "goals.replan",
      z
        .union([z.enum(["every", "on_change"]), z.int().min(1).max(100)], {
          error: "expected every, on_change or a number of tasks from 1 to 100",
        })
        .default("every"),
      "When a goal is planned again: after `every` task, after so many tasks, or `on_change`: only after one was split or given up, and when people say something.",
    ),
    schedules: fromYaml(
      "goals.schedules",
      z.array(schedule).max(50).default([]),
      "[Scheduled goals](goals.md#schedules): they begin by themselves in a channel. Nobody asked for them, so they only read.",
    ),
  }),
  check: (_isSet, { enabled, schedules }): Record<string, string> =>
    schedules.length > 0 && !enabled
      ? { "goals.schedules": "goals are off; set goals.enabled: true, or leave schedules out" }
      : {},
});

type Goals = z.infer<typeof goalsPart.settings>;

/** What a goal may use. `own`: what its schedule says otherwise. */
export function goalBudgetOf(
  { steps: all, minutes: time, tokens: most, cents: money }: Goals["budget"],
  own: GoalSchedule["budget"] = {},
): Budget {
  const { cents: limit = money } = own;
  return {
    steps: own.steps ?? all,
    minutes: own.minutes ?? time,
    tokens: own.tokens ?? most,
    ...(limit !== undefined && { cents: limit }),
  };
}
