import { createHash } from "node:crypto";
import type { JournalKey } from "../core/journal-key.ts";

/**
 * What a journal's entries up to number `last` come to, kept beside it: a cache that may be thrown away at any time. Nothing is
 * ever decided from one that does not fit the entries that are stored.
 */
export interface Snapshot {
  /** Of the form of `bytes`, and of all that was folded into them. */
  readonly version: string;
  readonly last: number;
  /** Of entry number `last`. */
  readonly head: string;
  readonly bytes: Uint8Array;
}

/** SHA-256 over all that a snapshot says and whose it is, 43 characters. */
export function sealOfSnapshot(key: JournalKey, snapshot: Snapshot): string {
  const { version, last, head, bytes } = snapshot;
  const what = JSON.stringify([key, version, last, head]);
  return createHash("sha256").update(`${what}\n`).update(bytes).digest("base64url");
}

/** Words are taken away or said otherwise: a snapshot from before goes with them. */
export function dropsSnapshot({ kind }: { readonly kind: string }): boolean {
  return kind === "removed" || kind === "edited";
}
