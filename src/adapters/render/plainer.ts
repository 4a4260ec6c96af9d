import { basicBlocks } from "./basic.ts";
import { ratingButtons } from "./buttons.ts";
import type { RenderedCard } from "./card.ts";
import { type Block, plain, type RenderedMessage, textOf } from "./rich-text.ts";

/** Of a drawn table, in cells. */
const COLUMNS = 42;

/** What a platform gets once it has refused a message as it was: the same words without any form, with the same buttons. */
export function plainer({ blocks, buttons, summary, rates }: RenderedMessage): RenderedMessage {
  const lines = basicBlocks(blocks, COLUMNS).map(textOf);
  const folds = blocks.flatMap((block) => (block.kind === "fold" ? [block.open] : []));
  const rating = rates === undefined ? [] : ratingButtons(rates);
  const all = [...buttons, ...folds, ...rating];
  return { blocks: [textBlock(lines.join("\n"))], buttons: all, summary };
}

/** The same of a card; what would be executed stands whole. */
export function plainerCard(card: RenderedCard): RenderedMessage {
  const { title, standing, command, notes, facts, about, exact, buttons, summary } = card;
  const lines = [title, standing, command, ...notes];
  lines.push(...facts.map(({ label, text }) => `${label}: ${text}`), plain(about));
  if (exact !== undefined) lines.push(exact.title, exact.asked);
  if (exact?.added !== undefined) lines.push("Added by Watchkeeper:", exact.added);
  return { blocks: [textBlock(lines.join("\n"))], buttons, summary };
}

/** What stands there when the plain words are refused too. */
export function unshown(what: "message" | "card"): RenderedMessage {
  const text = UNSHOWN[what];
  return { blocks: [textBlock(text)], buttons: [], summary: text };
}

const UNSHOWN = {
  message: "An answer could not be shown here: the chat refused it. Ask for something shorter.",
  card: "An action's card could not be shown here: the chat refused it. Nothing has run.",
} as const;

function textBlock(text: string): Block {
  return { kind: "text", inlines: [{ text }] };
}
