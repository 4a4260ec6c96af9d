import { createHmac, createSecretKey, hkdfSync, timingSafeEqual } from "node:crypto";
import type { Draft, StoredEntry } from "../../core/entry.ts";
import { encodeDraft, type Form } from "../../core/entry-codec.ts";
import { BotError } from "../../core/errors.ts";
import type { JournalKey } from "../../core/journal-key.ts";
import { inPages } from "../../core/pages.ts";
import type { Known } from "../journal.ts";
import { decodeChain, decodeRow } from "../entries.ts";
import { altered, checkChain, followed, type SealedRow, sealOf } from "../seal.ts";

/** Signs what is kept where others may write too. */
export type Signer = ReturnType<typeof createSigner>;

export function createSigner(secret: string, older?: string) {
  const sign = createSign(secret);
  const signs = [sign, ...(older === undefined ? [] : [createSign(older)])];
  return {
    /** 22 characters that only the holder of the secret can make for `text`. */
    sign,
    /** Signed with the secret of today, or the one of before. */
    isSigned(text: string, signature: string): boolean {
      const given = Buffer.from(signature);
      return signs.some((each) => {
        const known = Buffer.from(each(text));
        return known.length === given.length && timingSafeEqual(known, given);
      });
    },
  };
}

function createSign(secret: string): (text: string) => string {
  const derived = hkdfSync("sha256", secret, "", "watchkeeper journal entries", 32);
  // A key object: made of bytes each time, a signature takes ten times as long.
  const key = createSecretKey(Buffer.from(derived));
  return (text) => createHmac("sha256", key).update(text).digest("base64url").slice(0, 22);
}

/** Where the next entries go: after number `last`, whose head is empty where it has none, at `at` ms since 1970. */
export interface Tip {
  readonly last: number;
  readonly head: string;
  readonly at: number;
}

/** Entries as Redis keeps them, and what the journal then ends with. */
export interface Signed {
  readonly elements: string[];
  readonly heads: string[];
  /** Signs number and head of the last one: a journal that was cut short has no such word for its new end. */
  readonly tail: string;
}

const sealed = (key: JournalKey, head: string) => `seal ${key} ${head}`;
const ended = (key: JournalKey, last: number, head: string) => `tail ${key} ${last} ${head}`;

/**
 * An element: `s` and the time, head, signature, kind, version, id and, on a line of its own, the content. The head covers
 * number, time and all earlier entries, the signature head and journal: none can be moved, removed, copied or given another time.
 */
export function signEntries(
  signer: Signer,
  key: JournalKey,
  { last, head, at }: Tip,
  drafts: readonly Draft[],
  form: Form,
): Signed {
  let previous = followed(key, last, head || null);
  const heads: string[] = [];
  const elements = drafts.map((draft, i) => {
    const { stored: id, kind, version, body } = encodeDraft(draft, form);
    previous = sealOf(previous, { seq: last + 1 + i, at, id, kind, version, body });
    heads.push(previous);
    const signature = signer.sign(sealed(key, previous));
    return `s${at} ${previous} ${signature} ${kind} ${version} ${JSON.stringify(id)}\n${body}`;
  });
  return { elements, heads, tail: signer.sign(ended(key, last + drafts.length, previous)) };
}

/** Makes sure that the journal ends where it says. @throws BotError JOURNAL_ALTERED */
export function checkEnd(
  signer: Signer,
  key: JournalKey,
  { last, head }: Pick<Tip, "last" | "head">,
  tail: string,
): void {
  if (head === "" || signer.isSigned(ended(key, last, head), tail)) return;
  throw altered(key, `it does not end with entry ${last} as it was written`);
}

const asListed = (key: JournalKey, { last, head }: Known, text: string) =>
  `listed ${key} ${last} ${head ?? ""} ${text}`;

/** What is left for lists where a journal ends: of any other end it says nothing. */
export function signListed(signer: Signer, key: JournalKey, end: Known, text: string): string {
  return `${signer.sign(asListed(key, end, text))} ${text}`;
}

/** The same as it is found; undefined where it is of another end, or not ours. */
export function checkListed(
  signer: Signer,
  key: JournalKey,
  end: Known,
  found: string,
): string | undefined {
  const cut = found.indexOf(" ");
  const text = found.slice(cut + 1);
  return signer.isSigned(asListed(key, end, text), found.slice(0, cut)) ? text : undefined;
}

const ELEMENT = /^(?:s(\d+) (\S{43})|(\d+)) (\S+) ((\S+) (\d+) ("[^\n]*")\n([^]*))$/;

/** What is stored of a journal from some number on. */
export interface StoredTail {
  readonly first: number;
  readonly elements: readonly string[];
  /** The head of the entry before them; empty where it has none. */
  readonly previous: string;
  /** What the journal says it ends with: number, head and the signature of both. */
  readonly end: { readonly last: number; readonly head: string; readonly tail: string };
}

/** Stored entries up to the journal's end. @throws BotError ENTRY_INVALID, JOURNAL_ALTERED */
export async function decodeStored(
  signer: Signer,
  key: JournalKey,
  { first, elements, previous, end }: StoredTail,
): Promise<StoredEntry[]> {
  const rows: SealedRow[] = [];
  for await (const page of inPages(elements)) {
    for (const element of page) rows.push(decodeElement(signer, key, first + rows.length, element));
  }
  const entries = await decodeChain(key, {
    rows,
    after: first - 1,
    previous: previous || null,
    end: { last: end.last, head: end.head || null },
  });
  checkEnd(signer, key, end, end.tail);
  return entries;
}

/** One stored entry, number `seq`; `before`: the element before it, if there is one. @throws as `decodeStored` */
export function decodeOne(
  signer: Signer,
  key: JournalKey,
  seq: number,
  [element, before]: readonly [string, string],
): StoredEntry {
  const row = decodeElement(signer, key, seq, element);
  const previous = before === "" ? null : decodeElement(signer, key, seq - 1, before).head;
  checkChain(key, [row], { after: seq - 1, previous });
  return decodeRow(row);
}

/**
 * A script's time: its own clock's or, where the journal says that its last entry is of later, that one's, which comes with
 * it. What is dated later than it is would be signed so. @throws BotError ENTRY_INVALID, JOURNAL_ALTERED
 */
export function checkTime(
  signer: Signer,
  key: JournalKey,
  [at = "", last, element = "", before = ""]: readonly string[],
): number {
  const isClock = last === undefined;
  if (isClock || decodeOne(signer, key, Number(last), [element, before]).at === Number(at)) {
    return Number(at);
  }
  throw altered(key, `entry ${last} is not of the time that is said of it`);
}

function decodeElement(signer: Signer, key: JournalKey, seq: number, element: string): SealedRow {
  const parts = ELEMENT.exec(element) ?? [];
  const [, sealedAt, head = null, at = sealedAt, signature = "", text = "", kind = ""] = parts;
  const [version, id = "", body = ""] = parts.slice(7);
  // What 0.3 wrote signs the entry's words alone.
  if (!signer.isSigned(head === null ? `${key} ${text}` : sealed(key, head), signature)) {
    const problem = `Entry ${seq} of ${key} was not written with this WATCHKEEPER_SECRET, or was changed since; the journal was left alone.`;
    throw new BotError("ENTRY_INVALID", problem);
  }
  const told = { at: Number(at), id: String(JSON.parse(id)), version: Number(version) };
  return { seq, ...told, kind, body, head };
}
