import { LRUCache } from "lru-cache";
import { HOST_GONE_MS } from "../../core/host-beat.ts";
import type { JournalKey } from "../../core/journal-key.ts";
import { createTurns } from "../../core/turns.ts";
import { createBatches } from "../batches.ts";
import { type Backend, createJournal } from "../create.ts";
import { type Journal, type JournalReader, PAGE } from "../journal.ts";
import type { OpenOptions } from "../store.ts";
import { type RedisAddress, showAddress } from "./address.ts";
import { createServerClock } from "./clock.ts";
import { connect, type RedisClient } from "./connection.ts";
import { createSigner, type Signer } from "./entries.ts";
import { beats, changes, due, list, owed, summary } from "./indexes.ts";
import { hashOf } from "./layout.ts";
import {
  checkMarker,
  claim,
  findMarker,
  formIn,
  type Marker,
  NO_MARKER,
  raise,
  upgradeAhead,
  upgraded,
} from "./marker.ts";
import * as scripts from "./scripts.ts";
import { confirm, examineServer, replicasNeeded, sizeOf } from "./server.ts";
import * as verbs from "./verbs.ts";

const MOST_TIPS = 1_000;

/** `warn` is told once of each weakness of the server that can be lived with, and of what others write there. */
export interface RedisOptions extends OpenOptions {
  address: RedisAddress;
  /** Signs entries; the same in every process, and for ever: without it the store cannot be read. */
  secret: string;
  /** Entries of before are signed with it. */
  older?: string | undefined;
  /** How many replicas must have what is flushed. Default 0: one, where any is connected. */
  replicas?: number;
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
    return found;
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
  { address, secret, older, replicas = 0, warn = () => {}, now }: RedisOptions,
  enter: (
    ...store: [RedisClient, string, Signer, (text: string) => void]
  ) => Promise<Marker | undefined>,
): Promise<Journal> {
  const name = showAddress(address);
  const signer = createSigner(secret, older);
  let tellsDisk = false;
  let marker: Marker | undefined;
  const said = new Set<string>();
  const tell = (text: string) => {
    if (!said.has(text)) warn(text);
    said.add(text);
  };
  const examine = async (client: RedisClient) => {
    const found = await examineServer(client, name, replicas);
    tellsDisk = found.tellsDisk;
    for (const text of found.weaknesses) tell(text);
    if (marker !== undefined) await isOurs(client);
  };
  const isOurs = async (client: RedisClient) => {
    marker = await checkMarker(client, name, signer, marker ?? NO_MARKER);
  };
  const main = await connect(address, examine, warn);
  try {
    await main.ask(examine);
    marker = await main.ask((client) => enter(client, name, signer, warn));
    // Waiting for replicas holds up what comes after it on the same connection.
    const waiting = await connect(address, examine);
    const store: verbs.Opened = {
      name,
      main,
      signer,
      time: () => (now === undefined ? "" : String(now())),
      tell,
      isOurs,
      form: () => formIn(marker ?? NO_MARKER),
      async raise() {
        const before = marker ?? NO_MARKER;
        marker = await main.ask((client) => raise(client, name, signer, before));
        warn(upgraded(name, before));
      },
      flush: createBatches((marks: readonly verbs.Mark[]) =>
        waiting.ask(async (client) => {
          const needed = replicasNeeded(client, name, replicas).catch((error: unknown) => {
            // It may be a primary that was replaced and does not know.
            for (const each of [main, waiting]) each.renew();
            throw error;
          });
          // In one go: where it is another store, or alone, nothing is said of what was found.
          const [wanted, , ...there] = await Promise.all([
            needed,
            isOurs(client),
            ...marks.map((mark) => mark(client)),
          ]);
          await confirm(client, name, wanted, tellsDisk && replicas > 0);
          return there.map((isThere) => (isThere ? "ok" : "lost"));
        }),
      ),
      clock: createServerClock(),
      tips: new LRUCache({ max: MOST_TIPS }),
      inTurn: createTurns(),
    };
    return createJournal(backend(store, () => waiting.close()));
  } catch (error) {
    main.close();
    throw error;
  }
}

async function lastOf({ main }: verbs.Opened, keys: readonly JournalKey[]): Promise<number[]> {
  const found = await main.ask((client) =>
    Promise.all(keys.map((key) => client.hGet(hashOf(key), "last"))),
  );
  return found.map((last) => Number(last ?? 0));
}

async function beat(store: verbs.Opened, host: string): Promise<void> {
  const { readFor } = await beats(store, host);
  // 0.4 only knows objects. Whoever of it has not beaten for so long has ended.
  if (readFor !== undefined && readFor >= HOST_GONE_MS) await store.raise();
}

/** Numbers, indexes and entries must agree in every journal. */
async function check(store: verbs.Opened): Promise<string | undefined> {
  const keys: JournalKey[] = [];
  for await (const { key } of list(store, "", 0)) keys.push(key);
  for (let i = 0; i < keys.length; i += PAGE) {
    const page = keys.slice(i, i + PAGE);
    const said = await Promise.all(page.map((key) => verbs.run(store, scripts.CHECK, key)));
    const problems = said.filter((problem) => problem !== null);
    if (problems.length > 0) return `The store in Redis is damaged: ${problems.join("; ")}`;
  }
  return undefined;
}

function backend(store: verbs.Opened, closeOthers: () => void): Backend {
  const on =
    <Args extends unknown[], T>(verb: (store: verbs.Opened, ...args: Args) => T) =>
    (...args: Args) =>
      verb(store, ...args);
  return {
    read: on(verbs.read),
    lastOf: on(lastOf),
    look: on(lastOf),
    post: on(verbs.post),
    lease: on(verbs.lease),
    renew: on(verbs.renew),
    append: on(verbs.append),
    release: on(verbs.release),
    flush: on(verbs.flush),
    flushReservation: on(verbs.flushReservation),
    due: on(due),
    beat: on(beat),
    hosts: async () => (await beats(store)).hosts,
    summary: on(summary),
    list: on(list),
    owed: on(owed),
    changes: on(changes),
    getSnapshot: on(verbs.getSnapshot),
    keepSnapshot: on(verbs.keepSnapshot),
    putArtifact: on(verbs.putArtifact),
    getArtifact: on(verbs.getArtifact),
    setAside: on(verbs.setAside),
    settle: on(verbs.settle),
    used: on(verbs.used),
    size: async () => store.main.ask(sizeOf),
    check: on(check),
    async close() {
      store.main.close();
      closeOthers();
    },
  };
}
