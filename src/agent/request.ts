import type { ModelRequest } from "../models/model.ts";
import type { TalkTerms } from "../thread/run.ts";
import type { Talk } from "../thread/model-run.ts";
import {
  requestHash,
  type Telling,
  toldAs,
  type ToldTurn,
  type Transcript,
  turnsOf,
} from "./transcript.ts";

/** A request as the journal gives it, before its files are read. */
export interface Asked {
  request: Omit<ModelRequest, "turns">;
  turns: ToldTurn[];
  /** The last entry that is in it. */
  seen: number;
  /** SHA-256 over its prefix, its turns and whether tools may be called, hexadecimal. */
  hash: string;
}

/** Said by everybody as instructions, the thread whole. */
const AS_SAID: Telling = { instructs: undefined, first: false, brief: false };

/** The request that run `run` makes at this point of its thread; the same entries always give the same one. */
export function requestOf(
  whole: Transcript,
  { run, talk }: { run: string; talk: Talk },
  terms: TalkTerms,
  telling: Telling = AS_SAID,
): Asked {
  const transcript = toldAs(whole, run, telling);
  const toolChoice = talk.toolsOff === undefined ? "auto" : "none";
  const { system, tools, maxOutputTokens } = terms;
  return {
    request: { system, tools, toolChoice, maxOutputTokens },
    turns: turnsOf(transcript),
    seen: transcript.last,
    hash: requestHash(transcript, `${terms.prefix} ${toolChoice}`),
  };
}
