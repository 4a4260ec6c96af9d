import { DatabaseSync } from "node:sqlite";
import { setTimeout as pause } from "node:timers/promises";
import type { AppendKind, Draft } from "../../src/core/entry.ts";
import { BotError } from "../../src/core/errors.ts";
import type { JournalKey } from "../../src/core/journal-key.ts";
import {
  type AppendReply,
  type Journal,
  knownOf,
  type Lease,
  type Position,
} from "../../src/journal/journal.ts";
import { type StoredEntry } from "../../src/core/entry.ts";
import type { Trap } from "./plan.ts";
import type { Random } from "./random.ts";
import type { Witness } from "./witness.ts";

/** Called wherever a worker could die; kills or freezes the process when its trap is there. */
export type Cross = (point: string) => void;

/** The signal arrives before `cross` returns: a process that kills itself does nothing more. `cutPower`: nor does its machine. */
export function createCross(traps: readonly Trap[], witness: Witness, cutPower: () => void): Cross {
  let next = 0;
  let crossings = 0;
  return (point) => {
    const trap = traps[next];
    if (trap === undefined || trap.point !== point) return;
    crossings += 1;
    if (crossings < trap.crossing) return;
    next += 1;
    crossings = 0;
    const { signal } = trap;
    if (signal === "power") cutPower();
    witness.see({ what: "trap", point, signal });
    process.kill(process.pid, signal === "power" ? "SIGKILL" : signal);
  };
}

/** The same journal with a point before and after every verb that writes, and its leases in the witness's sight. */
export function trapJournal(journal: Journal, cross: Cross, witness: Witness): Journal {
  async function around<T>(point: string, ask: () => Promise<T>): Promise<T> {
    cross(`before:${point}`);
    const reply = await ask();
    cross(`after:${point}`);
    return reply;
  }
  return {
    ...journal,
    post: (key, draft) => around(`post:${draft.kind}`, () => journal.post(key, draft)),
    putArtifact: (key, bytes) => around("artifact", () => journal.putArtifact(key, bytes)),
    reserve: (counter, amount, limit) =>
      around("reserve", () => journal.reserve(counter, amount, limit)),
    commitReservation: (reservation, actual) =>
      around("booked", () => journal.commitReservation(reservation, actual)),
    renew: (lease) => around("renew", () => journal.renew(lease)),
    async lease(key, ttlMs) {
      cross("before:lease");
      const granted = await journal.lease(key, ttlMs);
      if (granted === undefined) return undefined;
      witness.see({ what: "held", key, since: granted.now });
      cross("after:lease");
      return granted;
    },
    async append(lease, after, drafts, options) {
      const point = `append:${drafts[0]?.kind}`;
      const reply = await around(point, () => journal.append(lease, after, drafts, options));
      if (reply.kind === "fenced") witness.see({ what: "fenced", key: lease.key });
      return reply;
    },
    async release(lease, after, dueAt, host) {
      cross("before:release");
      const reply = await journal.release(lease, after, dueAt, host);
      if (reply.kind === "ok") witness.see({ what: "dropped", key: lease.key });
      if (reply.kind === "fenced") witness.see({ what: "fenced", key: lease.key });
      cross("after:release");
      return reply;
    },
  };
}

/** The same journal, of which a share of the requests fails: half of them never arrive, of half the reply is lost. */
export function loseSome(journal: Journal, share: number, random: Random): Journal {
  if (share === 0) return journal;
  async function maybe<T>(ask: () => Promise<T>): Promise<T> {
    const fate = random() / share;
    if (fate < 0.5) throw new BotError("STORE_UNAVAILABLE", "The request to the store was lost.");
    const reply = await ask();
    if (fate < 1) throw new BotError("STORE_UNAVAILABLE", "The store's reply was lost.");
    return reply;
  }
  return {
    ...journal,
    read: (key, after) => maybe(() => journal.read(key, after)),
    post: (key, draft) => maybe(() => journal.post(key, draft)),
    lease: (key, ttlMs) => maybe(() => journal.lease(key, ttlMs)),
    renew: (lease) => maybe(() => journal.renew(lease)),
    append: (lease, after, drafts, options) =>
      maybe(() => journal.append(lease, after, drafts, options)),
    release: (lease, after, dueAt, host) => maybe(() => journal.release(lease, after, dueAt, host)),
    flush: (key, after) => maybe(() => journal.flush(key, after)),
    putArtifact: (key, bytes) => maybe(() => journal.putArtifact(key, bytes)),
    reserve: (counter, amount, limit) => maybe(() => journal.reserve(counter, amount, limit)),
    used: (counter) => maybe(() => journal.used(counter)),
    commitReservation: (reservation, actual) =>
      maybe(() => journal.commitReservation(reservation, actual)),
  };
}

