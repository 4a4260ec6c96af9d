import { crc32 } from "node:zlib";
import type { JournalKey } from "../../core/journal-key.ts";
import type { Reservation } from "../journal.ts";

/** What is in one partition has one Redis Cluster slot, and so may be changed by one script. */
const PARTITIONS = 64;
export const HOSTS = "wk:hosts";
/** Of these, those whose last beat was of a program that reads tuples; in the same slot. */
export const READERS = `{${HOSTS}}:tuples`;

function tagOf(name: string): string {
  return `{wk${crc32(name) % PARTITIONS}}`;
}

export const TAGS = Array.from({ length: PARTITIONS }, (_, i) => `{wk${i}}`);

export const hashOf = (key: JournalKey) => `${tagOf(key)}:journal:${key}`;
const entriesOf = (key: JournalKey) => `${tagOf(key)}:entries:${key}`;
export const artifactOf = (key: JournalKey, id: string) => `${tagOf(key)}:artifact:${id}:${key}`;
export const dueIn = (tag: string) => `${tag}:due`;
export const listIn = (tag: string) => `${tag}:list`;
/** The list that has the journal. */
export const indexOf = (key: JournalKey) => listIn(tagOf(key));
export const hostsIn = (tag: string) => `${tag}:hosts`;

/** The KEYS of every journal script, in its order. */
export function keysOf(key: JournalKey): string[] {
  const tag = tagOf(key);
  return [hashOf(key), entriesOf(key), `${tag}:ids:${key}`, dueIn(tag), listIn(tag), hostsIn(tag)];
}

export function countersOf({ counter, id }: Pick<Reservation, "counter" | "id">): string[] {
  const tag = tagOf(counter);
  return [`${tag}:counter:${counter}`, `${tag}:reservation:${id}`];
}
