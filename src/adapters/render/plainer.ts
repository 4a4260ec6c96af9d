import { basicBlocks } from "./basic.ts";
import { type Button, feedbackButtons } from "./buttons.ts";
import type { RenderedCard } from "./card.ts";
import { type Block, plain, type RenderedMessage, textOf } from "./rich-text.ts";

/** Of a drawn table, in cells. */
const COLUMNS = 42;

/** What a platform gets once it has refused a message as it was: the same words without any form, with the same buttons. */
export function plainer({
  blocks,
  buttons,
  feedbackOn,
  ...message
}: RenderedMessage): RenderedMessage {
  const lines = basicBlocks(blocks, COLUMNS).map(textOf);
  const text = textBlock(lines.join("\n"));
  return { ...message, blocks: [text], buttons: [...buttons, ...moreButtons(blocks, feedbackOn)] };
}

/** What other forms have a place of their own for. */
export function moreButtons(
  blocks: readonly Block[],
  feedbackOn: RenderedMessage["feedbackOn"],
): Button[] {
  const folds = blocks.flatMap((block) => (block.kind === "fold" ? [block.open] : []));
  return [...folds, ...(feedbackOn === undefined ? [] : feedbackButtons(feedbackOn))];
}

/** The same of a card; what would be executed stands whole. */
export function plainerCard(card: RenderedCard): RenderedMessage {
  const { title, standing, command, notes, facts, timeline, about, exact } = card;
  const lines = [title, standing, ...(command === undefined ? [] : [command]), ...notes];
  lines.push(...facts.map(({ label, text }) => `${label}: ${text}`));
  if (timeline !== undefined) lines.push(plain(timeline));
  lines.push(plain(about));
  if (exact !== undefined) lines.push(exact.title, exact.asked);
  if (exact?.added !== undefined) lines.push("Added by Watchkeeper:", exact.added);
  const { buttons, summary, mentions } = card;
  return { blocks: [textBlock(lines.join("\n"))], buttons, summary, mentions };
}

/** What stands there when the plain words are refused too. */
export function unshown(what: What): RenderedMessage {
  const text = UNSHOWN[what];
  return { blocks: [textBlock(text)], buttons: [], summary: text };
}

/** All of it, to be read outside of the chat. */
export function fileOf(rendered: RenderedMessage, what: What) {
  const text = rendered.whole?.text ?? rendered.blocks.map(textOf).join("\n");
  return { name: `${what}.txt`, text };
}

export type What = keyof typeof UNSHOWN;

const UNSHOWN = {
  message: "An answer could not be shown here: the chat refused it. The file has it whole.",
  card: "An action's card could not be shown here: the chat refused it. The file says what it is. To decide it, ask for it again.",
  incident:
    "An incident's card could not be shown here: the chat refused it. The file has it whole.",
  goal: "How a goal stands could not be shown here: the chat refused it. The file has it whole.",
  alerts: "How alerts stand could not be shown here: the chat refused it. The file has it whole.",
} as const;

function textBlock(text: string): Block {
  return { kind: "text", inlines: [{ text }] };
}
