import type { ModelRequest } from "../models/model.ts";
import type { TalkTerms } from "./run.ts";
import type { Talk } from "./talk.ts";
import { requestHash, type ToldTurn, type Transcript, turnsOf } from "./transcript.ts";

/** A request as the journal gives it, before its files are read. */
export interface Asked {
  request: Omit<ModelRequest, "turns">;
  turns: ToldTurn[];
  /** The last entry that is in it. */
  seen: number;
  /** SHA-256 over its prefix, its turns and whether tools may be called, hexadecimal. */
  hash: string;
}

/** The request that a run makes at this point of its thread; the same entries always give the same one. */
export function requestOf(transcript: Transcript, talk: Talk, terms: TalkTerms): Asked {
  const toolChoice = talk.toolsOff === undefined ? "auto" : "none";
  const { system, tools, maxOutputTokens } = terms;
  return {
    request: { system, tools, toolChoice, maxOutputTokens },
    turns: turnsOf(transcript),
    seen: transcript.last,
    hash: requestHash(transcript, `${terms.prefix} ${toolChoice}`),
  };
}
