import { type Asked, requestOf } from "../agent/request.ts";
import { report, type TalkTerms } from "../agent/run.ts";
import type { Talk } from "../agent/talk.ts";
import type { ToldTurn } from "../agent/transcript.ts";
import { type AssistantBlock, estimateTokens, totalTokens } from "../core/block.ts";
import type { Draft, FileRef } from "../core/entry.ts";
import { BotError, isBotError, messageOf } from "../core/errors.ts";
import type { Run } from "../journal/thread.ts";
import type { Reservation } from "../journal/journal.ts";
import type { FileBlock, Model, ModelRequest, ModelResponse, Turn } from "../models/model.ts";
import { append, decide, type Drive, persist, progress, storeNow, transcriptOf } from "./drive.ts";

/** How often a draft is shown at most. */
const DRAFT_MS = 100;

/**
 * Asks the model for the run's next turn, and writes down what it said. Whatever goes wrong ends the run with what was
 * found so far, what happened and what to do; a request that was cut by a Stop or a shutdown leaves nothing.
 */
export async function think(
  drive: Drive,
  run: Run,
  talk: Talk,
  signal: AbortSignal,
): Promise<() => Promise<void>> {
  const { parts } = drive;
  const name = run.started.run;
  const step = talk.steps + 1;
  try {
    const terms = parts.run.talk;
    if (terms === undefined)
      throw new BotError("NOT_AVAILABLE", "No model is configured any more.");
    const model = await parts.model(talk.terms.model);
    progress(drive, { kind: "thinking", run: name, step });
    const transcript = await transcriptOf(drive);
    const asked = requestOf(transcript, talk, terms);
    const began = performance.now();
    const response = await withinBudget(drive, terms, tokensOf(talk, asked), async () => {
      const turns = await withFiles(drive, asked.turns);
      return generate(drive, model, { ...asked.request, turns }, { signal, run: name });
    });
    const ids = new Set(transcript.ids);
    const content = response.content.map((block) => kept(drive, ids, `${name}_${step}`, block));
    const draft: Draft<"assistant"> = {
      id: `assistant:${name}.${step}`,
      kind: "assistant",
      run: name,
      step,
      seen: asked.seen,
      content,
      stop: response.stop,
      usage: response.usage,
      model: model.id,
      request: asked.hash,
      ms: Math.round(performance.now() - began),
    };
    return async () => {
      if (!drive.over && !drive.fenced) await append(drive, [draft]);
    };
  } catch (error) {
    if (signal.aborted) return async () => {};
    if (!isBotError(error))
      parts.log.error({ err: error, key: drive.key }, "the model could not be asked");
    return () =>
      decide(drive, () =>
        run.ended === undefined && !run.stopped ? [failed(drive, run, error)] : undefined,
      );
  }
}

function failed({ parts }: Drive, run: Run, error: unknown): Draft<"run_ended"> {
  const why = `The model could not answer. ${parts.encode(messageOf(error))}`;
  const isSpent = isBotError(error, "BUDGET_EXHAUSTED");
  const again = isSpent ? "" : "Nothing is lost: write again to have it tried again. ";
  const what = `${again}Direct commands work without a model; \`tools\` lists them.`;
  const name = run.started.run;
  return {
    id: `ended:${name}`,
    kind: "run_ended",
    run: name,
    status: "failed",
    text: `${report(run, why)}\n\n${what}`,
    ...(isBotError(error) && { error: error.code }),
  };
}

/** Tokens that the request will use, its response apart: as many as the one before or, of a run's first, estimated. */
function tokensOf({ last }: Talk, { request, turns }: Asked): number {
  if (last !== undefined) return totalTokens(last.usage);
  return estimateTokens(JSON.stringify([request, turns]));
}

/**
 * Sets the day's tokens aside before they are used and books what was used after: several processes together stay below
 * the limit. What a crashed request had set aside stays so for the day.
 * @throws BotError BUDGET_EXHAUSTED
 */
