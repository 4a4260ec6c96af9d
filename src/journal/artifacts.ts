import { hash } from "node:crypto";
import type { ArtifactRef } from "../core/entry.ts";
import { BotError } from "../core/errors.ts";
import type { JournalKey } from "../core/journal-key.ts";
import { MAX_ARTIFACT_BYTES } from "./journal.ts";
import { altered } from "./seal.ts";

/** An artifact's name is the beginning of its SHA-256. */
function idOf(bytes: Uint8Array): string {
  return hash("sha256", bytes, "hex").slice(0, 16);
}

/** @throws BotError ARTIFACT_TOO_LARGE */
export function artifactRef(bytes: Uint8Array): ArtifactRef {
  if (bytes.byteLength <= MAX_ARTIFACT_BYTES) return { id: idOf(bytes), bytes: bytes.byteLength };
  const text = `An artifact may have ${MAX_ARTIFACT_BYTES} bytes, this one has ${bytes.byteLength}.`;
  throw new BotError("ARTIFACT_TOO_LARGE", text);
}

/**
 * What a store found of an artifact. `isWhole`: all of it, which then has to be what was put there.
 * @throws BotError ARTIFACT_UNKNOWN, JOURNAL_ALTERED
 */
export function checkArtifact<T extends Uint8Array>(
  key: JournalKey,
  id: string,
  found: T | undefined,
  isWhole: boolean,
): T {
  if (found === undefined)
    throw new BotError("ARTIFACT_UNKNOWN", `This thread has no artifact ${id}.`);
  if (!isWhole || idOf(found) === id) return found;
  throw altered(key, `artifact ${id} is not what was put there`);
}
