import { randomBytes } from "node:crypto";
import type { LRUCache } from "lru-cache";
import { RESP_TYPES } from "redis";
import { asksForWork, type Draft, type Entry, type StoredEntry } from "../../core/entry.ts";
import type { Form } from "../../core/entry-codec.ts";
import type { JournalKey } from "../../core/journal-key.ts";
import type { Backend } from "../create.ts";
import { areFacts } from "../entries.ts";
import { type Known, MAX_IDLE_MS, type Reservation } from "../journal.ts";
import { absentFrom, altered, checkWritten, lostEntries } from "../seal.ts";
import type { ServerClock } from "./clock.ts";
import { type Connection, evaluate, type RedisClient } from "./connection.ts";
import {
  checkEnd,
  checkTime,
  decodeOne,
  decodeStored,
  type Tip,
  signEntries,
  signListed,
  type Signed,
  type Signer,
} from "./entries.ts";
import { dropsSnapshot } from "../snapshot.ts";
import { artifactOf, countersOf, keysOf } from "./layout.ts";
import * as scripts from "./scripts.ts";
import { readSnapshot, signSnapshot } from "./snapshots.ts";

/** Each time other processes were first; some are first each time. */
const MOST_TRIES = 100;

type Verb<Name extends keyof Backend> = (
  store: Opened,
  ...args: Parameters<Backend[Name]>
) => ReturnType<Backend[Name]>;

export interface Opened {
  name: string;
  main: Connection;
  /** Of one journal or reservation: whether it is there, once replicas have it. */
  flush(mark: Mark): Promise<"ok" | "lost">;
  signer: Signer;
  /** For a script: the time to go by, empty for Redis' own. */
  time(): string;
  /** Says a sentence to the operator, once. */
  tell(text: string): void;
  /** Looks whether it is still the store that was opened. */
  isOurs(client: RedisClient): Promise<void>;
  /** How entries are written: as long as another version may be at work, as that one reads them. */
  form(): Form;
  /** From now on it is this version's. */
  raise(): Promise<void>;
  readonly clock: ServerClock;
  /** Where journals ended when this process last wrote to them. */
  readonly tips: LRUCache<JournalKey, Tip>;
  /** Lets those who write to one journal do so one after the other: what is signed for a place fits there only once. */
  inTurn<T>(key: JournalKey, work: () => Promise<T>): Promise<T>;
}

/** Writes at its place again, so that replicas can be waited for; false: what is named is not there. */
export type Mark = (client: RedisClient) => Promise<boolean>;

/** What the scripts say: words, numbers as text, and what is stored. */
type Reply = (string | number | (string | number | string[])[])[];

export async function run(
  { main, time }: Opened,
  script: scripts.Script,
  key: JournalKey,
  ...args: (string | number)[]
): Promise<Reply | null> {
  const given = [time(), key, ...args.map(String)];
  const reply = await main.ask((client) => evaluate(client, script, keysOf(key), given));
  return reply as Reply | null;
}

interface Prepared extends Pick<Signed, "tail"> {
  readonly place: Tip;
  /** What the journal ends with once it is written. */
  readonly end: Tip;
  /** Of each draft; empty where it is there already. */
  readonly elements: readonly string[];
  /** Of those that are not. */
  readonly heads: readonly string[];
}

/**
 * Runs a script that writes: it says where, what goes there is signed, and if nobody wrote in between it is done.
 */
async function write(
  store: Opened,
  key: JournalKey,
  { script, drafts, place, args }: Writing,
): Promise<{ reply: Reply; prepared: Prepared | undefined }> {
  const { main, signer, time, isOurs, form, inTurn } = store;
  const sign = (at: Tip, wanted: readonly Draft[]): Prepared => {
    const { elements, ...signed } = signEntries(signer, key, at, wanted, form());
    const each = new Map(wanted.map((draft, i) => [draft, elements[i]]));
    const end = {
      last: at.last + elements.length,
      head: signed.heads.at(-1) ?? at.head,
      at: at.at,
    };
    const given = drafts.map((draft) => each.get(draft) ?? "");
    return { ...signed, place: at, end, elements: given };
  };
  const attempt = async (client: RedisClient) => {
    const likely = place();
    let prepared = likely && sign(likely, drafts);
    // Asked in one go: in another store nothing has the head that this follows, so nothing is written.
    const ours = isOurs(client);
    for (let tries = 0; tries < MOST_TRIES; tries++) {
      const given = [time(), key, ...args(prepared).map(String)];
      const [said] = await Promise.all([evaluate(client, script, keysOf(key), given), ours]);
      const reply = said as Reply;
      if (reply[0] === "altered")
        throw altered(key, `it does not have the ${String(reply[1])} entries and ids it had`);
      if (reply[0] !== "place") return { reply, prepared };
      const [, last, head, at, tail, missing = [1]] = reply;
      const free = { last: Number(last), head: String(head), at: timeIn(store, key, at) };
      store.clock.set(free.at);
      checkEnd(signer, key, free, String(tail));
      const wanted = (missing as number[]).flatMap((i) => drafts[i - 1] ?? []);
      // Else these would be written, and what is said to be there already would not.
      await checkThere(
        store,
        key,
        drafts.filter((draft) => !wanted.includes(draft)),
      );
      prepared = sign(free, wanted);
    }
    throw new Error(`other processes wrote to ${key} first, ${MOST_TRIES} times`);
  };
  return main.ask((client) => inTurn(key, () => attempt(client)));
}

