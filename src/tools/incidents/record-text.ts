import type { Incident, Said } from "../../incidents/incident.ts";
import { wordsOf } from "../../incidents/words.ts";
import { createClock, showDuration, showMoment } from "../../core/instant.ts";
import { labelled } from "./table.ts";
import { titleOf, UNVERIFIED, unverifiedIn } from "../../incidents/unverified.ts";

/** Of a name in a history, so that what was said begins in the same column. */
const NAME_COLUMNS = 12;

/** `inc-20261120-k3qa, sev2, resolved after 48 min: Checkout fails` */
export function headline(incident: Incident): string {
  const { id, severity, status, startedAt, resolvedAt } = incident;
  const state =
    resolvedAt === undefined ? status : `resolved after ${showDuration(resolvedAt - startedAt)}`;
  return `${[id, ...(severity ? [severity] : []), state].join(", ")}: ${titleOf(incident).replace(/\.$/, "")}`;
}

/** What is known of an incident, a labelled line each; times in UTC and in the zone. */
export function recordText(incident: Incident, zone: string): string {
  const { startedAt, detectedAt, resolvedAt, audience } = incident;
  const unverified = unverifiedIn(incident);
  const after = (at: number | undefined) =>
    at === undefined ? undefined : `${showMoment(at, zone)}, after ${showDuration(at - startedAt)}`;
  return [
    ...labelled("Services", incident.services.join(", ")),
    ...labelled("Started", showMoment(startedAt, zone)),
    ...labelled("Detected", after(detectedAt)),
    ...labelled("Resolved", after(resolvedAt)),
    ...labelled("Impact", incident.impact),
    ...labelled("Cause", incident.cause),
    ...labelled("Actions", incident.actions.map((action) => `- ${action}`).join("\n")),
    ...labelled(
      "Unverified",
      unverified.length === 0 ? undefined : `${unverified.join(", ")}: ${UNVERIFIED}`,
    ),
    ...labelled("Readers", audience === undefined ? undefined : "only this private place"),
    ...labelled("Thread", incident.link),
  ].join("\n");
}

/** What was said of it, oldest first. */
export function historyText(incident: Incident, zone: string): string {
  const clock = createClock(zone);
  const lines = incident.history.flatMap((said, i) => {
    const words = [
      i === 0 ? "opened" : undefined,
      said.outside ? `[${UNVERIFIED}]` : undefined,
      ...wordsOf(said, (at) => showMoment(at, zone)),
      elsewhere(said, incident),
    ];
    const text = words.filter((word) => word !== undefined).join("; ");
    const name = said.actor.name;
    const short = name.length > NAME_COLUMNS ? `${name.slice(0, NAME_COLUMNS - 1)}…` : name;
    return labelled(`${clock.dateTime(said.at)}  ${short}`, text, 18 + NAME_COLUMNS);
  });
  return [`History, in ${zone}:`, ...lines].join("\n");
}

function elsewhere({ link }: Said, incident: Incident): string | undefined {
  return link === incident.link ? undefined : link;
}
