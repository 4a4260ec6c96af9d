import { formatUtc } from "../../core/instant.ts";
import { inCodeBlock } from "../../core/edit.ts";
import { exactText } from "../../security/sanitize.ts";
import type { ActionCard } from "../adapter.ts";
import { cardButtons, settledButtons } from "./buttons.ts";
import { clip, summaryOf, weightOf } from "./clip.ts";
import {
  byApprovers,
  exactLines,
  isSettled,
  neededWords,
  REASON,
  SHORTENED,
  standingOf,
  undoWords,
  voteLines,
} from "./phrases.ts";
import {
  type Block,
  type Inline,
  plain,
  plainInlines,
  type RenderedMessage,
  type Row,
  textOf,
} from "./rich-text.ts";

interface Text {
  label: string;
  text: string;
}

/** Discord's 4 000 characters, the shortest message of the platforms, less the marks between the blocks. */
const MAX_WEIGHT = 4_000 - 60;
/** Nothing of ours in a title is longer; a name that is would push the action out of the card. */
const MAX_NAME = 64;
/** A line keeps at least so much of its text, or is left to the details. */
const MIN_TEXT = 16;
/** Labels who may approve. */
const NEEDS = "Needs";

/** Links of other people's are never made clickable on a card. */
function inert(text: string): Inline[] {
  return plainInlines(text, () => false);
}

/**
 * A card. Open: what would be done, every byte of it, to what, who may say so and until when, with buttons. Decided: what
 * it was and how it ended. What is not the action itself is shortened until the card fits one message of any platform, but
 * not where it `isUncut`.
 */
export function renderCard(card: ActionCard, { isUncut = false } = {}): RenderedMessage {
  const head = headOf(card);
  const filled = filledBlocks(card);
  const taken = [...head, ...filled].map(fixedWeight).reduce((sum, weight) => sum + weight);
  const room = isUncut ? Number.POSITIVE_INFINITY : MAX_WEIGHT - taken - weightOf(SHORTENED) - 10;
  const { title } = card.preview;
  const what = title ?? `${card.effect} ${card.tool}${onHost(card.host)} ${card.canonical}`;
  if (card.phase !== "open") {
    const outcome = clip(markedStanding(card), Math.min(room - 20, 600));
    const summary = `${card.action} ${title ?? card.tool + onHost(card.host)}: ${markedStanding(card)}`;
    return {
      blocks: [...head, { kind: "text", inlines: inert(outcome) }],
      buttons: settledButtons(card),
      summary: summaryOf(summary),
    };
  }
  const expiry = expiryRow(card);
  const fixed = weightOf(expiry.label + plain(expiry.inlines)) + 22 + weightOf(REASON);
  const { before, reason, approvers, isShort } = shorten(card, room - fixed);
  const small: Block[] = isShort ? [{ kind: "small", inlines: [{ text: SHORTENED }] }] : [];
  return {
    blocks: [
      ...head,
      ...(isUncut ? readableArgs(card) : []),
      { kind: "fields", rows: before.map(rowOf) },
      ...filled,
      ...reasonBlock(reason),
      { kind: "fields", rows: [rowOf(approvers), expiry] },
      ...small,
    ],
    buttons: cardButtons(card),
    summary: summaryOf(`Approve ${card.action}? ${what}`),
  };
}

/** Everything that is known of an action: nothing is shortened, so it may be several messages. */
export function renderDetails(card: ActionCard): RenderedMessage {
  const { listed = [], votes } = card;
  const state: Text[] = [
    { label: "Status", text: markedStanding(card) },
    { label: NEEDS, text: neededWords(card) },
    ...(listed.length === 0 ? [] : [{ label: "Approvers", text: listed.join(", ") }]),
    ...(votes.length === 0 ? [] : [{ label: "Votes", text: voteLines(card) }]),
    { label: "Revision", text: String(card.revision) },
  ];
  return {
    blocks: [
      ...headOf(card),
      ...readableArgs(card),
      { kind: "fields", rows: [...preview(card), ...consequences(card)].map(rowOf) },
      ...filledBlocks(card),
      ...reasonBlock(card.reason),
      {
        kind: "fields",
        rows: [
          ...state.map(rowOf),
          expiryRow(card),
          { label: "Digest", inlines: [{ text: card.digest, code: true }] },
          { label: "Thread", inlines: [{ text: card.key, code: true }] },
        ],
      },
    ],
    buttons: [],
    summary: summaryOf(`Details of ${card.action}`),
  };
}

/** What would be done in a person's words, then by which tool, and the exact arguments that were asked for. */
function headOf(card: ActionCard): Block[] {
  const { action, effect, tool, host, revision, preview: shown } = card;
  const kind: Inline =
    effect === "destructive" ? { text: "DESTRUCTIVE", tone: "alarm" } : { text: effect };
  const name = `${clip(tool, MAX_NAME)}${onHost(host)}`;
  const again = revision > 1 ? ` · revision ${revision}` : "";
  const title: Inline[] =
    shown.title === undefined
      ? [{ text: `${action} · ` }, kind, { text: ` · ${name}${again}` }]
      : inert(`${action} · ${shown.title}${again}`);
  return [
    { kind: "heading", inlines: title },
    ...(shown.title === undefined
      ? []
      : [{ kind: "line" as const, inlines: [kind, { text: ` · ${name}` }] }]),
    { kind: "exact", text: card.canonical },
  ];
}