interface Writing {
  script: scripts.Script;
  drafts: readonly Draft[];
  /** Where they surely go unless somebody else has written: what is signed for it needs no other look at the journal. */
  place(): Tip | undefined;
  /** The script's own arguments, with what was signed once that is known. */
  args(prepared: Prepared | undefined): (string | number)[];
}

const placeArgs = (prepared: Prepared | undefined) => {
  const { last = "", head = "", at = "" } = prepared?.place ?? {};
  return [last, head, at];
};

export const post: Verb<"post"> = async (store, key, draft) => {
  const { reply } = await write(store, key, {
    script: scripts.POST,
    drafts: [draft],
    place: () => placeAfter(store, store.tips.get(key)),
    args: (prepared) => [
      draft.id,
      asksForWork(draft) ? 1 : 0,
      ...placeArgs(prepared),
      prepared?.elements[0] ?? "",
      prepared?.tail ?? "",
      dropsSnapshot(draft) ? 1 : 0,
    ],
  });
  const [kind, seq, ...given] = reply;
  if (kind === "known") {
    const [element = "", before = ""] = given.map(String);
    const entry = decodeOne(store.signer, key, Number(seq), [element, before]);
    if (entry.id !== draft.id) throw altered(key, `entry ${entry.seq} is not ${draft.id}`);
    return { entry, duplicate: true };
  }
  const [last, at, head] = [Number(seq), Number(given[0]), String(given[1])];
  store.tips.set(key, { last, head, at });
  return { entry: { seq: last, at, head, ...draft }, duplicate: false };
};

export const lease: Verb<"lease"> = async (store, key, ttlMs) => {
  const token = randomBytes(12).toString("base64url");
  const reply = await run(store, scripts.LEASE, key, token, ttlMs);
  if (reply === null) return undefined;
  const [attempts = 0, now = 0, last = 0] = reply.map(Number);
  store.clock.saw(now);
  return { lease: { key, token, ttlMs }, attempts, last, now };
};

export const renew: Verb<"renew"> = async (store, { key, token, ttlMs }) => {
  const reply = await run(store, scripts.RENEW, key, token, ttlMs);
  if (reply === null) return { kind: "fenced" };
  return { kind: "ok", last: Number(reply[0]), now: Number(reply[1]) };
};

/** For a script: the head that is known, empty where nothing is stored, `-` where nobody knows. */
const headArg = ({ head }: Known) => (head === undefined ? "-" : (head ?? ""));

async function unseenIn(
  store: Opened,
  key: JournalKey,
  after: number,
  stored: unknown,
): Promise<StoredEntry[]> {
  const [elements, previous, last, head, tail, known] = stored as [string[], ...string[]];
  const end = { last: Number(last), head: String(head), tail: String(tail) };
  const found = { first: after + 1, elements, previous: String(previous), end };
  const unseen = await decodeStored(store.signer, key, found);
  if (Number(known) === end.last) return unseen;
  throw altered(key, `it has ${known} ids for its ${end.last} entries`);
}

const timeIn = ({ signer }: Opened, key: JournalKey, said: unknown) =>
  checkTime(signer, key, said as string[]);

/**
 * The ids in Redis are an index, no truth: what they say is there already has to be among entries that are signed. Those
 * that were not folded yet come with each reply, so nothing is asked here but by one who appends again what it has folded.
 */
async function checkThere(
  store: Opened,
  key: JournalKey,
  drafts: readonly Draft[],
  unseen: readonly StoredEntry[] = [],
): Promise<void> {
  const others = absentFrom(unseen, drafts);
  if (others.length === 0) return;
  checkWritten(key, await read(store, key, { last: 0, head: undefined }), others);
}

export const read: Verb<"read"> = async (store, key, known) => {
  const stored = await run(store, scripts.READ, key, known.last, headArg(known));
  if (stored === null) throw lostEntries(key);
  return unseenIn(store, key, known.last, stored);
};

/** Right behind what is known of the journal, by what is known of the store's clock. */
function placeAfter(
  { clock, time }: Opened,
  { last, head, at = 0 }: Known & { at?: number } = { last: 0, head: undefined },
): Tip | undefined {
  const now = time() === "" ? clock.now() : Number(time());
  if (head === undefined || now === undefined) return undefined;
  return { last, head: head ?? "", at: Math.max(now, at) };
}

function entriesOf(drafts: readonly Draft[], { place, heads }: Prepared): Entry[] {
  return drafts.flatMap((draft, i) => {
    const head = heads[i];
    return head === undefined ? [] : { seq: place.last + 1 + i, at: place.at, head, ...draft };
  });
}

