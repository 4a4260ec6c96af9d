import { LRUCache } from "lru-cache";
import type { Logger } from "pino";
import type { View } from "../view.ts";
import type { AllowLink } from "../render/rich-text.ts";
import type { ProgressBoard } from "../shared/progress-board.ts";
import type { ThreadSign } from "../shared/sign.ts";
import { createChatView } from "../shared/view.ts";
import type { Api } from "./api.ts";
import { slackCard } from "./card.ts";
import { basicMessages, slackMessages } from "./encode.ts";
import { sendFile, slackImages } from "./images.ts";
import { createEarlier, createForwarded } from "./earlier.ts";
import { messageLink, type Place, tryAccount, type Workspace } from "./place.ts";
import { isPaged } from "./tables.ts";
import type { PlanStreams } from "./plan-stream.ts";
import type { Posting } from "./posting.ts";
import { createShowRoot, type LookAtRoot } from "./root.ts";

export interface ViewParts {
  api: Api;
  workspace: Workspace;
  posting: Posting;
  streams: PlanStreams;
  board: ProgressBoard<Place>;
  sign: ThreadSign<Place>;
  lookAtRoot: LookAtRoot;
  onConclusion(place: Place, sentence: string): void;
  allowLink: AllowLink;
  /** The display name; undefined when Slack does not answer quickly. */
  nameOf(user: string): Promise<string | undefined>;
  log: Logger;
}

/** Threads at work: each step asks for its thread's view some ten times. */
const MAX_VIEWS = 200;

/** The view of a thread, the same one as long as it is asked for. */
export function createViews(parts: ViewParts) {
  const views = new LRUCache<string, View>({ max: MAX_VIEWS });
  return (place: Place): View => {
    const key = `${place.channel} ${place.root}`;
    const view = views.get(key) ?? createView(place, parts);
    views.set(key, view);
    return view;
  };
}

/** One thread, as everyone in it sees it. Throws what the Web API answers; the outbox repeats it. */
function createView(
  place: Place,
  { api, workspace, nameOf, lookAtRoot, ...parts }: ViewParts,
): View {
  // In a direct message all that stands above is other conversations with the bot.
  const isDirect = place.channel.startsWith("D");
  const userOf = (account: string) => tryAccount(account)?.user ?? account;
  return createChatView(place, {
    ...parts,
    encode: slackMessages,
    linkTo: (ref) => messageLink(workspace, place, ref),
    showRoot: createShowRoot(place, { api, look: lookAtRoot, posting: parts.posting }),
    beginPlan: (progress, delivery) => parts.streams.begin(place, progress, delivery),
    encodeCard: (card) => slackCard(card),
    basic: { encode: basicMessages, encodeCard: (card) => slackCard(card, false) },
    isPaged,
    sendFile: (at, { name, text }) =>
      sendFile(api, at, { name, bytes: Buffer.from(text), alt: name }),
    imageMessages: async (images) => [await slackImages(api, images)],
    postPrivately: (account, rendered) =>
      parts.posting.postEphemeral(place, userOf(account), slackMessages(rendered)),
    nameOf: async (account) => (await nameOf(userOf(account))) ?? userOf(account),
    earlier: (isDirect ? createForwarded : createEarlier)(place, { api, workspace, nameOf }),
  });
}
