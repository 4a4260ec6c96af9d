import { createHmac, hkdfSync, timingSafeEqual } from "node:crypto";
import { type Draft, encodeDraft } from "../core/entry.ts";
import { BotError } from "../core/errors.ts";
import type { JournalKey } from "../core/journal-key.ts";
import { decodeRow } from "./entries.ts";
import type { StoredEntry } from "./journal.ts";

/** Signs what is kept where others may write too. */
export interface Signer {
  /** 22 characters that only the holder of the secret can make for `text`. */
  sign(text: string): string;
  isSigned(text: string, signature: string): boolean;
}

export function createSigner(secret: string): Signer {
  const key = Buffer.from(hkdfSync("sha256", secret, "", "watchkeeper journal entries", 32));
  const sign = (text: string) =>
    createHmac("sha256", key).update(text).digest("base64url").slice(0, 22);
  return {
    sign,
    isSigned(text, signature) {
      const [known, given] = [Buffer.from(sign(text)), Buffer.from(signature)];
      return known.length === given.length && timingSafeEqual(known, given);
    },
  };
}

/**
 * An entry as Redis keeps it, but for the time that its script puts in front: signature, kind, version, id and, on a line
 * of its own, the content. The signature covers the journal's key too: an entry cannot be moved to another thread.
 * @throws BotError ENTRY_INVALID
 */
export function encodePayload(signer: Signer, key: JournalKey, draft: Draft): string {
  const { id, kind, version, body } = encodeDraft(draft);
  const text = `${kind} ${version} ${JSON.stringify(id)}\n${body}`;
  return `${signer.sign(`${key} ${text}`)} ${text}`;
}

const ELEMENT = /^(\d+) (\S+) ((\S+) (\d+) ("[^\n]*")\n([^]*))$/;

/** Stored entries, the first of which is number `first`. @throws BotError ENTRY_INVALID */
export function decodeElements(
  signer: Signer,
  key: JournalKey,
  first: number,
  elements: readonly string[],
): StoredEntry[] {
  return elements.map((element, i) => {
    const seq = first + i;
    const [, at, signature = "", text = "", kind = "", version, id = "", body = ""] =
      ELEMENT.exec(element) ?? [];
    if (!signer.isSigned(`${key} ${text}`, signature)) {
      throw new BotError(
        "ENTRY_INVALID",
        `Entry ${seq} of ${key} was not written with this WATCHKEEPER_SECRET, or was changed since; the journal was left alone.`,
      );
    }
    const known = { seq, at: Number(at), id: String(JSON.parse(id)) };
    return decodeRow({ ...known, kind, version: Number(version), body });
  });
}
