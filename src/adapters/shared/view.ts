import type { Logger } from "pino";
import type { Delivery, MessageRef, View } from "../view.ts";
import type { Outgoing, Progress } from "../shown.ts";
import { renderCard, type RenderedCard } from "../render/card.ts";
import { renderLiving } from "../render/living.ts";
import type { AllowLink, RenderedMessage, Table } from "../render/rich-text.ts";
import { renderProgress, type RunProgress } from "../render/progress.ts";
import { imagesOf, renderImages, renderOutgoing, renderText } from "../render/message.ts";
import { renderQuote } from "../render/quote.ts";
import { isBotError, messageOf } from "../../core/errors.ts";
import { notSentAlong } from "../render/phrases.ts";
import { fileOf, plainer, plainerCard, unshown, type What } from "../render/plainer.ts";
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
  /** The same in the platform's oldest forms, for where it refuses newer ones. */
  basic?: Pick<ChatViewParts<Place, Message>, "encode" | "encodeCard">;
  /** Sends a text as a file into the thread; once, where the platform lets that be told. @throws as `posting` */
  sendFile(
    place: Place,
    file: { name: string; text: string },
    delivery: Delivery,
  ): Promise<unknown>;
  /** True for a table that is shown page by page. */
  isPaged?(table: Table): boolean;
  /** The messages that show the images, for after the others. @throws what the platform's API throws */
  imageMessages(images: readonly ShownImage[]): Promise<readonly Message[]>;
  /** Shows something to one person alone. Undefined when that isn't possible. */
  postPrivately(account: string, rendered: RenderedMessage): Promise<MessageRef | undefined>;
  nameOf(account: string): Promise<string>;
  /** `View.earlier`, where anything can stand above. */
  earlier?: NonNullable<View["earlier"]>;
  linkTo: NonNullable<View["linkTo"]>;
  sign: ThreadSign<Place>;
  /** As `View.showRoot`. */
  showRoot?: View["showRoot"];
  /** A model's answer is shown, and what it comes to in a sentence; never fails. */
  onConclusion?(place: Place, sentence: string): void;
  log: Logger;
}

