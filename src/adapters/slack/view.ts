import type { Logger } from "pino";
import type { View } from "../adapter.ts";
import type { AllowLink } from "../render/rich-text.ts";
import type { ProgressBoard } from "../shared/progress-board.ts";
import { createChatView, type ThreadStatus } from "../shared/view.ts";
import type { Api } from "./api.ts";
import { slackMessages } from "./encode.ts";
import { slackImages } from "./images.ts";
import { createEarlier } from "./earlier.ts";
import { type Place, tryAccount, type Workspace } from "./place.ts";
import type { Posting } from "./posting.ts";
import type { SessionStatus } from "./status.ts";

export interface ViewParts {
  api: Api;
  workspace: Workspace;
  posting: Posting;
  board: ProgressBoard<Place>;
  status(place: Place, status: SessionStatus): void;
  allowLink: AllowLink;
  /** The display name; undefined when Slack does not answer quickly. */
  nameOf(user: string): Promise<string | undefined>;
  log: Logger;
}

const STATUSES: Readonly<Record<ThreadStatus, SessionStatus>> = {
  working: "processing",
  waiting: "suspended",
  idle: "active",
};

/** One thread, as everyone in it sees it. Throws what the Web API answers; the outbox repeats it. */
export function createView(
  place: Place,
  { api, workspace, status, nameOf, ...parts }: ViewParts,
): View {
  // In a direct message all that stands above is other conversations with the bot.
  const isDirect = place.channel.startsWith("D");
  const userOf = (account: string) => tryAccount(account)?.user ?? account;
  return createChatView(place, {
    ...parts,
    encode: slackMessages,
    imageMessages: async (images) => [await slackImages(api, images)],
    postPrivately: (account, rendered) =>
      parts.posting.postEphemeral(place, userOf(account), slackMessages(rendered)),
    nameOf: async (account) => (await nameOf(userOf(account))) ?? userOf(account),
    ...(!isDirect && { earlier: createEarlier(place, { api, workspace, nameOf }) }),
    showStatus: (now) => status(place, STATUSES[now]),
  });
}
