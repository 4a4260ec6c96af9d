import { isDeepStrictEqual } from "node:util";
import * as z from "zod";
import type { AlertInbox, Inbox } from "../inbox.ts";
import { botRefused } from "../render/phrases.ts";
import type { Bots } from "../shared/bots.ts";
import { noticeDelivery } from "../shared/notice-ids.ts";
import { botMessageOf } from "./bot-message.ts";
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

/** What one of its own messages was changed into, and into what from. */
const changed = z.object({
  subtype: z.literal("message_changed"),
  channel: z.string(),
  /** The event's own. */
  ts: z.string().optional(),
  message: shown.extend({
    ...event.omit({ channel: true }).shape,
    edited: z.object({ ts: z.string() }).optional().catch(undefined),
  }),
  previous_message: shown.optional().catch(undefined),
});

type Said = z.infer<typeof event>;

export interface BotParts {
  workspace: Workspace;
  /** Ours, where it is known. */
  app(): string | undefined;
  bots: Bots;
  people: Pick<SlackPeople, "nameOf">;
  inbox: Inbox;
  alerts?: AlertInbox | undefined;
  say: Say;
}

/**
 * Takes what other bots, apps and webhooks post: of a listed one alerts, also those that a message is changed into, and else what
 * begins a thread or mentions the bot; any other that mentions it is told once why it is not answered. @throws as the inbox
 */
export function createBotTaker(parts: BotParts) {
  const { workspace, app, bots, people, inbox, alerts, say } = parts;
  const { team, botUser } = workspace;

  function refuse(place: Place, bot: string): void {
    const thread = `${place.channel} ${place.root}`;
    if (!bots.mayRefuse(bot, { channel: place.channel, thread })) return;
    void say(place, botRefused("slack.bots", bot), noticeDelivery("bot", bot, true));
  }

  const isListed = ({ bot_id, user, app_id, bot_profile }: Said) =>
    bots.isListed([bot_id, user, app_id, bot_profile?.app_id]);

  /** What it says now, unless that is no alert. `edit`: when it was changed into that. */
  async function isAlert(said: Said, edit?: string): Promise<boolean> {
    const { channel, ts, thread_ts: root = ts } = said;
    const post = edit === undefined ? `msg:${ts}` : `msg:${ts}:edit:${edit}`;
    const taken = alerts?.take({
      channel: `slack:${team}:${channel}`,
      thread: keyOf(team, { channel, root }),
      post,
      at: Math.round(Number(edit ?? ts) * 1_000),
      actor: actorOf(said),
      message: botMessageOf(said),
    });
    return (await taken) ?? false;
  }

  const actorOf = (said: Said) => ({
    account: `slack:${team}:${said.bot_id ?? said.user ?? ""}`,
    name: nameOfBot(said),
  });

  async function takeChange({ channel, ts, message, previous_message }: z.infer<typeof changed>) {
    const said = { ...message, channel };
    if (!isOthers(said) || !isListed(said)) return;
    // A preview that Slack added, or that somebody replied, is no word of the bot's.
    const isSame =
      previous_message !== undefined &&
      isDeepStrictEqual(botMessageOf(previous_message), botMessageOf(message));
    const edit = message.edited?.ts ?? ts;
    if (!isSame && edit !== undefined && /^\d+\.\d+$/.test(edit)) await isAlert(said, edit);
  }

  /** What a message of a listed bot tells of alerts. */
  function alertsIn(raw: unknown): ReturnType<AlertInbox["read"]> {
    const said = event.safeParse(raw).data;
    const isTheirs = said !== undefined && isOthers(said) && isListed(said);
    if (alerts === undefined || !isTheirs) return [];
    return alerts.read({ actor: actorOf(said), message: botMessageOf(said) });
  }

  async function hear(raw: unknown): Promise<void> {
    const change = changed.safeParse(raw).data;
    if (change !== undefined) return takeChange(change);
    const said = event.safeParse(raw).data;
    if (said === undefined || !isOthers(said)) return;
    const { channel, ts, thread_ts, bot_id, user } = said;
    const words = wordsOfBot(said);
    const isMentioned = mentions(words, botUser);
    const place = { channel, root: thread_ts ?? ts };
    const id = bot_id ?? user ?? "";
    if (!isListed(said)) {
      if (isMentioned) refuse(place, said.app_id ?? said.bot_profile?.app_id ?? id);
      return;
    }
    if (await isAlert(said)) return;
    const isReply = place.root !== ts;
    const text = await readSlackText(words, { botUser, nameOf: people.nameOf });
    if ((isReply && !isMentioned) || text === "") return;
    if (!bots.mayBegin(id, { message: `${channel} ${ts}`, at: Number(ts) * 1_000 })) return;
    const address = isMentioned ? { bot: true as const } : {};
    const key = keyOf(team, place);
    const actor = actorOf(said);
    await inbox.post(key, `msg:${ts}`, { kind: "text", app: true, actor, text, address });
  }

  function isOthers(said: Said): boolean {
    const { bot_id, subtype, user, app_id, metadata } = said;
    const isFromBot = bot_id !== undefined || (subtype === "bot_message" && user === undefined);
    const isOurs = app_id !== undefined && app_id === app();
    return isFromBot && !isOurs && isSpoken(said, workspace) && metadata?.event_type !== EVENT_TYPE;
  }

  return { hear, alertsIn };
}
