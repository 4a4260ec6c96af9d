import type { Actor } from "../../core/entry.ts";
import type { JournalKey } from "../../core/journal-key.ts";
import type { Membership } from "../../core/people.ts";
import type { Inbox } from "../inbox.ts";
import type { Queries } from "../queries.ts";

/** A person's 📌 on a message, by the platform's own ids. */
export interface Pinned {
  message: string;
  user: string;
  /** It stands there now. */
  isOn: boolean;
}

export interface PinParts {
  queries: Pick<Queries, "incident" | "isPosted">;
  inbox: Inbox;
  people: { membership(account: string, key: JournalKey): Promise<Membership> };
}

/** Of one person on one message; each is looked up, so nobody can have it go on for ever. The last one takes it away. */
const MAX_TURNS = 20;

/**
 * Takes people's 📌 on the messages of a thread that has an open incident. A platform's events about them come twice or out of
 * order, so it is asked how it stands: what the journal has says what is new of that.
 */
export function createPins({ queries, inbox, people }: PinParts) {
  /** Of one person and message each 📌 that came, and each that went, has the next number. */
  async function postFor(key: JournalKey, { message, user, isOn }: Pinned) {
    for (let turn = 0; turn < MAX_TURNS; turn += 1) {
      const post = `pin:${message}:${user}:${turn}`;
      if (await queries.isPosted(key, post)) continue;
      return (turn % 2 === 0) === isOn ? post : undefined;
    }
    return undefined;
  }

  return {
    /** The id of the thread's newest open incident. */
    openIn: async (key: JournalKey) => (await queries.incident(key))?.id,
    /** Resolves once it is in the journal. @throws BotError what the store throws, and the platform that is asked for the person */
    async take(
      key: JournalKey,
      incident: string,
      pinned: Pinned,
      actorOf: () => Promise<Actor>,
    ): Promise<void> {
      const post = await postFor(key, pinned);
      if (post === undefined) return;
      const actor = await actorOf();
      if ((await people.membership(actor.account, key)) === "bot") return;
      const of = `msg:${pinned.message}`;
      const off = pinned.isOn ? {} : ({ off: true } as const);
      await inbox.post(key, post, { kind: "pin", actor, incident, of, ...off });
    },
  };
}
