import { randomBytes } from "node:crypto";
import type { Form } from "../../core/entry-codec.ts";
import { BotError } from "../../core/errors.ts";
import { evaluate, type RedisClient } from "./connection.ts";
import type { Signer } from "./entries.ts";
import { listIn, TAGS } from "./layout.ts";
import { REPLACE } from "./scripts.ts";
import { newerStore, upgradeAheadText, upgradedText } from "../versions.ts";

/** Says whose store it is and how it is laid out: `<version> <random id> <signature>`. */
const MARKER = "wk:store";
/**
 * A store of version 2, which 0.4 wrote, is used as it is while a process of 0.4 may be at work: entries are written as 0.4
 * reads them. Then, or where there was none, it is made a 3: 0.4 refuses it from then on.
 */
const STORE_VERSION = 3;
/** 0.3 wrote `1 <signature>`, which 0.4 took over as this program does. */
const WRITERS: Readonly<Record<number, string>> = { 1: "0.3", 2: "0.4" };
const SHARED_VERSION = 2;

export interface Marker {
  readonly text: string;
  readonly version: number;
}

export const NO_MARKER: Marker = { text: "", version: STORE_VERSION };

/** The form in which entries are written there. */
export function formIn({ version }: Marker): Form {
  return version < STORE_VERSION ? "object" : "tuple";
}

/**
 * Takes an empty database, 0.3's, which `warn` is told, or 0.4's, and refuses one that is not ours to use.
 * @throws BotError STORE_FOREIGN, STORE_NEWER, STORE_CORRUPT, CONFIG_INVALID (another secret)
 */
export async function claim(
  client: RedisClient,
  name: string,
  signer: Signer,
  warn: (text: string) => void,
): Promise<Marker> {
  const before = await findMarker(client, name, signer);
  if (before !== undefined && before.version >= SHARED_VERSION) return before;
  const id = randomBytes(9).toString("base64url");
  const ours = signed(signer, `${STORE_VERSION} ${id}`);
  await client.set(MARKER, ours, { condition: "NX" });
  await evaluate(client, REPLACE, [MARKER], [signed(signer, "1"), ours]);
  const found = await findMarker(client, name, signer);
  if (found === undefined) throw gone(name);
  if (before !== undefined) warn(upgraded(name, before));
  return found;
}

/** Makes it a store of this version, which no process of 0.4 uses any more. @throws what `findMarker` throws */
export async function raise(
  client: RedisClient,
  name: string,
  signer: Signer,
  before: Marker,
): Promise<Marker> {
  const [, id = ""] = before.text.split(" ");
  const raised = signed(signer, `${STORE_VERSION} ${id}`);
  await evaluate(client, REPLACE, [MARKER], [before.text, raised]);
  return checkMarker(client, name, signer, before);
}

/** What is said of a store that was made one of this version. */
export function upgraded(name: string, { version }: Marker): string {
  return upgradedText(name, version, STORE_VERSION, WRITERS[version] ?? "");
}

/** What a start would do to the store, or undefined where it would do nothing. */
export function upgradeAhead(name: string, { version }: Marker): string | undefined {
  const writer = WRITERS[version];
  return writer && upgradeAheadText(name, version, STORE_VERSION, writer);
}

/**
 * The marker of a store that is ours to use; undefined: the database has nothing of ours. Changes nothing.
 * @throws BotError STORE_FOREIGN, STORE_NEWER, STORE_CORRUPT, CONFIG_INVALID (another secret)
 */
export async function findMarker(
  client: RedisClient,
  name: string,
  signer: Signer,
): Promise<Marker | undefined> {
  const found = await client.get(MARKER);
  if (found === null) {
    if (await hasJournals(client)) throw gone(name);
    return undefined;
  }
  const [, said = "", version = "", signature = ""] = /^((\d+)(?: \S+)?) (\S+)$/.exec(found) ?? [];
  if (version === "") {
    const text = `${name} has another program's ${MARKER}; give this program a database of its own (REDIS_URL ends in /<number>).`;
    throw new BotError("STORE_FOREIGN", text);
  }
  if (Number(version) > STORE_VERSION) throw newerStore(name, Number(version), STORE_VERSION);
  if (!signer.isSigned(`store ${said}`, signature)) {
    const text = `WATCHKEEPER_SECRET is not the one that the store was created with (${name}); set that one in every process.`;
    throw new BotError("CONFIG_INVALID", text);
  }
  return { text: found, version: Number(version) };
}

/**
 * Makes sure that it is still the store that was opened, which another process may have made one of this version.
 * @throws BotError STORE_CORRUPT
 */
export async function checkMarker(
  client: RedisClient,
  name: string,
  signer: Signer,
  marker: Marker,
): Promise<Marker> {
  const text = await client.get(MARKER);
  if (text === marker.text) return marker;
  const [, id = ""] = marker.text.split(" ");
  const said = `${STORE_VERSION} ${id}`;
  const isRaised = text?.startsWith(`${said} `) === true && marker.version === SHARED_VERSION;
  if (!isRaised || !signer.isSigned(`store ${said}`, text.slice(said.length + 1))) throw gone(name);
  return { text, version: STORE_VERSION };
}

const signed = (signer: Signer, said: string) => `${said} ${signer.sign(`store ${said}`)}`;

async function hasJournals(client: RedisClient): Promise<boolean> {
  const found = await Promise.all(TAGS.map((tag) => client.exists(listIn(tag))));
  return found.includes(1);
}

function gone(name: string): BotError {
  const text = `${name} is not the store that was created there: its ${MARKER} is gone or belongs to another store, as after FLUSHDB. I wrote nothing. Restore the data, or use an empty database, then start again.`;
  return new BotError("STORE_CORRUPT", text);
}
