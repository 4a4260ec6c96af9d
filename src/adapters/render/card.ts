import { characterEnd } from "../../core/characters.ts";
import { exactText } from "../../security/sanitize.ts";
import type { ActionCard } from "../adapter.ts";
import { type Button, cardButtons, detailsButton } from "./buttons.ts";
import { type Block, plainInlines, type Inline } from "./rich-text.ts";
import {
  byApprovers,
  exactLines,
  isSettled,
  neededWords,
  standingOf,
  voteLines,
} from "./phrases.ts";

/** What one or more messages say, on any platform. */
export interface RenderedMessage {
  blocks: Block[];
  /** Below the last message; at most 25, the limit of the platforms. */
  buttons: Button[];
  /** One plain line of at most 150 characters, for notifications. */
  summary: string;
}

/** A labelled text of a card. */
interface Row {
  label: string;
  text: string;
}

/** Discord's 4 000 characters, the shortest message of the platforms, less the marks between the parts. */
const MAX_WEIGHT = 4_000 - 60;
/** Nothing of ours in a title is longer; a name that is would push the action out of the card. */
const MAX_NAME = 64;
const MAX_SUMMARY = 150;
const SHORTENED = "Shortened with …; Details shows all of it.";
/** A line keeps at least so much of its text, or is left to the details. */
const MIN_TEXT = 16;
/** Begins the sentence that says who may approve. */
const NEEDS = "Needs";
const REASON = "Reason, unverified, written by the model: ";

/** Links of other people's are never made clickable on a card. */
function inert(text: string): Inline[] {
  return plainInlines(text, () => false);
}

/**
 * A card. Open: what would be done, every byte of it, to what, who may say so and until when, with buttons. Decided: what
 * it was and how it ended. What is not the action itself is shortened until the card fits one message of any platform.
 */
export function renderCard(card: ActionCard): RenderedMessage {
  const exact: Block = { kind: "exact", text: card.canonical };
  const title = titleOf(card);
  // As Discord writes it: a third backtick in a row as \u0060.
  const { length } = card.canonical.replaceAll("```", "``\\u0060");
  const room = MAX_WEIGHT - length - weightOf(title) - weightOf(SHORTENED) - 10;
  if (card.phase !== "open") {
    const outcome = clip(markedStanding(card), Math.min(room - 20, 600));
    const blocks: Block[] = [heading(title), exact, { kind: "text", inlines: inert(outcome) }];
    const summary = summaryOf(
      `${card.action} ${card.tool}${onHost(card.host)}: ${markedStanding(card)}`,
    );
    return { blocks, buttons: [detailsButton(card.action)], summary };
  }
  const expiry = expiresRow(card);
  const fixed = weightOf(expiry.map((inline) => inline.text).join("")) + 20 + weightOf(REASON);
  const { before, reason, approvers, isShort } = shorten(card, room - fixed);
  const small: Block[] = isShort ? [{ kind: "small", inlines: [{ text: SHORTENED }] }] : [];
  return {
    blocks: [
      heading(title),
      exact,
      rowsPart(before),
      ...reasonPart(reason),
      { kind: "text", inlines: [...rowInlines(approvers), { text: "\n" }, ...expiry] },
      ...small,
    ],
    buttons: cardButtons(card),
    summary: summaryOf(
      `Approve ${card.action}? ${card.effect} ${card.tool}${onHost(card.host)} ${card.canonical}`,
    ),
  };
}

/** Everything that is known of an action: nothing is shortened, so it may be several messages. */
export function renderDetails(card: ActionCard): RenderedMessage {
  const { listed = [] } = card;
  const rows: Row[] = [
    { label: "State", text: markedStanding(card) },
    { label: NEEDS, text: neededWords(card) },
    ...(listed.length === 0 ? [] : [{ label: "Approvers", text: listed.join(", ") }]),
    { label: "Votes", text: voteLines(card) },
    { label: "Revision", text: String(card.revision) },
  ];
  const codes: Inline[] = [
    { text: "Digest: ", strong: true },
    { text: card.digest, code: true },
    { text: "\n" },
    { text: "Thread: ", strong: true },
    { text: card.key, code: true },
  ];
  return {
    blocks: [
      heading(titleOf(card)),
      { kind: "exact", text: card.canonical },
      ...readableArgs(card),
      rowsPart([...card.preview.lines.map(rowOf), ...consequences(card)]),
      ...reasonPart(card.reason),
      rowsPart(rows),
      { kind: "text", inlines: expiresRow(card) },
      { kind: "text", inlines: codes },
    ],
    buttons: [],
    summary: summaryOf(`Details of ${card.action}`),
  };
}

function heading(title: string): Block {
  return { kind: "heading", inlines: [{ text: title }] };
}

