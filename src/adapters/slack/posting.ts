import { LRUCache } from "lru-cache";
import type { webApi } from "@slack/bolt";
import { BotError, isBotError } from "../../core/errors.ts";
import { createTurns } from "../../core/turns.ts";
import type { MessageRef } from "../view.ts";
import {
  deliverParts,
  EPHEMERAL,
  partsOf,
  type Posting as ChatPosting,
} from "../shared/posting.ts";
import type { Pace } from "../shared/pace.ts";
import type { Api } from "./api.ts";
import type { SlackMessage } from "./encode.ts";
import { findDelivery, markOf } from "./find-delivery.ts";
import { DELETED, ROOT_GONE } from "./phrases.ts";
import { REFUSED_MS, refusalCode } from "./errors.ts";
import { isStream, type PlanStreams, timestampOf } from "./plan-stream.ts";
import { NO_THREAD, type Place, type Workspace } from "./place.ts";

/** The message is gone, or can't be edited any more. */
const LOST: ReadonlySet<string> = new Set([
  "message_not_found",
  "cant_update_message",
  "edit_window_closed",
]);

/** As `ChatPosting`; everything throws what `Api.ask` throws. A message that Slack will not delete gets other words instead. */
export interface Posting extends ChatPosting<Place, SlackMessage> {
  /** Posts the first message of a new thread. Returns its timestamp. */
  begin(channel: string, message: SlackMessage): Promise<string>;
  /**
   * Shows messages to this person only: in the thread, or as a direct message when they are not in its channel. Undefined
   * when Slack refuses that one.
   */
  postEphemeral(
    place: Place,
    user: string,
    messages: readonly SlackMessage[],
  ): Promise<MessageRef | undefined>;
}

/** When a stream that Slack lets wait is taken away, where it does not say. */
const AGAIN_MS = 30_000;

/** Nothing that we post pings, unfurls, or is read as markup. */
const QUIET = { unfurl_links: false, unfurl_media: false, mrkdwn: false } as const;

/** The workspace's settings forbid deleting messages. */
const KEPT: ReadonlySet<string> = new Set([
  "cant_delete_message",
  "compliance_exports_prevent_deletion",
]);

/** Replaces a message that Slack does not delete. */
const TAKEN_BACK: SlackMessage = {
  text: DELETED,
  blocks: [
    {
      type: "rich_text",
      elements: [{ type: "rich_text_section", elements: [{ type: "text", text: DELETED }] }],
    },
  ],
};

/** Threads whose first message is gone are remembered, and not tried again for so long. */
const MAX_GONE = 1_000;
const GONE_MS = 600_000;

/** For what nobody waits for. */
function later({ retryAfterMs = AGAIN_MS }: BotError, request: () => Promise<void>): void {
  setTimeout(() => void request().catch(() => {}), retryAfterMs).unref();
}

type Where = Pick<webApi.ChatPostMessageArguments, "metadata"> & {
  thread_ts?: string;
  isUrgent?: boolean | undefined;
  /** Of a reply: the channel shows it too. */
  isBroadcast?: boolean | undefined;
};

type Sender = ReturnType<typeof createSender>;

