import { isDeepStrictEqual } from "node:util";
import { characterStart } from "../../core/characters.ts";
import type { JsonObject, Outcome } from "../../core/entry.ts";
import type { PlannedTask } from "../../core/plan.ts";
import type { Meter, Progress } from "../shown.ts";
import { meterWords } from "./budget-words.ts";
import { type Button, extendButton, stopButton } from "./buttons.ts";
import { callInlines } from "./call.ts";
import { clip, summaryOf } from "./clip.ts";
import { readMarkdown } from "./markdown.ts";
import { modelWords, stillWords } from "./phrases.ts";
import { planInlines, planLines } from "./plan-lines.ts";
import type { AllowLink, Block, RenderedMessage } from "./rich-text.ts";

/** One call; without an outcome it runs. */
export interface CallProgress {
  tool: string;
  args: JsonObject;
  doing?: string | undefined;
  /** Ms since 1970. */
  at: number;
  outcome: Outcome | undefined;
  ms: number | undefined;
}

/** What a run is doing, from updates that may come late, twice or not at all. `known`: its name. */
export function createRunProgress(now: () => number = Date.now, known?: string) {
  const calls = new Map<string, CallProgress>();
  const ended = new Set<string>();
  let model = NO_MODEL;

  function noteCall(update: Extract<Progress, { call: string }>): boolean {
    const before = calls.get(update.call);
    const { tool } = update;
    if (ended.has(update.call) || before?.outcome !== undefined) return false;
    if (update.kind === "tool_finished") {
      const { outcome, ms } = update;
      calls.set(update.call, { args: {}, at: now(), ...before, tool, outcome, ms });
      return true;
    }
    if (before !== undefined) return false;
    const { args, doing } = update;
    calls.set(update.call, { tool, args, doing, at: now(), outcome: undefined, ms: undefined });
    return true;
  }

  /** It goes with the next news, unless a person changed what may be used. */
  function noteMeter(meter: Meter): boolean {
    const before = model.meter;
    if (before !== undefined && meter.tokens < before.tokens) return false;
    model = { ...model, meter };
    return before !== undefined && !isDeepStrictEqual(meter.budget, before.budget);
  }

  function wait(): boolean {
    const isNews = !model.isWaiting;
    model = { ...model, isWaiting: true, modelSince: undefined };
    return isNews;
  }

  return {
    get run(): string | undefined {
      return known ?? model.run;
    },
    /** By id, in the order in which they began. */
    calls: calls as ReadonlyMap<string, CallProgress>,
    get plan(): readonly PlannedTask[] {
      return model.plan;
    },
    get step(): number {
      return model.step;
    },
    get draft(): string {
      return model.draft;
    },
    get modelSince(): number | undefined {
      return model.modelSince;
    },
    get isWaiting(): boolean {
      return model.isWaiting;
    },
    get meter(): Meter | undefined {
      return model.meter;
    },
    /** True when there is something new to show. */
    note(update: Progress): boolean {
      if ("run" in update) {
        if (ended.has(update.run)) return false;
        if (update.run !== model.run) model = { ...NO_MODEL, run: update.run };
      }
      if (update.kind === "waiting") return wait();
      if (update.kind === "thinking" && update.step <= model.step)
        return update.meter !== undefined && noteMeter(update.meter);
      const wasWaiting = model.isWaiting;
      model = { ...model, isWaiting: false };
      if ("call" in update) return noteCall(update) || wasWaiting;
      const before = model;
      model = afterUpdate(model, update, now());
      return model !== before || wasWaiting;
    },
    wait,
    /** The run is answered: what still comes of it, or of these calls, is late. */
    end(run: string, results: Iterable<string>): void {
      ended.add(run);
      for (const call of results) {
        ended.add(call);
        calls.delete(call);
      }
      if (model.run === run) model = NO_MODEL;
    },
  };
}

/** The same where nothing of it is news. */
function afterUpdate(
  model: ModelProgress,
  update: Extract<Progress, { kind: "thinking" | "draft" | "plan" }>,
  now: number,
): ModelProgress {
  if (update.kind === "plan")
    return isDeepStrictEqual(update.tasks, model.plan) ? model : { ...model, plan: update.tasks };
  if (update.kind === "thinking") {
    const { step, meter = model.meter } = update;
    return { ...model, step, draft: "", modelSince: now, meter };
  }
  if (update.text === model.draft) return model;
  return { ...model, draft: update.text, modelSince: model.modelSince ?? now };
}

export type RunProgress = ReturnType<typeof createRunProgress>;

interface ModelProgress {
  run: string | undefined;
  plan: readonly PlannedTask[];
  /** How often the model was asked; 0 when nothing says so. */
  step: number;
  draft: string;
  /** Since when the model works at this step, ms since 1970; undefined while it does not. */
  modelSince: number | undefined;
  /** Nothing goes on before a person says something. */
  isWaiting: boolean;
  meter: Meter | undefined;
}

const NO_MODEL: ModelProgress = {
  run: undefined,
  plan: [],
  step: 0,
  draft: "",
  modelSince: undefined,
  isWaiting: false,
  meter: undefined,
};

const MAX_CALLS = 8;
const MAX_CALL_WEIGHT = 100;
const MAX_DRAFT = 1_000;

/** For the one message that stands until the answer comes; it fits one message of any platform. */
export async function renderProgress(
  progress: RunProgress,
  allowLink: AllowLink,
): Promise<RenderedMessage> {
  const calls = [...progress.calls.values()];
  const recent = calls.slice(-MAX_CALLS);
  const isRunning = recent.some(({ outcome }) => outcome === undefined);
  const isQuiet = !isRunning && progress.draft === "";
  const lines = [
    ...planLines(progress.plan).map((line) => planInlines(line)),
    ...(calls.length > recent.length
      ? [[{ text: `… ${calls.length - recent.length} earlier` }]]
      : []),
    ...recent.map((call) =>
      callInlines({ ...call, tool: clip(call.tool, MAX_CALL_WEIGHT) }, MAX_CALL_WEIGHT),
    ),
    ...(isQuiet ? [[{ text: stateOf(progress) }]] : []),
    ...(progress.meter === undefined ? [] : [[{ text: meterWords(progress.meter) }]]),
  ];
  const blocks = lines.map((inlines): Block => ({ kind: "small", inlines }));
  const words = await readMarkdown(endOf(progress.draft), allowLink);
  const summary = summaryOf(stillWords(calls.length));
  return { blocks: [...blocks, ...words], buttons: progressButtons(progress), summary };
}

/** Stop, and near a limit what lets it use more. */
export function progressButtons({ run, meter }: RunProgress): Button[] {
  const extension = run === undefined ? undefined : meter?.extension;
  const stop = stopButton(run);
  if (run === undefined || extension === undefined) return [stop];
  return [extendButton(run, extension.number, extension.more), stop];
}

function stateOf(progress: RunProgress): string {
  const isIdle = progress.calls.size === 0 && progress.step === 0;
  return `⏳ ${isIdle ? "working" : modelWords(progress)}`;
}

/** The end of a long draft, from a line's beginning. */
function endOf(draft: string): string {
  if (draft.length <= MAX_DRAFT) return draft;
  const end = draft.slice(characterStart(draft, draft.length - MAX_DRAFT));
  const line = end.indexOf("\n") + 1;
  return `…\n${line < MAX_DRAFT / 2 ? end.slice(line) : end}`;
}
