import { hash } from "node:crypto";
import { USE_TOOL } from "../core/tool-spec.ts";
import { callName } from "./entry-ids.ts";
import canonicalize from "canonicalize";
import { estimateTokens, NO_USAGE } from "../core/block.ts";
import { addBudget, type Budget } from "../core/budget.ts";
import type { Entry, JsonObject } from "../core/entry.ts";
import { type Money, NO_MONEY } from "../core/money.ts";
import type { Plan } from "../core/plan.ts";
import type { ToldFigures } from "./figures.ts";
import { Filling, fillTurn, tokensIn } from "./filling.ts";
import { FIRST_PHASE, nextPhase } from "./phase-state.ts";
import { isJsonObject, tryJson } from "../core/json.ts";

/** A call that a model asked for, under the id that the journal and evidence know it by. */
export interface ToolUse {
  /** `r2.t3`: the third call of the thread's models, which an answer cites as `[T3]`, in later runs too. */
  call: string;
  /** The provider's own id of it. */
  id: string;
  tool: string;
  args: JsonObject;
  problem: CallProblem | undefined;
}

/** Why a call can never be run: it was cut off, one too many of its turn, its arguments left out or no JSON object. */
export type CallProblem = "cut" | "too_many" | "too_long" | "malformed";

/** How a model goes in circles: the same call each time, two in turn, or one tool that brings nothing new. */
export interface Circle {
  kind: "same" | "two_in_turn" | "nothing_new";
  tool: string;
  calls: number;
}

interface Ended {
  tool: string;
  args: JsonObject;
  /** The arguments that its card showed last, where it had one. */
  shown: JsonObject | undefined;
  outcome: Entry<"tool_finished">["outcome"];
  text: string;
  gate: Entry<"tool_finished">["gate"];
}

/**
 * What a call came to that was made. `changed`: it is known to have changed something; `unmet`: and that was not enough.
 * `remembered`: it says what was so once, which shows nothing of what is so now.
 */
export type CallEffect = "changed" | "unmet" | "ok" | "remembered" | "failed" | "unknown";

/** What of its thread a run begins with. */
export interface Told extends Pick<ModelRun, "evidence" | "figures"> {
  readonly requestTokens: number;
  readonly turns: number;
  readonly isRefused: boolean;
}

/** The model's side of a run, folded: what it asked for last, what it has not seen, what it has used up. */
export class ModelRun {
  readonly terms: NonNullable<Entry<"run_started">["talk"]>;
  /** What it may use up, with what people added. */
  budget: Budget;
  /** What people added, the oldest first. */
  readonly extensions: Entry<"extended">[] = [];
  /** It has its tools again since that entry, because people added to the limit that it had reached. */
  resumedAt = 0;
  steps = 0;
  usage = NO_USAGE;
  money: Money = NO_MONEY;
  /** Milliseconds that the model and its tools took, side by side or not; people's time to decide is not in it. */
  workMs = 0;
  last: Entry<"assistant"> | undefined;
  /** The thread was told that another model answers in it. */
  isSwitchTold = false;
  /** Accounts whose lines its last request told as instructions, at first who asked; undefined: everybody's. */
  instructs: readonly string[] | undefined;
  turn: readonly ToolUse[] = [];
  /** What the thread's calls that were made came to, by number. */
  readonly evidence: ReadonlyMap<number, CallEffect>;
  /** What those of them that count incidents said, by number. */
  readonly figures: ReadonlyMap<number, ToldFigures>;
  /** Messages that joined the run and that no request has held yet. */
  unseen: Entry<"message">[] = [];
  /** A side run's: those that its requests held, until what they need more than reading was handed over. */
  told: Entry<"message">[];
  handedOver: Entry<"message">[] = [];
  /** Of `unseen`: what a side run could not do, which no other one is asked. */
  readonly taken = new Set<string>();
  /** Numbers of calls that another run made meanwhile: what this one was not told it cannot cite. */
  readonly untoldCalls = new Set<number>();
  readonly gates: Entry<"gate">[] = [];
  plan: Plan | undefined;
  phase = FIRST_PHASE;
  /** The entry of its newest turn in which the model wrote something besides its calls. */
  wroteAt = 0;
  /** The gate that took the tools away, unless a message came after it. */
  toolsOff: Entry<"gate"> | undefined;
  /** What a person denied: the same call is not asked about again. */
  denied = new Set<string>();
  denials = 0;
  /** Characters of its calls' results that are kept here whole. */
  resultChars = 0;
  readonly filling: Filling;
  readonly loop: Loop = { recent: [], tools: new Map(), fresh: [], found: undefined };

