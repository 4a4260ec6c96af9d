import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";
import { setTimeout as wait } from "node:timers/promises";
import type { Entry } from "../core/entry.ts";
import { BotError } from "../core/errors.ts";
import type { JournalKey } from "../core/journal-key.ts";
import { within } from "../core/time-limit.ts";
import { postDurably } from "../journal/durable.ts";
import type { Journal, Lease } from "../journal/journal.ts";
import { createFollower } from "./follow.ts";
import type { SecretKey, SecretKeys } from "./secret-keys.ts";

/**
 * What the program has to keep and nobody may read, such as the tokens of a login: a journal for each, of which the newest entry
 * counts. The store has it encrypted (AES-256-GCM); name and number of the entry are bound to it, so that none can be put in
 * another's place.
 */

const PREFIX = "team:secret:";

/** Whoever has a secret for itself ends before others may take it. */
const LEASE_MS = 30_000;
const EXCLUSIVE_MS = 25_000;
/** How soon it is looked at again whether another process is done. */
const LOOK_MS = 100;

export interface Secret {
  /** Undefined: there is none, or no longer. */
  value: string | undefined;
  /** Counts its changes from 0: none yet. */
  version: number;
}

/** One that was encrypted. */
type Sealed = Pick<Entry<"secret">, "key" | "data">;

interface Latest {
  version: number;
  sealed: Sealed | undefined;
}

export type Secrets = ReturnType<typeof createSecrets>;

type Store = Pick<Journal, "read" | "post" | "flush" | "has" | "lease" | "release" | "list">;

