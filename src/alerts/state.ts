import type { Entry, NewerEntry, StoredEntry } from "../core/entry.ts";
import { type JournalKey, tryJournalKey } from "../core/journal-key.ts";
import { calmFrom, type Group, Groups, type Held, isBackSince, isFlapping } from "./groups.ts";

/** When a group's thread was last told how it stands. */
interface Told {
  /** After how many entries. */
  upTo: number;
  /** Ms since 1970. */
  at: number;
  /** When it was told lately, the newest last. */
  lately: number[];
  /** It was told that it flaps. */
  flaps: boolean;
}

/** What a journal `alerts:<channel>` comes to: which alerts belong together, and which thread tells of them. */
export class AlertsState {
  last = 0;
  head: string | undefined;
  newer: NewerEntry | undefined;
  groups = new Groups();
  readonly threads = new Map<string, JournalKey>();
  readonly told = new Map<string, Told>();
  /** Requests that were heard lately, the newest last, with when. */
  readonly requests = new Map<string, number>();
}

export function foldAlerts(state: AlertsState, entries: readonly StoredEntry[]): void {
  for (const entry of entries) {
    if (state.newer !== undefined) return;
    state.last = entry.seq;
    state.head = entry.head;
    apply(state, entry);
  }
}

function apply(state: AlertsState, entry: StoredEntry): void {
  if (entry.kind === "newer") state.newer = entry;
  else if (entry.kind === "alert") {
    for (const alerts of newIn(state, entry)) state.groups.add(wordOf(entry, alerts));
    forget(state);
  } else if (entry.kind === "alert_thread") {
    const key = tryJournalKey(entry.thread);
    if (key !== undefined) state.threads.set(entry.group, key);
  } else if (entry.kind === "alert_told") {
    const { at, upTo, group, flaps = false } = entry;
    const { lately = [] } = state.told.get(group) ?? {};
    const recent = [...lately, at].filter((one) => at - one <= LATELY_MS);
    state.told.set(group, { upTo, at, lately: recent, flaps });
  }
}

/** The alerts of each request that was not heard before. */
function newIn(
  { requests: known }: AlertsState,
  { requests, alerts, at }: Entry<"alert">,
): Entry<"alert">["alerts"][] {
  if (requests === undefined) return [alerts];
  let from = 0;
  const fresh = requests.flatMap(({ request, alerts: count }) => {
    const its = alerts.slice(from, from + count);
    from += count;
    if (known.has(request)) return [];
    known.set(request, at);
    return [its];
  });
  for (const [request, heardAt] of known) {
    if (known.size <= MAX_REQUESTS && at - heardAt <= LATELY_MS) break;
    known.delete(request);
  }
  return fresh;
}

function wordOf({ triage, ...word }: Entry<"alert">, alerts: Entry<"alert">["alerts"]) {
  return { ...word, alerts, triage: triage === true };
}

function forget({ groups, threads, told }: AlertsState): void {
  for (const id of threads.keys())
    if (!groups.open.has(id)) {
      threads.delete(id);
      told.delete(id);
    }
}

/** What is owed: a group's thread, a word in it, or that what a maintenance window held is heard now. */
export type Owed =
  | { do: "open"; group: Group; key: string }
  | { do: "tell"; group: Group; key: string }
  | { do: "resume"; held: readonly Held[]; key: string };

/** A thread is told of what is new after so long; the more often it was told lately, the longer. */
const PACES_MS: readonly (readonly [told: number, ms: number])[] = [
  [12, 60_000],
  [4, 15_000],
  [0, 3_000],
];
const LATELY_MS = 10 * 60_000;
const MAX_REQUESTS = 10_000;
/** Of what only repeats, and of what comes and goes. */
const [REPEATS_MS, FLAPPING_MS] = [60_000, 5 * 60_000];

function tellAt(group: Group, told: Told | undefined, now: number): number {
  if (told === undefined) return 0;
  // That it flaps is taken back once it stays as it is, though nothing new was said.
  if (told.upTo >= group.last) return told.flaps ? calmFrom(group) : Infinity;
  // That it begins to flap is told as soon as anything new, and nobody may read for long of what fires that it is over.
  if (told.flaps && isFlapping(group, now) && !isBackSince(group, told.upTo))
    return told.at + FLAPPING_MS;
  const [, pace = 0] = PACES_MS.find(([count]) => told.lately.length >= count) ?? [];
  return told.at + (group.news > told.upTo ? pace : REPEATS_MS);
}

/**
 * What is owed next, groups in the order in which they began, or when something will be. `busy`: the keys of what is under way or
 * put off. `now`: ms since 1970.
 */
export function owedBy(
  { groups, threads, told }: AlertsState,
  busy: { has(key: string): boolean },
  now: number,
): Owed | { do: "wait"; until: number | undefined } {
  let until = Infinity;
  for (const group of groups.open.values()) {
    const { id } = group;
    const kind = threads.has(id) ? "tell" : "open";
    const key = `${kind}:${id}`;
    if (busy.has(key)) continue;
    const at = kind === "open" ? 0 : tellAt(group, told.get(id), now);
    if (at <= now) return { do: kind, group, key };
    until = Math.min(until, at);
  }
  const key = "resume";
  const over = [...groups.held.values()].filter((each) => each.until <= now);
  if (over.length > 0 && !busy.has(key)) return { do: "resume", held: over, key };
  for (const held of groups.held.values())
    if (held.until > now) until = Math.min(until, held.until);
  return { do: "wait", until: until === Infinity ? undefined : until };
}
