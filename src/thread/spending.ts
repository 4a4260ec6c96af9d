import { addUsage, NO_USAGE, type Usage } from "../core/block.ts";
import { addMoney, moneyOf, NO_MONEY } from "../core/money.ts";
import { askedFor, rootOf } from "./family.ts";
import { isTalking, type Run, type Thread } from "./state.ts";

/** What a request used, for whichever run and whatever it was for. */
interface Spend {
  run: string;
  usage: Usage;
  microdollars?: number | undefined;
  /** Absent: the run's own. */
  model?: string | undefined;
}

/** Whose parts of the day a run's requests use: of those who instruct it, and of whoever let it use more. */
export function payersOf(run: Run, instructs: readonly string[] = []): string[] {
  const added = rootOf(run).modelRun?.extensions.map(({ account }) => account) ?? [];
  return [...new Set([...instructs, ...added])];
}

/** A request is paid for by its thread and its run, and by those for whom that works, unless it came after the run's end. */
export function spend(thread: Thread, { run: name, usage, ...spent }: Spend): void {
  const money = moneyOf({ usage, ...spent });
  const run = thread.runs.get(name);
  spendAlone(thread, { usage, ...spent, model: spent.model ?? run?.modelRun?.terms.model });
  if (run === undefined || !isTalking(run)) return;
  for (const { modelRun } of [run, ...askedFor(run)]) {
    if (modelRun === undefined) continue;
    modelRun.usage = addUsage(modelRun.usage, usage);
    modelRun.money = addMoney(modelRun.money, money);
  }
}

/** A request is paid for by its thread alone. */
export function spendAlone(
  { counts }: Thread,
  { usage, model, ...spent }: Omit<Spend, "run">,
): void {
  counts.usage = addUsage(counts.usage, usage);
  if (model === undefined) return;
  const before = counts.models.get(model) ?? { usage: NO_USAGE, money: NO_MONEY };
  counts.models.set(model, {
    usage: addUsage(before.usage, usage),
    money: addMoney(before.money, moneyOf({ usage, ...spent })),
  });
}
