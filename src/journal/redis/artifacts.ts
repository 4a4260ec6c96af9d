import { RESP_TYPES } from "redis";
import type { ArtifactRef } from "../../core/entry.ts";
import type { JournalKey } from "../../core/journal-key.ts";
import { artifactRef, checkArtifact } from "../artifacts.ts";
import { MAX_ARTIFACT_BYTES } from "../journal.ts";
import type { Connection } from "./connection.ts";
import { artifactOf } from "./layout.ts";

export async function putArtifact(
  main: Connection,
  key: JournalKey,
  bytes: Uint8Array,
): Promise<ArtifactRef> {
  const made = artifactRef(bytes);
  const value = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  await main.ask((client) => client.set(artifactOf(key, made.id), value));
  return made;
}

export async function readArtifact(
  main: Connection,
  key: JournalKey,
  id: string,
  range: { start: number; end: number } | undefined,
): Promise<Uint8Array> {
  const { start, end } = range ?? { start: 0, end: MAX_ARTIFACT_BYTES };
  const [known, part] = await main.ask((client) =>
    Promise.all([
      client.exists(artifactOf(key, id)),
      // GETRANGE's end is its last byte, and -1 the value's: an empty range is cut here.
      client
        .withTypeMapping({ [RESP_TYPES.BLOB_STRING]: Buffer })
        .getRange(artifactOf(key, id), start, Math.max(start, end - 1)),
    ]),
  );
  const bytes = part !== null && end > start ? part : new Uint8Array();
  return checkArtifact(key, id, known === 1 ? bytes : undefined, range === undefined);
}
