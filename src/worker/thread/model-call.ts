import { isDeepStrictEqual } from "node:util";
import type { Telling } from "../../agent/transcript.ts";
import { termsIn } from "../../thread/surroundings.ts";
import { limitTurn } from "../../agent/turn-limits.ts";
import { type RequestContext, requestOf } from "../../agent/request.ts";
import type { TranscriptTurn } from "../../agent/transcript-turns.ts";
import type { StepOf } from "../../thread/steps.ts";
import type { ModelFacts } from "../../thread/drafts-runs.ts";
import { conclude } from "./conclude.ts";
import type { ModelRun } from "../../thread/model-run.ts";
import type { AssistantBlock } from "../../core/block.ts";
import type { FileRef } from "../../core/entry.ts";
import { BotError, isBotError, messageOf } from "../../core/errors.ts";
import { within } from "../../core/time-limit.ts";
import type { Answered, Asked } from "../../models/chain.ts";
import type { FileBlock, ModelRequest, Turn } from "../../models/model.ts";
import { type Generated, tokensOf, withinBudget, spendOf } from "./budget.ts";
import { sharesOf } from "../../thread/routing.ts";
import { isInner, isReader, type Run } from "../../thread/state.ts";
import { putOff } from "../background.ts";
import { retryUntilStored } from "../store.ts";
import type { Learn, ThreadContext } from "./parts.ts";
import { allPlaces } from "./places.ts";
import { progress, showThinking } from "./progress.ts";
import { isLookUpFailure } from "./permission/look-up.ts";
import { tellingFor } from "./permission/requesters.ts";

/** For a last answer, however little of the run's minutes is left. */
const MIN_ANSWER_MS = 60_000;
/** A draft that has grown longer stands still until the answer is there: it is encoded whole each time. */
const MAX_DRAFT = 16 * 1_024;
const DRAFT_MS = 100;

/**
 * Asks the model for the run's next turn, and writes down what it said. Whatever goes wrong ends the run with what was
 * found so far, what happened and what to do; a request that was cut by a Stop or a shutdown leaves nothing.
 */
export const callModel: Learn<"think"> = async (ctx, step, signal) => {
  const { key } = step;
  const written = { text: "" };
  const facts = await learnTurn(ctx, step, written, signal).catch((error: unknown) => {
    const { encode } = ctx.parts.encoder;
    if (signal.aborted) return { kind: "cut" as const, written: shownPart(encode(written.text)) };
    // Nobody can say now whose words these are.
    if (isLookUpFailure(error)) return error;
    if (!isBotError(error))
      ctx.log.error({ err: error, key: ctx.key }, "the model could not be asked");
    const code = isBotError(error) ? error.code : undefined;
    const { filling, terms } = step.modelRun;
    const tokens = filling.size + (terms.window?.output ?? 0);
    return { kind: "failed" as const, why: encode(messageOf(error)), code, tokens };
  });
  return async () => {
    if ("kind" in facts) await conclude(ctx, { ...step, facts });
    else putOff(ctx, key, facts);
  };
};

/** What the model says next. `written` is what it has written so far. @throws whatever keeps it from an answer */
async function learnTurn(
  ctx: ThreadContext,
  { run, modelRun }: StepOf<"think">,
  written: { text: string },
  signal: AbortSignal,
): Promise<ModelFacts> {
  const { parts } = ctx;
  const name = run.started.run;
  const step = modelRun.steps + 1;
  const terms = termsIn(parts.run, run);
  if (terms === undefined) throw new BotError("NOT_AVAILABLE", "No model is configured any more.");
  if (terms.prefix !== modelRun.terms.prefix) return { kind: "changed" };
  ctx.events.publish({ kind: "model_asked", key: ctx.key, run: name, step });
  showThinking(ctx, run);
  const { transcript } = ctx.state;
  const telling = await tellingFor(ctx, run, modelRun, signal);
  const shares = sharesOf(ctx.thread, { started: run.started, modelRun });
  const asked = requestOf(transcript, { run: name, modelRun }, terms, { ...telling, ...shares });
  const began = performance.now();
  const requestTokens = tokensOf(modelRun, asked);
  const {
    terms: { model: own },
    last,
  } = modelRun;
  const wanted = { own, newest: last?.model ?? own, requestTokens, places: allPlaces(ctx) };
  const { instructs } = telling;
  const spend = spendOf({ run, modelRun }, { instructs, requestTokens, signal });
  let model = own;
  let instead: string | undefined;
  const { response, cost } = await withinBudget(ctx, terms, spend, async () => {
    const turns = await withFiles(ctx, asked);
    const answered = await withinMinutes(modelRun, signal, (limited) =>
      generate(ctx, { ...asked.request, turns }, wanted, { signal: limited, run, written }),
    );
    ({ model, instead } = answered);
    return answered;
  });
  const ids = { before: transcript.ids, own: new Set<string>() };
  const { content: blocks, stop } = limitTurn(response, parts.encoder);
  const content: AssistantBlock[] = [];
  const named = {
    turn: `${name}_${step}`,
    ids,
    isBeside: isReader(run) || isInner(run),
  };
  for (const block of blocks) content.push(await kept(ctx, named, block));
  const turn = {
    step,
    seen: asked.seen,
    ...instructing(telling.instructs, modelRun.instructs),
    ...shares,
    ...(telling.brief && { brief: true }),
    content,
    stop,
    usage: response.usage,
    ...(model !== own && { model }),
    // Nobody rests anything on it: half of it tells two requests apart.
    request: asked.hash.slice(0, 32),
    ms: Math.round(performance.now() - began),
    ...(instead !== undefined && { instead }),
    ...cost,
  };
  return { kind: "turn", turn };
}

