import { characterEnd } from "../../core/characters.ts";
import type { Quoted } from "../shown.ts";
import { summaryOf } from "./clip.ts";
import { type Block, plainInlines, type RenderedMessage } from "./rich-text.ts";

/** One message of every platform's holds it. */
const MAX_TEXT = 1_500;

const noLink = (): boolean => false;

/** What somebody wrote in another place of the thread: their name and platform, and below it their words as a quotation. */
export function renderQuote({ name, platform, text, files }: Quoted): RenderedMessage {
  const whole = text.trim();
  const isCut = whole.length > MAX_TEXT;
  const words = isCut ? `${whole.slice(0, characterEnd(whole, MAX_TEXT))}…` : whole;
  const small = [
    ...(files.length > 0 ? [`With ${files.join(", ")}`] : []),
    ...(isCut || files.length > 0 ? [`All of it is on ${platform}.`] : []),
  ];
  const blocks: Block[] = [
    { kind: "text", inlines: [{ text: `${name} on ${platform}:`, strong: true }] },
    { kind: "quote", inlines: plainInlines(words, noLink) },
    ...small.map((line): Block => ({ kind: "small", inlines: [{ text: line }] })),
  ];
  const summary = summaryOf(`${name} on ${platform}: ${words}`);
  return {
    blocks: blocks.filter(({ kind }) => kind !== "quote" || words !== ""),
    buttons: [],
    summary,
  };
}
