import type { Logger } from "pino";
import type { Delivery, MessageRef, Outgoing, Progress, View } from "../adapter.ts";
import { renderCard, type RenderedCard } from "../render/card.ts";
import type { AllowLink, RenderedMessage, Table } from "../render/rich-text.ts";
import { renderProgress, type RunProgress } from "../render/progress.ts";
import { imagesOf, renderImages, renderOutgoing, renderText } from "../render/message.ts";
import { isBotError } from "../../core/errors.ts";
import { plainer, plainerCard, unshown } from "../render/plainer.ts";
import { aloudDelivery } from "./notice-ids.ts";
import { isPrivate, partsOf, type Posting, type Sending } from "./posting.ts";
import type { ProgressBoard } from "./progress-board.ts";
import type { ThreadSign } from "./sign.ts";

/** An image of a result, as it is sent. */
export interface ShownImage {
  name: string;
  mediaType: string;
  bytes: Uint8Array;
  /** What it shows, in words; never empty. */
  alt: string;
}

/** More crowd a thread. */
const MAX_IMAGES = 4;

export interface ChatViewParts<Place, Message> {
  posting: Posting<Place, Message>;
  board: ProgressBoard<Place>;
  allowLink: AllowLink;
  /** The messages that say it, at least one. */
  encode(rendered: RenderedMessage): readonly Message[];
  /** Shows a run's progress in a form of the platform's own; undefined: it is an ordinary message. */
  beginPlan?(progress: RunProgress, delivery: Delivery): Promise<MessageRef | undefined>;
  /** The same so that it notifies nobody, where the platform has that. */
  quietly?(message: Message): Message;
  /** The one message that shows a card. */
  encodeCard(card: RenderedCard): readonly Message[];
  /** True for a table that is shown page by page. */
  isPaged?(table: Table): boolean;
  /** The messages that show the images, for after the others. @throws what the platform's API throws */
  imageMessages(images: readonly ShownImage[]): Promise<readonly Message[]>;
  /** Shows something to one person alone. Undefined when that isn't possible. */
  postPrivately(account: string, rendered: RenderedMessage): Promise<MessageRef | undefined>;
  nameOf(account: string): Promise<string>;
  /** `View.earlier`, where anything can stand above. */
  earlier?: NonNullable<View["earlier"]>;
  sign: ThreadSign<Place>;
  /** A model's answer is shown, and what it comes to in a sentence; never fails. */
  onConclusion?(place: Place, sentence: string): void;
  log: Logger;
}

/** One thread of a chat platform, as everyone in it sees it. Throws what `posting` throws; the outbox repeats it. */
export function createChatView<Place, Message>(
  place: Place,
  parts: ChatViewParts<Place, Message>,
): View {
  const { posting, board, allowLink, encode, encodeCard, sign, log } = parts;
  const { sendFitting, put } = fittingIn(place, parts);

  /** False when a part is gone. What one person alone sees stays as it was. */
  async function editAll(
    ref: MessageRef,
    messages: readonly Message[],
    isUrgent = false,
  ): Promise<boolean> {
    let isWhole = true;
    for (const [at, part] of partsOf(ref).entries()) {
      const message = messages[at];
      if (message === undefined || isPrivate(part)) continue;
      isWhole = (await posting.edit(place, part, message, isUrgent)) && isWhole;
    }
    return isWhole;
  }

  return {
    ...(parts.earlier !== undefined && { earlier: parts.earlier }),

    ...progressIn(place, parts),

    async post(message, delivery) {
      const rendered = await renderOutgoing(message, allowLink, parts);
      const messages = [...encode(rendered), ...(await messagesOfImages(message, delivery, parts))];
      const isUrgent = message.kind === "notice" && message.settles !== undefined;
      const ref = await put(messages, plainer(rendered), "message", { ...delivery, isUrgent });
      if (message.kind === "answer") {
        const isSure = !delivery.isRetry && delivery.orphan === undefined;
        sign.ends(place, message.run, isSure);
        const isConclusion = message.isModelRun && message.status === "completed";
        if (isConclusion) parts.onConclusion?.(place, rendered.summary);
      } else if (message.asks !== undefined) sign.waits(place);
      return ref;
    },

    async postPrivately(account, text, offer) {
      const ref = await parts.postPrivately(account, await renderText(text, allowLink, offer));
      if (ref !== undefined) return ref;
      // What comes after it must not wait for ever for a person who can't be reached alone.
      const aloud = await renderText(`${await parts.nameOf(account)}: ${text}`, allowLink);
      return posting.put(place, encode(aloud), aloudDelivery(account, text));
    },

    async updateNotice(ref, notice) {
      if (notice === undefined) return posting.remove(place, ref);
      const rendered = await renderOutgoing(notice, allowLink);
      const edit = (messages: readonly Message[]) => editAll(ref, messages);
      await sendFitting(encode(rendered), plainer(rendered), "message", edit);
    },

    async postCard(card, delivery) {
      const rendered = renderCard(card);
      const urgent = { ...delivery, isUrgent: true };
      const ref = await put(encodeCard(rendered), plainerCard(rendered), "card", urgent);
      sign.waits(place);
      return ref;
    },

    async updateCard(ref, card) {
      const rendered = renderCard(card);
      const edit = (messages: readonly Message[]) => editAll(ref, messages, true);
      if (await sendFitting(encodeCard(rendered), plainerCard(rendered), "card", edit)) return;
      log.warn({ key: card.key, action: card.action }, "a card is gone and stays so");
    },

    async delete(ref) {
      await board.end(ref);
      await posting.remove(place, ref);
    },
  };
}

