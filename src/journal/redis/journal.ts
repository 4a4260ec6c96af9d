import type { JournalKey } from "../../core/journal-key.ts";
import { createTurns } from "../../core/turns.ts";
import { type Backend, createJournal } from "../create.ts";
import type { Journal, JournalReader } from "../journal.ts";
import type { OpenOptions } from "../store.ts";
import { type RedisAddress, showAddress } from "./address.ts";
import { connect, type RedisClient } from "./connection.ts";
import { createSigner, type Signer } from "./entries.ts";
import { beats, due, list, PAGE } from "./indexes.ts";
import { hashOf } from "./layout.ts";
import { checkMarker, claim, findMarker, upgradeAhead } from "./marker.ts";
import * as scripts from "./scripts.ts";
import { confirm, examineServer, replicasNeeded } from "./server.ts";
import * as verbs from "./verbs.ts";

/** `warn` is told once of each weakness of the server that can be lived with, and of what others write there. */
export interface RedisOptions extends OpenOptions {
  address: RedisAddress;
  /** Signs entries; the same in every process, and for ever: without it the store cannot be read. */
  secret: string;
  /** Entries of before are signed with it. */
  older?: string | undefined;
  /** How many replicas the server has to have for what people say and what is about to be done. Default 0: those it has. */
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
  { address, secret, older, replicas = 0, warn = () => {}, now }: RedisOptions,
  enter: (
    ...store: [RedisClient, string, Signer, (text: string) => void]
  ) => Promise<string | undefined>,
): Promise<Journal> {
  const name = showAddress(address);
  const signer = createSigner(secret, older);
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
    const store: verbs.Opened = {
      name,
      main,
      careful,
      signer,
      time: () => (now === undefined ? "" : String(now())),
      tell,
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
    return createJournal(backend(store));
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

/** Numbers, indexes and entries must agree in every journal. */
async function check(store: verbs.Opened): Promise<string | undefined> {
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

function backend(store: verbs.Opened): Backend {
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
    due: on(due),
    beat: async (host) => void (await beats(store, host)),
    hosts: async () => (await beats(store)).hosts,
    list: on(list),
    putArtifact: on(verbs.putArtifact),
    getArtifact: on(verbs.getArtifact),
    setAside: on(verbs.setAside),
    settle: on(verbs.settle),
    used: on(verbs.used),
    check: on(check),
    async close() {
      store.main.close();
      store.careful.close();
    },
  };
}
