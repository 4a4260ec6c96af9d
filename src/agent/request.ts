import type { FileRef } from "../core/entry.ts";
import { estimateTokens } from "../core/block.ts";
import { tokensOfFile } from "../thread/filling.ts";
import { assertPaired } from "./paired.ts";
import type { ModelRequest } from "../models/model.ts";
import type { RunTerms } from "../core/run-terms.ts";
import type { ModelRun } from "../thread/model-run.ts";
import { allowedNow } from "../thread/gates/phases.ts";
import { type Telling, toldAs } from "./transcript.ts";
import { requestHash, type TranscriptTurn, type Transcript, turnsOf } from "./transcript-turns.ts";

/** A request as the journal gives it, before its files are read. */
export interface RequestContext {
  request: Omit<ModelRequest, "turns">;
  turns: readonly TranscriptTurn[];
  /** What the turns show besides text. */
  files: readonly FileRef[];
  /** How long the turns are as JSON. */
  chars: number;
  seen: number;
  /** SHA-256 over its prefix, its turns and whether tools may be called, hexadecimal. */
  hash: string;
}

/** Tokens of a request, estimated. */
export function estimatedTokens({ request, files, chars }: RequestContext): number {
  const { system, tools } = request;
  const fixed = estimateTokens(JSON.stringify({ system, tools }));
  return files.reduce((sum, file) => sum + tokensOfFile(file), fixed + Math.ceil(chars / 4));
}

/** Said by everybody as instructions, the thread whole. */
const AS_SAID: Telling = { instructs: undefined, first: false, brief: false };

/** The request that run `run` makes at this point of its thread; the same entries always give the same one. */
export function requestOf(
  whole: Transcript,
  { run, modelRun }: { run: string; modelRun: ModelRun },
  terms: RunTerms,
  telling: Telling = AS_SAID,
): RequestContext {
  const transcript = toldAs(whole, run, telling);
  const toolChoice = modelRun.toolsOff === undefined ? "auto" : "none";
  const { system, tools, maxOutputTokens } = terms;
  const shown = turnsOf(transcript);
  const { turns, files, chars } = shown;
  assertPaired(turns);
  const names = tools.map(({ name }) => name);
  const allowed = toolChoice === "auto" ? allowedNow(modelRun, names) : undefined;
  const mask = allowed === undefined ? "" : ` ${allowed.join(" ")}`;
  return {
    request: { system, tools, toolChoice, ...(allowed && { allowed }), maxOutputTokens },
    turns,
    files,
    chars,
    seen: whole.last,
    hash: requestHash(shown, `${terms.prefix} ${toolChoice}${mask}`),
  };
}