/** One message at a time. */
function createSender(api: Api, pace: Pace, endStream: PlanStreams["end"]) {
  /** Threads without a first message: when that was noticed, and which message must still be removed from the channel. */
  const gone = new LRUCache<string, { at: number; stray: string | undefined }>({ max: MAX_GONE });

  /** Each method has a limit in each channel. */
  function ask<T>(
    method: string,
    { channel, isUrgent }: { channel: string; isUrgent?: boolean | undefined },
    request: (client: webApi.WebClient) => Promise<T>,
  ): Promise<T> {
    return pace.ask({ name: `${method} ${channel}`, isUrgent }, () => api.ask(method, request));
  }

  /** @throws BotError PLATFORM_REFUSED when the thread is known to have lost its first message */
  async function checkRoot(channel: string, root: string): Promise<void> {
    const seen = gone.get(`${channel} ${root}`);
    if (seen === undefined || performance.now() - seen.at > GONE_MS) return;
    if (seen.stray !== undefined) await remove({ channel, root }, seen.stray);
    seen.stray = undefined;
    throw new BotError("PLATFORM_REFUSED", ROOT_GONE, {
      retryAfterMs: REFUSED_MS,
      refused: "place",
    });
  }

  async function post(channel: string, message: SlackMessage, where: Where = {}): Promise<string> {
    return (await postIn(channel, message, where)).ts;
  }

  /** Where it went: Slack accepts a person's id as the channel of direct messages with them. */
  async function postIn(
    channel: string,
    message: SlackMessage,
    { isUrgent, isBroadcast = false, thread_ts: root, ...rest }: Where = {},
  ): Promise<{ ts: string; channel: string }> {
    const reply = root === undefined ? {} : { thread_ts: root };
    const where =
      isBroadcast && root !== undefined ? { thread_ts: root, reply_broadcast: true } : reply;
    const posted = await ask("chat.postMessage", { channel, isUrgent }, (client) =>
      client.chat.postMessage({ channel, ...message, ...QUIET, ...rest, ...where }),
    );
    const ts = posted.ts ?? "";
    const put = { ts, channel: posted.channel ?? channel };
    if (root === undefined || posted.message?.thread_ts === root) return put;
    // If the thread's first message is gone, Slack posts a reply into the channel for all to see.
    const seen = { at: performance.now(), stray: ts };
    gone.set(`${channel} ${root}`, seen);
    await checkRoot(channel, root);
    return put;
  }

  async function remove(place: Place, part: string): Promise<void> {
    const { channel } = place;
    const ts = timestampOf(part);
    try {
      // Slack deletes no stream that is open.
      if (isStream(part)) await endStream(place, part);
      await ask("chat.delete", { channel }, (client) => client.chat.delete({ channel, ts }));
    } catch (error) {
      if (refusalCode(error) === "message_not_found") return;
      if (isStream(part) && isBotError(error, "PLATFORM_RATE_LIMITED"))
        return later(error, () => remove(place, part));
      if (!KEPT.has(refusalCode(error) ?? "")) throw error;
      // Later messages must not wait for ever.
      await ask("chat.update", { channel }, (client) =>
        client.chat.update({ channel, ts, ...TAKEN_BACK }),
      );
    }
  }

  async function edit(
    place: Place,
    part: string,
    message: SlackMessage,
    isUrgent?: boolean,
  ): Promise<boolean> {
    const { channel } = place;
    const ts = timestampOf(part);
    // Slack edits no stream that is open.
    if (isStream(part)) await endStream(place, part);
    try {
      await ask("chat.update", { channel, isUrgent }, (client) =>
        client.chat.update({ channel, ts, ...message }),
      );
      return true;
    } catch (error) {
      if (LOST.has(refusalCode(error) ?? "")) return false;
      throw error;
    }
  }

  return { ask, checkRoot, post, postIn, remove, edit };
}

export function createPosting(
  api: Api,
  workspace: Workspace,
  pace: Pace,
  endStream: PlanStreams["end"],
): Posting {
  const { ask, checkRoot, post, postIn, remove, edit } = createSender(api, pace, endStream);
  // An attempt that timed out may still post.
  const inTurn = createTurns<string>();

  return {
    edit,
    begin: post,

    put: (place, messages, delivery) =>
      inTurn(`${place.channel} ${place.root} ${delivery.id}`, async (isLater) => {
        await checkRoot(place.channel, place.root);
        const attempt = { ...delivery, isRetry: delivery.isRetry || isLater };
        const { isUrgent, isBroadcast } = delivery;
        const lane = { name: `conversations.replies ${place.channel}`, isUrgent };
        return deliverParts(messages, attempt, {
          find: (id) => pace.ask(lane, () => findDelivery(api, workspace, place, id)),
          edit: (ts, message) => edit(place, ts, message, isUrgent),
          post(message, part) {
            const metadata = markOf(delivery.id, part);
            const where = place.root === NO_THREAD ? {} : { thread_ts: place.root, isBroadcast };
            return post(place.channel, message, { ...where, metadata, isUrgent });
          },
          remove: (part) => remove(place, part),
        });
      }),

    async remove(place, ref) {
      for (const part of partsOf(ref)) {
        const [ts = "", channel = place.channel] = part.split("/").toReversed();
        if (channel !== EPHEMERAL && ts !== "") await remove({ ...place, channel }, ts);
      }
    },

    postEphemeral: createPostEphemeral(ask, postIn),
  };
}

function unlessRefused(error: unknown): undefined {
  if (!isBotError(error, "PLATFORM_REFUSED")) throw error;
}

function createPostEphemeral(
  ask: Sender["ask"],
  post: (channel: string, message: SlackMessage) => Promise<{ ts: string; channel: string }>,
): Posting["postEphemeral"] {
  /** Undefined when the person is not in the channel, or nothing can be shown there. */
  async function postTo(
    place: Place,
    user: string,
    message: SlackMessage,
  ): Promise<string | undefined> {
    const where = { channel: place.channel, thread_ts: place.root, user };
    try {
      const { message_ts = "" } = await ask("chat.postEphemeral", place, (client) =>
        client.chat.postEphemeral({ ...where, ...message }),
      );
      return `${EPHEMERAL}/${message_ts}`;
    } catch (error) {
      const isElsewhere = isBotError(error) && error.refused === "place";
      if (isElsewhere || refusalCode(error) === "user_not_in_channel") return undefined;
      throw error;
    }
  }

  return async (place, user, messages) => {
    const refs: string[] = [];
    let isThere = true;
    for (const message of messages) {
      const ref: string | undefined = isThere ? await postTo(place, user, message) : undefined;
      isThere = ref !== undefined;
      const sent = ref === undefined ? await post(user, message).catch(unlessRefused) : undefined;
      if (ref === undefined && sent === undefined) return undefined;
      refs.push(ref ?? `${sent?.channel}/${sent?.ts}`);
    }
    return refs.join(",");
  };
}
