import { deserialize, serialize } from "node:v8";
import { zstdCompressSync, zstdDecompressSync } from "node:zlib";
import { packTurns, type PackedTurns, unpackTurns } from "../../agent/packed-turns.ts";
import { shownAgain } from "../../agent/transcript-turns.ts";
import { programVersion } from "../../core/installation.ts";
import { FOLD_VERSION } from "../../thread/fold.ts";
import type { Snapshots } from "../key-handler.ts";
import type { Conversation } from "./conversation.ts";

/** What is longer takes too long to write. */
const MAX_CHARS = 8 * 1024 * 1024;

/** A conversation as it is kept. */
interface Kept {
  readonly conversation: Omit<Conversation, "transcript">;
  readonly transcript: Omit<Conversation["transcript"], "turns" | "shown">;
  readonly turns: PackedTurns;
  readonly chars: number;
  readonly digest: string;
}

/** A conversation's fold in bytes and back. What shares an object, such as an action and its call, shares it afterwards. */
export const snapshots: Snapshots<Conversation> = {
  // A program folds as it did itself, and not always as another version of it did.
  version: `${programVersion()} ${FOLD_VERSION}`,
  encode({ transcript: whole, ...conversation }) {
    const { turns, shown, ...transcript } = whole;
    const { chars, digest } = shown;
    // A side run has turns of its own. What was taken away is still in what others were told of it.
    const isKept = transcript.sides.size === 0 && transcript.removed.size === 0;
    if (!isKept || chars > MAX_CHARS) return undefined;
    const kept: Kept = { conversation, transcript, turns: packTurns(turns), chars, digest };
    return zstdCompressSync(serialize(kept));
  },
  decode(bytes) {
    const kept: Kept = deserialize(zstdDecompressSync(bytes));
    const turns = unpackTurns(kept.turns);
    const transcript = { ...kept.transcript, turns, shown: shownAgain(turns, kept) };
    return { ...kept.conversation, transcript };
  },
};
