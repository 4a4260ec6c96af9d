import { createHash } from "node:crypto";
import { isoUtc } from "../core/instant.ts";
import { type JournalKey, tenantOf } from "../core/journal-key.ts";

const TRANSPORT = "memory";

/** One journal for each month and tenant; direct messages have one together, in which each has a space of its own. */
export function keyOf(thread: JournalKey, at: number): JournalKey {
  return `${TRANSPORT}:${tenantOf(thread) ?? "dm"}:${isoUtc(at, "day").slice(0, 7)}`;
}

/** The letters of RFC 4648's base32, in lower case: none of them looks like another. */
const BASE32 = "abcdefghijklmnopqrstuvwxyz234567";

/** The same for the same, such as the key of a thread whose record it names: `m-k3qa7xw2ab`. */
export function nameOf(of: string): string {
  const bytes = createHash("sha256").update(of).digest().subarray(0, 10);
  return `m-${[...bytes].map((byte) => BASE32[byte & 31] ?? "").join("")}`;
}
