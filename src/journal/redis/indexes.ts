import type { JournalKey } from "../../core/journal-key.ts";
import { type Changes, type JournalSummary, MAX_IDLE_MS, PAGE } from "../journal.ts";
import { beatOf, HOST_GONE_MS, type HostBeat } from "../../core/host-beat.ts";
import { evaluate, type RedisClient } from "./connection.ts";
import { checkListed } from "./entries.ts";
import { dueIn, hashOf, HOSTS, hostsIn, indexOf, listIn, READERS, TAGS } from "./layout.ts";
import * as scripts from "./scripts.ts";
import type { Opened } from "./verbs.ts";

type Indexed = Pick<Opened, "main" | "time" | "isOurs" | "form">;

/**
 * Records a beat of `host`, if one is given, and says which hosts have beaten. `readFor`: for so many ms each of them was a
 * program's that reads tuples, while the store is shared with others.
 */
export async function beats(
  { main, time, form }: Indexed,
  host = "",
): Promise<{ now: number; hosts: HostBeat[]; readFor?: number }> {
  const isShared = host !== "" && form() === "object";
  const given = [time(), host, String(MAX_IDLE_MS), isShared ? String(HOST_GONE_MS) : ""];
  const keys = [HOSTS, READERS];
  const reply = await main.ask((client) => evaluate(client, scripts.BEAT, keys, given));
  const [said, pairs, readFor] = reply as [string, string[], string];
  const now = Number(said);
  const hosts = pairs.flatMap((name, i) =>
    i % 2 === 0 ? [beatOf(name, Number(pairs[i + 1]), now)] : [],
  );
  return {
    now,
    hosts: hosts.toSorted((a, b) => (a.host < b.host ? -1 : 1)),
    ...(isShared && { readFor: Number(readFor) }),
  };
}

export async function* due(store: Indexed, host: string | undefined): AsyncIterable<JournalKey> {
  const { now, hosts } = await beats(store);
  const [, found, waiting] = await store.main.ask((client) =>
    Promise.all([
      store.isOurs(client),
      Promise.all(
        TAGS.map((tag) => client.zRangeWithScores(dueIn(tag), "-inf", now, { BY: "SCORE" })),
      ),
      Promise.all(TAGS.map((tag) => client.hGetAll(hostsIn(tag)))),
    ]),
  );
  const there = new Set(hosts.flatMap((each) => (each.gone ? [] : [each.host])));
  const keys = new Set<string>();
  for (const [key, waitsFor] of waiting.flatMap((each) => Object.entries(each))) {
    if (waitsFor === host || !there.has(waitsFor)) keys.add(key);
  }
  const oldestFirst = found.flat().toSorted((a, b) => a.score - b.score);
  for (const { value } of oldestFirst) keys.add(value);
  for (const key of keys) yield key as JournalKey;
}

/** Lists over the partitions' indexes: these are read in pages and merged, and only what is wanted is looked up. */

type Listed = Pick<Opened, "main" | "time" | "signer">;

interface Item {
  readonly value: string;
  readonly score: number;
}

/** How an index is read: up to `limit` items of a partition from a score on, and which of two comes first. */
interface Order {
  fetch(client: RedisClient, tag: string, from: number, limit: number): Promise<Item[]>;
  compare(a: Item, b: Item): number;
}

const rising = (a: Item, b: Item) => a.score - b.score || (a.value < b.value ? -1 : 1);

const newest: Order = {
  fetch: (client, tag, from, count) =>
    client.zRangeWithScores(listIn(tag), from, "-inf", {
      BY: "SCORE",
      REV: true,
      LIMIT: { offset: 0, count },
    }),
  compare: (a, b) => rising(b, a),
};

const soonest: Order = {
  fetch: (client, tag, from, count) =>
    client.zRangeWithScores(dueIn(tag), from, "+inf", { BY: "SCORE", LIMIT: { offset: 0, count } }),
  compare: rising,
};

/** One partition's items, as far as they were read. */
interface Stream {
  readonly tag: string;
  items: Item[];
  /** The last one that was read. */
  last: Item | undefined;
  /** How many of those that were read have its score. */
  ties: number;
  ended: boolean;
}

/** A partition's items that are read at once: few to begin with, as most who ask want the first ones. */
const [FEW, MANY] = [4, 64];

/** The items of all partitions in order, beginning `from` a score. */
async function* merged({ main }: Listed, order: Order, from: number): AsyncIterable<Item> {
  const streams = TAGS.map((tag): Stream => ({
    tag,
    items: [],
    last: undefined,
    ties: 0,
    ended: false,
  }));
  for (let size = FEW; ; size = Math.min(MANY, size * 2)) {
    // Beside what has run out, what soon will.
    const short = streams.filter(({ items, ended }) => !ended && items.length * 2 < size);
    const pages = await main.ask((client) =>
      Promise.all(
        short.map(({ tag, last, ties }) =>
          order.fetch(client, tag, last?.score ?? from, ties + size),
        ),
      ),
    );
    for (const [i, stream] of short.entries()) take(stream, pages[i] ?? [], size, order);
    while (streams.every(({ items, ended }) => ended || items.length > 0)) {
      const item = firstOf(streams, order);
      if (item === undefined) return;
      yield item;
    }
  }
}

/** Those of the last one's score come again, as others of it may have come or gone. */
function take(stream: Stream, page: readonly Item[], size: number, { compare }: Order): void {
  const { last } = stream;
  const fresh = last === undefined ? page : page.filter((item) => compare(last, item) < 0);
  stream.ended = page.length < stream.ties + size;
  stream.items.push(...fresh);
  stream.last = fresh.at(-1) ?? last;
  stream.ties = page.filter(({ score }) => score === stream.last?.score).length;
}

