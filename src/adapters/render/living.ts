import type { LivingCard } from "../shown.ts";
import { alertsLine, alertsMessage, renderAlerts } from "./alerts.ts";
import type { RenderedCard } from "./card.ts";
import { incidentLine, incidentMessage, renderIncident } from "./incident.ts";
import type { RenderedMessage } from "./rich-text.ts";

/** A message that is kept up to date, for everybody in its thread. */
export function renderLiving({ kind, card }: LivingCard): RenderedCard {
  return kind === "incident" ? renderIncident(card) : renderAlerts(card);
}

/** The same for a surface without cards. */
export function livingMessage({ kind, card }: LivingCard): RenderedMessage {
  return kind === "incident" ? incidentMessage(card) : alertsMessage(card);
}

/** How it stands, on one line. */
export function livingLine({ kind, card }: LivingCard): string {
  return kind === "incident" ? incidentLine(card) : alertsLine(card);
}