type Append = Parameters<Journal["append"]>;
type Break = (journal: Journal, path: string) => Journal;

/** Stores that break one promise of the port, each as a person might get it wrong. Every one must be caught. */
export const BUGS = {
  "write-ahead off": writeBehind,
  "token check off": withoutTokens,
  "dedupe off": withoutDedupe,
  "decisions unchecked": withoutAfter,
  "release unchecked": hastyRelease,
  "started writes run again": rerun,
  "unknown untold": silent,
  "turns asked again": forgetTurns,
  "Stops unheard": deafToStops,
  // The rest of it is in `people.ts`.
  "acknowledged unflushed": (journal) => journal,
  "begun unflushed": (journal) => withoutFlush(journal, (newest) => newest === "tool_started"),
  "shown unflushed": (journal) =>
    withoutFlush(journal, (newest) => newest !== "tool_started" && newest !== "tool_finished"),
} satisfies Record<string, Break>;

export type Bug = keyof typeof BUGS;

export function isBug(name: string): name is Bug {
  return Object.hasOwn(BUGS, name);
}

/** How long the broken stores dawdle where a fast one would make the window too small to hit. */
const DAWDLE_MS = 100;

/**
 * Acknowledges the start of a write at once and stores it a while later, also when it is asked to flush it. It does not
 * compare what its callers know with what is there, or they would notice.
 */
function writeBehind(journal: Journal): Journal {
  const writing = new Map<JournalKey, Promise<AppendReply>>();
  const last = (after: Position) => knownOf(after).last;
  return {
    ...journal,
    async read(key, after = 0) {
      await writing.get(key);
      return journal.read(key, last(after));
    },
    async release(lease, after, dueAt, host) {
      await writing.get(lease.key);
      return journal.release(lease, last(after), dueAt, host);
    },
    flush: async () => "ok",
    async append(lease, after, drafts, options) {
      const [first] = drafts;
      await writing.get(lease.key);
      if (first?.kind !== "tool_started" || first.effect === "read") {
        return journal.append(lease, last(after), drafts, options);
      }
      const start: Append = [lease, last(after), drafts, options];
      writing.set(
        lease.key,
        pause(DAWDLE_MS * 2).then(() => insist(journal, start)),
      );
      const now = Date.now();
      return { kind: "ok", unseen: [{ ...first, seq: last(after) + 1, at: now }], now };
    },
  };
}

/** Any worker may write, whoever has the lease: its token is put in the place of the stored one for as long as it takes. */
function withoutTokens(journal: Journal, path: string): Journal {
  const db = new DatabaseSync(path, { timeout: 2_000 });
  const read = db.prepare("SELECT token FROM journal WHERE key = ?");
  const write = db.prepare("UPDATE journal SET token = ? WHERE key = ?");
  async function as<T>({ key, token }: Lease, ask: () => Promise<T>): Promise<T> {
    const stored = read.get(key)?.["token"];
    if (stored === token) return ask();
    write.run(token, key);
    try {
      return await ask();
    } finally {
      write.run(typeof stored === "string" ? stored : null, key);
    }
  }
  return {
    ...journal,
    renew: (lease) => as(lease, () => journal.renew(lease)),
    append: (lease, after, drafts, options) =>
      as(lease, () => journal.append(lease, after, drafts, options)),
  };
}

/** Takes everything said twice for two things. The parent's posts are broken alike, see `people.ts`. */
function withoutDedupe(journal: Journal): Journal {
  let appends = 0;
  return {
    ...journal,
    append: (lease, after, drafts, options) => {
      appends += 1;
      const anew = drafts.map((draft) => ({
        ...draft,
        id: `${draft.id}#${process.pid}.${appends}`,
      }));
      return journal.append(lease, after, anew, options);
    },
  };
}