  /** What its calls came to is the thread's and grows with it; `told`: what the run began with. */
  constructor(
    terms: ModelRun["terms"],
    instructs: readonly string[],
    { evidence, figures, requestTokens, turns, isRefused }: Told,
    told: Entry<"message">[] = [],
  ) {
    this.terms = terms;
    this.budget = terms.budget;
    // A thread that no model was asked in has counted nothing but what was said.
    const size = requestTokens + (turns === 0 ? (terms.window?.fixed ?? 0) : 0);
    this.filling = new Filling(terms.window, { size, turns, isForced: isRefused });
    this.instructs = instructs;
    this.evidence = evidence;
    this.figures = figures;
    this.told = told;
  }

  /** What people denied the one is denied the other. */
  heedDenials(other: ModelRun): void {
    this.denied = other.denied;
  }
}

/** What tells a model that goes in circles from one that gets on. */
interface Loop {
  /** The newest calls, newest last, with what they brought. */
  recent: { key: string; result: string }[];
  /** Per tool: results it brought in earlier turns, and how many calls since a new one. */
  readonly tools: Map<string, { results: Set<string>; stale: number }>;
  /** What the newest turn brought: of calls made side by side none could know of the other's result. */
  fresh: { tool: string; result: string }[];
  found: Circle | undefined;
}

/** Identical calls in a row, and calls of one tool without a new result, that count as going in circles (CORE case 28). */
const SAME_IN_A_ROW = 3;
const STALE_CALLS = 5;
const REMEMBERED_CALLS = 8;

/** Whom the request of a turn told as instructing; `before`: whom the one before it did. */
export function instructsOf(
  { again, instructs }: Pick<Entry<"assistant">, "again" | "instructs">,
  before: { readonly instructs: readonly string[] | undefined },
): readonly string[] | undefined {
  return again === true ? before.instructs : instructs;
}

/** Takes in a model's turn; its calls are in `turn` then. `before`: how many calls the thread's models made earlier. */
export function applyAssistant(
  modelRun: ModelRun,
  entry: Entry<"assistant">,
  before: number,
): void {
  modelRun.steps = entry.step;
  modelRun.workMs += entry.ms;
  modelRun.last = entry;
  fillTurn(modelRun.filling, entry);
  modelRun.turn = usesOf(entry, before);
  if (entry.content.some((block) => block.kind === "text" && block.text.trim() !== ""))
    modelRun.wroteAt = entry.seq;
  for (const { tool, result } of modelRun.loop.fresh)
    modelRun.loop.tools.get(tool)?.results.add(result);
  modelRun.loop.fresh = [];
  modelRun.told.push(...modelRun.unseen.filter(({ seq }) => seq <= entry.seen));
  modelRun.unseen = modelRun.unseen.filter(({ seq }) => seq > entry.seen);
}

/**
 * A message gives back the tools that were taken away because of how the run went, not because it reached a limit, and
 * only if its author began the run: not every bot in the thread may have people asked again.
 */
export function steer(modelRun: ModelRun, message: Entry<"message">, began: boolean): void {
  modelRun.unseen.push(message);
  modelRun.filling.size += tokensIn(message);
  if (!began || modelRun.toolsOff?.gate === "limit") return;
  modelRun.toolsOff = undefined;
  modelRun.denials = 0;
  modelRun.denied.clear();
}

export function applyGate(modelRun: ModelRun, gate: Entry<"gate">): void {
  modelRun.gates.push(gate);
  modelRun.filling.size += estimateTokens(gate.text);
  if (gate.toolsOff === true) modelRun.toolsOff = gate;
  if (gate.gate !== "stuck") return;
  modelRun.loop.recent = [];
  modelRun.loop.tools.clear();
  modelRun.loop.fresh = [];
  modelRun.loop.found = undefined;
}

/** It may use more; the tools that a limit took away are there again. */
export function extend(modelRun: ModelRun, entry: Entry<"extended">): void {
  modelRun.extensions.push(entry);
  modelRun.budget = addBudget(modelRun.budget, entry.more);
  if (modelRun.toolsOff?.gate !== "limit") return;
  modelRun.toolsOff = undefined;
  modelRun.resumedAt = entry.seq;
}

export function applyResult(modelRun: ModelRun, ended: Ended, ms: number): void {
  modelRun.workMs += ms;
  if (isNo(modelRun, ended.outcome)) {
    // What nobody decided in time may be asked again.
    for (const args of ended.outcome === "expired" ? [] : [ended.args, ended.shown ?? ended.args]) {
      modelRun.denied.add(callKey(ended.tool, args));
    }
    modelRun.denials += 1;
  } else if ((ended.outcome === "ok" || ended.outcome === "error") && ended.gate === undefined)
    modelRun.denials = 0;
  modelRun.phase = nextPhase(modelRun.terms.gates?.phases ?? [], modelRun.phase, ended);
  watch(modelRun.loop, ended);
}

