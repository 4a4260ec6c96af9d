import type { LivingCard } from "../shown.ts";
import { alertsLine, alertsMessage, renderAlerts } from "./alerts.ts";
import { goalLine, goalMessage, renderGoal } from "./goal.ts";
import type { RenderedCard } from "./card.ts";
import { incidentLine, incidentMessage, renderIncident } from "./incident.ts";
import type { RenderedMessage } from "./rich-text.ts";

/** A message that is kept up to date, for everybody in its thread. */
export function renderLiving({ kind, card }: LivingCard): RenderedCard {
  if (kind === "goal") return renderGoal(card);
  return kind === "incident" ? renderIncident(card) : renderAlerts(card);
}

/** The same for a surface without cards. */
export function livingMessage({ kind, card }: LivingCard): RenderedMessage {
  if (kind === "goal") return goalMessage(card);
  return kind === "incident" ? incidentMessage(card) : alertsMessage(card);
}

/** How it stands, on one line. */
export function livingLine({ kind, card }: LivingCard): string {
  if (kind === "goal") return goalLine(card);
  return kind === "incident" ? incidentLine(card) : alertsLine(card);
}
