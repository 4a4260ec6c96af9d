import { formatUtc } from "../../core/instant.ts";
import { inCodeBlock } from "../../core/edit.ts";
import type { Json } from "../../core/entry.ts";
import { counted } from "../../core/text.ts";
import { exactText } from "../../security/sanitize.ts";
import type { ActionCard } from "../adapter.ts";
import { type Button, cardButtons, settledButtons, yesButton } from "./buttons.ts";
import { clip, summaryOf, weightOf } from "./clip.ts";
import { commandOf, MAX_NAME, onHost, titleOf } from "./title.ts";
import {
  byApprovers,
  exactLines,
  isSettled,
  neededWords,
  offerWords,
  REASON,
  standingOf,
  undoWords,
  voteLines,
} from "./phrases.ts";
import {
  type Block,
  inert,
  type Inline,
  plain,
  type RenderedMessage,
  type Row,
} from "./rich-text.ts";

interface Fact {
  label: string;
  text: string;
}

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
/** More lines are no longer read; the details have them. */
const MAX_LINES = 6;

/** Labels who may approve. */
const NEEDS = "Needs";

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

/** The same for a surface that shows all of it: nothing is shortened, and every byte is there. */
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

/** What is cut has the rest where it is opened. */
function shortCommand(command: string): string {
  return inCodeBlock(command).length <= MAX_COMMAND && Buffer.byteLength(command) <= MAX_COMMAND
    ? command
    : clip(command, MAX_COMMAND / 3);
}

function notesOf(card: ActionCard): string[] {
  const { phase, editing, preview, mustOpen } = card;
  if (phase !== "open") return [];
  const strange = preview.lines.find(({ label }) => label === LOOK_CLOSELY);
  const frozen = preview.lines.find(({ label }) => label === FROZEN);
  const typed = card.confirm === undefined ? [] : [typedWords(card)];
  return [
    ...(frozen === undefined ? [] : [clip(`❄ ${frozen.value}. It waits until then.`, MAX_NOTE)]),
    ...typed.map((text) => clip(text, MAX_NOTE)),
    ...(strange === undefined ? [] : [clip(`⚠ ${strange.value}`, MAX_NOTE)]),
    ...(mustOpen === true ? [`📄 Too long for a card: ${MUST_OPEN}`] : []),
    ...(editing === undefined ? [] : [`✏️ ${clip(editing, MAX_NAME)} is editing`]),
  ];
}

function typedWords({ action, confirm }: ActionCard): string {
  return `⌨ To approve it, type: ${confirm} (or: confirm ${action} ${confirm})`;
}

const FROZEN = "Frozen";
const LOOK_CLOSELY = "Look closely";
const MUST_OPEN = "open it to read all of it, then you can approve it.";
const VERIFIED: Readonly<Record<NonNullable<ActionCard["verified"]>, string>> = {
  done: "✓ Checked afterwards: it worked",
  "not done": "✗ Checked afterwards: it has not worked",
  unknown: "❓ Checked afterwards: not sure whether it worked",
};

/** The tool's own lines, but those that a note or the command says. */
function linesOf({ preview }: ActionCard): Fact[] {
  return preview.lines
    .filter(({ label, detail }) => detail !== true && label !== LOOK_CLOSELY && label !== FROZEN)
    .map(({ label, value }) => ({ label: clip(label, MAX_NAME), text: value }));
}

/** What a card has room for: the tool's own lines, what comes of it, and why. */
function factsOf(card: ActionCard): Fact[] {
  const { reason = "" } = card;
  const lines = linesOf(card);
  const kept = lines.length > MAX_LINES ? MAX_LINES - 1 : lines.length;
  const rest = counted(lines.length - kept, "line");
  const added = addedWords(card);
  return [
    ...lines.slice(0, kept),
    ...(kept < lines.length ? [{ label: "More", text: `${rest} in Details` }] : []),
    ...consequences(card),
    ...(added === "" ? [] : [{ label: "Checked again before it runs", text: added }]),
    ...(reason === "" ? [] : [{ label: REASON, text: reason }]),
  ];
}

function consequences(card: ActionCard): Fact[] {
  const { preview, offer, phase } = card;
  const isOffered = offer !== undefined && phase === "open";
  return [
    { label: "Impact", text: preview.blastRadius },
    { label: "Undo", text: preview.undo },
    ...(isOffered ? [{ label: `Approve + ${offer.minutes} min`, text: offerWords(card) }] : []),
  ];
}

/** What the program added in words: `replicas 2`, times as times and hashes by their beginning. */
function addedWords({ args, preview: { filled = [] } }: ActionCard): string {
  const said: string[] = [];
  const say = (name: string, value: Json): void => {
    if (typeof value === "object" && value !== null) {
      for (const [key, each] of Object.entries(value))
        say(Array.isArray(value) ? name : `${name}.${key}`, each);
    } else said.push(`${exactText(name)} ${wordOf(value)}`);
  };
  for (const name of filled) {
    const value = args[name] ?? null;
    const isGroup = typeof value === "object" && value !== null && !Array.isArray(value);
    // `replicas 2` says it; `before.replicas 2` says no more.
    for (const [key, each] of isGroup ? Object.entries(value) : [[name, value] as const])
      if (each !== null) say(key, each);
  }
  return said.join(", ");
}

const EARLIEST_TIME = 1e12;
const LATEST_TIME = 4e12;

function wordOf(value: Json): string {
  if (typeof value === "number" && value > EARLIEST_TIME && value < LATEST_TIME)
    return formatUtc(value);
  const text = exactText(typeof value === "string" ? value : JSON.stringify(value));
  return /^[0-9a-f]{32,}$/.test(text) ? `${text.slice(0, 6)}…` : text;
}

/** `a1 · revision 2 · expires …` */
function aboutOf({ action, revision, phase, expiresAt, decidedAt }: ActionCard): Inline[] {
  const which = `${action}${revision > 1 ? ` · revision ${revision}` : ""}`;
  if (phase === "open") return [{ text: `${which} · expires ` }, timeOf(expiresAt)];
  return decidedAt === undefined
    ? [{ text: which }]
    : [{ text: `${which} · decided ` }, timeOf(decidedAt)];
}

function timeOf(at: number): Inline {
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
  const { phase, verified } = card;
  const mark = isSettled(card) || verified !== undefined ? undefined : MARKS[phase];
  const seen = verified === undefined ? "" : `${VERIFIED[verified]} · `;
  const by = byApprovers(card);
  const wasRun = phase === "done" || phase === "failed" || phase === "unknown";
  const approved = wasRun && by !== "" ? ` · approved${by}` : "";
  return `${mark === undefined ? seen : `${mark} `}${standingOf(card)}${approved}${undoWords(card)}`;
}
