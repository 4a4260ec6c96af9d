import type { ArtifactRef } from "../../core/entry.ts";
import type { JournalKey } from "../../core/journal-key.ts";
import { artifactRef, checkArtifact } from "../artifacts.ts";
import { MAX_ARTIFACT_BYTES } from "../journal.ts";
import { openRow, type Reading, rowOf, type Store } from "./verbs.ts";

export function putArtifact(store: Store, key: JournalKey, bytes: Uint8Array): ArtifactRef {
  const made = artifactRef(bytes);
  store.sql.putArtifact.run(openRow(store, key).id, made.id, bytes);
  return made;
}

export function readArtifact(
  store: Reading,
  key: JournalKey,
  id: string,
  range: { start: number; end: number } | undefined,
): Uint8Array {
  const row = rowOf(store, key);
  const { start, end } = range ?? { start: 0, end: MAX_ARTIFACT_BYTES };
  const part = row && store.sql.artifact.get(row.id, id, start, end - start)?.["part"];
  const found = part instanceof Uint8Array ? part : undefined;
  return checkArtifact(key, id, found, range === undefined);
}
