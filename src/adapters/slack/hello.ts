import { LRUCache } from "lru-cache";
import type { Logger } from "pino";
import * as z from "zod";
import type { Api } from "./api.ts";
import type { SlackMessage } from "./encode.ts";
import { helloTo } from "./phrases.ts";
import type { Workspace } from "./place.ts";

/** Invitations that may come a second time. */
const MAX_GREETED = 1_000;

const joined = z.object({
  user: z.string(),
  channel: z.string(),
  inviter: z.string().optional(),
  event_ts: z.string().optional(),
});

export interface HelloParts {
  workspace: Workspace;
  api: Api;
  render(text: string): Promise<SlackMessage>;
  log: Logger;
}

/** Says to whoever invites the bot what it does there: once, to them alone. Nothing waits for it, and it may be lost. */
export function createHello({ workspace, api, render, log }: HelloParts) {
  const greeted = new LRUCache<string, true>({ max: MAX_GREETED });

  async function greet(channel: string, user: string): Promise<void> {
    const message = await render(helloTo(workspace.botName));
    await api.ask("chat.postEphemeral", (client) =>
      client.chat.postEphemeral({ channel, user, ...message }),
    );
  }

  return {
    /** Takes a `member_joined_channel`. */
    join(event: unknown): void {
      const { user, channel, inviter, event_ts = "" } = joined.parse(event);
      const once = `${channel} ${inviter} ${event_ts}`;
      if (user !== workspace.botUser || inviter === undefined || greeted.has(once)) return;
      greeted.set(once, true);
      greet(channel, inviter).catch((error: unknown) =>
        log.debug({ err: error }, "who invited the bot could not be greeted"),
      );
    },
  };
}
