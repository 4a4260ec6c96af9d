import type { Address } from "../../core/entry.ts";
import type { JournalKey } from "../../core/journal-key.ts";
import type { Inbox } from "../inbox.ts";
import type { Queries } from "../queries.ts";
import { beginningsIn, conversationsOf } from "./conversations.ts";
import { readEdited, readRemoved, type ReceivedMessage } from "./payloads.ts";
import { actorOf } from "./people.ts";
import { keyOf } from "./place.ts";
import type { Served } from "./tenants.ts";

export interface ChangeParts {
  queries: Pick<Queries, "isSaid" | "beginnings">;
  inbox: Inbox;
  served: Served;
  lanes: { add(lane: string, job: () => Promise<void>): boolean };
  textOf(said: ReceivedMessage): string;
  /** Of a message of the thread. */
  addressOf(said: ReceivedMessage, key: JournalKey): Promise<Address>;
  isWritten(said: ReceivedMessage): boolean;
  /** Takes what bots changed. */
  takeOthers(event: unknown): void;
}

/** Takes changes of what was posted: an edit or a removal of anything else begins nothing. */
export function createChanges(parts: ChangeParts) {
  const { queries, inbox, served, lanes } = parts;
  const isServed = (guild: string | undefined) => guild === undefined || served.has(guild);

  /** The thread that the message was posted in: its own channel, or the one that it began. None for a "new". */
  async function threadOf(
    guild: string | undefined,
    channel: string,
    id: string,
  ): Promise<JournalKey | undefined> {
    const post = `msg:${id}`;
    for (const each of [channel, id]) {
      const place = { guild, channel: each };
      const beginnings = await beginningsIn(place, queries);
      if (beginnings.includes(post)) return undefined;
      for (const own of conversationsOf(place, post, beginnings))
        if (await queries.isSaid(keyOf(own), post)) return keyOf(own);
    }
    return undefined;
  }

  function edit(event: unknown): void {
    const { said, at } = readEdited(event) ?? {};
    if (said === undefined || !parts.isWritten(said) || !isServed(said.guild_id)) return;
    const { id, guild_id: guild, channel_id: channel } = said;
    lanes.add(channel, async () => {
      const key = await threadOf(guild, channel, id);
      if (key === undefined) return;
      const actor = actorOf(said.author, said.member?.nick);
      const of = `msg:${id}`;
      const now = { text: parts.textOf(said), address: await parts.addressOf(said, key) };
      await inbox.post(key, `${of}:edit:${at}`, { kind: "edited", actor, of, ...now });
    });
  }

  function remove(event: unknown): void {
    const gone = readRemoved(event);
    if (gone === undefined || !isServed(gone.guild_id)) return;
    const { ids, guild_id: guild, channel_id: channel } = gone;
    lanes.add(channel, async () => {
      for (const id of ids) {
        const key = await threadOf(guild, channel, id);
        const of = `msg:${id}`;
        if (key !== undefined) await inbox.post(key, `${of}:removed`, { kind: "removed", of });
      }
    });
  }

  return {
    /** Takes an event of a message that is gone, or is different now. */
    change(event: unknown, isGone: boolean): void {
      if (isGone) return remove(event);
      edit(event);
      parts.takeOthers(event);
    },
  };
}
