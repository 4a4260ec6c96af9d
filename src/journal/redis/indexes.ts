import type { JournalKey } from "../../core/journal-key.ts";
import { type JournalSummary, MAX_IDLE_MS } from "../journal.ts";
import { beatOf, type HostBeat } from "../../core/host-beat.ts";
import { evaluate } from "./connection.ts";
import { dueIn, hashOf, HOSTS, hostsIn, listIn, TAGS } from "./layout.ts";
import * as scripts from "./scripts.ts";
import type { Opened } from "./verbs.ts";

export const PAGE = 64;

type Indexed = Pick<Opened, "main" | "time" | "isOurs">;

async function clock({ main, time }: Indexed): Promise<number> {
  const given = time();
  if (given !== "") return Number(given);
  const [seconds, micros] = await main.ask((client) => client.time());
  return Number(seconds) * 1_000 + Math.floor(Number(micros) / 1_000);
}

/** Records a beat of `host`, if one is given, and says which hosts have beaten. */
export async function beats(
  { main, time }: Indexed,
  host = "",
): Promise<{ now: number; hosts: HostBeat[] }> {
  const given = [time(), host, String(MAX_IDLE_MS)];
  const reply = await main.ask((client) => evaluate(client, scripts.BEAT, [HOSTS], given));
  const [said, pairs] = reply as [string, string[]];
  const now = Number(said);
  const hosts = pairs.flatMap((name, i) =>
    i % 2 === 0 ? [beatOf(name, Number(pairs[i + 1]), now)] : [],
  );
  return { now, hosts: hosts.toSorted((a, b) => (a.host < b.host ? -1 : 1)) };
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

export async function* list(store: Indexed, prefix: string): AsyncIterable<JournalSummary> {
  const found = await store.main.ask((client) =>
    Promise.all(TAGS.map((tag) => client.zRangeWithScores(listIn(tag), 0, -1))),
  );
  const newestFirst = found
    .flat()
    .filter(({ value }) => value.startsWith(prefix))
    .toSorted((a, b) => b.score - a.score);
  const now = await clock(store);
  for (let i = 0; i < newestFirst.length; i += PAGE) {
    const page = newestFirst.slice(i, i + PAGE).map(({ value }) => value as JournalKey);
    const rows = await store.main.ask((client) =>
      Promise.all(page.map((key) => client.hGetAll(hashOf(key)))),
    );
    for (const [j, key] of page.entries()) {
      const { last, lastAt, dueAt, token } = rows[j] ?? {};
      const at = dueAt === undefined ? undefined : Number(dueAt);
      const leased = token !== undefined && at !== undefined && now < at;
      yield { key, last: Number(last ?? 0), lastAt: Number(lastAt ?? 0), dueAt: at, leased, now };
    }
  }
}
