import type { StoredEntry } from "./entry.ts";

/** Stands where a message's text was. */
export const REMOVED = "(removed)";

/**
 * The entries without the words of messages that were taken away later, edits and files included. The store keeps the bytes,
 * since each entry is sealed with all that it says; whoever prints entries passes them through here.
 */
export function withoutRemoved<T extends StoredEntry>(entries: readonly T[]): T[] {
  const removed = new Set(entries.flatMap((entry) => (entry.kind === "removed" ? [entry.of] : [])));
  if (removed.size === 0) return [...entries];
  return entries.map((entry) => {
    if (entry.kind === "above") {
      const messages = entry.messages.map((each) =>
        removed.has(each.id) ? { id: each.id, at: each.at, name: each.name, text: REMOVED } : each,
      );
      return { ...entry, messages };
    }
    const isWord = entry.kind === "message" || entry.kind === "command" || entry.kind === "edited";
    if (!isWord || !removed.has(entry.kind === "edited" ? entry.of : entry.id)) return entry;
    const { files: _files, unread: _unread, ...rest } = { files: [], unread: [], ...entry };
    const bare = { ...rest, text: REMOVED };
    return "command" in bare ? { ...bare, command: { name: "invalid", problem: REMOVED } } : bare;
  }) as T[];
}
