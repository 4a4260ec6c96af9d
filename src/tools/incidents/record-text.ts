import type { Incident, Said } from "../../incidents/incident.ts";
import { standingHistory, wordsOf } from "../../incidents/words.ts";
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

/** What was said of it, oldest first; what was pinned stands where it was said. */
export function historyText(incident: Incident, zone: string): string {
  const clock = createClock(zone);
  const statements = standingHistory(incident).map((said) => {
    const { at, actor, outside, change } = said;
    const words = [
      said === incident.history[0] ? "opened" : undefined,
      outside ? `[${UNVERIFIED}]` : undefined,
      ...wordsOf(said, (time) => showMoment(time, zone)),
      elsewhere(said, incident),
    ];
    const text = words.filter((word) => word !== undefined).join("; ");
    return { at: change.pin?.at ?? at, name: actor.name, text };
  });
  const lines = statements
    .toSorted((a, b) => a.at - b.at)
    .flatMap(({ at, name, text }) => {
      const short = name.length > NAME_COLUMNS ? `${name.slice(0, NAME_COLUMNS - 1)}…` : name;
      return labelled(`${clock.dateTime(at)}  ${short}`, text, 18 + NAME_COLUMNS);
    });
  return [`History, in ${zone}:`, ...lines].join("\n");
}

function elsewhere({ link }: Said, incident: Incident): string | undefined {
  return link === incident.link ? undefined : link;
}
