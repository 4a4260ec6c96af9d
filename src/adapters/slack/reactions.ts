import * as z from "zod";
import { isBotError } from "../../core/errors.ts";
import { createTurns } from "../../core/turns.ts";
import { createPins, type PinParts } from "../shared/pins.ts";
import { answerWithin, type Api } from "./api.ts";
import type { SlackPeople } from "./people.ts";
import { keyOf, type Workspace } from "./place.ts";

/** 📌, and the same with a round head. */
const PINS: ReadonlySet<string> = new Set(["pushpin", "round_pushpin"]);
/** An event must be acknowledged within 3 s, and be kept before that. */
const LOOK_MS = 1_500;

const schema = z.object({
  user: z.string(),
  reaction: z.string(),
  item: z.object({ type: z.literal("message"), channel: z.string(), ts: z.string() }),
});

type Item = z.infer<typeof schema>["item"];

export interface ReactionParts extends PinParts {
  workspace: Workspace;
  api: Api;
  people: SlackPeople;
}

/** Takes 📌 that people put on messages, or take away; any other reaction is nothing. */
export function createReactions({ workspace, api, people, ...parts }: ReactionParts) {
  const { team, botUser } = workspace;
  const pins = createPins({ ...parts, people });
  const inTurn = createTurns<string>();

  /**
   * The event does not say which thread the message is in. Undefined: it is gone, the bot may not see it, or Slack asked for
   * fewer requests: a flood of reactions is not to be sent again.
   */
  async function look({ channel, ts }: Item) {
    try {
      const asked = api.ask("conversations.replies", (client) =>
        client.conversations.replies({ channel, ts, limit: 1 }),
      );
      const { messages = [] } = await answerWithin(LOOK_MS, asked);
      return messages.find((message) => message.ts === ts);
    } catch (error) {
      if (isBotError(error, "PLATFORM_REFUSED", "PLATFORM_RATE_LIMITED")) return undefined;
      throw error;
    }
  }

  async function takeOf(user: string, item: Item): Promise<void> {
    const { channel, ts } = item;
    const message = await look(item);
    if (message === undefined) return;
    const key = keyOf(team, { channel, root: message.thread_ts ?? ts });
    const incident = await pins.openIn(key);
    if (incident === undefined) return;
    const { reactions = [] } = message;
    const isOn = reactions.some(
      ({ name = "", users = [] }) => PINS.has(name) && users.includes(user),
    );
    const actorOf = () => people.actor(user, undefined);
    await pins.take(key, incident, { message: ts, user, isOn }, actorOf);
  }

  return {
    /**
     * Takes an event `reaction_added` or `reaction_removed`; resolves once it is in the journal.
     * @throws BotError what the store throws, and Slack where it had to be asked
     */
    async take(event: unknown): Promise<void> {
      const { user, reaction = "", item } = schema.safeParse(event).data ?? {};
      if (user === undefined || user === botUser || item === undefined) return;
      // What was seen before another event of it was taken is out of date.
      if (PINS.has(reaction)) await inTurn(`${item.ts} ${user}`, () => takeOf(user, item));
    },
  };
}

export type Reactions = ReturnType<typeof createReactions>;