/** One thread of a chat platform, as everyone in it sees it. Throws what `posting` throws; the outbox repeats it. */
export function createChatView<Place, Message>(
  place: Place,
  parts: ChatViewParts<Place, Message>,
): View {
  const { posting, board, allowLink, encode, sign, log } = parts;
  const editAll = editIn(place, posting);
  const { ofMessage, ofCard } = formsIn(parts);
  const { sendFitting, sendUnshown, put } = fittingIn(place, parts);

  return {
    ...givenIn(parts),

    ...progressIn(place, parts),

    async post(message, delivery) {
      if (message.kind === "answer" && message.isMoot)
        return sayNothing(place, parts, message.run, delivery);
      const rendered = await renderOutgoing(message, allowLink, parts);
      const images = await messagesOfImages(message, delivery, parts);
      const isUrgent = message.kind === "notice" && message.settles !== undefined;
      const saidAt = performance.now();
      const ref = await put(ofMessage(rendered, images), { ...delivery, isUrgent });
      if (message.kind === "answer") {
        await sendAlong(place, parts, message.file, delivery);
        sign.ends(place, message.run, saidAt, isSureOf(delivery));
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
      await sendFitting(ofMessage(rendered), edit);
    },

    async postCard(card, delivery) {
      const ref = await put(ofCard(renderCard(card)), { ...delivery, isUrgent: true });
      sign.waits(place);
      return ref;
    },

    async updateCard(ref, card, said) {
      const forms = ofCard(renderCard(card));
      const edit = (messages: readonly Message[]) => editAll(ref, messages, true);
      const { sent, why } = await sendFitting(forms, edit);
      if (!sent) {
        log.warn(
          { key: card.key, action: card.action },
          "a card is gone, or does not fit its message, and stays so",
        );
        if (card.phase === "open")
          said?.unshown?.({ to: "nobody", why: "Its message is gone or too short for it." });
      } else if (why !== undefined && card.phase === "open") {
        const id = `${card.action}.${card.revision}`;
        await sendUnshown(forms, why, { ...said, id, isRetry: true });
      }
    },

    async postLiving(living, delivery) {
      return put(ofCard(renderLiving(living), living.kind), delivery);
    },

    async updateLiving(ref, living) {
      const edit = (messages: readonly Message[]) => editAll(ref, messages);
      if ((await sendFitting(ofCard(renderLiving(living), living.kind), edit)).sent) return;
      log.warn({ [living.kind]: living.card.id }, "a message that tells how it stands is gone");
    },

    async quote(said, delivery, shown) {
      const forms = ofMessage(renderQuote(said));
      if (shown === undefined) return put(forms, delivery);
      await sendFitting(forms, (messages) => editAll(shown, messages));
      return shown;
    },

    async delete(ref) {
      await board.end(ref);
      await posting.remove(place, ref);
    },
  };
}

/** What a platform has in a form of its own. */
function givenIn<Place, Message>({
  earlier,
  linkTo,
  showRoot,
}: ChatViewParts<Place, Message>): Pick<View, "earlier" | "linkTo" | "showRoot"> {
  return {
    ...(linkTo !== undefined && { linkTo }),
    ...(earlier !== undefined && { earlier }),
    ...(showRoot !== undefined && { showRoot }),
  };
}

/** Edits a message's parts. False when one is gone, or too few stand there; what one person alone sees stays as it was. */
function editIn<Place, Message>(place: Place, posting: Posting<Place, Message>) {
  return async (
    ref: MessageRef,
    messages: readonly Message[],
    isUrgent = false,
  ): Promise<boolean> => {
    const parts = partsOf(ref);
    let isWhole = messages.length <= parts.length;
    for (const [at, part] of parts.entries()) {
      const message = messages[at];
      if (message === undefined || isPrivate(part)) continue;
      isWhole = (await posting.edit(place, part, message, isUrgent)) && isWhole;
    }
    return isWhole;
  };
}

/** A file below its message. Where the platform refuses it for good, it says so there: the message stands. */
async function sendAlong<Place, Message>(
  place: Place,
  { sendFile, posting, encode, allowLink, log }: ChatViewParts<Place, Message>,
  file: { name: string; text: string } | undefined,
  { id, isRetry }: Delivery,
): Promise<void> {
  if (file === undefined) return;
  const delivery = { id: `${id}:file`, isRetry };
  try {
    await sendFile(place, file, delivery);
  } catch (error) {
    if (!isBotError(error) || error.refused === undefined) throw error;
    log.warn({ err: error }, "a file could not be sent along");
    const words = await renderText(notSentAlong(file.name, messageOf(error)), allowLink);
    await posting.put(place, encode(words), delivery);
  }
}

/** The run is over: only progress that nobody recorded is taken away, where the platform lets it. */
async function sayNothing<Place, Message>(
  place: Place,
  { posting, sign }: ChatViewParts<Place, Message>,
  run: string,
  delivery: Delivery,
): Promise<MessageRef> {
  try {
    if (delivery.orphan !== undefined)
      await posting.put(place, [], { ...delivery, isRetry: false });
  } catch (error) {
    if (!isBotError(error, "PLATFORM_REFUSED")) throw error;
  }
  sign.ends(place, run, undefined, isSureOf(delivery));
  return "";
}

/** No other process can have shown a status for it. */
function isSureOf({ isRetry, orphan }: Delivery): boolean {
  return !isRetry && orphan === undefined;
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

/** The forms of a message, from the one that is meant to the one that says that it could not be shown. */
interface Forms<Message> {
  meant: readonly (() => readonly Message[])[];
  last: () => readonly Message[];
  /** What cannot be shown is sent as a file. */
  file: { name: string; text: string };
}

function formsIn<Place, Message>({
  encode,
  encodeCard,
  basic,
}: ChatViewParts<Place, Message>): {
  ofMessage(rendered: RenderedMessage, images?: readonly Message[]): Forms<Message>;
  ofCard(rendered: RenderedCard, what?: What): Forms<Message>;
} {
  function forms(
    meant: Forms<Message>["meant"],
    plain: RenderedMessage,
    what: What,
  ): Forms<Message> {
    const quiet = { ...plain, mentions: [] };
    // It may be a mention that is refused.
    const plainForms = plain.mentions?.length ? [plain, quiet] : [quiet];
    return {
      meant: [...meant, ...plainForms.map((form) => () => encode(form))],
      last: () => encode(unshown(what)),
      file: fileOf(plain, what),
    };
  }
  return {
    ofMessage(rendered, images = []) {
      const simple = basic === undefined ? [] : [() => basic.encode(rendered)];
      const meant = [() => [...encode(rendered), ...images], ...simple];
      return forms(meant, plainer(rendered), "message");
    },
    ofCard(rendered, what = "card") {
      const simple = basic === undefined ? [] : [() => basic.encodeCard(rendered)];
      return forms([() => encodeCard(rendered), ...simple], plainerCard(rendered), what);
    },
  };
}

/** What a platform refuses for good as it was meant it gets plainer. */
function fittingIn<Place, Message>(place: Place, parts: ChatViewParts<Place, Message>) {
  const { posting, quietly = (message) => message, sendFile, log } = parts;

  /** `why`: it could be shown in none of its forms, and what stands there says that. */
  async function sendFitting<T>(
    { meant, last }: Forms<Message>,
    send: (messages: readonly Message[], mayHaveBegun: boolean) => Promise<T>,
  ): Promise<{ sent: T; why?: string }> {
    // Of several messages the first ones may stand when another is refused.
    let mayHaveBegun = false;
    let why = "";
    for (const form of meant) {
      const messages = form();
      try {
        return { sent: await send(messages, mayHaveBegun) };
      } catch (error) {
        if (!isBotError(error) || error.refused !== "content") throw error;
        log.warn({ err: error }, "a message was refused and goes plainer");
        why = messageOf(error);
        mayHaveBegun ||= messages.length > 1;
      }
    }
    return { sent: await send(last(), mayHaveBegun), why };
  }

  /** Sends what could not be shown as a file, and tells the caller. */
  async function sendUnshown(
    { file }: Forms<Message>,
    why: string,
    delivery: Delivery,
  ): Promise<void> {
    const sending = sendFile(place, file, { ...delivery, id: `${delivery.id}:file` });
    const to = await sending.then(
      () => "file" as const,
      (error: unknown) => {
        log.error({ err: error }, "what could not be shown could not be sent as a file");
        return "nobody" as const;
      },
    );
    delivery.unshown?.({ to, why });
  }

  async function put(forms: Forms<Message>, delivery: Sending): Promise<MessageRef> {
    const { sent, why } = await sendFitting(forms, (messages, mayHaveBegun) => {
      const shown = delivery.isQuiet === true ? messages.map(quietly) : messages;
      const isRetry = delivery.isRetry || mayHaveBegun;
      return posting.put(place, shown, { ...delivery, isRetry });
    });
    if (why !== undefined) await sendUnshown(forms, why, delivery);
    return sent;
  }

  return { sendFitting, sendUnshown, put };
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
