import { isOverStatus } from "../../core/incident-status.ts";
import type { ActionCard, LivingCard } from "../shown.ts";
import { goalTyped } from "../render/goal.ts";
import { livingMessage } from "../render/living.ts";
import { renderDetails, wholeCard } from "../render/card-details.ts";
import { isSettled, standingOf, undoWords } from "../render/phrases.ts";
import type { RenderedMessage } from "../render/rich-text.ts";
import { terminalLines } from "./encode.ts";
import type { Look, Paint, Style } from "./style.ts";
import { widthOf, wrapWords } from "./wrap.ts";

const MIN_COLUMNS = 24;
const MAX_RULE = 72;

/** What can be typed at an open card; with `action` when bare letters would not say which card is meant. */
export function replyLine(action: string | undefined): string {
  const to = action === undefined ? "" : ` ${action}`;
  return `y${to} approve · n${to} deny · n${to} because … · e${to} edit · c${to} withdraw · d${to} details`;
}

/** The whole card: what would be done, to what, who may say so and until when. `footer` says what can be typed. */
export function cardText(card: ActionCard, look: Look, footer: string): string {
  return box(wholeCard(card), look, footer);
}

export function detailsText(card: ActionCard, look: Look, footer: string): string {
  return box(renderDetails(card), look, footer);
}

/** A message that is kept up to date elsewhere, and what is typed where others have buttons. */
export function livingText(living: LivingCard, look: Look): string {
  return box(livingMessage(living), look, typedFor(living));
}

function typedFor({ kind, card }: LivingCard): string {
  if (kind === "goal") return goalTyped(card);
  if (kind === "alerts") return `tells how ${card.name} stands`;
  if (isOverStatus(card.status)) return card.id;
  return `incident update ${card.id} note="…" · incident resolve ${card.id}`;
}

/** Lines with a bar at their left: no right edge that a narrow or resized window could break. */
function box(
  { blocks: [heading, ...blocks] }: RenderedMessage,
  look: Look,
  footer: string,
): string {
  const { paint } = look;
  const columns = Math.max(look.columns, MIN_COLUMNS);
  const [title = ""] = terminalLines(heading === undefined ? [] : [heading], {
    ...look,
    columns: Number.POSITIVE_INFINITY,
  });
  const rule = Math.max(1, Math.min(columns, MAX_RULE) - widthOf(title) - 4);
  const bar = paint("dim", "│");
  return [
    `${paint("dim", "╭─")} ${title} ${paint("dim", "─".repeat(rule))}`,
    ...terminalLines(blocks, { ...look, columns: columns - 2 }).map((line) =>
      line === "" ? bar : `${bar} ${line}`,
    ),
    ...wrapWords(footer, columns - 3).map((line, at) =>
      at === 0 ? `${paint("dim", "╰─")} ${line}` : `   ${line}`,
    ),
  ].join("\n");
}

/** How a line tells of an action: `introduced` names the tool, `continued` follows the line that told who approved. */
export type Manner = "whole" | "introduced" | "continued";

/** Where an action stands, in one line: `a1 approved by root · running`, `a1 denied by root: wrong host`. */
export function standingText(card: ActionCard, paint: Paint, manner: Manner = "whole"): string {
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
  const undo = card.undo?.state === "offered" ? ` · undo ${card.action} takes it back` : "";
  const offer =
    card.repeat?.state === "offered" ? ` · ask again ${card.action} asks for the same` : undo;
  const stands = style === undefined ? standingOf(card) : paint(style, standingOf(card));
  return `${stands}${undoWords(card)}${offer}`;
}
