/** What only Slack's threads say; the rest is in render/phrases.ts. */

/** Instead of a message that Slack does not delete. */
export const DELETED = "(deleted)";

export const ROOT_GONE =
  "The thread's first message was deleted, so I can't show anything there. Ask again in a new thread.";

export const EVENTS_DROPPED =
  "Slack is dropping messages to me: too many came in the last hour. I never saw what I did not answer; please write it again.";

export const PRESS_AGAIN = "Press again in a moment.";

/** On a form's buttons. */
export const CANCEL = "Cancel";

/** Behind the bot's name while it works, and what turns below it. */
export const LOOKING = "is looking into it…";
export const LOADING = ["Looking into it…", "Reading what is there…", "Checking…"] as const;

/** Closes a window that was only read. */
export const CLOSE = "Close";

export const SLOW =
  "This takes longer than Slack waits. It may not be recorded yet; I'll tell you here how it went.";

export const NOT_HERE = "I'm not in this channel. Invite me with /invite, then try again.";

/** To who invites the bot to a channel. */
export function helloTo(bot: string): string {
  return `Thanks for the invitation. Mention @${bot} in a thread or under an alert and I'll look into it; I ask before I change anything, and leave other talk alone. Try @${bot} help, or /wk status to see what I can use.`;
}

export function wkHelp(command: string): string {
  return `${command} ask <question>: opens a thread in this channel and answers there.
Only you see the answers of these:
${command} status: model, tools, host, what waits and what runs
${command} approvals: what waits for approval, where you may see it
${command} incident: open incidents; with “open <title>” it starts one, in a thread; “update” and “resolve” change its card
In a thread, mention me with “help” to see every command.`;
}
