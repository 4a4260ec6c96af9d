import { randomBytes } from "node:crypto";
import { RESP_TYPES, TimeoutError } from "redis";
import { asksForWork, type Draft, type StoredEntry } from "../../core/entry.ts";
import type { JournalKey } from "../../core/journal-key.ts";
import type { Backend } from "../create.ts";
import { areFacts } from "../entries.ts";
import { type Known, MAX_IDLE_MS, type Reservation } from "../journal.ts";
import { absentFrom, altered, checkWritten, lostEntries } from "../seal.ts";
import { ANSWER_MS, type Connection, evaluate, type RedisClient } from "./connection.ts";
import {
  checkEnd,
  checkTime,
  decodeOne,
  decodeStored,
  type Tip,
  signEntries,
  type Signed,
  type Signer,
} from "./entries.ts";
import { artifactOf, countersOf, keysOf } from "./layout.ts";
import * as scripts from "./scripts.ts";

type Verb<Name extends keyof Backend> = (
  store: Opened,
  ...args: Parameters<Backend[Name]>
) => ReturnType<Backend[Name]>;

export interface Opened {
  name: string;
  /** Everything but what waits for replicas, which would hold up what comes after it. */
  main: Connection;
  /** What must reach a replica, where there are any, before it is acknowledged. */
  careful: Connection;
  signer: Signer;
  /** For a script: the time to go by, empty for Redis' own. */
  time(): string;
  /** Says a sentence to the operator, once. */
  tell(text: string): void;
  /** Looks whether it is still the store that was opened. */
  isOurs(client: RedisClient): Promise<void>;
  /** Waits until replicas have what the client wrote. */
  replicated<T>(client: RedisClient, work: () => Promise<T>): Promise<T>;
  /** Lets those who write to one journal do so one after the other: what is signed for a place fits there only once. */
  inTurn<T>(key: JournalKey, work: () => Promise<T>): Promise<T>;
}

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
  /** Element and head of each draft; empty where it is there already. */
  readonly written: readonly (readonly string[])[];
}

const NONE = ["", ""] as const;

/**
 * Runs a script that writes: it says where, what goes there is signed, and if nobody wrote in between it is done. With
 * `careful` it waits, where replicas are expected or connected, until they have it: a failover then cannot lose it. Not
 * confirmed in time counts as not answered, and the same may be asked again.
 */
async function write(
  store: Opened,
  key: JournalKey,
  { script, careful, drafts, args }: Writing,
): Promise<Reply> {
  const { main, signer, time, isOurs, replicated, inTurn } = store;
  const attempt = async (client: RedisClient): Promise<Reply> => {
    await isOurs(client);
    let prepared: Prepared | undefined;
    for (const until = performance.now() + ANSWER_MS; performance.now() < until;) {
      const given = [time(), key, ...args(prepared).map(String)];
      const reply = (await evaluate(client, script, keysOf(key), given)) as Reply;
      if (reply[0] === "altered")
        throw altered(key, `it does not have the ${String(reply[1])} entries and ids it had`);
      if (reply[0] !== "place") return reply;
      const [, last, head, at, tail, missing = [1]] = reply;
      const place = { last: Number(last), head: String(head), at: timeIn(store, key, at) };
      checkEnd(signer, key, place, String(tail));
      const wanted = (missing as number[]).flatMap((i) => drafts[i - 1] ?? []);
      // Else these would be written, and what is said to be there already would not.
      await checkThere(
        store,
        key,
        drafts.filter((draft) => !wanted.includes(draft)),
      );
      const { elements, heads, tail: newTail } = signEntries(signer, key, place, wanted);
      const each = new Map(wanted.map((draft, i) => [draft, [elements[i] ?? "", heads[i] ?? ""]]));
      prepared = { place, tail: newTail, written: drafts.map((draft) => each.get(draft) ?? NONE) };
    }
    throw new TimeoutError();
  };
  if (!careful) return main.ask((client) => inTurn(key, () => attempt(client)));
  return store.careful.ask((client) =>
    replicated(client, () => inTurn(key, () => attempt(client))),
  );
}

interface Writing {
  script: scripts.Script;
  careful: boolean;
  drafts: readonly Draft[];
  /** The script's own arguments, with what was signed once that is known. */
  args(prepared: Prepared | undefined): (string | number)[];
}

const placeArgs = (prepared: Prepared | undefined) => {
  const { last = "", head = "", at = "" } = prepared?.place ?? {};
  return [last, head, at];
};

export const post: Verb<"post"> = async (store, key, draft) => {
  const reply = await write(store, key, {
    script: scripts.POST,
    careful: true,
    drafts: [draft],
    args: (prepared) => [
      draft.id,
      asksForWork(draft) ? 1 : 0,
      ...placeArgs(prepared),
      ...(prepared?.written[0] ?? NONE),
      prepared?.tail ?? "",
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
  return { entry: { seq: last, at, head, ...draft }, duplicate: false };
};

export const lease: Verb<"lease"> = async (store, key, ttlMs) => {
  const token = randomBytes(12).toString("base64url");
  const reply = await run(store, scripts.LEASE, key, token, ttlMs);
  if (reply === null) return undefined;
  const [attempts, now] = reply;
  return { lease: { key, token, ttlMs }, attempts: Number(attempts), now: Number(now) };
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

export const append: Verb<"append"> = async (store, { key, token }, known, drafts, before) => {
  const decides = areFacts(drafts) ? 0 : 1;
  const ids = drafts.map(({ id }) => id);
  const reply = await write(store, key, {
    script: scripts.APPEND,
    // Only what is about to happen in the world must survive a failover; anything else that is lost is done again or asked again.
    careful: drafts.some(({ kind }) => kind === "tool_started"),
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
      ...drafts.flatMap((_, i) => prepared?.written[i] ?? NONE),
    ],
  });
  const [kind, time, stored] = reply;
  if (kind === "fenced" || kind === "lost") return { kind };
  const now = timeIn(store, key, time);
  if (kind === "late") return { kind, now };
  const unseen = await unseenIn(store, key, known.last, stored);
  if (kind === "unseen") return { kind, unseen, now };
  await checkThere(store, key, drafts, unseen);
  return { kind: "ok", unseen, now };
};

export const release: Verb<"release"> = async (store, { key, token }, known, dueAt, host = "") => {
  const args = [token, known.last, headArg(known), dueAt ?? "", host];
  const [kind, stored] = (await run(store, scripts.RELEASE, key, ...args)) ?? [];
  if (kind === "ok" || kind === "lost") return { kind };
  if (kind !== "unseen") return { kind: "fenced" };
  return { kind, unseen: await unseenIn(store, key, known.last, stored) };
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
