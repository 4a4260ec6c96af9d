import type { IncidentCard } from "../adapters/shown.ts";
import type { Entry } from "../core/entry.ts";
import { isOverStatus } from "../core/incident-status.ts";
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
    mitigatedAt: state.mitigatedAt,
    resolvedAt,
    certainty: state.certainty,
    roles: (state.roles ?? []).map(({ role, name }) => ({
      role: encode(role),
      name: encode(name),
    })),
    followUps: (state.followUps ?? []).map(({ name, text, owner, due }) => ({
      name,
      text: encode(text),
      ...(owner !== undefined && { owner: encode(owner) }),
      ...(due !== undefined && { due }),
    })),
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
  return [...incidents.values()].findLast(({ state }) => !isOverStatus(state.status))?.state;
}
