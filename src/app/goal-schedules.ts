import { createHash } from "node:crypto";
import type { Adapter } from "../adapters/adapter.ts";
import { type GoalSchedule, goalBudgetOf, goalsPart } from "../config/goals.ts";
import type { Config } from "../config/config.ts";
import { BotError } from "../core/errors.ts";
import type { Budget } from "../core/budget.ts";
import { createClock, showDuration } from "../core/instant.ts";
import { type JournalKey, transportOf, tryJournalKey } from "../core/journal-key.ts";
import { dollarText, microdollarsOfCents } from "../core/money.ts";
import { settingsOf } from "../core/settings.ts";
import { counted, oneLine, shortened } from "../core/text.ts";
import type { Digest } from "../handoff/digest-handler.ts";
import { DIGEST } from "../handoff/digest-handler.ts";
import { createSchedule, type Schedule } from "../handoff/schedule.ts";
import type { Journal } from "../journal/journal.ts";
import { fold } from "../thread/fold.ts";
import { usedBy } from "../thread/goals/goal.ts";
import type { Goal } from "../thread/goals/state.ts";
import { Thread } from "../thread/state.ts";

/** Goals that begin by themselves: each time once for all replicas, in a thread of its own, told with what it may use. */

interface Scheduled {
  key: JournalKey;
  channel: string;
  zone: string;
  goal: string;
  budget: Budget;
  schedule: Schedule;
}

/** What is configured, with its schedules. */
export async function loadGoalSchedules({
  values,
  timezone = "UTC",
}: Pick<Config, "values" | "timezone">): Promise<Scheduled[]> {
  const { schedules, budget } = settingsOf(goalsPart, values);
  return Promise.all(
    schedules.map(async ({ zone = timezone, budget: own, ...set }) => ({
      ...set,
      zone,
      budget: goalBudgetOf(budget, own),
      key: keyOf({ ...set, zone }),
      schedule: await createSchedule(set.cron, zone),
    })),
  );
}

/** What is changed is another one, which begins when it is first seen. Another budget is no change. */
function keyOf({ channel, cron, zone, goal }: Omit<Required<GoalSchedule>, "budget">): JournalKey {
  const name = createHash("sha256")
    .update(JSON.stringify([cron.trim(), zone, goal]))
    .digest("hex");
  return `${DIGEST}:${channel}:goal-${name.slice(0, 12)}`;
}

const MAX_SHOWN = 300;

/** `Next goal: Mon 2026-11-30 06:00 Europe/Madrid in slack:T1:C1 (Look for …)` */
export function nextGoals(goals: readonly Scheduled[], now: number): string[] {
  return goals.flatMap(({ schedule, zone, channel, goal }) => {
    const at = schedule.next(now);
    if (at === undefined) return [];
    const clock = createClock(zone);
    return [
      `Next goal: ${clock.weekday(at)} ${clock.dateTime(at)} ${zone} in ${channel} (${shortened(oneLine(goal), 60)})`,
    ];
  });
}

interface Parts {
  journal: Pick<Journal, "post" | "read">;
  adapters: ReadonlyMap<string, Adapter>;
  encode(text: string): string;
  wake(key: JournalKey): void;
}

/** A chat in which threads can be begun. */
type Opening = Adapter & {
  open(channel: string, text: string, delivery: { id: string; isRetry: true }): Promise<JournalKey>;
};

function canOpen(adapter: Adapter | undefined): adapter is Opening {
  return adapter !== undefined && "open" in adapter;
}

/** For the journals that see to it that each time is taken up once. */
export function goalDigest(
  { key, channel, goal: text, budget, schedule }: Scheduled,
  { journal, adapters, encode, wake }: Parts,
): Digest {
  const adapterOf = () => adapters.get(transportOf(channel));
  return {
    key,
    channel,
    what: "goal",
    schedule,
    async begin({ at, id, last, say }) {
      const adapter = adapterOf();
      if (!canOpen(adapter)) {
        throw new BotError("NOT_AVAILABLE", `No thread can be begun in ${channel}.`);
      }
      const before = await newestOf(journal, last, key);
      const what = encode(shortened(oneLine(text), MAX_SHOWN));
      if (before !== undefined && before.status !== "ended") {
        const where = adapter.link(tryJournalKey(last ?? "") ?? key);
        const link = where === undefined ? "" : ` (${where})`;
        const why = "the one before is still at work";
        await say(channel, `A goal is left out, since ${why}${link}: ${what}`, {
          id,
          isRetry: true,
        });
        return { ref: "", why };
      }
      const words = `Goal: ${what}\n${estimateWords(before, budget)}`;
      const thread = await adapter.open(channel, words, { id, isRetry: true });
      await journal.post(thread, {
        id: `goal:${at}`,
        kind: "command",
        actor: { account: key, name: "schedule" },
        text: `goal ${text}`,
        command: { name: "goal", text, schedule: { name: key, budget } },
      });
      wake(thread);
      return { ref: thread };
    },
  };
}

/** The goal that was begun by it last. */
async function newestOf(
  journal: Pick<Journal, "read">,
  last: string | undefined,
  schedule: string,
): Promise<Goal | undefined> {
  const thread = tryJournalKey(last ?? "");
  if (thread === undefined) return undefined;
  const { goals } = fold(new Thread(), await journal.read(thread));
  return [...goals.values()].findLast(({ started }) => started.schedule === schedule);
}

/** What it may use: about what the last one did, else its budget. */
function estimateWords(before: Goal | undefined, budget: Budget): string {
  const { steps, minutes, tokens, cents } =
    before === undefined ? budget : usedBy(before, before.used.since ?? 0);
  const money = cents === undefined || cents === 0 ? [] : [dollarText(microdollarsOfCents(cents))];
  const parts = [
    counted(steps, "step"),
    showDuration(Math.round(minutes * 60_000)),
    `${tokens.toLocaleString("en")} tokens`,
    ...money,
  ].join(", ");
  const most = `${counted(budget.steps, "step")} and ${showDuration(budget.minutes * 60_000)}`;
  return before === undefined
    ? `By schedule; it may use up to ${parts}.`
    : `By schedule; the last one used ${parts}, and this one may use up to ${most}.`;
}