/** The images of an answer's results; in words where they cannot be shown, so that the answer never waits for them. */
async function messagesOfImages<Place, Message>(
  message: Outgoing,
  { readArtifact }: Delivery,
  { imageMessages, encode, log }: ChatViewParts<Place, Message>,
): Promise<readonly Message[]> {
  if (message.kind !== "answer" || readArtifact === undefined) return [];
  const images = imagesOf(message).slice(-MAX_IMAGES);
  if (images.length === 0) return [];
  try {
    const shown = images.map(async ({ name, mediaType, artifact, alt = name }) => {
      const bytes = await readArtifact(artifact.id);
      return { name, mediaType, bytes, alt };
    });
    return await imageMessages(await Promise.all(shown));
  } catch (error) {
    log.warn({ err: error }, "an image could not be shown");
    return encode(renderImages(images));
  }
}

/** What a platform refuses for good as it was meant it gets plainer. */
function fittingIn<Place, Message>(
  place: Place,
  { posting, encode, log }: ChatViewParts<Place, Message>,
) {
  /** Sends it as it is meant or, where the platform refuses that for good, plainer, at last only that it could not be shown. */
  async function sendFitting<T>(
    meant: readonly Message[],
    plain: RenderedMessage,
    what: "message" | "card",
    send: (messages: readonly Message[], isAgain: boolean) => Promise<T>,
  ): Promise<T> {
    const forms = [() => encode(plain), () => encode(unshown(what))];
    for (let messages = meant, isAgain = false; ; isAgain = true) {
      try {
        return await send(messages, isAgain);
      } catch (error) {
        const next = forms.shift();
        const isContent = isBotError(error) && error.refused === "content";
        if (next === undefined || !isContent) throw error;
        log.warn({ err: error }, "a message was refused and goes plainer");
        messages = next();
      }
    }
  }

  async function put(
    meant: readonly Message[],
    plain: RenderedMessage,
    what: "message" | "card",
    delivery: Sending,
  ): Promise<MessageRef> {
    // What was refused may have left its first parts.
    return sendFitting(meant, plain, what, (messages, isAgain) =>
      posting.put(place, messages, { ...delivery, isRetry: delivery.isRetry || isAgain }),
    );
  }

  return { sendFitting, put };
}

/** A run's progress: the thread's sign of life, and what its message shows once it has one. */
function progressIn<Place, Message>(
  place: Place,
  parts: ChatViewParts<Place, Message>,
): Pick<View, "openProgress" | "progress"> {
  const { posting, board, encode, quietly = (message) => message, sign, allowLink, log } = parts;

  async function postProgress(progress: RunProgress, delivery: Delivery): Promise<MessageRef> {
    const planned = await parts.beginPlan?.(progress, delivery);
    if (planned !== undefined) return planned;
    // Progress is one message, whatever it holds.
    const [message] = encode(await renderProgress(progress, allowLink)).map(quietly);
    return posting.put(place, message === undefined ? [] : [message], delivery);
  }

  /** An ornament: what is refused goes with the answer. */
  function withdraw(opened: MessageRef): void {
    const gone = board.end(opened).then(() => posting.remove(place, opened));
    gone.catch((error: unknown) => log.debug({ err: error }, "progress could not be taken away"));
  }

  return {
    async openProgress(delivery, soFar) {
      // Its steps may all have been told to another process.
      if (delivery.run !== undefined) sign.works(place, delivery.run);
      return board.begin(place, soFar, delivery.run, (told) => postProgress(told, delivery));
    },

    progress(update, opened) {
      const run = runOf(update);
      if (update.kind === "waiting") {
        sign.waits(place, run);
        // The card or question says all there is to say; nothing stands above it that waits too.
        if (opened !== undefined) withdraw(opened);
        return;
      }
      // What ended says nothing of what goes on.
      if (update.kind !== "tool_finished") sign.works(place, run);
      if (opened !== undefined) board.note(place, opened, update);
    },
  };
}

/** A call is named after its run: `r2.t3`. */
function runOf(update: Progress): string {
  return "run" in update ? update.run : update.call.replace(/\..*$/s, "");
}
