import * as z from "zod";
import type { Inbox } from "../inbox.ts";
import { botRefused } from "../render/phrases.ts";
import type { Bots } from "../shared/bots.ts";
import { noticeDelivery } from "../shared/notice-ids.ts";
import { EVENT_TYPE } from "./find-delivery.ts";
import type { SlackPeople } from "./people.ts";
import { keyOf, type Place, type Workspace } from "./place.ts";
import { isSpoken, nameOfBot, shown, wordsOfBot } from "./read-shown.ts";
import type { Say } from "./say.ts";
import { mentions, readSlackText } from "./text.ts";

const event = shown.extend({
  channel: z.string(),
  thread_ts: z.string().optional(),
  /** Another Watchkeeper marks its messages as this one does. */
  metadata: z.object({ event_type: z.string() }).optional().catch(undefined),
});

export interface BotParts {
  workspace: Workspace;
  /** Ours, where it is known. */
  app(): string | undefined;
  bots: Bots;
  people: Pick<SlackPeople, "nameOf">;
  inbox: Inbox;
  say: Say;
}

/**
 * Takes what other bots, apps and webhooks post: of a listed one what begins a thread or mentions the bot; any other that
 * mentions it is told once why it is not answered. @throws as the inbox
 */
export function createBotTaker({ workspace, app, bots, people, inbox, say }: BotParts) {
  const { team, botUser } = workspace;

  function refuse(place: Place, bot: string): void {
    const thread = `${place.channel} ${place.root}`;
    if (!bots.mayRefuse(bot, { channel: place.channel, thread })) return;
    void say(place, botRefused("slack.bots", bot), noticeDelivery("bot", bot, true));
  }

  return async (raw: unknown): Promise<void> => {
    const said = event.safeParse(raw).data;
    if (said === undefined || !isOthers(said)) return;
    const { channel, ts, thread_ts, bot_id, user } = said;
    const words = wordsOfBot(said);
    const isMentioned = mentions(words, botUser);
    const place = { channel, root: thread_ts ?? ts };
    const id = bot_id ?? user ?? "";
    const ids = [bot_id, user, said.app_id, said.bot_profile?.app_id];
    if (!bots.isListed(ids)) {
      if (isMentioned) refuse(place, said.app_id ?? said.bot_profile?.app_id ?? id);
      return;
    }
    const isReply = place.root !== ts;
    const text = await readSlackText(words, { botUser, nameOf: people.nameOf });
    if ((isReply && !isMentioned) || text === "") return;
    if (!bots.mayBegin(id, { message: `${channel} ${ts}`, at: Number(ts) * 1_000 })) return;
    const actor = { account: `slack:${team}:${id}`, name: nameOfBot(said) };
    const address = isMentioned ? { bot: true as const } : {};
    const key = keyOf(team, place);
    await inbox.post(key, `msg:${ts}`, { kind: "text", app: true, actor, text, address });
  };

  function isOthers(said: z.infer<typeof event>): boolean {
    const { bot_id, subtype, user, app_id, metadata } = said;
    const isFromBot = bot_id !== undefined || (subtype === "bot_message" && user === undefined);
    const isOurs = app_id !== undefined && app_id === app();
    return isFromBot && !isOurs && isSpoken(said, workspace) && metadata?.event_type !== EVENT_TYPE;
  }
}
