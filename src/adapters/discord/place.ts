import type { JournalKey } from "../../core/journal-key.ts";

/** One thread, or a conversation of the direct messages with one person. */
export interface Place {
  /** Undefined for a direct message. */
  guild: string | undefined;
  /** The thread's or the direct message's id. */
  channel: string;
  /** Of a direct message: the id of the "new" that the conversation came after; the first has none. */
  since?: string;
}

/** Discord's ids: times in their upper bits, 17 to 20 digits until the year 2090. */
const ID = String.raw`\d{17,20}`;
const KEY = new RegExp(`^discord:(?:(${ID}):(${ID})|dm:(${ID})(?::(${ID}))?)$`);
const ACCOUNT = new RegExp(`^discord:(${ID})$`);
const MESSAGE = new RegExp(`^msg:(${ID})$`);
const ROLE = new RegExp(`^discord:role:(${ID})$`);

export function keyOf({ guild, channel, since }: Place): JournalKey {
  return `discord:${guild ?? "dm"}:${channel}${since === undefined ? "" : `:${since}`}`;
}

/** The place that a key names, or undefined if it is not Discord's. */
export function tryPlace(key: JournalKey): Place | undefined {
  const [, guild, thread, direct, since] = KEY.exec(key) ?? [];
  const channel = thread ?? direct;
  return channel === undefined ? undefined : { guild, channel, ...(since && { since }) };
}

export function accountOf(user: string): string {
  return `discord:${user}`;
}

export function tryUser(account: string): string | undefined {
  return ACCOUNT.exec(account)?.[1];
}

export function tryRole(reference: string): string | undefined {
  return ROLE.exec(reference)?.[1];
}

/** The address of everything in a server, or of all direct messages; with a slash at the end. */
export function addressOf(guild: string | undefined): string {
  return `https://discord.com/channels/${guild ?? "@me"}/`;
}

/** A thread's address, or that of a message in it. */
export function linkOf({ guild, channel }: Place, message?: string): string {
  return `${addressOf(guild)}${channel}${message === undefined ? "" : `/${message}`}`;
}

/** Milliseconds since 1970 at which Discord's ids begin. */
const EPOCH = 1_420_070_400_000;

/** When the thing with this id came to be, ms since 1970. */
export function timeOf(id: string): number {
  return Number(BigInt(id) >> 22n) + EPOCH;
}

/** When the message of this post was said, and its address; undefined for no post of a message in the thread. */
export function locate(key: JournalKey, post: string): { at: number; link: string } | undefined {
  const [place, id] = [tryPlace(key), MESSAGE.exec(post)?.[1]];
  if (place === undefined || id === undefined) return undefined;
  // The message that a thread began with stands above it.
  return { at: timeOf(id), link: linkOf(place, id === place.channel ? undefined : id) };
}
