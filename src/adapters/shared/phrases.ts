/** What both chats say to who types a command or uses a message's menu; the rest is in render/phrases.ts. */

/** To who typed a command that opened a thread. */
export const ASKED = "I'm on it; the answer comes in the thread I opened here.";

export function notDone(why: string): string {
  return `${why} Nothing was started.`;
}

export function unknownWord(command: string, word: string, meant: string | undefined): string {
  const hint =
    meant === undefined
      ? `${command} help shows what it takes.`
      : `Did you mean ${command} ${meant}?`;
  return `${command} doesn't know ${word}. ${hint}`;
}

export function wkHelp(command: string): string {
  return `${command} ask <question>: opens a thread in this channel and answers there.
Only you see the answers of these:
${command} status: model, tools, host, what waits and what runs
${command} approvals: what waits for approval, where you may see it
${command} incident: open incidents; with “open <title>” it starts one, in a thread
In a thread, mention me with “help” to see every command.`;
}

export const INVESTIGATING = "I'm looking into this message; the answer comes in its thread.";

export const NO_INCIDENT =
  "No incident is open that you may see here. To start one, write in a thread: incident open <title>";
