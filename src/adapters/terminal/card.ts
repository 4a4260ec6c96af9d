import type { Effect } from "../../core/entry.ts";
import type { ActionCard } from "../adapter.ts";
import { isSettled, neededWords, standingOf, voteLines } from "../render/phrases.ts";
import { readableArgs } from "./args.ts";
import type { Look, Paint, Style } from "./style.ts";
import { formatExpiry } from "./time.ts";
import { foldExact, widthOf, wrapWords } from "./wrap.ts";

/** One labelled part of a card. `exact` text is broken so that joining its lines gives it back, byte for byte. */
interface Row {
  label: string;
  text: string;
  exact?: boolean;
  style?: Style;
  /** Begins a group: an empty line comes before it. */
  gap?: boolean;
}

const MAX_LABEL = 14;
const MIN_COLUMNS = 24;
/** Below this a label stands on a line of its own. */
const MIN_COLUMNS_FOR_LABELS = 50;
const MAX_RULE = 72;

/** Destructive is told by its capitals where there is no red. */
function effectName(effect: Effect, paint: Paint): string {
  if (effect === "destructive") return paint("destructive", "DESTRUCTIVE");
  return effect === "write" ? paint("yellow", effect) : effect;
}

/** What can be typed at an open card; with `action` when bare letters would not say which card is meant. */
export function replyLine(action: string | undefined): string {
  const to = action === undefined ? "" : ` ${action}`;
  return `y${to} approve · n${to} deny · n${to} because … · e${to} edit · c${to} cancel · d${to} details`;
}

/** The canonical form whole, and, when that is hard to read, each argument once more with its line breaks. */
function argumentRows(card: ActionCard, columns: number): Row[] {
  const exact: Row = { label: "Arguments", text: card.canonical, exact: true, style: "bold" };
  const long = widthOf(card.canonical) > 2 * (columns - MAX_LABEL);
  if (!long && !card.canonical.includes("\\n")) return [exact];
  const readable = readableArgs(card.canonical);
  return [
    exact,
    ...readable.map(({ name, value }, index) => ({
      label: `  ${name}`,
      text: value,
      gap: index === 0,
    })),
  ];
}

function cardRows(card: ActionCard, look: Look): Row[] {
  const preview = card.preview.lines.map(({ label, value }, index) => ({
    label,
    text: value,
    gap: index === 0,
  }));
  const reason: Row[] =
    card.reason === undefined
      ? []
      : [{ label: "Reason", text: `(unverified) ${card.reason}`, style: "dim" }];
  return [
    ...argumentRows(card, look.columns),
    ...preview,
    { label: "Blast radius", text: card.preview.blastRadius, gap: preview.length === 0 },
    { label: "Undo", text: card.preview.undo },
    ...reason,
    { label: "Needs", text: neededWords(card), gap: true },
    { label: "Expires", text: formatExpiry(card.expiresAt, look.now) },
  ];
}

function detailRows(card: ActionCard, description: string | undefined): Row[] {
  const { listed = [] } = card;
  return [
    { label: "Tool", text: description ?? card.tool, gap: true },
    ...(listed.length === 0 ? [] : [{ label: "Approvers", text: listed.join(", ") }]),
    { label: "Votes", text: voteLines(card) },
    { label: "Revision", text: String(card.revision) },
    { label: "Digest", text: card.digest, exact: true },
    { label: "Thread", text: card.key, exact: true },
  ];
}

function layRow(row: Row, labels: number, columns: number, paint: Paint): string[] {
  const bar = paint("dim", "│");
  const beside = columns >= MIN_COLUMNS_FOR_LABELS;
  const indent = beside ? labels + 2 : 2 + row.label.search(/\S/);
  const room = columns - 2 - indent;
  const lines = row.exact === true ? foldExact(row.text, room) : wrapWords(row.text, room);
  const shown = lines.map((line) => (row.style === undefined ? line : paint(row.style, line)));
  const head = beside && widthOf(row.label) <= labels;
  const labelled = head
    ? [`${paint("dim", row.label)}${" ".repeat(indent - widthOf(row.label))}${shown[0] ?? ""}`]
    : [
        ...wrapWords(row.label, columns - 2).map((line) => paint("dim", line)),
        " ".repeat(indent) + (shown[0] ?? ""),
      ];
  const inside = [...labelled, ...shown.slice(1).map((line) => " ".repeat(indent) + line)];
  return [
    ...(row.gap === true ? [bar] : []),
    ...inside.map((line) => (line.trim() === "" ? bar : `${bar} ${line}`)),
  ];
}

/** Lines with a bar at their left: no right edge that a narrow or resized window could break. */
function box(title: string, rows: Row[], footer: string, look: Look): string {
  const { paint } = look;
  const columns = Math.max(look.columns, MIN_COLUMNS);
  const labels = Math.min(MAX_LABEL, Math.max(...rows.map((row) => widthOf(row.label))));
  const last = wrapWords(footer, columns - 3);
  return [
    title,
    ...rows.flatMap((row) => layRow(row, labels, columns, paint)),
    ...last.map((line, index) => (index === 0 ? `${paint("dim", "╰─")} ${line}` : `   ${line}`)),
  ].join("\n");
}

function cardTitle(card: ActionCard, look: Look): string {
  const revision = card.revision > 1 ? ` · revision ${card.revision}` : "";
  const host = card.host === undefined ? "" : ` on ${card.host}`;
  const plain = `${card.action} · ${card.effect} · ${card.tool}${host}${revision}`;
  const rule = Math.min(look.columns, MAX_RULE) - widthOf(plain) - 4;
  const painted = `${look.paint("bold", card.action)} · ${effectName(card.effect, look.paint)} · ${look.paint("bold", card.tool)}${host}${revision}`;
  return `${look.paint("dim", "╭─")} ${painted} ${look.paint("dim", "─".repeat(Math.max(1, rule)))}`;
}

/** The whole card: what would be done, to what, who may say so and until when. `footer` says what can be typed. */
export function renderCard(card: ActionCard, look: Look, footer: string): string {
  return box(cardTitle(card, look), cardRows(card, look), footer, look);
}

/** The card with what is rarely needed: each vote, revision, digest, thread, what the tool is. */
export function renderDetails(
  card: ActionCard,
  look: Look,
  footer: string,
  description: string | undefined,
): string {
  const rows = [...cardRows(card, look), ...detailRows(card, description)];
  return box(cardTitle(card, look), rows, footer, look);
}

/** How a line tells of an action: `introduced` names the tool, `continued` follows the line that told who approved. */
export type Manner = "whole" | "introduced" | "continued";

/** Where an action stands, in one line: `a1 approved by root · running`, `a1 denied by root: wrong host`. */
export function renderStanding(card: ActionCard, paint: Paint, manner: Manner = "whole"): string {
  const name = paint("bold", card.action) + (manner === "introduced" ? ` ${card.tool}` : "");
  if (manner === "continued" && card.phase === "running") return `${name} running`;
  return `${name} ${standing(card, paint)}`;
}

const STYLES: Readonly<Partial<Record<ActionCard["phase"], Style>>> = {
  done: "green",
  failed: "red",
  unknown: "destructive",
};

function standing(card: ActionCard, paint: Paint): string {
  const style = isSettled(card) ? undefined : STYLES[card.phase];
  return style === undefined ? standingOf(card) : paint(style, standingOf(card));
}
