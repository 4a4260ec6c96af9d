import { formatUtc } from "../../core/instant.ts";
import { inCodeBlock } from "../../core/edit.ts";
import type { ActionCard } from "../shown.ts";
import { type Button, cardButtons, settledButtons } from "./buttons.ts";
import { clip, summaryOf, weightOf } from "./clip.ts";
import { commandOf, MAX_NAME, titleOf } from "./title.ts";
import { byApprovers, isSettled, neededWords, standingOf, undoWords } from "./phrases.ts";
import { type Inline, plain } from "./rich-text.ts";
import { type Fact, FROZEN, LOOK_CLOSELY, factsOf } from "./card-facts.ts";

/** How a card looks at a glance; its words say the same. */
export type Tone = "danger" | "caution" | "good" | "bad" | "calm";

/**
 * What a card says, the most important first. Nothing in a text is markup. It fits one message of any platform by
 * construction: the whole weighs less than 4 000 and takes less than 10 000 bytes.
 */
export interface RenderedCard {
  tone: Tone;
  /** One line of at most 150 characters. */
  title: string;
  /** Who may say so, or how it ended. */
  standing: string;
  /** As it would be typed, one line. */
  command: string | undefined;
  /** What must not be overlooked. */
  notes: readonly string[];
  /** At most 10 (Slack); a label has at most 64 characters. */
  facts: readonly Fact[];
  /** What came to pass, a line each. */
  timeline?: readonly Inline[];
  /** Which action or incident it is, and until or since when. */
  about: readonly Inline[];
  /** The accounts and groups whose decision is asked. */
  mentions: readonly string[];
  /** The canonical forms of what was asked for and of what the program added. Undefined: the action must be opened first, or is decided. */
  exact: { title: string; asked: string; added: string | undefined } | undefined;
  buttons: Button[];
  /** What fewer people press. */
  more: Button[];
  summary: string;
}

/** Discord's 4 000 characters, the shortest message of the platforms, less the marks between the parts. */
const MAX_WEIGHT = 4_000 - 200;
/** Discord's 10 170 bytes in UTF-8, likewise. */
const MAX_BYTES = 9_000;
const MAX_STANDING = 500;
const MAX_COMMAND = 900;
const MAX_NOTE = 250;
/** With its label less than 2 000 (Slack, a field). */
const MAX_FACT = 1_900;
/**
 * A card. Open: what would be done, to what, who may say so and until when, with buttons, and every byte of it unless it is
 * so long that it must be opened before it is approved. Decided: what it was and how it ended.
 */
export function renderCard(card: ActionCard): RenderedCard {
  const isOpen = card.phase === "open";
  const what = titleOf(card);
  const parts = {
    title: isOpen ? `${what}?` : what,
    standing: clip(isOpen ? neededWords(card) : markedStanding(card), MAX_STANDING),
    command: shortCommand(commandOf(card)),
    notes: notesOf(card),
    about: aboutOf(card),
    mentions: isOpen ? (card.mentions ?? []) : [],
    exact: isOpen && card.mustOpen !== true ? exactOf(card) : undefined,
  };
  const summary = isOpen
    ? `Approve ${card.action}? ${what}`
    : `${card.action} ${what}: ${parts.standing}`;
  return {
    tone: toneOf(card),
    ...parts,
    facts: isOpen ? fitted(factsOf(card), parts) : [],
    ...(isOpen ? cardButtons(card) : settledButtons(card)),
    summary: summaryOf(summary),
  };
}

/** What is cut has the rest where it is opened. */
function shortCommand(command: string): string {
  return inCodeBlock(command).length <= MAX_COMMAND && Buffer.byteLength(command) <= MAX_COMMAND
    ? command
    : clip(command, MAX_COMMAND / 3);
}

