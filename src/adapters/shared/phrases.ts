import { isBotError, messageOf } from "../../core/errors.ts";

/** What both chats say to who types a command or uses a message's menu; the rest is in render/phrases.ts. */

/** To who typed a command that opened a thread. */
export const ASKED = "I'm on it; the answer comes in the thread I opened here.";

export function notDone(why: string): string {
  return `${why} Nothing was started.`;
}

/** The same of what went wrong: what is no error of ours is only in the log. */
export function failed(error: unknown): string {
  return notDone(isBotError(error) ? messageOf(error) : "Something went wrong.");
}

export function unknownWord(command: string, word: string, meant: string | undefined): string {
  const hint =
    meant === undefined
      ? `${command} help shows what it takes.`
      : `Did you mean ${command} ${meant}?`;
  return `${command} doesn't know ${word}. ${hint}`;
}

/** To who said something of an incident from elsewhere. */
export function writtenInto(incident: string, link: string | undefined): string {
  const at = link === undefined ? "" : `: ${link}`;
  return `I'm writing it into ${incident}. Its card shows it, its thread what goes wrong${at}`;
}

export const INVESTIGATING = "I'm looking into this message; the answer comes in its thread.";

export const NO_INCIDENT =
  "No incident is open that you may see here. To start one, write in a thread: incident open <title>";

/** What is written in somebody's name who forwards a message and says nothing. */
export const FORWARDED = "See the message that I forward.";