export function createSecrets(journal: Store, keys: SecretKeys) {
  const followers = new Map<string, () => Promise<Latest>>();

  function latest(name: string): Promise<Latest> {
    const follower = followers.get(name) ?? followerOf(journal, name);
    followers.set(name, follower);
    return follower();
  }

  /** @throws BotError CONFIG_INVALID where its key is not here, JOURNAL_ALTERED */
  async function read(name: string): Promise<Secret> {
    const { version, sealed } = await latest(name);
    if (sealed === undefined) return { value: undefined, version };
    const key = (await keys.all()).find(({ id }) => id === sealed.key);
    if (key === undefined) {
      const text = `${name} was encrypted with a different WATCHKEEPER_SECRET. Set that one as WATCHKEEPER_SECRET or WATCHKEEPER_SECRET_OLD, or log in again.`;
      throw new BotError("CONFIG_INVALID", text);
    }
    const value = open(key, sealed.data, contextOf(name, version, key));
    return { value: value === "" ? undefined : value, version };
  }

  /**
   * Puts `value` in the place of version `version`; undefined removes it. False: somebody else put another there before.
   * It stays readable for who has a copy of the store from before and its key.
   */
  async function write(name: string, value: string | undefined, version: number): Promise<boolean> {
    const key = await keys.own();
    const data = seal(key, value ?? "", contextOf(name, version + 1, key));
    // Of several that write at the same moment one does: the number is taken then.
    const draft = { id: `secret:${version}`, kind: "secret", key: key.id, data } as const;
    const { entry } = await postDurably(journal, keyOf(name), draft);
    return entry.kind === "secret" && entry.data === data;
  }

  /**
   * Has `work` done by one process at a time, such as renewing what can be renewed only once. What is kept is read in it.
   * @throws BotError TIMEOUT after 25 s, ABORTED, and what `work` throws
   */
  async function exclusive<T>(
    name: string,
    outer: AbortSignal,
    work: (signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    return within(EXCLUSIVE_MS, outer, async (signal) => {
      const lease = await leaseOf(journal, keyOf(name), signal);
      try {
        return await work(signal);
      } finally {
        // Its entries are nothing but versions.
        if (lease !== undefined) await release(journal, lease, (await latest(name)).version);
      }
    });
  }

  /** Encrypts with today's key what is not yet. Returns their names. */
  async function encryptAgain(signal: AbortSignal): Promise<string[]> {
    const { id } = await keys.own();
    const changed: string[] = [];
    for (const name of await namesIn(journal)) {
      const isDone = await exclusive(name, signal, async () => {
        const { sealed } = await latest(name);
        const isKnown = (await keys.all()).some((key) => key.id === sealed?.key);
        if (sealed?.key === id || !isKnown) return false;
        const { value, version } = await read(name);
        if (!(await write(name, value, version)))
          throw new BotError("ABORTED", `${name} changed meanwhile; repeat the command.`);
        return true;
      });
      if (isDone) changed.push(name);
    }
    return changed;
  }

  return {
    read,
    write,
    exclusive,
    /** Of what is or was kept. */
    names: (prefix = "") => namesIn(journal, prefix),
    /**
     * Changes the key: the one of the file, or the one that is set to the one that was set before. If it dies half-way, all is
     * still read, and the next time goes on. Returns the names of what was encrypted again.
     */
    async changeKey(signal: AbortSignal): Promise<string[]> {
      const key = await keys.change();
      const changed = new Set<string>();
      // What came with the key of before meanwhile is found the next time round.
      for (
        let found = await encryptAgain(signal);
        found.length > 0;
        found = await encryptAgain(signal)
      )
        for (const name of found) changed.add(name);
      await keys.forgetAllBut(key);
      return [...changed];
    },
  };
}

function followerOf(journal: Store, name: string): () => Promise<Latest> {
  return createFollower<Latest>(
    journal,
    keyOf(name),
    () => ({ version: 0, sealed: undefined }),
    (state, entry) => {
      if (entry.kind !== "secret") return;
      state.version += 1;
      state.sealed = { key: entry.key, data: entry.data };
    },
  );
}

/** Undefined where nothing is kept yet: there is nothing to take turns at. */
async function leaseOf(
  journal: Store,
  key: JournalKey,
  signal: AbortSignal,
): Promise<Lease | undefined> {
  for (;;) {
    const granted = await journal.lease(key, LEASE_MS);
    if (granted !== undefined || !(await journal.has(key))) return granted?.lease;
    await wait(LOOK_MS, undefined, { signal });
  }
}

async function release(journal: Store, lease: Lease, last: number): Promise<void> {
  const reply = await journal.release(lease, last);
  if (reply.kind === "unseen") await journal.release(lease, reply.unseen.at(-1)?.seq ?? last);
}

async function namesIn(journal: Store, prefix = ""): Promise<string[]> {
  const found: string[] = [];
  for await (const { key } of journal.list({ prefix: PREFIX + prefix }))
    found.push(key.slice(PREFIX.length));
  return found.toSorted();
}

function keyOf(name: string): JournalKey {
  return `${PREFIX}${name}`;
}

function contextOf(name: string, version: number, { id }: SecretKey): Buffer {
  return Buffer.from(JSON.stringify(["secret", name, version, id]));
}

const IV_BYTES = 12;
const TAG_BYTES = 16;

function seal({ bytes }: SecretKey, text: string, context: Buffer): string {
  const iv = randomBytes(IV_BYTES);
  const cipher = createCipheriv("aes-256-gcm", bytes, iv).setAAD(context);
  const body = Buffer.concat([cipher.update(text, "utf8"), cipher.final()]);
  return Buffer.concat([iv, cipher.getAuthTag(), body]).toString("base64url");
}

/** @throws BotError JOURNAL_ALTERED */
function open({ bytes }: SecretKey, data: string, context: Buffer): string {
  const whole = Buffer.from(data, "base64url");
  const [iv, tag] = [whole.subarray(0, IV_BYTES), whole.subarray(IV_BYTES, IV_BYTES + TAG_BYTES)];
  try {
    const options = { authTagLength: TAG_BYTES };
    const decipher = createDecipheriv("aes-256-gcm", bytes, iv, options).setAAD(context);
    decipher.setAuthTag(tag);
    const body = decipher.update(whole.subarray(IV_BYTES + TAG_BYTES));
    return Buffer.concat([body, decipher.final()]).toString("utf8");
  } catch (error) {
    const text = "A stored secret was altered outside this program. Log in again.";
    throw new BotError("JOURNAL_ALTERED", text, { cause: error });
  }
}