/** People said no, or nobody said yes; what was cancelled so that a message be answered is neither. */
function isNo({ unseen }: ModelRun, outcome: Ended["outcome"]): boolean {
  if (outcome === "cancelled") return unseen.length === 0;
  return outcome === "denied" || outcome === "expired";
}

/** The same for calls that ask for the same. */
export function callKey(tool: string, args: JsonObject): string {
  return `${tool} ${canonicalize(args)}`;
}

/** More calls than this in one turn are not looked at: forty writes would be forty cards. */
export const MAX_CALLS_PER_TURN = 16;

/**
 * The calls of a turn; `before` is how many the thread's models made earlier. A turn that was cut off may end in half a call, and what
 * a filter stopped is no one's wish: such calls have a problem and are never run.
 */
export function usesOf(entry: Entry<"assistant">, before: number): ToolUse[] {
  const blocks = entry.content.filter((block) => block.kind === "tool_use");
  return blocks.map(({ id, name, input }, i) => {
    const call = callName(entry.run, before + i + 1);
    const isLast = i === blocks.length - 1;
    const isCut = entry.stop === "max_tokens" ? isLast : entry.stop === "content_filter";
    const isTooLong = input === LEFT_OUT;
    const args = isTooLong ? undefined : readArgs(input);
    const problem =
      isCut || entry.stop === "refusal"
        ? "cut"
        : i >= MAX_CALLS_PER_TURN
          ? "too_many"
          : isTooLong
            ? "too_long"
            : args === undefined
              ? "malformed"
              : undefined;
    return { call, id, ...meantCall(name, args ?? {}), problem };
  });
}

/** The tool that is called, where it is called by the one that calls others. */
function meantCall(tool: string, args: JsonObject): { tool: string; args: JsonObject } {
  if (tool !== USE_TOOL) return { tool, args };
  const { tool: meant, arguments: given = {} } = args;
  return typeof meant === "string" && isJsonObject(given)
    ? { tool: meant, args: given }
    : { tool, args };
}

/** Stands for the arguments of a call that were too long to be kept; no JSON. */
export const LEFT_OUT = "[left out: too long]";

/**
 * Providers write no arguments at all where a tool takes none. What has no canonical form, such as `1e999` or half a
 * character, is malformed too: the fold compares calls by that form and must never fail.
 */
function readArgs(input: string): JsonObject | undefined {
  if (input.trim() === "") return {};
  try {
    const value = tryJson(input);
    if (!isJsonObject(value)) return undefined;
    canonicalize(value);
    return value;
  } catch {
    return undefined;
  }
}

function watch(loop: Loop, { tool, args, text }: Ended): void {
  const result = stableHash(text);
  loop.recent = [...loop.recent, { key: callKey(tool, args), result }].slice(-REMEMBERED_CALLS);
  const known = loop.tools.get(tool) ?? { results: new Set(), stale: 0 };
  known.stale = known.results.has(result) ? known.stale + 1 : 0;
  loop.fresh.push({ tool, result });
  loop.tools.set(tool, known);
  loop.found ??= circleIn(loop, tool);
}

function circleIn({ recent, tools }: Loop, tool: string): Circle | undefined {
  const [a, b, c, d] = recent.slice(-4);
  const newest = recent.slice(-SAME_IN_A_ROW);
  if (newest.length === SAME_IN_A_ROW && newest.every(({ key }) => key === newest[0]?.key)) {
    return { kind: "same", tool, calls: SAME_IN_A_ROW };
  }
  if (d !== undefined && isSameEnd(a, c) && isSameEnd(b, d) && !isSameEnd(a, b)) {
    return { kind: "two_in_turn", tool, calls: 2 };
  }
  if ((tools.get(tool)?.stale ?? 0) >= STALE_CALLS - 1) {
    return { kind: "nothing_new", tool, calls: STALE_CALLS };
  }
  return undefined;
}

type Brought = Loop["recent"][number];

function isSameEnd(one: Brought | undefined, other: Brought | undefined): boolean {
  return one?.key === other?.key && one?.result === other?.result;
}

/** What differs each time and says nothing: points in time, UUIDs, hexadecimal ids, how long something took. */
const VOLATILE = new RegExp(
  [
    /\d{4}-\d\d-\d\d[T ][\d:.]+Z?|\b\d\d:\d\d(?::\d\d)?\b/,
    /\b[\da-fA-F]{8}(?:-[\da-fA-F]{4}){3}-[\da-fA-F]{12}\b/,
    /\b(?=[a-zA-Z]*\d)[\da-fA-F]{8,}\b/,
    /\b\d+(?:\.\d+)? ?(?:ms|s|min|h)\b/,
  ]
    .map(({ source }) => source)
    .join("|"),
  "g",
);

/** Tells a result from others without it; measured values count, as they are what is looked for. Of a long run all are kept. */
export function stableHash(text: string): string {
  return hash("sha1", text.replaceAll(VOLATILE, "#"), "base64url");
}
