import type { RunTerms } from "../core/run-terms.ts";
import { countedTokens } from "../core/block.ts";
import { dollarText, microdollarsOfCents, moneyText } from "../core/money.ts";
import { counted } from "../core/text.ts";
import { isOpen } from "../thread/action.ts";
import { type TalkingRun, talkingRuns, type Thread } from "../thread/state.ts";
import { refOf } from "../thread/call.ts";
import { whatOf } from "../thread/phrases.ts";
import { goalLines } from "./goal-status.ts";
import type { Tool } from "../tools/tool.ts";

export interface StatusParts {
  tools: readonly Tool[];
  terms: RunTerms | undefined;
  /** The machine that this process runs on. */
  host?: string;
  /** Which model answers where this one is meant, and why not this one. Default: it does. */
  standing?(model: string): string;
  /** What there is to know of its connections to chat platforms, a line each. */
  connections?: readonly string[];
}

/** What answers, what it can do and where, a line each. `chosen`: the model that people chose for a thread. */
export function aboutLines(parts: StatusParts, chosen?: string): string[] {
  const { tools, terms, host, connections = [] } = parts;
  const { standing = (id) => id } = parts;
  const model =
    terms === undefined
      ? "none, so I only understand commands. Admins: set MODEL and its key"
      : standing(chosen ?? terms.model);
  return [
    `Model: ${model}`,
    `Tools: ${toolCounts(tools)}`,
    ...(host === undefined ? [] : [`Host: ${host}`]),
    ...connections,
  ];
}

/** What answers here, what it can do, and what waits and runs in the thread. */
export function statusText(thread: Thread, parts: StatusParts): string {
  const open = [...thread.live].filter(isOpen).map(({ action }) => action);
  const running = [...thread.going].flatMap(({ open: calls }) =>
    [...calls.values()].filter(isRunning).map((call) => `${whatOf(call)} (${refOf(call)})`),
  );
  return [
    ...aboutLines(parts, thread.model),
    `Open approvals in this thread: ${listed(open)}`,
    `Running in this thread: ${listed(running)}`,
    ...goalLines(thread),
    ...Object.values(talkingRuns(thread)).map(usedLine),
  ].join("\n");
}

/** `r1 has used 12 of 30 steps, 140,300 of 400,000 tokens, $0.42, 3 of 15 minutes of work; cost says more.` */
function usedLine({ started, modelRun }: TalkingRun): string {
  const { budget, steps, usage, money, workMs } = modelRun;
  const number = (count: number) => count.toLocaleString("en", { maximumFractionDigits: 1 });
  const cost = money.microdollars > 0 ? [moneyText(money)] : [];
  const limit =
    budget.cents === undefined ? "" : ` of ${dollarText(microdollarsOfCents(budget.cents))}`;
  const parts = [
    `${number(steps)} of ${number(budget.steps)} steps`,
    `${number(countedTokens(usage))} of ${number(budget.tokens)} tokens`,
    ...cost.map((text) => text + limit),
    `${number(workMs / 60_000)} of ${number(budget.minutes)} minutes of work`,
  ];
  return `${started.run} has used ${parts.join(", ")}`;
}

/** `19 tools, 9 need approval` */
export function toolCounts(tools: readonly Tool[]): string {
  const asking = tools.filter(({ own, effect }) => own !== true && effect !== "read").length;
  const asks = asking === 0 ? "" : `, ${asking} ${asking === 1 ? "needs" : "need"} approval`;
  return counted(tools.length, "tool") + asks;
}

type OpenCall = Parameters<typeof refOf>[0];

function isRunning({ started, finished }: OpenCall): boolean {
  return started !== undefined && finished === undefined;
}

function listed(names: readonly string[]): string {
  return names.length === 0 ? "none" : names.join(", ");
}
