import { randomBytes } from "node:crypto";
import { asksForWork, type Draft, type StoredEntry } from "../../src/core/entry.ts";
import { checkDraft } from "../../src/core/entry-codec.ts";
import { beatOf, HOST_GONE_MS } from "../../src/core/host-beat.ts";
import type { JournalKey } from "../../src/core/journal-key.ts";
import { inPages } from "../../src/core/pages.ts";
import { type Backend, createJournal, type ReadBackend } from "../../src/journal/create.ts";
import { areFacts } from "../../src/journal/entries.ts";
import {
  type Journal,
  type JournalSummary,
  type Known,
  type Lease,
  MAX_IDLE_MS,
  PAGE,
  type Reservation,
} from "../../src/journal/journal.ts";
import { lostEntries } from "../../src/journal/seal.ts";
import { dropsSnapshot, type Snapshot } from "../../src/journal/snapshot.ts";
import { openJournals } from "./open-journals.ts";

/** While a token is there, `dueAt` is the lease's end. */
interface Kept {
  readonly key: JournalKey;
  readonly entries: StoredEntry[];
  readonly ids: Map<string, StoredEntry>;
  readonly artifacts: Map<string, Uint8Array>;
  lastAt: number;
  changed: number;
  token: string | undefined;
  attempts: number;
  dueAt: number | undefined;
  host: string | undefined;
  snapshot?: Snapshot | undefined;
  /** What was left for lists, and after which entry. */
  listed: { last: number; text: string } | undefined;
}

interface Counter {
  used: number;
  at: number;
}

/** What the handles on one store share. */
interface Memory {
  readonly journals: Map<JournalKey, Kept>;
  /** Those that are due at some time, or for some host. */
  readonly owed: Set<Kept>;
  readonly hosts: Map<string, number>;
  readonly counters: Map<string, Counter>;
  readonly reservations: Map<string, Reservation>;
  /** Counts writes. */
  version: number;
  /** The last change's place in the order of changes. */
  changed: number;
  readonly now: () => number;
  /** Everything so far outlives the machine. */
  readonly flushed: () => void;
}

interface MemoryOptions {
  now?: () => number;
  /** Told of each flush. */
  flushed?: () => void;
}

/** Everything that is kept; the entries themselves never change. */
function copyOf(memory: Memory): Memory {
  const { journals, hosts, counters, reservations } = memory;
  const copies = [...journals.values()].map((kept) => ({
    ...kept,
    entries: [...kept.entries],
    ids: new Map(kept.ids),
    artifacts: new Map(kept.artifacts),
  }));
  return {
    ...memory,
    journals: new Map(copies.map((kept) => [kept.key, kept])),
    owed: new Set(copies.filter(({ dueAt, host }) => dueAt !== undefined || host !== undefined)),
    hosts: new Map(hosts),
    counters: new Map([...counters].map(([name, counter]) => [name, { ...counter }])),
    reservations: new Map(reservations),
  };
}

/**
 * A store that lives and ends with its process, for tests and benchmarks. What it hands out is what was handed in, not a copy.
 * A head is a mere name here, since nobody else can reach the entries.
 */
export function createMemory({ now = Date.now, flushed = () => {} }: MemoryOptions = {}) {
  return over({
    journals: new Map(),
    owed: new Set(),
    hosts: new Map(),
    counters: new Map(),
    reservations: new Map(),
    version: 0,
    changed: 0,
    now,
    flushed,
  });
}

function over(memory: Memory) {
  return {
    open: (): Journal => createJournal(backendOf(memory)),
    /** A store that has what this one has now. */
    copy: () => over(copyOf(memory)),
  };
}

export function openMemoryJournal(options: MemoryOptions = {}): Journal {
  return createMemory(options).open();
}

const lastOf = ({ entries }: Kept) => entries.length;

/** Its clock never runs backwards, unlike the one that leases go by. */
const clockOf = ({ now }: Memory, kept: Kept) => Math.max(now(), kept.lastAt);

function openKept({ journals, now }: Memory, key: JournalKey): Kept {
  const found = journals.get(key);
  if (found !== undefined) return found;
  const kept: Kept = {
    key,
    entries: [],
    ids: new Map(),
    artifacts: new Map(),
    lastAt: now(),
    changed: 0,
    token: undefined,
    attempts: 0,
    dueAt: undefined,
    host: undefined,
    listed: undefined,
  };
  journals.set(key, kept);
  return kept;
}

function heldBy({ journals }: Memory, { key, token }: Lease): Kept | undefined {
  const kept = journals.get(key);
  return kept?.token === token ? kept : undefined;
}

function isThere({ entries }: Kept, { last, head }: Known): boolean {
  if (last > entries.length) return false;
  return head === undefined || last === 0 || entries[last - 1]?.head === head;
}

