import type { JournalKey } from "../../core/journal-key.ts";
import { sealOfSnapshot, type Snapshot } from "../snapshot.ts";
import type { Signer } from "./entries.ts";

/** Snapshots as Redis keeps them: signature, number, head and version in a line, then the bytes. */

const LINE = /^(\S{22}) (\d+) (\S{43}) ([^\n]+)$/;

const signed = (key: JournalKey, snapshot: Snapshot) =>
  `snapshot ${key} ${sealOfSnapshot(key, snapshot)}`;

/** What is decided from it is as good as decided from entries, so nobody without the secret may make one. */
export function signSnapshot(signer: Signer, key: JournalKey, snapshot: Snapshot): Buffer {
  const { version, last, head, bytes } = snapshot;
  const signature = signer.sign(signed(key, snapshot));
  return Buffer.concat([Buffer.from(`${signature} ${last} ${head} ${version}\n`), bytes]);
}

/** Undefined where it was not written with the secret, or changed since. */
export function readSnapshot(
  signer: Signer,
  key: JournalKey,
  stored: Buffer,
): Snapshot | undefined {
  const end = stored.indexOf("\n");
  const [, signature = "", last, head = "", version = ""] =
    LINE.exec(stored.toString("utf8", 0, end)) ?? [];
  const snapshot = { version, last: Number(last), head, bytes: stored.subarray(end + 1) };
  return signer.isSigned(signed(key, snapshot), signature) ? snapshot : undefined;
}