/** Whose lines were told as instructions, in few bytes where they are the same as before. */
function instructing(now: Telling["instructs"], before: Telling["instructs"]) {
  if (now === undefined) return {};
  return isDeepStrictEqual(now, before) ? { again: true as const } : { instructs: [...now] };
}

/** How long work may take, and took. */
export interface WorkLimits {
  readonly budget: Pick<ModelRun["budget"], "minutes">;
  readonly workMs: number;
}

/**
 * Ends a request that takes longer than the run has left of its minutes.
 * @throws BotError TIMEOUT
 */
export async function withinMinutes<T>(
  { budget, workMs }: WorkLimits,
  signal: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const { minutes } = budget;
  const left = Math.max(MIN_ANSWER_MS, minutes * 60_000 - workMs);
  try {
    // A Stop waits for no provider.
    return await within(left, signal, work, 0);
  } catch (error) {
    if (!isBotError(error, "TIMEOUT")) throw error;
    const text = `It had not answered when the run's ${minutes} minutes of work were over (budgets.minutesPerRun).`;
    throw new BotError("TIMEOUT", text, { cause: error });
  }
}

export async function withFiles(
  ctx: ThreadContext,
  asked: RequestContext,
): Promise<readonly Turn[]> {
  if (isPlain(asked)) return asked.turns;
  const blocks = new Map<FileRef, FileBlock>();
  for (const file of asked.files) blocks.set(file, await load(ctx, file));
  const blockOf = (file: FileRef) => blocks.get(file) ?? [];
  return asked.turns.map((turn): Turn => {
    if (turn.role === "assistant") return turn;
    if (turn.role === "user") {
      const { content } = turn;
      return {
        role: "user",
        content: content.flatMap((part) => (part.kind === "file" ? blockOf(part.file) : part)),
      };
    }
    const { results } = turn;
    return {
      role: "tool",
      results: results.map((result) => ({ ...result, files: result.files.flatMap(blockOf) })),
    };
  });
}

/** Without files turns are told as they are, and there may be thousands. */
function isPlain(
  asked: RequestContext,
): asked is RequestContext & { turns: readonly (TranscriptTurn & Turn)[] } {
  return asked.files.length === 0;
}

async function load(
  ctx: ThreadContext,
  { name, mediaType, artifact }: FileRef,
): Promise<FileBlock> {
  const bytes = await retryUntilStored(ctx, () => ctx.journal.readArtifact(ctx.key, artifact.id));
  // Of the bytes themselves: `Buffer.from(bytes)` would copy them first.
  const { buffer, byteOffset, byteLength } = bytes;
  const data = Buffer.from(buffer, byteOffset, byteLength).toString("base64");
  return { kind: "file", name, mediaType, data };
}

async function generate(
  ctx: ThreadContext,
  request: ModelRequest,
  wanted: Asked,
  { signal, run, written }: { signal: AbortSignal; run: Run; written: { text: string } },
): Promise<Generated & Answered> {
  const { encoder, models } = ctx.parts;
  let shownAt = 0;
  let cuts = 0;
  const show = () => {
    const name = run.started.run;
    progress(ctx, name, {
      kind: "draft",
      run: name,
      text: shownPart(encoder.encode(written.text)),
    });
    // From its end: what takes long is not shown with every word.
    shownAt = performance.now();
  };
  const answered = await models.generate(request, wanted, {
    signal,
    onDelta(delta) {
      const text = delta === undefined ? "" : written.text + delta;
      written.text = text;
      if (delta === undefined) cuts += 1;
      const isDue = performance.now() - shownAt >= DRAFT_MS && text.length <= MAX_DRAFT;
      // What a helper or a goal's run writes is a report, which people are not shown.
      if ((delta === undefined || isDue) && !isInner(run)) show();
    },
  });
  return { ...answered, cuts };
}

/**
 * A draft without its last words: a secret or a mention may be only half there. (The look behind keeps it linear: within a
 * word no end of it is looked for.)
 */
export function shownPart(text: string): string {
  const head = text.slice(0, Math.max(0, text.length - HELD_BACK));
  return head.slice(0, head.search(/(?<![^\s、。，！？])[^\s、。，！？]*$/u));
}

/** What a secret's rule needs to see of it is shorter, and a longer secret has no spaces. */
const HELD_BACK = 200;

/** Providers' ids of the thread's calls so far, and of the turn's. */
interface Ids {
  before: ReadonlySet<string>;
  own: Set<string>;
}

/**
 * A block as it is stored: without held secrets, and with an id that no earlier call has, since some servers count their
 * calls from zero in every response or give none. The block's is added to the turn's. `isBeside`: another run
 * may be answered at this moment, with the same ids.
 */
async function kept(
  { parts: { encoder } }: ThreadContext,
  { turn, ids, isBeside }: { turn: string; ids: Ids; isBeside: boolean },
  block: AssistantBlock,
): Promise<AssistantBlock> {
  if (block.kind === "thinking") return block;
  if (block.kind === "text") {
    const text = await encoder.aside.hide(block.text);
    return text === block.text ? block : { kind: "text", text };
  }
  const input = await encoder.aside.hide(block.input);
  const { before, own } = ids;
  const isNew = block.id !== "" && !isBeside && !before.has(block.id) && !own.has(block.id);
  const id = isNew ? block.id : `${block.id || "call"}_${turn}_${before.size + own.size}`;
  own.add(id);
  // No tool and no provider has other names; what it asked for is shown to people and told to it again as it stands here.
  const name =
    encoder
      .hide(block.name)
      .replaceAll(/[^\w-]/g, "_")
      .slice(0, 64) || "_";
  const isSame = input === block.input && name === block.name;
  return isSame ? { ...block, id } : { kind: "tool_use", id, name, input };
}
