import { createHash, randomBytes, randomUUID } from "node:crypto";
import { RESP_TYPES } from "redis";
import type { AppendKind, ArtifactRef, Draft, PostKind } from "../core/entry.ts";
import { BotError } from "../core/errors.ts";
import { hasWork, type JournalKey } from "../core/journal-key.ts";
import { areFacts } from "./entries.ts";
import {
  type AppendReply,
  type Granted,
  type Journal,
  type Lease,
  MAX_ARTIFACT_BYTES,
  MAX_IDLE_MS,
  type Reservation,
} from "./journal.ts";
import { type RedisAddress, showAddress } from "./redis-address.ts";
import { type Connection, connect, evaluate, type RedisClient } from "./redis-connection.ts";
import { createSigner, decodeElements, encodePayload, type Signer } from "./redis-entries.ts";
import { beats, due, list, PAGE } from "./redis-index.ts";
import { artifactOf, countersOf, entriesOf, hashOf, keysOf } from "./redis-layout.ts";
import * as scripts from "./redis-scripts.ts";
import { examineServer, replicasIn } from "./redis-server.ts";
import { createWatchers } from "./redis-watchers.ts";

/** Says whose store it is and how it is laid out: `<version> <signature>`. */
const MARKER = "wk:store";
const STORE_VERSION = 1;
/** How long a replica may take to confirm what must not be lost with the primary. */
const REPLICA_MS = 1_000;

export interface RedisOptions {
  address: RedisAddress;
  /** Signs entries; the same in every process, and for ever: without it the store cannot be read. */
  secret: string;
  /** Told of each weakness of the server that can be lived with, in a sentence. */
  warn?: (text: string) => void;
  /** The store's clock in tests, ms since 1970; else Redis' own. */
  now?: () => number;
}

interface Store {
  /** Everything but what waits for replicas, which would hold up what comes after it. */
  main: Connection;
  /** What must reach a replica, where there are any, before it is acknowledged. */
  careful: Connection;
  signer: Signer;
  /** For a script: the time to go by, empty for Redis' own. */
  time(): string;
  watchers: ReturnType<typeof createWatchers>;
}

/**
 * Opens the shared store. It is as durable as the server is set up to be; `warn` says where that is too little.
 * @throws BotError STORE_UNAVAILABLE, STORE_UNSAFE, STORE_FOREIGN, STORE_NEWER, CONFIG_INVALID (another secret); the
 * store is untouched
 */
export async function openRedisJournal({
  address,
  secret,
  warn = () => {},
  now,
}: RedisOptions): Promise<Journal> {
  const name = showAddress(address);
  const signer = createSigner(secret);
  const main = await connect(address);
  try {
    for (const text of await main.ask((client) => examineServer(client, name))) warn(text);
    await main.ask((client) => claim(client, name, signer));
    const careful = await connect(address);
    const watchers = createWatchers((keys) => lastOf(main, keys));
    const time = () => (now === undefined ? "" : String(now()));
    return createJournal({ main, careful, signer, time, watchers });
  } catch (error) {
    main.close();
    throw error;
  }
}

/** Takes an empty database, and refuses one that is not ours to use. */
async function claim(client: RedisClient, name: string, signer: Signer): Promise<void> {
  const signed = (version: string) => `${version} ${signer.sign(`store ${version}`)}`;
  const ours = signed(String(STORE_VERSION));
  await client.set(MARKER, ours, { condition: "NX" });
  const found = await client.get(MARKER);
  const [, version = ""] = /^(\d+) /.exec(found ?? "") ?? [];
  if (version === "") {
    throw new BotError(
      "STORE_FOREIGN",
      `${name} has another program's ${MARKER}; give this program a database of its own (REDIS_URL ends in /<number>).`,
    );
  }
  if (Number(version) > STORE_VERSION) {
    throw new BotError(
      "STORE_NEWER",
      `${name} was written by a newer version (store ${version}, this program reads ${STORE_VERSION}); start that version.`,
    );
  }
  if (found !== signed(version)) {
    throw new BotError(
      "CONFIG_INVALID",
      `WATCHKEEPER_SECRET is not the one that the store was begun with (${name}); set that one in every process.`,
    );
  }
}

async function lastOf(main: Connection, keys: readonly JournalKey[]): Promise<number[]> {
  const found = await main.ask((client) =>
    Promise.all(keys.map((key) => client.hGet(hashOf(key), "last"))),
  );
  return found.map((last) => Number(last ?? 0));
}

