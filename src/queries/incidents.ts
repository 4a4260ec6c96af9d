import type { IncidentCard } from "../adapters/shown.ts";
import type { Entry } from "../core/entry.ts";
import type { Thread } from "../thread/state.ts";
import type { Encode } from "./cards.ts";

/** An incident as its card shows it. */
export function incidentOf(state: Entry<"incident_state">, encode: Encode): IncidentCard {
  const { incident, severity, status, services, impact, cause, startedAt, resolvedAt } = state;
  return {
    id: incident,
    title: encode(state.title),
    severity,
    status,
    services: services.map(encode),
    impact: impact === undefined ? undefined : encode(impact),
    cause: cause === undefined ? undefined : encode(cause),
    startedAt,
    resolvedAt,
    by: encode(state.by),
    timeline: state.timeline.map(({ at, by, text, link }) => ({
      at,
      by: encode(by),
      text: encode(text),
      ...(link !== undefined && { link }),
    })),
  };
}

/** The one of this id, or the newest open one. */
export function findIncident(
  { incidents }: Thread,
  id: string | undefined,
): Entry<"incident_state"> | undefined {
  if (id !== undefined) return incidents.get(id)?.state;
  return [...incidents.values()].findLast(({ state }) => state.status === "open")?.state;
}