/** The drafts are checked before any of them is written. */
function write(memory: Memory, kept: Kept, drafts: readonly Draft[]): StoredEntry[] {
  for (const draft of drafts) checkDraft(draft);
  const at = clockOf(memory, kept);
  const written = drafts.map((draft): StoredEntry => {
    memory.version += 1;
    const entry = { seq: kept.entries.length + 1, at, head: `${memory.version}`, ...draft };
    kept.entries.push(entry);
    kept.ids.set(draft.id, entry);
    return entry;
  });
  kept.lastAt = at;
  kept.changed = memory.changed = Math.max(at, memory.changed + 1);
  return written;
}

/** Who holds the journal, and when it is next due, for which host. */
function hold(
  { owed }: Memory,
  kept: Kept,
  held: Pick<Kept, "token" | "dueAt" | "attempts"> & { host?: string | undefined },
): void {
  const { host } = held;
  Object.assign(kept, { ...held, host });
  if (kept.dueAt === undefined && host === undefined) owed.delete(kept);
  else owed.add(kept);
}

function isDueFor({ hosts, now }: Memory, { dueAt, host }: Kept, asked: string): boolean {
  const time = now();
  if (dueAt !== undefined && dueAt <= time) return true;
  if (host === undefined) return false;
  return host === asked || (hosts.get(host) ?? -Infinity) <= time - HOST_GONE_MS;
}

function summaryOf(kept: Kept, now: number): JournalSummary {
  const { key, entries, lastAt, changed, dueAt, token } = kept;
  const leased = token !== undefined && dueAt !== undefined && now < dueAt;
  return {
    key,
    last: lastOf(kept),
    head: entries.at(-1)?.head,
    lastAt,
    changed,
    dueAt,
    leased,
    now,
  };
}

/** For who only looks. */
function readsOf(memory: Memory): Omit<ReadBackend, "close"> {
  const { journals, hosts, now } = memory;
  const byChange = (prefix: string) =>
    [...journals.values()]
      .filter(({ key }) => key.startsWith(prefix))
      .toSorted((a, b) => a.changed - b.changed);
  const dueIn = ({ dueAt }: Kept) => dueAt ?? Infinity;
  return {
    async read(key, known) {
      const kept = journals.get(key);
      if (kept === undefined && known.last === 0) return [];
      if (kept === undefined || !isThere(kept, known)) throw lostEntries(key);
      const entries: StoredEntry[] = [];
      for await (const page of inPages(kept.entries.slice(known.last))) entries.push(...page);
      return entries;
    },
    lastOf: async (keys) => keys.map((key) => journals.get(key)?.entries.length ?? 0),
    async hosts() {
      const names = [...hosts].toSorted(([a], [b]) => (a < b ? -1 : 1));
      return names.map(([name, at]) => beatOf(name, at, now()));
    },
    summary: async (key) => {
      const kept = journals.get(key);
      return kept === undefined || kept.entries.length === 0 ? undefined : summaryOf(kept, now());
    },
    async *list(prefix, since) {
      for (const kept of byChange(prefix).toReversed())
        if (kept.changed >= since) yield summaryOf(kept, now());
    },
    async *owed(prefix) {
      const found = [...memory.owed].filter(({ key }) => key.startsWith(prefix));
      for (const kept of found.toSorted((a, b) => dueIn(a) - dueIn(b))) {
        const { listed } = kept;
        const isOfNow = listed?.last === lastOf(kept);
        yield { ...summaryOf(kept, now()), ...(isOfNow && { listed: listed.text }) };
      }
    },
    async changes(transport, mark = "0") {
      const all = byChange(`${transport}:`);
      const since = all.filter(({ changed }) => changed >= Number(mark));
      const restarted = since.length === 0 && mark !== "0";
      const found = (restarted ? all : since).slice(0, PAGE);
      return {
        changed: found.map((kept) => summaryOf(kept, now())),
        mark: `${found.at(-1)?.changed ?? 0}`,
        more: found.length === PAGE,
        restarted,
      };
    },
    getArtifact: async (key, id, start, end) =>
      journals.get(key)?.artifacts.get(id)?.slice(start, end),
    check: async () => undefined,
  };
}

