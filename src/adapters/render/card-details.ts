import type { Json } from "../../core/entry.ts";
import { exactText } from "../../security/sanitize.ts";
import type { ActionCard } from "../shown.ts";
import { yesButton } from "./buttons.ts";
import { summaryOf } from "./clip.ts";
import { commandOf, onHost, titleOf } from "./title.ts";
import { exactLines, neededWords, REASON, voteLines } from "./phrases.ts";
import { type Block, inert, type Inline, type RenderedMessage, type Row } from "./rich-text.ts";
import { type Fact, linesOf, consequences } from "./card-facts.ts";
import { renderCard, timeOf, markedStanding } from "./card.ts";

/** An action at full length: for the terminal, for the button Details, and for whoever must open it to approve it. */

/** Labels who may approve. */
const NEEDS = "Needs";

/** A card for a surface that shows all of it: nothing is shortened, and every byte is there. */
export function wholeCard(card: ActionCard): RenderedMessage {
  const { title, notes, summary } = renderCard(card);
  const again = card.revision > 1 ? ` · revision ${card.revision}` : "";
  const needs: Row[] = [
    { label: NEEDS, inlines: inert(needsOf(card)) },
    { label: "Expires", inlines: [timeOf(card.expiresAt)] },
  ];
  return {
    blocks: [
      { kind: "heading", inlines: [...effectInlines(card), { text: ` · ${title}${again}` }] },
      { kind: "code", text: commandOf(card) },
      ...notes.map((text): Block => ({ kind: "text", inlines: inert(text) })),
      { kind: "fields", rows: [...linesOf(card), ...consequences(card)].map(rowOf) },
      ...reasonBlock(card.reason),
      { kind: "fields", rows: needs },
      ...readableArgs(card),
      ...exactBlocks(card),
    ],
    buttons: [],
    summary,
  };
}

function exactBlocks({ canonical, filled }: ActionCard): Block[] {
  const asked: Block = { kind: "exact", text: canonical };
  if (filled === undefined) return [asked];
  const added: Block[] = [
    { kind: "text", inlines: [{ text: "Added by Watchkeeper:" }] },
    { kind: "exact", text: filled },
  ];
  return [asked, ...added];
}

function needsOf(card: ActionCard): string {
  return neededWords(card).replace(/^Needs /, "");
}

function effectInlines({ action, effect }: ActionCard): Inline[] {
  const kind: Inline =
    effect === "destructive" ? { text: "DESTRUCTIVE", tone: "alarm" } : { text: effect };
  return [{ text: `${action} · ` }, kind];
}

/** All of an action that is too long for its card, and the button that approves it. */
export function renderOpened(card: ActionCard): RenderedMessage {
  const buttons = card.phase === "open" ? [yesButton(card, `Approve ${card.action}`)] : [];
  return { ...renderDetails(card), buttons };
}

/** Everything that is known of an action: nothing is shortened, so it may be several messages. */
export function renderDetails(card: ActionCard): RenderedMessage {
  const { listed = [], votes } = card;
  const state: Fact[] = [
    { label: "Status", text: markedStanding(card) },
    { label: NEEDS, text: needsOf(card) },
    ...(listed.length === 0 ? [] : [{ label: "Approvers", text: listed.join(", ") }]),
    ...(votes.length === 0 ? [] : [{ label: "Votes", text: voteLines(card) }]),
    { label: "Revision", text: String(card.revision) },
  ];
  const lines = card.preview.lines.map(({ label, value }) => ({ label, text: value }));
  return {
    blocks: [
      { kind: "heading", inlines: inert(`${card.action} · ${titleOf(card)}`) },
      {
        kind: "line",
        inlines: [...effectInlines(card).slice(1), { text: ` · ${card.tool}${onHost(card.host)}` }],
      },
      ...exactBlocks(card),
      ...readableArgs(card),
      { kind: "fields", rows: [...lines, ...consequences(card)].map(rowOf) },
      ...reasonBlock(card.reason),
      {
        kind: "fields",
        rows: [
          ...state.map(rowOf),
          { label: "Expires", inlines: [timeOf(card.expiresAt)] },
          { label: "Digest", inlines: [{ text: card.digest, code: true }] },
          { label: "Thread", inlines: [{ text: card.key, code: true }] },
        ],
      },
    ],
    buttons: [],
    summary: summaryOf(`Details of ${card.action}`),
  };
}

function rowOf({ label, text }: Fact): Row {
  return { label, inlines: inert(text) };
}

function reasonBlock(reason: string | undefined): Block[] {
  if (reason === undefined || reason === "") return [];
  return [{ kind: "quote", inlines: [{ text: `${REASON}: `, em: true }, ...inert(reason)] }];
}

/** Where the canonical form hides line breaks in a text, that text as its lines. */
function readableArgs({ args }: ActionCard): Block[] {
  return Object.entries(args).flatMap(([name, value]) => linesWithin(name, value));
}

function linesWithin(name: string, value: Json): Block[] {
  if (typeof value === "object" && value !== null) {
    const isList = Array.isArray(value);
    return Object.entries(value).flatMap(([key, each]) =>
      linesWithin(isList ? `${name}[${key}]` : `${name}.${key}`, each),
    );
  }
  if (typeof value !== "string" || !value.includes("\n")) return [];
  return [
    { kind: "text", inlines: [{ text: `${exactText(name)}, with its line breaks:` }] },
    { kind: "code", text: exactLines(value) },
  ];
}