type Reply = (string | number | string[])[];

/** Runs a journal's script. */
async function run(
  { main, time }: Store,
  script: scripts.Script,
  key: JournalKey,
  ...args: (string | number)[]
): Promise<Reply | null> {
  const given = [time(), key, ...args.map(String)];
  const reply = await main.ask((client) => evaluate(client, script, keysOf(key), given));
  return reply as Reply | null;
}

/**
 * Runs it, and where replicas are connected waits until one of them has it: a failover then cannot lose it. Not
 * confirmed in time counts as not answered, and the same may be asked again.
 */
async function runCarefully(
  { careful, time }: Store,
  script: scripts.Script,
  key: JournalKey,
  ...args: (string | number)[]
): Promise<Reply> {
  const given = [time(), key, ...args.map(String)];
  return careful.ask(async (client) => {
    const [reply, info] = await Promise.all([
      evaluate(client, script, keysOf(key), given),
      client.info("replication"),
    ]);
    if (replicasIn(info) > 0 && (await client.wait(1, REPLICA_MS)) === 0) {
      throw new BotError(
        "STORE_UNAVAILABLE",
        `No replica of Redis confirmed a write within ${REPLICA_MS} ms; it may be lost in a failover. Look at the replicas.`,
      );
    }
    return reply as Reply;
  });
}

async function post(store: Store, key: JournalKey, draft: Draft<PostKind>): Posted {
  const payload = encodePayload(store.signer, key, draft);
  const args = [draft.id, payload, hasWork(key) ? 1 : 0];
  const [known, seq, found] = await runCarefully(store, scripts.POST, key, ...args);
  if (known === 0) {
    store.watchers.notify(key, Number(seq));
    return { entry: { seq: Number(seq), at: Number(found), ...draft }, duplicate: false };
  }
  const [entry] = decodeElements(store.signer, key, Number(seq), [String(found)]);
  if (entry === undefined) throw lost(key);
  return { entry, duplicate: true };
}

type Posted = ReturnType<Journal["post"]>;

async function lease(store: Store, key: JournalKey, ttlMs: number): Promise<Granted | undefined> {
  const token = randomBytes(12).toString("base64url");
  const reply = await run(store, scripts.LEASE, key, token, ttlMs);
  if (reply === null) return undefined;
  const [attempts, now] = reply;
  return { lease: { key, token, ttlMs }, attempts: Number(attempts), now: Number(now) };
}

async function renew(store: Store, { key, token, ttlMs }: Lease): ReturnType<Journal["renew"]> {
  const reply = await run(store, scripts.RENEW, key, token, ttlMs);
  if (reply === null) return { kind: "fenced" };
  return { kind: "ok", last: Number(reply[0]), now: Number(reply[1]) };
}

async function append(
  store: Store,
  { key, token }: Lease,
  after: number,
  drafts: readonly Draft<AppendKind>[],
  before: number | undefined,
): Promise<AppendReply> {
  const decides = areFacts(drafts) ? 0 : 1;
  const pairs = drafts.flatMap((draft) => [draft.id, encodePayload(store.signer, key, draft)]);
  // Only what is about to happen in the world must survive a failover; anything else that is lost is done again or asked again.
  const how = drafts.some(({ kind }) => kind === "tool_started") ? runCarefully : run;
  const args = [token, after, before ?? "", decides, ...pairs];
  const [kind, time, elements] = (await how(store, scripts.APPEND, key, ...args)) ?? [];
  if (kind === "fenced") return { kind };
  if (kind === "lost") throw lost(key);
  const now = Number(time);
  if (kind === "late") return { kind, now };
  const unseen = decodeElements(store.signer, key, after + 1, elements as string[]);
  if (kind === "unseen") return { kind, unseen, now };
  store.watchers.notify(key, after + unseen.length);
  return { kind: "ok", unseen, now };
}

async function release(
  store: Store,
  { key, token }: Lease,
  after: number,
  dueAt: number | undefined,
  host = "",
): ReturnType<Journal["release"]> {
  const reply = await run(store, scripts.RELEASE, key, token, after, dueAt ?? "", host);
  const [kind, , elements] = reply ?? [];
  if (kind === "lost") throw lost(key);
  if (kind !== "unseen") return { kind: kind === "ok" ? "ok" : "fenced" };
  return { kind, unseen: decodeElements(store.signer, key, after + 1, elements as string[]) };
}