function notesOf(card: ActionCard): string[] {
  const { phase, editing, preview, mustOpen } = card;
  const frozen = preview.lines.find(({ label }) => label === FROZEN);
  const waits =
    frozen === undefined ? [] : [clip(`❄ ${frozen.value}. It waits until then.`, MAX_NOTE)];
  if (phase === "approved") return waits;
  if (phase !== "open") return [];
  const strange = preview.lines.find(({ label }) => label === LOOK_CLOSELY);
  const typed = card.confirm === undefined ? [] : [typedWords(card)];
  return [
    ...waits,
    ...typed.map((text) => clip(text, MAX_NOTE)),
    ...(strange === undefined ? [] : [clip(`⚠ ${strange.value}`, MAX_NOTE)]),
    ...(mustOpen === true ? [`📄 Too long for a card: ${MUST_OPEN}`] : []),
    ...(editing === undefined ? [] : [`✏️ ${clip(editing, MAX_NAME)} is editing`]),
  ];
}

function typedWords({ action, confirm }: ActionCard): string {
  return `⌨ To approve it, type: ${confirm} (or: confirm ${action} ${confirm})`;
}

const MUST_OPEN = "open it to read all of it, then you can approve it.";
const VERIFIED: Readonly<Record<NonNullable<ActionCard["verified"]>, string>> = {
  done: "✓ Checked afterwards: it worked",
  "not done": "✗ Checked afterwards: it has not worked",
  unknown: "❓ Checked afterwards: not sure whether it worked",
};

/** `a1 · revision 2 · expires …` */
function aboutOf({ action, revision, phase, expiresAt, decidedAt }: ActionCard): Inline[] {
  const which = `${action}${revision > 1 ? ` · revision ${revision}` : ""}`;
  if (phase === "open") return [{ text: `${which} · expires ` }, timeOf(expiresAt)];
  return decidedAt === undefined
    ? [{ text: which }]
    : [{ text: `${which} · decided ` }, timeOf(decidedAt)];
}

export function timeOf(at: number): Inline {
  return { text: formatUtc(at), at };
}

function exactOf({ action, digest, canonical, filled }: ActionCard) {
  const title = `Exactly what will run · ${action} · ${digest.slice(0, 4)}…${digest.slice(-2)}`;
  return { title, asked: canonical, added: filled };
}

/** So much of each fact as there is room for, as much of each as of any other. */
function fitted(
  facts: readonly Fact[],
  {
    title,
    standing,
    command,
    notes,
    about,
    mentions,
    exact,
  }: Omit<RenderedCard, "facts" | "tone" | "buttons" | "more" | "summary">,
): Fact[] {
  const codes = [command ?? "", exact?.asked ?? "", exact?.added ?? ""].map(inCodeBlock);
  const texts = [title, standing, plain(about), exact?.title ?? "", ...notes, ...mentions];
  const sum = (all: readonly string[], of: (text: string) => number) =>
    all.reduce((taken, text) => taken + of(text), 0);
  const labels = facts.map(({ label }) => label);
  const taken =
    sum(codes, ({ length }) => length + 10) +
    sum([...texts, ...labels], weightOf) +
    10 * labels.length;
  const bytes = sum([...codes, ...texts, ...labels], Buffer.byteLength);
  const room = Math.min(MAX_WEIGHT - taken, Math.floor((MAX_BYTES - bytes) / 3));
  const shown = share(
    facts.map(({ text }) => text),
    room,
  );
  return facts.map(({ label }, at) => ({ label, text: clip(shown[at] ?? "", MAX_FACT) }));
}

function toneOf(card: ActionCard): Tone {
  const { phase, effect, verified } = card;
  if (phase === "open") return effect === "destructive" ? "danger" : "caution";
  if (phase === "failed" || phase === "unknown" || verified === "not done") return "bad";
  return phase === "done" ? "good" : "calm";
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
export function markedStanding(card: ActionCard): string {
  const { phase, verified } = card;
  const mark = isSettled(card) || verified !== undefined ? undefined : MARKS[phase];
  const seen = verified === undefined ? "" : `${VERIFIED[verified]} · `;
  const by = byApprovers(card);
  const wasRun = phase === "done" || phase === "failed" || phase === "unknown";
  const approved = wasRun && by !== "" ? ` · approved${by}` : "";
  return `${mark === undefined ? seen : `${mark} `}${standingOf(card)}${approved}${undoWords(card)}`;
}
