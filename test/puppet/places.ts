import type { Adapter } from "../../src/adapters/adapter.ts";
import type { People, Membership } from "../../src/core/people.ts";
import type { JournalKey } from "../../src/core/journal-key.ts";

/**
 * Where people of this world talk with the bot: a channel of the company's; a direct message of Ana's; a place of somebody
 * else's, such as another server that the bot was added to.
 */
export type PlaceName = "channel" | "direct" | "elsewhere";

/** The company, and whoever the other place belongs to. */
const OURS = "slack:T1";
const THEIRS = "slack:T2";
/** A thread of the company's that has nothing to do with any case. */
export const COMPANY_THREAD: JournalKey = `${OURS}:C1:1`;

const STANDINGS: Record<PlaceName, Record<string, Membership>> = {
  channel: {
    "test:ana": "member",
    "test:bob": "member",
    // Somebody who neither asks nor edits: without one, nothing that two have a part in could be approved.
    "test:cy": "member",
    "test:guest": "guest",
    "test:bot": "bot",
  },
  direct: { "test:ana": "member" },
  elsewhere: { "test:ana": "outsider", "test:mallory": "unknown" },
};

export function keyIn(place: PlaceName, mark: string): JournalKey {
  return `test:${place}-${mark}`;
}

export function placeOf(key: JournalKey): PlaceName {
  if (key.startsWith("test:direct-")) return "direct";
  return key.startsWith("test:elsewhere-") ? "elsewhere" : "channel";
}

/** What the platform says of people and places. */
export function peopleOf({
  guestsAreMembers,
}: {
  guestsAreMembers: boolean;
}): Pick<Adapter, "people" | "tenants"> {
  const people: People = {
    async membership(account, key) {
      const standing = STANDINGS[placeOf(key)][account] ?? "unknown";
      return guestsAreMembers && ["guest", "outsider", "unknown"].includes(standing)
        ? "member"
        : standing;
    },
    members: async () => undefined,
    everyone: async (key) => Object.keys(STANDINGS[placeOf(key)]),
    timezone: async () => undefined,
  };
  return {
    people,
    tenants: async (key) => {
      if (guestsAreMembers) return "all";
      return placeOf(key) === "elsewhere" ? [THEIRS] : [OURS, "test"];
    },
  };
}