function filledBlocks({ filled }: ActionCard): Block[] {
  if (filled === undefined) return [];
  return [
    { kind: "text", inlines: [{ text: "Added by Watchkeeper:" }] },
    { kind: "exact", text: filled },
  ];
}

/** Of a block that is never shortened. */
function fixedWeight(block: Block): number {
  return block.kind === "exact"
    ? inCodeBlock(block.text).length + 10
    : weightOf(textOf(block)) + 10;
}

function onHost(host: string | undefined): string {
  return host === undefined ? "" : ` on ${clip(host, MAX_NAME)}`;
}

function rowOf({ label, text }: Text): Row {
  return { label, inlines: inert(text) };
}

function preview(card: ActionCard): Text[] {
  return card.preview.lines.map(({ label, value }) => ({ label, text: value }));
}

function consequences(card: ActionCard): Text[] {
  return [
    { label: "Blast radius", text: card.preview.blastRadius },
    { label: "Undo", text: card.preview.undo },
  ];
}

function expiryRow({ expiresAt }: ActionCard): Row {
  return { label: "Expires", inlines: [{ text: formatUtc(expiresAt), at: expiresAt }] };
}

function reasonBlock(reason: string | undefined): Block[] {
  if (reason === undefined || reason === "") return [];
  return [{ kind: "quote", inlines: [{ text: REASON, em: true }, ...inert(reason)] }];
}

/** Where the canonical form hides line breaks in a text, that text as its lines. */
function readableArgs({ args }: ActionCard): Block[] {
  return Object.entries(args).flatMap(([name, value]): Block[] => {
    if (typeof value !== "string" || !value.includes("\n")) return [];
    return [
      { kind: "text", inlines: [{ text: `${exactText(name)}, with its line breaks:` }] },
      { kind: "code", text: exactLines(value) },
    ];
  });
}

/** What `room` holds of a card's texts: as much of each as of any other, and lines of the preview left out if need be. */
function shorten(
  card: ActionCard,
  room: number,
): { before: Text[]; reason: string | undefined; approvers: Text; isShort: boolean } {
  const lines = preview(card).map((each) => ({ ...each, label: clip(each.label, MAX_NAME) }));
  const after: Text[] = [
    ...consequences(card),
    { label: NEEDS, text: neededWords(card) },
    { label: "", text: card.reason ?? "" },
  ];
  const least = (row: Text): number => weightOf(row.label) + 10 + MIN_TEXT;
  const leastOf = (rows: readonly Text[]): number => rows.reduce((sum, row) => sum + least(row), 0);
  // The lines of the preview may take half of a card that is full.
  let kept = lines.length;
  while (kept > 0 && leastOf(lines.slice(0, kept)) > room / 2) kept -= 1;
  const rows = [...lines.slice(0, kept), ...after];
  const labels = rows.reduce((sum, { label }) => sum + weightOf(label) + 10, 0);
  const texts = share(
    rows.map(({ text }) => text),
    room - labels,
  );
  const shown = rows.map(({ label }, at) => ({ label, text: texts[at] ?? "" }));
  const [blast, undo, approvers, reason] = shown.slice(kept);
  const isShort = kept < lines.length || rows.some(({ text }, at) => text !== texts[at]);
  return {
    before: [...shown.slice(0, kept), ...[blast, undo].filter((row) => row !== undefined)],
    reason: reason?.text,
    approvers: approvers ?? { label: NEEDS, text: "…" },
    isShort,
  };
}

/** The texts cut to one weight, the highest at which they weigh `room` in all. */
function share(texts: readonly string[], room: number): string[] {
  let left = room;
  let each = room;
  const weights = texts.map(weightOf).toSorted((a, b) => a - b);
  for (const [at, weight] of weights.entries()) {
    each = Math.floor(left / (weights.length - at));
    if (weight > each) break;
    left -= weight;
  }
  return texts.map((text) => clip(text, Math.max(2, each)));
}

const MARKS: Readonly<Partial<Record<ActionCard["phase"], string>>> = {
  running: "⏳",
  done: "✓",
  failed: "✗",
  unknown: "❓",
  denied: "–",
  expired: "–",
  cancelled: "–",
  void: "–",
};

/** Where an action stands, and who approved what was done: `✓ done in 34 ms · approved by ana`. */
function markedStanding(card: ActionCard): string {
  const { phase } = card;
  const mark = isSettled(card) ? undefined : MARKS[phase];
  const by = byApprovers(card);
  const wasRun = phase === "done" || phase === "failed" || phase === "unknown";
  const approved = wasRun && by !== "" ? ` · approved${by}` : "";
  return `${mark === undefined ? "" : `${mark} `}${standingOf(card)}${approved}${undoWords(card)}`;
}