function firstOf(streams: readonly Stream[], { compare }: Order): Item | undefined {
  let [best, from]: [Item | undefined, Stream | undefined] = [undefined, undefined];
  for (const stream of streams) {
    const [item] = stream.items;
    if (item === undefined || (best !== undefined && compare(item, best) > 0)) continue;
    [best, from] = [item, stream];
  }
  from?.items.shift();
  return best;
}

const FIELDS = ["last", "lastAt", "dueAt", "token", "head"] as const;

/** Looks up journals by their keys, with what was left for lists or without. */
async function summariesOf(
  { main, time, signer }: Listed,
  keys: readonly JournalKey[],
  withListed = false,
): Promise<JournalSummary[]> {
  if (keys.length === 0) return [];
  const given = time();
  const [clock, rows, places] = await main.ask((client) =>
    Promise.all([
      given === "" ? client.time() : undefined,
      Promise.all(
        keys.map((key) =>
          client.hmGet(hashOf(key), [...FIELDS, ...(withListed ? ["listed"] : [])]),
        ),
      ),
      Promise.all(keys.map((key) => client.zScore(indexOf(key), key))),
    ]),
  );
  const [seconds, micros] = clock ?? [];
  const now =
    clock === undefined
      ? Number(given)
      : Number(seconds) * 1_000 + Math.floor(Number(micros) / 1_000);
  return keys.flatMap((key, i) => {
    const [last, lastAt, dueAt, token, head, left] = rows[i] ?? [];
    if (last == null) return [];
    const at = dueAt == null ? undefined : Number(dueAt);
    const end = { last: Number(last), head: head ?? undefined };
    const listed = left == null ? undefined : checkListed(signer, key, end, left);
    return {
      key,
      ...end,
      lastAt: Number(lastAt),
      changed: places[i] ?? Number(lastAt),
      dueAt: at,
      leased: token != null && at !== undefined && now < at,
      now,
      ...(listed !== undefined && { listed }),
    };
  });
}

async function* lookedUp(
  store: Listed,
  items: AsyncIterable<Item>,
  prefix: string,
  withListed = false,
): AsyncIterable<JournalSummary> {
  let page: JournalKey[] = [];
  for await (const { value } of items) {
    if (!value.startsWith(prefix)) continue;
    page.push(value as JournalKey);
    if (page.length < PAGE) continue;
    yield* await summariesOf(store, page, withListed);
    page = [];
  }
  yield* await summariesOf(store, page, withListed);
}

export async function summary(store: Listed, key: JournalKey): Promise<JournalSummary | undefined> {
  const [found] = await summariesOf(store, [key]);
  return found;
}

export async function* list(
  store: Listed,
  prefix: string,
  since: number,
): AsyncIterable<JournalSummary> {
  async function* items() {
    for await (const item of merged(store, newest, Infinity)) {
      if (item.score < since) return;
      yield item;
    }
  }
  yield* lookedUp(store, items(), prefix);
}

export async function* owed(store: Listed, prefix: string): AsyncIterable<JournalSummary> {
  yield* lookedUp(store, merged(store, soonest, -Infinity), prefix, true);
  const waiting = await store.main.ask((client) =>
    Promise.all(TAGS.map((tag) => client.hKeys(hostsIn(tag)))),
  );
  const keys = waiting.flat().filter((key) => key.startsWith(prefix)) as JournalKey[];
  for (let i = 0; i < keys.length; i += PAGE) {
    for (const found of await summariesOf(store, keys.slice(i, i + PAGE), true))
      if (found.dueAt === undefined) yield found;
  }
}

/** A partition's changes that are read at once. */
const CHANGES = 8;

/** A mark is a score for each partition: clocks of partitions that went different ways lose nothing. */
export async function changes(store: Listed, transport: string, mark = ""): Promise<Changes> {
  const given = mark === "" ? [] : mark.split(" ").map(Number);
  const isMark = given.length === TAGS.length && given.every(Number.isFinite);
  const from = isMark ? given : TAGS.map(() => 0);
  const pages = await store.main.ask((client) =>
    Promise.all(TAGS.map((tag, i) => changesIn(client, tag, from[i] ?? 0))),
  );
  // What a mark was made at is among them, or has moved on.
  const isLost = pages.some(({ items }, i) => items.length === 0 && from[i] !== 0);
  if (isLost || (mark !== "" && !isMark)) {
    return { ...(await changes(store, transport)), restarted: true };
  }
  const inOrder = pages.flatMap(({ items }) => items).toSorted(rising);
  const wanted = inOrder.filter(({ value }) => value.startsWith(`${transport}:`));
  return {
    changed: await summariesOf(
      store,
      wanted.map(({ value }) => value as JournalKey),
    ),
    mark: pages.map(({ items }, i) => items.at(-1)?.score ?? from[i]).join(" "),
    more: pages.some(({ more }) => more),
    restarted: false,
  };
}

async function changesIn(
  client: RedisClient,
  tag: string,
  from: number,
): Promise<{ items: Item[]; more: boolean }> {
  for (let count = CHANGES; ; count *= 2) {
    const range = { BY: "SCORE", LIMIT: { offset: 0, count } } as const;
    const items = await client.zRangeWithScores(listIn(tag), from, "+inf", range);
    const more = items.length === count;
    // A page of one moment leads no further.
    if (!more || items.at(-1)?.score !== from) return { items, more };
  }
}
