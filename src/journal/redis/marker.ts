import { randomBytes } from "node:crypto";
import { BotError } from "../../core/errors.ts";
import { evaluate, type RedisClient } from "./connection.ts";
import type { Signer } from "./entries.ts";
import { listIn, TAGS } from "./layout.ts";
import { REPLACE } from "./scripts.ts";
import { newerStore, upgradeAheadText, upgradedText } from "../versions.ts";

/** Says whose store it is and how it is laid out: `<version> <random id> <signature>`. */
const MARKER = "wk:store";
/** What 0.3 wrote, `1 <signature>`, is taken over; 0.3 refuses the store from then on. */
const STORE_VERSION = 2;
const WRITER = "0.3";

/**
 * Takes an empty database or 0.3's, which `warn` is told, and refuses one that is not ours to use. Returns the marker.
 * @throws BotError STORE_FOREIGN, STORE_NEWER, STORE_CORRUPT, CONFIG_INVALID (another secret)
 */
export async function claim(
  client: RedisClient,
  name: string,
  signer: Signer,
  warn: (text: string) => void,
): Promise<string> {
  const before = await findMarker(client, name, signer);
  if (before?.version === STORE_VERSION) return before.text;
  const id = randomBytes(9).toString("base64url");
  const ours = signed(signer, `${STORE_VERSION} ${id}`);
  await client.set(MARKER, ours, { condition: "NX" });
  await evaluate(client, REPLACE, [MARKER], [signed(signer, "1"), ours]);
  const found = await findMarker(client, name, signer);
  if (found === undefined) throw gone(name);
  if (before !== undefined) warn(upgradedText(name, before.version, STORE_VERSION, WRITER));
  return found.text;
}

/** What a start would do to the store, or undefined where it would do nothing. */
export function upgradeAhead(name: string, { version }: { version: number }): string | undefined {
  if (version === STORE_VERSION) return undefined;
  return upgradeAheadText(name, version, STORE_VERSION, WRITER);
}

/**
 * The marker of a store that is ours to use; undefined: the database has nothing of ours. Changes nothing.
 * @throws BotError STORE_FOREIGN, STORE_NEWER, STORE_CORRUPT, CONFIG_INVALID (another secret)
 */
export async function findMarker(
  client: RedisClient,
  name: string,
  signer: Signer,
): Promise<{ text: string; version: number } | undefined> {
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

/** Makes sure that it is still the store that was opened. @throws BotError STORE_CORRUPT */
export async function checkMarker(client: RedisClient, name: string, marker: string) {
  if ((await client.get(MARKER)) !== marker) throw gone(name);
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
