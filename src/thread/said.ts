import type { Entry, StoredEntry } from "../core/entry.ts";
import { isFromDoor, readQuoteState, runOfAnswer } from "./entry-ids.ts";

/** Somebody put 📌 on a message, or took it away, and said nothing. */
export function isPin(entry: Entry<"message"> | Entry<"command">): boolean {
  return entry.kind === "command" && entry.command.name === "pin";
}

/** Nothing was said in the thread: a pin, or a command that was given elsewhere. */
export function isAside(entry: Entry<"message"> | Entry<"command">): boolean {
  return isPin(entry) || isFromDoor(entry.id);
}

/** A message as it stands now, whoever wrote it. */
export interface SaidMessage {
  /** Its post; of a message that shows another place's, that one's. */
  message: string;
  name: string;
  /** The person who wrote it; undefined: a bot or an app did. */
  account: string | undefined;
  at: number;
  /** Undefined: it was taken away. */
  text: string | undefined;
}

/** Whoever reads a bot's answer knows it by this name. */
const BOT = "Watchkeeper";

/**
 * The message that a post names: what somebody wrote, what stood above, what the bot answered, or a message that shows what
 * was written in another place of the thread. Undefined where the entries have no such words.
 */
export function saidIn(entries: readonly StoredEntry[], post: string): SaidMessage | undefined {
  return writtenIn(entries, post) ?? aboveIn(entries, post) ?? shownIn(entries, post);
}

function writtenIn(entries: readonly StoredEntry[], post: string): SaidMessage | undefined {
  const found = entries.find((entry) => entry.id === post);
  if (found?.kind !== "message" && found?.kind !== "command") return undefined;
  const { actor, at } = found;
  const files = found.kind === "message" ? [...(found.files ?? []), ...(found.unread ?? [])] : [];
  const edit = entries.findLast(
    (entry) =>
      entry.kind === "edited" && entry.of === post && entry.actor.account === actor.account,
  );
  const text = edit?.kind === "edited" ? edit.text : found.text;
  const account = found.kind === "message" && found.app === true ? undefined : actor.account;
  const said = { message: post, name: actor.name, account, at };
  return { ...said, text: unlessRemoved(entries, post, [text, ...files.map(({ name }) => name)]) };
}

function aboveIn(entries: readonly StoredEntry[], post: string): SaidMessage | undefined {
  const found = entries
    .flatMap((entry) => (entry.kind === "above" ? entry.messages : []))
    .findLast(({ id }) => id === post);
  if (found === undefined) return undefined;
  const { name, account, at, text, attached = "", files = [] } = found;
  // What hangs below somebody's line, such as a link's preview, is no word of theirs.
  const below = attached === "" ? "" : `(attached: ${attached})`;
  const words = unlessRemoved(entries, post, [text, below, ...files]);
  return { message: post, name, account, at, text: words };
}

/** What the bot itself posted there. */
function shownIn(entries: readonly StoredEntry[], post: string): SaidMessage | undefined {
  const id = post.slice(post.indexOf(":") + 1);
  const found = entries.findLast(
    (entry) => entry.kind === "delivered" && entry.ref.split(/[^\d.]+/).includes(id),
  );
  if (found?.kind !== "delivered") return undefined;
  const quoted = readQuoteState(found.entry);
  if (quoted !== undefined) return writtenIn(entries, quoted.id);
  const run = runOfAnswer(found.entry);
  const ended = entries.find((entry) => entry.kind === "run_ended" && entry.run === run);
  if (ended?.kind !== "run_ended" || ended.text === undefined) return undefined;
  return { message: post, name: BOT, account: undefined, at: found.at, text: ended.text };
}

function unlessRemoved(
  entries: readonly StoredEntry[],
  post: string,
  words: readonly string[],
): string | undefined {
  if (entries.some((entry) => entry.kind === "removed" && entry.of === post)) return undefined;
  return words.filter((each) => each !== "").join(" ");
}