/** Destructive is told by its capitals: few platforms have colours. */
function titleOf({ action, effect, tool, host, revision }: ActionCard): string {
  const name = effect === "destructive" ? "DESTRUCTIVE" : effect;
  const again = revision > 1 ? ` · revision ${revision}` : "";
  return `${action} · ${name} · ${clip(tool, MAX_NAME)}${onHost(host)}${again}`;
}

function onHost(host: string | undefined): string {
  return host === undefined ? "" : ` on ${clip(host, MAX_NAME)}`;
}

function rowOf({ label, value }: { label: string; value: string }): Row {
  return { label, text: value };
}

function consequences({ preview }: ActionCard): Row[] {
  return [
    { label: "Blast radius", text: preview.blastRadius },
    { label: "Undo", text: preview.undo },
  ];
}

function expiresRow({ expiresAt }: ActionCard): Inline[] {
  return [
    { text: "Expires: ", strong: true },
    { text: formatUtc(expiresAt), at: expiresAt },
  ];
}

function reasonPart(reason: string | undefined): Block[] {
  if (reason === undefined || reason === "") return [];
  return [{ kind: "quote", inlines: [{ text: REASON, em: true }, ...inert(reason)] }];
}

function rowsPart(rows: readonly Row[]): Block {
  const inlines = rows.flatMap((row, at) => [
    ...(at > 0 ? [{ text: "\n" }] : []),
    ...rowInlines(row),
  ]);
  return { kind: "text", inlines: inlines };
}

/** Only our label is bold, and a text's further lines are indented, so no text looks like another row. */
function rowInlines({ label, text }: Row): Inline[] {
  const name = label === NEEDS ? `${label} ` : `${label}: `;
  return [{ text: name, strong: true }, ...inert(text.replaceAll("\n", "\n      "))];
}

/** Where the canonical form hides line breaks in a text, that text as its lines. */
function readableArgs({ args }: ActionCard): Block[] {
  return Object.entries(args).flatMap(([name, value]): Block[] => {
    if (typeof value !== "string" || !value.includes("\n")) return [];
    const inlines: Inline[] = [{ text: `${exactText(name)}, with its line breaks:` }];
    return [
      { kind: "text", inlines: inlines },
      { kind: "code", text: exactLines(value) },
    ];
  });
}

/** What `room` holds of a card's texts: as much of each as of any other, and lines of the preview left out if need be. */
function shorten(
  card: ActionCard,
  room: number,
): { before: Row[]; reason: string | undefined; approvers: Row; isShort: boolean } {
  const preview = card.preview.lines.map(({ label, value }) => ({
    label: clip(label, MAX_NAME),
    text: value,
  }));
  const after: Row[] = [
    ...consequences(card),
    { label: NEEDS, text: neededWords(card) },
    { label: "", text: card.reason ?? "" },
  ];
  const least = (row: Row): number => weightOf(row.label) + 10 + MIN_TEXT;
  const leastOf = (rows: readonly Row[]): number => rows.reduce((sum, row) => sum + least(row), 0);
  // The lines of the preview may take half of a card that is full.
  let kept = preview.length;
  while (kept > 0 && leastOf(preview.slice(0, kept)) > room / 2) kept -= 1;
  const rows = [...preview.slice(0, kept), ...after];
  const labels = rows.reduce((sum, { label }) => sum + weightOf(label) + 10, 0);
  const texts = share(
    rows.map(({ text }) => text),
    room - labels,
  );
  const shown = rows.map(({ label }, at) => ({ label, text: texts[at] ?? "" }));
  const [blast, undo, approvers, reason] = shown.slice(kept);
  const isShort = kept < preview.length || rows.some(({ text }, at) => text !== texts[at]);
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

/** The most characters that a platform needs to show the text as it is: marks need an escape, new lines a prefix. */
function weightOf(text: string): number {
  let weight = 0;
  for (const char of text) {
    weight += /[\p{L}\p{N} ]/u.test(char) ? char.length : char === "\n" ? 10 : 2;
  }
  return weight;
}

/** The text, or what of it weighs less than `room` and `…`. Never for what somebody approves. */
export function clip(text: string, room: number): string {
  if (weightOf(text) <= room) return text;
  let left = room - 2;
  let kept = "";
  for (const char of text) {
    left -= weightOf(char);
    if (left < 0) break;
    kept += char;
  }
  return `${kept.slice(0, characterEnd(text, kept.length))}…`;
}

/** `2026-11-22 03:30 UTC` */
function formatUtc(at: number): string {
  const date = new Date(at);
  if (Number.isNaN(date.getTime())) return "unknown";
  return `${date.toISOString().slice(0, 16).replace("T", " ")} UTC`;
}

export function summaryOf(text: string): string {
  const line = text.replaceAll(/\s+/g, " ").trim();
  if (line.length <= MAX_SUMMARY) return line;
  return `${line.slice(0, characterEnd(line, MAX_SUMMARY - 1))}…`;
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
  return `${mark === undefined ? "" : `${mark} `}${standingOf(card)}${approved}`;
}
