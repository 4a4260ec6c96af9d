import type { ResultImage } from "../../core/entry.ts";
import type { Notice, Offer, Outgoing } from "../shown.ts";
import { renderAnswer, type RenderOptions } from "./answer.ts";
import {
  type Button,
  cancelButton,
  decideButton,
  offerButtons,
  settleButtons,
  tryAnswerButton,
  withdrawButton,
} from "./buttons.ts";
import { summaryOf } from "./clip.ts";
import { type Answer, plainNotice } from "./phrases.ts";
import {
  type AllowLink,
  type Block,
  plainInlines,
  programInlines,
  type RenderedMessage,
  textOf,
} from "./rich-text.ts";

const MAX_BUTTONS = 25;

/** An answer, its conclusion first, or a notice with the buttons it offers. */
export async function renderOutgoing(
  message: Outgoing,
  allowLink: AllowLink,
  options: RenderOptions = {},
): Promise<RenderedMessage> {
  const rendered = await (message.kind === "answer"
    ? renderAnswer(message, allowLink, options)
    : renderNotice(message, allowLink));
  const said = rendered.blocks.map(wordsOf).find((text) => text.trim() !== "");
  return { ...rendered, summary: summaryOf(firstSentence(said ?? "Done.")) };
}

/** What a block says, without the names of results, which nobody can look at in a notification. */
function wordsOf(block: Block): string {
  if (!("inlines" in block)) return textOf(block);
  const inlines = block.inlines.filter(({ cites }) => cites !== true);
  return textOf({ ...block, inlines }).replaceAll(/ +(?=[.,;:!?])/g, "");
}

/** What a notification shows: the conclusion, and not half of what follows it. */
function firstSentence(text: string): string {
  return /^[^]{20,}?[.!?](?=\s)/.exec(text.trim())?.[0] ?? text;
}

export function imagesOf({ results }: Answer): ResultImage[] {
  return results.flatMap((result) => result.images ?? []);
}

/** What images show, in words, for where they cannot be shown. */
export function imageBlocks(images: readonly ResultImage[]): Block[] {
  return images.map(({ name, alt = name }) => ({
    kind: "small",
    inlines: [{ text: `Image: ${alt}` }],
  }));
}

/** The same as a message. */
export function renderImages(images: readonly ResultImage[]): RenderedMessage {
  return { blocks: imageBlocks(images), buttons: [], summary: images[0]?.alt ?? "image" };
}

/** A sentence of ours, and what its reader can press. */
export async function renderText(
  text: string,
  allowLink: AllowLink,
  { answer, ...offer }: Offer = {},
): Promise<RenderedMessage> {
  const notice = { ...plainNotice(text), ...offer };
  const told = await renderOutgoing({ ...notice, kind: "notice", text }, allowLink);
  if (answer === undefined) return told;
  const { blocks } = await renderAnswer(answer, allowLink, { isUncut: true });
  return { ...told, blocks: [...told.blocks, ...blocks] };
}

type Untitled = Omit<RenderedMessage, "summary">;

function renderNotice(notice: Notice, allowLink: AllowLink): Untitled {
  const { text, settles, asks, holds, approves = [], confirms, offers, mentions = [] } = notice;
  const blocks: Block[] = [{ kind: "text", inlines: programInlines(text.trimEnd(), allowLink) }];
  const buttons: Button[] = settles === undefined ? [] : settleButtons(settles);
  if (asks !== undefined) {
    const offered = choiceButtons(asks);
    // What a button cannot say whole is read here.
    const unsaid = asks.choices.filter((choice) => !offered.some(({ label }) => label === choice));
    blocks.push(
      ...unsaid.map((choice): Block => ({
        kind: "item",
        depth: 0,
        marker: "•",
        inlines: plainInlines(choice, allowLink),
      })),
    );
    const how = offered.length === 0 ? "Reply with the answer." : "Pick one, or reply.";
    blocks.push({ kind: "small", inlines: [{ text: how }] });
    buttons.push(...offered);
  }
  buttons.push(...approves.map(decideButton));
  buttons.push(...[...new Set(holds)].map((action) => cancelButton(action)));
  if (offers !== undefined) buttons.push(...offerButtons(offers));
  if (confirms !== undefined) buttons.push(withdrawButton(confirms));
  return { blocks, buttons: buttons.slice(0, MAX_BUTTONS), mentions };
}

/** A button for each choice that its id can hold; the rest has to be written. */
function choiceButtons({ call, choices }: { call: string; choices: string[] }): Button[] {
  return [...new Set(choices)].flatMap((choice) => tryAnswerButton(call, choice) ?? []);
}