export const append: Verb<"append"> = async (
  store,
  { key, token },
  known,
  drafts,
  before,
  ifLast,
) => {
  const decides = areFacts(drafts) && !ifLast ? 0 : 1;
  const ids = drafts.map(({ id }) => id);
  const { reply, prepared: sent } = await write(store, key, {
    script: scripts.APPEND,
    drafts,
    args: (prepared) => [
      token,
      known.last,
      headArg(known),
      before ?? "",
      decides,
      ...placeArgs(prepared),
      prepared?.tail ?? "",
      ids.length,
      ...ids,
      ...(prepared?.elements ?? drafts.map(() => "")),
    ],
    place: () => placeAfter(store, known),
  });
  const [kind, time, stored] = reply;
  if (kind === "fenced" || kind === "lost") return { kind };
  const now = timeIn(store, key, time);
  store.clock.saw(now);
  if (kind === "late") return { kind, now };
  // It was written byte for byte as it was sent, so nothing of it is read back.
  if (kind === "written" && sent !== undefined) {
    store.tips.set(key, sent.end);
    return { kind: "ok", unseen: entriesOf(drafts, sent), now };
  }
  const unseen = await unseenIn(store, key, known.last, stored);
  if (kind === "unseen") return { kind, unseen, now };
  await checkThere(store, key, drafts, unseen);
  return { kind: "ok", unseen, now };
};

export const release: Verb<"release"> = async (store, held, known, dueAt, host = "", listed) => {
  const { key, token } = held;
  const isLeft = listed !== undefined && known.head !== undefined;
  const left = isLeft ? signListed(store.signer, key, known, listed) : "";
  const args = [token, known.last, headArg(known), dueAt ?? "", host, left];
  const [kind, stored] = (await run(store, scripts.RELEASE, key, ...args)) ?? [];
  if (kind === "ok" || kind === "lost") return { kind };
  if (kind !== "unseen") return { kind: "fenced" };
  return { kind, unseen: await unseenIn(store, key, known.last, stored) };
};

export const flush: Verb<"flush"> = (store, key, known) => {
  const args = [store.time(), key, String(known.last), headArg(known)];
  return store.flush(
    async (client) => (await evaluate(client, scripts.TOUCH, keysOf(key), args)) === 1,
  );
};

export const flushReservation: Verb<"flushReservation"> = (store, reservation) => {
  const args = [String(MAX_IDLE_MS)];
  const keys = countersOf(reservation);
  return store.flush(
    async (client) => (await evaluate(client, scripts.TOUCH_RESERVATION, keys, args)) === 1,
  );
};

export const keepSnapshot: Verb<"keepSnapshot"> = async (store, key, snapshot) => {
  // 0.4 drops none.
  if (store.form() !== "tuple") return;
  const { last, head } = snapshot;
  const signed = signSnapshot(store.signer, key, snapshot);
  const args = [store.time(), key, String(last), head, signed];
  await store.main.ask((client) => evaluate(client, scripts.KEEP_SNAPSHOT, keysOf(key), args));
};

export const getSnapshot: Verb<"getSnapshot"> = async ({ main, signer, time }, key) => {
  const stored = await main.ask((client) => {
    const inBytes = client.withTypeMapping({ [RESP_TYPES.BLOB_STRING]: Buffer });
    return evaluate(inBytes, scripts.SNAPSHOT, keysOf(key), [time(), key]);
  });
  return Buffer.isBuffer(stored) ? readSnapshot(signer, key, stored) : undefined;
};

export const putArtifact: Verb<"putArtifact"> = async ({ main }, key, id, bytes) => {
  const value = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  await main.ask((client) => client.set(artifactOf(key, id), value));
};

export const getArtifact: Verb<"getArtifact"> = async ({ main }, key, id, start, end) => {
  const name = artifactOf(key, id);
  const [known, part] = await main.ask((client) =>
    Promise.all([
      client.exists(name),
      // GETRANGE's end is its last byte, and -1 the value's: an empty range is cut here.
      client
        .withTypeMapping({ [RESP_TYPES.BLOB_STRING]: Buffer })
        .getRange(name, start, Math.max(start, end - 1)),
    ]),
  );
  if (known === 0) return undefined;
  return part !== null && end > start ? part : new Uint8Array();
};

const count = (
  { main }: Opened,
  script: scripts.Script,
  reservation: Reservation,
  ...args: number[]
) =>
  main.ask((client) =>
    evaluate(client, script, countersOf(reservation), [...args, MAX_IDLE_MS].map(String)),
  );

export const setAside: Verb<"setAside"> = async (store, reservation, limit) => {
  const got = await count(store, scripts.RESERVE, reservation, reservation.amount, limit);
  if (typeof got !== "number") {
    const [counter] = countersOf(reservation);
    store.tell(
      `${counter} in Redis holds what this program does not write there, so nothing is set aside from it. Look who else writes there, then delete it.`,
    );
  }
  return got === 1;
};

export const settle: Verb<"settle"> = async (store, reservation, actual) => {
  await count(store, scripts.SETTLE, reservation, actual);
};

export const used: Verb<"used"> = async ({ main }, counter) => {
  const [name = ""] = countersOf({ counter, id: "" });
  return Number((await main.ask((client) => client.get(name))) ?? 0);
};
