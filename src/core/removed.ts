import type { Entry, StoredEntry } from "./entry.ts";

/** Stands where a message's text was. */
export const REMOVED = "(removed)";

/**
 * The entries without the words of messages that were taken away later, edits and files included. The store keeps the bytes,
 * since each entry is sealed with all that it says; whoever prints entries passes them through here.
 */
export function withoutRemoved(entries: readonly StoredEntry[]): StoredEntry[] {
  const removed = new Set(entries.flatMap((entry) => removedBy(entry) ?? []));
  if (removed.size === 0) return [...entries];
  const from = entries.find((entry) => removed.has(entry.id) || hasAbove(entry, removed))?.seq;
  return entries.map((entry) => {
    // A summary may have the words of every message before it.
    if (entry.kind === "condensed" && entry.text !== undefined && entry.to >= (from ?? Infinity))
      return { ...entry, text: REMOVED };
    return bare(entry, removed);
  });
}

function hasAbove(entry: StoredEntry, removed: ReadonlySet<string>): boolean {
  return entry.kind === "above" && entry.messages.some(({ id }) => removed.has(id));
}

/** The message, or the name of what was to be forgotten. */
function removedBy(entry: StoredEntry): string | undefined {
  if (entry.kind === "removed") return entry.of;
  return entry.kind === "memory" && entry.what.kind === "forgotten" ? entry.memory : undefined;
}

/** Only these hold a message's words. */
function bare(entry: StoredEntry, removed: ReadonlySet<string>): StoredEntry {
  if (entry.kind === "above")
    return { ...entry, messages: entry.messages.map((each) => bareLine(each, removed)) };
  if (entry.kind === "memory" && removed.has(entry.memory))
    return { ...entry, what: unsaid(entry) };
  if (entry.kind === "message" && removed.has(entry.id)) {
    const { files: _files, unread: _unread, ...rest } = entry;
    return { ...rest, text: REMOVED };
  }
  if (entry.kind === "command" && removed.has(entry.id))
    return { ...entry, text: REMOVED, command: NO_COMMAND };
  if (entry.kind === "goal_started" && removed.has(entry.post ?? ""))
    return { ...entry, text: REMOVED };
  if (entry.kind === "edited" && removed.has(entry.of)) {
    const { command: _command, ...rest } = entry;
    return { ...rest, text: REMOVED };
  }
  return entry;
}

function unsaid({ what }: Entry<"memory">): Entry<"memory">["what"] {
  if (what.kind === "note") return { ...what, text: REMOVED };
  if (what.kind === "forgotten") return what;
  if (what.kind === "again") return { ...what, fixes: [] };
  const { cause: _cause, ...rest } = what;
  return { ...rest, question: REMOVED, fixes: [] };
}

const NO_COMMAND = { name: "invalid" as const, problem: REMOVED };

type Seen = Entry<"above">["messages"][number];

function bareLine(message: Seen, removed: ReadonlySet<string>): Seen {
  const { attached: _attached, files: _files, ...rest } = message;
  return removed.has(message.id) ? { ...rest, text: REMOVED } : message;
}
