import type { Entry, NewerEntry, StoredEntry } from "../core/entry.ts";
import { type JournalKey, tryJournalKey } from "../core/journal-key.ts";
import { type Group, Groups } from "./groups.ts";

/** What a journal `alerts:<channel>` comes to: which alerts belong together, and which thread tells of them. */
export class AlertsState {
  last = 0;
  head: string | undefined;
  newer: NewerEntry | undefined;
  readonly groups = new Groups();
  readonly threads = new Map<string, JournalKey>();
  /** After how many entries a group's thread was last told how it stands. */
  readonly told = new Map<string, number>();
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
    state.groups.add(wordOf(entry));
    forget(state);
  } else if (entry.kind === "alert_thread") {
    const key = tryJournalKey(entry.thread);
    if (key !== undefined) state.threads.set(entry.group, key);
  } else if (entry.kind === "alert_told") state.told.set(entry.group, entry.upTo);
}

function wordOf({ seq, at, source, alerts, rule, triage, mention, own }: Entry<"alert">) {
  return { seq, at, source, alerts, rule, triage: triage === true, mention, own };
}

function forget({ groups, threads, told }: AlertsState): void {
  for (const id of threads.keys())
    if (!groups.open.has(id)) {
      threads.delete(id);
      told.delete(id);
    }
}

/** What is owed for a group: a thread, or a word in it. */
export type Owed = { do: "open" | "tell"; group: Group; key: string };

/** What is owed next, groups in the order in which they began. `busy`: the keys of what is under way or put off. */
export function owedBy(
  { groups, threads, told }: AlertsState,
  busy: { has(key: string): boolean },
): Owed | undefined {
  for (const group of groups.open.values()) {
    const { id, last } = group;
    const kind = threads.has(id) ? "tell" : "open";
    const isOwed = kind === "open" || (told.get(id) ?? 0) < last;
    const key = `${kind}:${id}`;
    if (isOwed && !busy.has(key)) return { do: kind, group, key };
  }
  return undefined;
}