async function withinBudget(
  drive: Drive,
  { tokensPerDay, maxOutputTokens }: TalkTerms,
  requestTokens: number,
  work: () => Promise<ModelResponse>,
): Promise<ModelResponse> {
  const { journal } = drive.parts;
  const day = new Date(storeNow(drive)).toISOString().slice(0, 10);
  const amount = requestTokens + maxOutputTokens;
  const set = await persist(drive, () => journal.reserve(`tokens:${day}`, amount, tokensPerDay));
  if (set === undefined) {
    const text = `The day's budget of ${tokensPerDay} tokens is used up or set aside (budgets.tokensPerDay); it begins anew at 00:00 UTC.`;
    throw new BotError("BUDGET_EXHAUSTED", text);
  }
  let used = 0;
  try {
    const response = await work();
    used = totalTokens(response.usage);
    return response;
  } catch (error) {
    // What was used of a response that was cut, nobody says.
    if (isBotError(error, "MODEL_CUT", "ABORTED")) used = amount;
    throw error;
  } finally {
    await book(drive, set, used);
  }
}

async function book(drive: Drive, set: Reservation, used: number): Promise<void> {
  try {
    await drive.parts.journal.settle(set, used);
  } catch (error) {
    drive.parts.log.warn(
      { err: error, counter: set.counter },
      "used tokens could not be booked; they stay set aside",
    );
  }
}

/** The turns with what their files hold. */
async function withFiles(drive: Drive, turns: readonly ToldTurn[]): Promise<Turn[]> {
  const blocks = new Map<FileRef, FileBlock>();
  for (const file of turns.flatMap(filesOf)) blocks.set(file, await load(drive, file));
  const blockOf = (file: FileRef) => blocks.get(file) ?? [];
  return turns.map((turn): Turn => {
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

function filesOf(turn: ToldTurn): readonly FileRef[] {
  if (turn.role === "assistant") return [];
  if (turn.role === "tool") return turn.results.flatMap(({ files }) => files);
  return turn.content.flatMap((part) => (part.kind === "file" ? [part.file] : []));
}

async function load(drive: Drive, { name, mediaType, artifact }: FileRef): Promise<FileBlock> {
  const { journal } = drive.parts;
  const bytes = await persist(drive, () => journal.readArtifact(drive.key, artifact.id));
  return { kind: "file", name, mediaType, data: Buffer.from(bytes).toString("base64") };
}

async function generate(
  drive: Drive,
  model: Model,
  request: ModelRequest,
  { signal, run }: { signal: AbortSignal; run: string },
): Promise<ModelResponse> {
  let text = "";
  let shownAt = 0;
  const show = () => {
    shownAt = performance.now();
    progress(drive, { kind: "draft", run, text: shownPart(drive.parts.encode(text)) });
  };
  return model.generate(request, {
    signal,
    onDelta(delta) {
      text = delta === undefined ? "" : text + delta;
      if (delta === undefined || performance.now() - shownAt >= DRAFT_MS) show();
    },
  });
}

/** A draft without its last words: a secret or a mention may be only half there. */
function shownPart(text: string): string {
  return text.slice(0, Math.max(0, text.lastIndexOf(" ", text.length - HELD_BACK)));
}

/** What a secret's rule needs to see of it is shorter, and a longer secret has no spaces. */
const HELD_BACK = 200;

/**
 * A block as it is stored: without held secrets, and with an id that no earlier call has, since some servers count their
 * calls from zero in every response or give none. `ids` are those there are; the block's is added.
 */
function kept(
  { parts }: Drive,
  ids: Set<string>,
  turn: string,
  block: AssistantBlock,
): AssistantBlock {
  if (block.kind === "thinking") return block;
  if (block.kind === "text") {
    const text = parts.hide(block.text);
    return text === block.text ? block : { kind: "text", text };
  }
  const input = parts.hide(block.input);
  const isNew = block.id !== "" && !ids.has(block.id);
  const id = isNew ? block.id : `${block.id || "call"}_${turn}_${ids.size}`;
  ids.add(id);
  // No tool and no provider has other names; what it asked for is shown to people and told to it again as it stands here.
  const name =
    parts
      .hide(block.name)
      .replaceAll(/[^\w-]/g, "_")
      .slice(0, 64) || "_";
  const isSame = input === block.input && name === block.name;
  return isSame ? { ...block, id } : { kind: "tool_use", id, name, input };
}
