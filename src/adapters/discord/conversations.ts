import type { Queries } from "../queries.ts";
import { keyOf, type Place } from "./place.ts";

/*
 * The conversations of a direct message. "new" begins the next one and is itself in the journal of the first, so that this one
 * journal says, to every process, where each begins.
 */

/** Of the conversations of a direct message, those in which an edited reply is looked for. */
const MAX_LOOKED_AT = 10;

type Conversation = Pick<Place, "since">;

/** The direct message's first conversation; a thread in a server is one itself. */
export function firstOf({ guild, channel }: Place): Place {
  return { guild, channel };
}

/** Asks for a new conversation, which only a direct message can have. */
export function isNew({ guild }: Place, text: string): boolean {
  return guild === undefined && /^\s*\/?new[.!]?\s*$/i.test(text);
}

/** The posts that began a conversation, oldest first. @throws BotError STORE_UNAVAILABLE */
export async function beginningsIn(
  place: Place,
  queries: Pick<Queries, "beginnings">,
): Promise<readonly string[]> {
  return place.guild === undefined ? queries.beginnings(keyOf(firstOf(place))) : [];
}

/**
 * Where a post belongs, by the time in its id, whenever it arrives. `replied`: the message that it replies to, which may be of an
 * earlier conversation; one that was posted later than a "new" counts as of the newer.
 */
export function conversationAt(
  place: Place,
  post: string,
  beginnings: readonly string[],
  replied?: string,
): Place {
  const at = replied === undefined ? idOf(post) : BigInt(replied);
  const before = beginnings.map(idOf).filter((id) => id <= at);
  const since = before.reduce((newest, id) => (id > newest ? id : newest), 0n);
  return { ...firstOf(place), ...(since > 0n && { since: String(since) }) };
}

/** Where a post may stand that says no longer what it replied to, the likeliest first. */
export function conversationsOf(
  place: Place,
  post: string,
  beginnings: readonly string[],
): Place[] {
  const until = beginnings.filter((each) => idOf(each) <= idOf(post)).slice(-MAX_LOOKED_AT);
  return [...until.toReversed().map((each) => conversationAt(place, each, [each])), firstOf(place)];
}

/** Of `msg:<message>`, or `msg:<interaction>:on:<message>`. */
function idOf(post: string): bigint {
  return BigInt(/^msg:(\d+)/.exec(post)?.[1] ?? 0);
}

/** What a button or a form of a later conversation is called: actions and runs have the same names in each. */
export function prefixed(id: string, { since }: Conversation): string {
  return since === undefined ? id : `${since}/${id}`;
}

/** Takes the conversation off the id of what was pressed. */
export function readPrefixed(id: string): { id: string; since?: string } {
  const [, since, rest = id] = /^(\d{17,20})\/([^]+)$/.exec(id) ?? [];
  return { id: rest, ...(since !== undefined && { since }) };
}

/** The components with those ids, at any depth. */
export function withConversation<T extends object>(
  components: readonly T[],
  at: Conversation,
): T[] {
  return components.map((each) => ({
    ...each,
    ...("custom_id" in each && { custom_id: prefixed(String(each.custom_id), at) }),
    ...("components" in each &&
      Array.isArray(each.components) && { components: withConversation(each.components, at) }),
  }));
}
