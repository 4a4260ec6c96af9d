import { formatBytes, oneLine, percent, shortened } from "../../core/text.ts";
import type { Session } from "./client.ts";
import { RedisError } from "./resp.ts";

/** What keys hold the memory, by a sample of them. */
export interface Sample {
  keys: number;
  bytes: number;
  /** The largest first. */
  largest: { key: string; bytes: number }[];
  /** Keys of the same form, such as `session:cache:*`; those with the most bytes first. */
  groups: { form: string; keys: number; bytes: number }[];
  /** All keys were looked at. */
  isAll: boolean;
  /** Why there is nothing to see, in the server's words. */
  refused?: string;
}

/** The server does this beside its work: in small steps, and not for long. */
const STEP = 200;
const MAX_KEYS = 20_000;
const MAX_MS = 1_000;
const KEPT = 5;

export async function sampleKeys({ ask }: Session): Promise<Sample> {
  const began = performance.now();
  const sizes: { key: string; bytes: number }[] = [];
  let cursor = "0";
  let refused: string | undefined;
  do {
    const [step] = await ask(["SCAN", cursor, "COUNT", String(STEP)]);
    if (step instanceof RedisError) refused = step.message;
    if (!Array.isArray(step)) break;
    const [next, found] = step;
    cursor = typeof next === "string" ? next : "0";
    const keys = Array.isArray(found) ? found.filter((key) => typeof key === "string") : [];
    if (keys.length === 0) continue;
    const usage = await ask(...keys.map((key) => ["MEMORY", "USAGE", key, "SAMPLES", "5"]));
    const denied = usage.find((reply) => reply instanceof RedisError);
    if (denied !== undefined) {
      refused = denied.message;
      break;
    }
    for (const [index, key] of keys.entries()) {
      const bytes = usage[index];
      // One that is gone by now has none.
      if (typeof bytes === "number") sizes.push({ key, bytes });
    }
  } while (cursor !== "0" && sizes.length < MAX_KEYS && performance.now() - began < MAX_MS);
  return {
    keys: sizes.length,
    bytes: sum(sizes),
    largest: sizes.toSorted(bySize).slice(0, KEPT),
    groups: groupsOf(sizes),
    isAll: cursor === "0" && refused === undefined,
    ...(refused !== undefined && { refused }),
  };
}

const bySize = (a: { bytes: number }, b: { bytes: number }) => b.bytes - a.bytes;

function sum(sizes: readonly { bytes: number }[]): number {
  return sizes.reduce((all, { bytes }) => all + bytes, 0);
}

function groupsOf(sizes: Sample["largest"]): Sample["groups"] {
  const groups = Map.groupBy(sizes, ({ key }) => formOf(key));
  return [...groups]
    .map(([form, same]) => ({ form, keys: same.length, bytes: sum(same) }))
    .toSorted(bySize)
    .slice(0, KEPT);
}

/** `session:cache:17` → `session:cache:*`: ids are what differs between keys of one kind. */
function formOf(key: string): string {
  const parts = key.split(":").map((part) => (/\d|^.{24,}$/.test(part) ? "*" : part));
  return shownKey(parts.join(":"));
}

export function shownKey(key: string): string {
  return shortened(oneLine(key), 60);
}

/** `session:cache:* holds 98 % of the memory of 70 keys` */
export function mostOf({ groups, bytes, keys }: Sample): string {
  const [most] = groups;
  if (most === undefined || bytes === 0) return "";
  return `${most.form} holds ${percent(most.bytes, bytes)} (${formatBytes(most.bytes)}) of ${keys} sampled keys`;
}