/** Writing entries, and the right to. */
function verbsOf(memory: Memory): Pick<Backend, "post" | "lease" | "renew" | "append" | "release"> {
  const { journals, now } = memory;
  return {
    async post(key, draft) {
      const kept = journals.get(key);
      const known = kept?.ids.get(draft.id);
      if (known !== undefined) return { entry: known, duplicate: true };
      checkDraft(draft);
      const open = openKept(memory, key);
      const time = now();
      const [entry] = write(memory, open, [draft]);
      if (dropsSnapshot(draft)) open.snapshot = undefined;
      if (entry === undefined) throw new TypeError("nothing was written");
      if (asksForWork(draft)) {
        const { token } = open;
        hold(memory, open, {
          token,
          dueAt: token === undefined ? time : open.dueAt,
          attempts: 0,
        });
      }
      return { entry, duplicate: false };
    },
    async lease(key, ttlMs) {
      const kept = journals.get(key);
      if (kept === undefined) return undefined;
      const time = now();
      const { token: holder, dueAt } = kept;
      if (holder !== undefined && dueAt !== undefined && time < dueAt) return undefined;
      const token = randomBytes(12).toString("base64url");
      const attempts = kept.attempts + 1;
      hold(memory, kept, { token, dueAt: time + ttlMs, attempts });
      return { lease: { key, token, ttlMs }, attempts, last: lastOf(kept), now: time };
    },
    async renew(lease) {
      const kept = heldBy(memory, lease);
      if (kept === undefined) return { kind: "fenced" };
      const time = now();
      const { token, attempts } = kept;
      hold(memory, kept, { token, dueAt: time + lease.ttlMs, attempts });
      return { kind: "ok", last: lastOf(kept), now: time };
    },
    async append(lease, known, drafts, before, ifLast) {
      const facts = areFacts(drafts) && !ifLast;
      const kept = heldBy(memory, lease);
      if (kept === undefined) return { kind: "fenced" };
      if (!isThere(kept, known)) return { kind: "lost" };
      const time = clockOf(memory, kept);
      const missing = drafts.filter(({ id }) => !kept.ids.has(id));
      if (missing.length > 0) {
        if (before !== undefined && time >= before) return { kind: "late", now: time };
        if (!facts && lastOf(kept) !== known.last) {
          return { kind: "unseen", unseen: kept.entries.slice(known.last), now: time };
        }
        write(memory, kept, missing);
      }
      return { kind: "ok", unseen: kept.entries.slice(known.last), now: time };
    },
    async release(lease, known, dueAt, host, listed) {
      const kept = heldBy(memory, lease);
      if (kept === undefined) return { kind: "fenced" };
      if (!isThere(kept, known)) return { kind: "lost" };
      if (lastOf(kept) !== known.last) {
        return { kind: "unseen", unseen: kept.entries.slice(known.last) };
      }
      hold(memory, kept, { token: undefined, dueAt, attempts: 0, host });
      kept.listed = listed === undefined ? undefined : { last: known.last, text: listed };
      return { kind: "ok" };
    },
  };
}

function countersOf({
  counters,
  reservations,
  now,
}: Memory): Pick<Backend, "setAside" | "used" | "settle"> {
  return {
    async setAside(made, limit) {
      const { counter, amount } = made;
      const used = (counters.get(counter)?.used ?? 0) + amount;
      if (used > limit) return false;
      counters.set(counter, { used, at: now() });
      reservations.set(made.id, made);
      return true;
    },
    used: async (counter) => counters.get(counter)?.used ?? 0,
    async settle({ id }, actual) {
      const made = reservations.get(id);
      const counter = made && counters.get(made.counter);
      if (made === undefined || counter === undefined) return;
      reservations.delete(id);
      counter.used += actual - made.amount;
      counter.at = now();
    },
  };
}

function backendOf(memory: Memory): Backend {
  const { journals, owed, hosts, now } = memory;
  const handle = {};
  openJournals.add(handle);
  let seen = -1;
  return {
    ...readsOf(memory),
    ...verbsOf(memory),
    ...countersOf(memory),
    async size() {
      const kept = [...journals.values()].map(({ entries }) => JSON.stringify(entries));
      return { bytes: kept.join("").length, left: undefined };
    },
    async flush(key, known) {
      const kept = journals.get(key);
      if (kept === undefined ? known.last > 0 : !isThere(kept, known)) return "lost";
      memory.flushed();
      return "ok";
    },
    async flushReservation({ id }) {
      if (!memory.reservations.has(id)) return "lost";
      memory.flushed();
      return "ok";
    },
    look(keys) {
      if (memory.version === seen) return undefined;
      seen = memory.version;
      return keys.map((key) => journals.get(key)?.entries.length ?? 0);
    },
    async getSnapshot(key) {
      const kept = journals.get(key);
      return kept?.snapshot !== undefined && isThere(kept, kept.snapshot)
        ? kept.snapshot
        : undefined;
    },
    async keepSnapshot(key, snapshot) {
      const kept = journals.get(key);
      const isEnd = kept?.entries.at(-1)?.head === snapshot.head;
      if (kept !== undefined && isEnd && lastOf(kept) === snapshot.last)
        kept.snapshot = { ...snapshot, bytes: Uint8Array.from(snapshot.bytes) };
    },
    async *due(host = "") {
      const found = [...owed].filter((kept) => isDueFor(memory, kept, host));
      const soonest = (a: Kept, b: Kept) => (a.dueAt ?? -Infinity) - (b.dueAt ?? -Infinity);
      for (const { key } of found.toSorted(soonest)) yield key;
    },
    async beat(host) {
      hosts.set(host, now());
      for (const [name, at] of hosts) if (at < now() - MAX_IDLE_MS) hosts.delete(name);
    },
    async putArtifact(key, id, bytes) {
      const { artifacts } = openKept(memory, key);
      if (!artifacts.has(id)) artifacts.set(id, Uint8Array.from(bytes));
    },
    close: async () => void openJournals.delete(handle),
  };
}
