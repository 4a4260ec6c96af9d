import type { JournalKey } from "../../core/journal-key.ts";
import { createTurns } from "../../core/turns.ts";
import { type Journal, type JournalReader, knownOf } from "../journal.ts";
import { createWatchers } from "../watchers.ts";
import { type RedisAddress, showAddress } from "./address.ts";
import { putArtifact, readArtifact } from "./artifacts.ts";
import { type Connection, connect, type RedisClient } from "./connection.ts";
import { createCounters } from "./counters.ts";
import { createSigner, type Signer } from "./entries.ts";
import { beats, due, list, PAGE } from "./indexes.ts";
import { hashOf } from "./layout.ts";
import { checkMarker, claim, findMarker, upgradeAhead } from "./marker.ts";
import * as scripts from "./scripts.ts";
import { confirm, examineServer, replicasNeeded } from "./server.ts";
import * as verbs from "./verbs.ts";

export interface RedisOptions {
  address: RedisAddress;
  /** Signs entries; the same in every process, and for ever: without it the store cannot be read. */
  secret: string;
  /** How many replicas the server has to have for what people say and what is about to be done. Default 0: those it has. */
  replicas?: number;
  /** Told once of each weakness of the server that can be lived with, and of what others write there, in a sentence. */
  warn?: (text: string) => void;
  /** The store's clock in tests, ms since 1970; else Redis' own. */
  now?: () => number;
}

/**
 * Opens the shared store for who only looks: nothing is claimed and an older version's stays as it is, of which `warn` is told.
 * @throws what `openRedisJournal` throws
 */
export async function readRedisJournal(options: RedisOptions): Promise<JournalReader> {
  return open(options, async (client, name, signer, warn) => {
    const found = await findMarker(client, name, signer);
    const ahead = found && upgradeAhead(name, found);
    if (ahead !== undefined) warn(ahead);
    return found?.text;
  });
}

/**
 * Opens the shared store. It is as durable as the server is set up to be; `warn` says where that is too little.
 * @throws BotError STORE_UNAVAILABLE, STORE_UNSAFE, STORE_FOREIGN, STORE_NEWER, STORE_CORRUPT (journals without their
 * marker), CONFIG_INVALID (another secret); the store is untouched
 */
export async function openRedisJournal(options: RedisOptions): Promise<Journal> {
  return open(options, claim);
}

/** `enter` finds or makes the marker that the store is known by; undefined: the store has no marker. */
async function open(
  { address, secret, replicas = 0, warn = () => {}, now }: RedisOptions,
  enter: (
    ...store: [RedisClient, string, Signer, (text: string) => void]
  ) => Promise<string | undefined>,
): Promise<Journal> {
  const name = showAddress(address);
  const signer = createSigner(secret);
  let tellsDisk = false;
  let marker: string | undefined;
  const said = new Set<string>();
  const tell = (text: string) => {
    if (!said.has(text)) warn(text);
    said.add(text);
  };
  const examine = async (client: RedisClient) => {
    const found = await examineServer(client, name, replicas);
    tellsDisk = found.tellsDisk;
    for (const text of found.weaknesses) tell(text);
    if (marker !== undefined) await checkMarker(client, name, marker);
  };
  const main = await connect(address, examine);
  try {
    await main.ask(examine);
    const ours = (marker = await main.ask((client) => enter(client, name, signer, warn)));
    const careful = await connect(address, examine);
    const store: verbs.Store = {
      name,
      main,
      careful,
      signer,
      time: () => (now === undefined ? "" : String(now())),
      watchers: createWatchers((keys) => lastOf(main, keys)),
      isOurs: (client) => checkMarker(client, name, ours ?? ""),
      async replicated(client, work) {
        const needed = await replicasNeeded(client, name, replicas).catch((error: unknown) => {
          // It may be a primary that was replaced and does not know.
          for (const each of [main, careful]) each.renew();
          throw error;
        });
        const reply = await work();
        await confirm(client, name, needed, tellsDisk && replicas > 0);
        return reply;
      },
      inTurn: createTurns(),
    };
    return createJournal(store, tell);
  } catch (error) {
    main.close();
    throw error;
  }
}

async function lastOf(main: Connection, keys: readonly JournalKey[]): Promise<number[]> {
  const found = await main.ask((client) =>
    Promise.all(keys.map((key) => client.hGet(hashOf(key), "last"))),
  );
  return found.map((last) => Number(last ?? 0));
}

/** Numbers, indexes and entries must agree in every journal. */
async function check(store: verbs.Store): Promise<string | undefined> {
  const keys: JournalKey[] = [];
  for await (const { key } of list(store, "")) keys.push(key);
  for (let i = 0; i < keys.length; i += PAGE) {
    const page = keys.slice(i, i + PAGE);
    const said = await Promise.all(page.map((key) => verbs.run(store, scripts.CHECK, key)));
    const problems = said.filter((problem) => problem !== null);
    if (problems.length > 0) return `The store in Redis is damaged: ${problems.join("; ")}`;
  }
  return undefined;
}

/** `tell`: says a sentence to the operator, once. */
function createJournal(store: verbs.Store, tell: (text: string) => void): Journal {
  const { main, careful, watchers } = store;
  return {
    read: (key, after = 0) => verbs.read(store, key, knownOf(after)),
    has: async (key) => (await lastOf(main, [key])).some((last) => last > 0),
    post: (key, draft) => verbs.post(store, key, draft),
    lease: (key, ttlMs) => verbs.lease(store, key, ttlMs),
    renew: (held) => verbs.renew(store, held),
    append: (held, after, drafts, { before } = {}) =>
      verbs.append(store, held, knownOf(after), drafts, before),
    release: (held, after, dueAt, host) => verbs.release(store, held, knownOf(after), dueAt, host),
    watch: (key, onChange) => watchers.add(key, onChange),
    due: (host) => due(store, host),
    beat: async (host) => void (await beats(store, host)),
    hosts: async () => (await beats(store)).hosts,
    list: ({ prefix = "" } = {}) => list(store, prefix),
    putArtifact: (key, bytes) => putArtifact(main, key, bytes),
    readArtifact: (key, id, range) => readArtifact(main, key, id, range),
    ...createCounters(main, tell),
    check: () => check(store),
    async close() {
      watchers.close();
      main.close();
      careful.close();
    },
  };
}
