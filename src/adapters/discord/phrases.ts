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

export const UNKNOWN_COMMAND =
  "This command is from another version of Watchkeeper. `/wk help` shows what there is.";

/** To who typed a command in a thread or a direct message. */
export const ASKED_HERE = "I'm on it; the answer comes here.";

export const ASKED_LATER =
  "I can't reach my database. Nothing has started yet; I keep trying, and answer in the thread.";

export const CANT_WRITE = "You can't write here, so I can't do it in your name.";

export function noSuchIncident(id: string, meant: string | undefined): string {
  return `I don't know ${id} as an open incident that you may see.${didYouMean(meant)}`;
}

export function noSuchAction(action: string, meant: string | undefined): string {
  return `I don't know ${action} as waiting for approval where you may see it.${didYouMean(meant)}`;
}

export function severalActions(action: string): string {
  return `Several threads have an ${action}. Choose one from the list.`;
}

function didYouMean(meant: string | undefined): string {
  return meant === undefined ? "" : ` Did you mean ${meant}?`;
}

/** A message was added to an incident's timeline. */
export function addedTo(incident: string): string {
  return `I'm adding it to ${incident}; the message's thread shows how that went.`;
}

export const WK_HELP = `/wk ask: opens a thread in this channel and answers there; in a thread it answers right here

Only you see the answers of these:
/wk status: model, tools, host, what waits and what runs
/wk approvals: what waits for approval, where you may see it; choose one to see its details
/wk incidents: open incidents

/wk incident open: starts one, in a thread of its own
/wk incident update, resolve: changes one; its card shows it

In a message's menu, under Apps: Investigate, Add to incident
In a direct message, “new” begins a new conversation.
In a thread, mention me with “help” to see every command.`;

/** To the owner of a server that the bot was added to. */
export function helloTo(bot: string, server: string): string {
  return `Thanks for adding me to ${server}. Mention @${bot} in a channel or a thread there and I'll look into it; I ask before I change anything, and leave other talk alone. /wk help shows my commands.`;
}
