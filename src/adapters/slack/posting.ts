import type { webApi } from "@slack/bolt";
import { BotError } from "../../core/errors.ts";
import type { Delivery, MessageRef } from "../adapter.ts";
import type { Api } from "./api.ts";
import type { SlackMessage } from "./blocks.ts";
import { findEarlier, markOf } from "./earlier.ts";
import { refusalCode } from "./failures.ts";
import type { Place, Workspace } from "./place.ts";

/** The message stands no more, or not for us. */
const LOST: ReadonlySet<string> = new Set([
  "message_not_found",
  "cant_update_message",
  "edit_window_closed",
]);

/** How messages get into a thread and out of it. Everything throws what `Api.ask` throws. */
export interface Posting {
  /**
   * Posts one message after the other, as parts of one delivery. Parts that an earlier attempt posted are brought up to
   * date instead; `begun` becomes the first. When one fails, those before it stay for the next attempt to find.
   */
  put(
    place: Place,
    messages: readonly SlackMessage[],
    delivery: Delivery,
    begun?: MessageRef,
  ): Promise<MessageRef>;
  /** False when the message is gone or may not be edited any more. */
  edit(place: Place, ts: string, message: SlackMessage): Promise<boolean>;
  /** Not there any more is as good as deleted. */
  remove(place: Place, ref: MessageRef): Promise<void>;
  /** Seen by this person only: in the thread, or as a direct message when they are not in its channel. */
  whisper(place: Place, user: string, messages: readonly SlackMessage[]): Promise<MessageRef>;
}

/** A reference to several messages names them all. */
export function timestampsOf(ref: MessageRef): string[] {
  return ref.split(",");
}

/** Nothing that we post pings, unfurls, or is read as markup. */
const QUIET = { unfurl_links: false, unfurl_media: false, mrkdwn: false } as const;

export function createPosting(api: Api, workspace: Workspace): Posting {
  async function post(
    channel: string,
    message: SlackMessage,
    where: Pick<webApi.ChatPostMessageArguments, "thread_ts" | "metadata"> = {},
  ): Promise<string> {
    const posted = await api.ask("chat.postMessage", (client) =>
      client.chat.postMessage({ channel, ...message, ...QUIET, ...where }),
    );
    const ts = posted.ts ?? "";
    if (where.thread_ts === undefined || posted.message?.thread_ts === where.thread_ts) return ts;
    // Slack posts a reply into the channel, for all to see, when the message that the thread hangs from is gone.
    await remove(channel, ts);
    throw new BotError(
      "PLATFORM_REFUSED",
      "The message that the thread hangs from was deleted, so nothing can be shown there. Ask again in a new thread.",
    );
  }

  async function remove(channel: string, ts: string): Promise<void> {
    try {
      await api.ask("chat.delete", (client) => client.chat.delete({ channel, ts }));
    } catch (error) {
      if (refusalCode(error) !== "message_not_found") throw error;
    }
  }

  async function edit({ channel }: Place, ts: string, message: SlackMessage): Promise<boolean> {
    try {
      await api.ask("chat.update", (client) => client.chat.update({ channel, ts, ...message }));
      return true;
    } catch (error) {
      if (LOST.has(refusalCode(error) ?? "")) return false;
      throw error;
    }
  }

  /** Undefined when the person is not in the channel. */
  async function postTo(
    place: Place,
    user: string,
    message: SlackMessage,
  ): Promise<string | undefined> {
    const where = { channel: place.channel, thread_ts: place.root, user };
    try {
      const shown = await api.ask("chat.postEphemeral", (client) =>
        client.chat.postEphemeral({ ...where, ...message }),
      );
      return shown.message_ts ?? "";
    } catch (error) {
      if (refusalCode(error) === "user_not_in_channel") return undefined;
      throw error;
    }
  }

  return {
    edit,

    async put(place, messages, { id, again }, begun) {
      const there = again
        ? await findEarlier(api, workspace, place, id)
        : new Map<number, string>();
      if (begun !== undefined) there.set(0, begun);
      const refs: string[] = [];
      for (const [part, message] of messages.entries()) {
        const ts = there.get(part);
        const stands = ts !== undefined && (await edit(place, ts, message));
        const where = { thread_ts: place.root, metadata: markOf(id, part) };
        refs.push(stands ? ts : await post(place.channel, message, where));
      }
      return refs.join(",");
    },

    async remove({ channel }, ref) {
      for (const ts of timestampsOf(ref)) await remove(channel, ts);
    },

    async whisper(place, user, messages) {
      const refs: string[] = [];
      let isThere = true;
      for (const message of messages) {
        const ref: string | undefined = isThere ? await postTo(place, user, message) : undefined;
        isThere = ref !== undefined;
        // Slack takes a person for the direct messages with them.
        refs.push(ref ?? (await post(user, message)));
      }
      return refs.join(",");
    },
  };
}
