/** What only Discord's threads say; the rest is in render/phrases.ts. */

/** Stands in the thread until the message is in the journal. */
export const UNRECORDED =
  "I can't reach my database. Nothing has started; I keep trying, and this note disappears when I'm back.";

export const NOT_SERVED = "I only answer members of the servers that I serve.";

export const NOT_LOOKED_UP = "Discord isn't answering, so I can't tell who you are. Press again.";

export const ARCHIVED =
  "The thread is archived and locked. Ask a moderator to unlock it, or ask me again elsewhere.";

/** Where no thread can be opened. */
export const NO_THREADS_HERE =
  "I answer in threads, and this kind of channel has none. Ask in a text channel.";

export function cannotOpenThread(why: string): string {
  return `I can't open a thread here: ${why}`;
}

export function lacksPermissions(names: readonly string[]): string {
  const quoted = names.map((name) => `"${name}"`).join(", ");
  return `I lack ${quoted} here. Allow it to my role in the channel's settings.`;
}