/** Its server was restarted or replaced by one that did not have everything. */
function lost(key: JournalKey): BotError {
  return new BotError(
    "STORE_CORRUPT",
    `Redis no longer has the newest entries of ${key}, though it had acknowledged them; the thread goes on from what is left. See that Redis keeps its data.`,
  );
}

async function putArtifact(
  { main }: Store,
  key: JournalKey,
  bytes: Uint8Array,
): Promise<ArtifactRef> {
  if (bytes.byteLength > MAX_ARTIFACT_BYTES) {
    const text = `An artifact may have ${MAX_ARTIFACT_BYTES} bytes, this one has ${bytes.byteLength}.`;
    throw new BotError("ARTIFACT_TOO_LARGE", text);
  }
  const id = createHash("sha256").update(bytes).digest("hex").slice(0, 16);
  const value = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  await main.ask((client) => client.set(artifactOf(key, id), value));
  return { id, bytes: bytes.byteLength };
}

async function readArtifact(
  { main }: Store,
  key: JournalKey,
  id: string,
  { start, end }: { start: number; end: number },
): Promise<Uint8Array> {
  const [known, part] = await main.ask((client) =>
    Promise.all([
      client.exists(artifactOf(key, id)),
      // GETRANGE's end is its last byte, and -1 the value's: an empty range is cut here.
      client
        .withTypeMapping({ [RESP_TYPES.BLOB_STRING]: Buffer })
        .getRange(artifactOf(key, id), start, Math.max(start, end - 1)),
    ]),
  );
  if (known === 1) return part !== null && end > start ? part : new Uint8Array();
  throw new BotError("ARTIFACT_UNKNOWN", `This thread has no artifact ${id}.`);
}

/** Numbers, indexes and entries must agree in every journal. */
async function check(store: Store): Promise<string | undefined> {
  const keys: JournalKey[] = [];
  for await (const { key } of list(store, "")) keys.push(key);
  for (let i = 0; i < keys.length; i += PAGE) {
    const page = keys.slice(i, i + PAGE);
    const said = await Promise.all(page.map((key) => run(store, scripts.CHECK, key)));
    const problems = said.filter((problem) => problem !== null);
    if (problems.length > 0) return `The store in Redis is damaged: ${problems.join("; ")}`;
  }
  return undefined;
}

function whole(amount: number): string {
  if (Number.isSafeInteger(amount) && amount >= 0) return String(amount);
  throw new TypeError(`${amount} cannot be counted; whole numbers from 0 can`);
}

function createJournal(store: Store): Journal {
  const { main, careful, signer, watchers } = store;
  const count = (script: scripts.Script, made: Reservation, ...args: string[]) =>
    main.ask((client) =>
      evaluate(client, script, countersOf(made), [...args, String(MAX_IDLE_MS)]),
    );
  return {
    async read(key, after = 0) {
      const elements = await main.ask((client) => client.lRange(entriesOf(key), after, -1));
      return decodeElements(signer, key, after + 1, elements);
    },
    post: (key, draft) => post(store, key, draft),
    lease: (key, ttlMs) => lease(store, key, ttlMs),
    renew: (held) => renew(store, held),
    append: (held, after, drafts, { before } = {}) => append(store, held, after, drafts, before),
    release: (held, after, dueAt, host) => release(store, held, after, dueAt, host),
    watch: (key, onChange) => watchers.add(key, onChange),
    due: (host) => due(store, host),
    beat: async (host) => void (await beats(store, host)),
    hosts: async () => (await beats(store)).hosts,
    list: ({ prefix = "" } = {}) => list(store, prefix),
    putArtifact: (key, bytes) => putArtifact(store, key, bytes),
    readArtifact: (key, id, range = { start: 0, end: MAX_ARTIFACT_BYTES }) =>
      readArtifact(store, key, id, range),
    async reserve(counter, amount, limit) {
      const made = { id: randomUUID(), counter, amount };
      const got = await count(scripts.RESERVE, made, whole(amount), String(limit));
      return got === 1 ? made : undefined;
    },
    async settle(made, actual) {
      await count(scripts.SETTLE, made, whole(actual));
    },
    check: () => check(store),
    async close() {
      watchers.close();
      main.close();
      careful.close();
    },
  };
}