/** Writes decisions that were taken without knowing of the newest posts. */
function withoutAfter(journal: Journal): Journal {
  return {
    ...journal,
    async append(lease, after, drafts, options) {
      if (drafts[0]?.kind === "tool_started") await pause(DAWDLE_MS);
      return insist(journal, [lease, after, drafts, options]);
    },
  };
}

async function insist(
  journal: Journal,
  [lease, after, drafts, options]: Append,
): Promise<AppendReply> {
  const missed: StoredEntry[] = [];
  for (let last = after; ;) {
    const reply = await journal.append(lease, last, drafts, options);
    if (reply.kind === "ok") return { ...reply, unseen: [...missed, ...reply.unseen] };
    if (reply.kind !== "unseen") return reply;
    missed.push(...reply.unseen);
    last = missed.at(-1)?.seq ?? last;
  }
}

/** Gives a lease back even though something was posted that the holder has not seen. */
function hastyRelease(journal: Journal): Journal {
  return {
    ...journal,
    async release(lease, after, dueAt) {
      await pause(DAWDLE_MS);
      const reply = await journal.release(lease, after, dueAt);
      if (reply.kind !== "unseen") return reply;
      return journal.release(lease, reply.unseen.at(-1)?.seq ?? after, dueAt);
    },
  };
}

/** Takes every interrupted call for a read, which is simply run again. */
function rerun(journal: Journal): Journal {
  const asRead = (entry: StoredEntry): StoredEntry =>
    entry.kind === "tool_started" ? { ...entry, effect: "read" } : entry;
  return {
    ...journal,
    read: async (key, after) => (await journal.read(key, after)).map(asRead),
  };
}

/** Forgets to ask people about unknown outcomes. */
function silent(journal: Journal): Journal {
  const kept = (draft: Draft<AppendKind>) => draft.kind !== "notice" || draft.settles === undefined;
  return {
    ...journal,
    append: (lease, after, drafts, options) =>
      journal.append(lease, after, drafts.filter(kept), options),
  };
}

/** Loses the reply to each turn of a model's, and takes what is then written again for another turn. */
function forgetTurns(journal: Journal): Journal {
  let turns = 0;
  return {
    ...journal,
    async append(lease, after, drafts, options) {
      if (drafts[0]?.kind !== "assistant") return journal.append(lease, after, drafts, options);
      turns += 1;
      const anew = drafts.map((draft) => ({ ...draft, id: `${draft.id}#${process.pid}.${turns}` }));
      const reply = await journal.append(lease, after, anew, options);
      if (turns % 2 === 0) return reply;
      throw new BotError("STORE_UNAVAILABLE", "The store's reply was lost.");
    },
  };
}

/** Has no barrier where the newest entry that was written of a journal is of these kinds. */
function withoutFlush(journal: Journal, isLeftOut: (newest: AppendKind) => boolean): Journal {
  const newest = new Map<JournalKey, AppendKind>();
  return {
    ...journal,
    append(lease, after, drafts, options) {
      for (const { kind } of drafts) newest.set(lease.key, kind);
      return journal.append(lease, after, drafts, options);
    },
    async flush(key, after) {
      const kind = newest.get(key);
      return kind !== undefined && isLeftOut(kind) ? "ok" : journal.flush(key, after);
    },
  };
}

/** Shows no Stop to whoever asks a model or runs what it called. */
function deafToStops(journal: Journal): Journal {
  const deaf = (entry: StoredEntry): StoredEntry => {
    if (entry.kind !== "stop") return entry;
    const { seq, at, head, id } = entry;
    return { seq, at, ...(head !== undefined && { head }), id, kind: "timer", action: "none" };
  };
  return {
    ...journal,
    read: async (key, after) => (await journal.read(key, after)).map(deaf),
    async append(lease, after, drafts, options) {
      const reply = await journal.append(lease, after, drafts, options);
      if (reply.kind !== "ok" && reply.kind !== "unseen") return reply;
      return { ...reply, unseen: reply.unseen.map(deaf) };
    },
  };
}
