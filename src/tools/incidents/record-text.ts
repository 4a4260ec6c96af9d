import type { Incident, TimeName } from "../../incidents/incident.ts";
import { actedLine, alertLine, followUpLine, KNOWN } from "../../incidents/lines.ts";
import { everyWords } from "../../incidents/words.ts";
import { timelineOf } from "../../incidents/timeline.ts";
import { createClock, showDuration, showMoment } from "../../core/instant.ts";
import { labelled } from "./table.ts";
import { titleOf, UNVERIFIED, unverifiedIn } from "../../incidents/unverified.ts";

/** Of a name in a history, so that what was said begins in the same column. */
const NAME_COLUMNS = 12;

/** `inc-20261120-k3qa, sev2, resolved after 48 min: Checkout fails` */
export function headline(incident: Incident): string {
  const { id, severity, status, startedAt, resolvedAt } = incident;
  const word = status === "false_alarm" ? "false alarm, over" : status;
  const state =
    resolvedAt === undefined ? word : `${word} after ${showDuration(resolvedAt - startedAt)}`;
  return `${[id, ...(severity ? [severity] : []), state].join(", ")}: ${titleOf(incident).replace(/\.$/, "")}`;
}

/** What is known of an incident, a labelled line each; times in UTC and in the zone. */
export function recordText(incident: Incident, zone: string): string {
  const { startedAt, audience, known, cause, certainty } = incident;
  const unverified = unverifiedIn(incident);
  const show = (at: number) => showMoment(at, zone);
  const after = (name: TimeName) => {
    const at = incident[name];
    const how = KNOWN[known[name] ?? "person"];
    return at === undefined
      ? undefined
      : `${showMoment(at, zone)}, after ${showDuration(at - startedAt)} (${how})`;
  };
  return [
    ...labelled("Services", incident.services.join(", ")),
    ...labelled(
      "Started",
      `${showMoment(startedAt, zone)} (${KNOWN[known.startedAt ?? "person"]})`,
    ),
    ...labelled("Detected", after("detectedAt")),
    ...labelled("Acked", after("acknowledgedAt")),
    ...labelled("Mitigated", after("mitigatedAt")),
    ...labelled("Resolved", after("resolvedAt")),
    ...labelled("Impact", incident.impact),
    ...labelled(
      "Updates",
      incident.updateEvery === undefined ? undefined : everyWords(incident.updateEvery),
    ),
    ...labelled("Cause", cause && `${cause}${certainty === undefined ? "" : ` (${certainty})`}`),
    ...labelled("Evidence", incident.evidence.join("\n")),
    ...labelled("Actions", incident.actions.map((action) => `- ${action}`).join("\n")),
    ...labelled("Done", incident.acted.map((acted) => `- ${actedLine(acted)}`).join("\n")),
    ...labelled("Alerts", incident.alerts.map((alert) => `- ${alertLine(alert, show)}`).join("\n")),
    ...labelled("People", incident.roles.map(({ role, name }) => `${role}: ${name}`).join(", ")),
    ...labelled("To do", incident.followUps.map((each) => `- ${followUpLine(each)}`).join("\n")),
    ...labelled(
      "Unverified",
      unverified.length === 0 ? undefined : `${unverified.join(", ")}: ${UNVERIFIED}`,
    ),
    ...labelled("Imported", incident.isImported ? "taken over from elsewhere" : undefined),
    ...labelled("Readers", audience === undefined ? undefined : "only this private place"),
    ...labelled("Thread", incident.link),
  ].join("\n");
}

/** What was said of it, oldest first; what was pinned stands where it was said. */
export function historyText(incident: Incident, zone: string): string {
  const clock = createClock(zone);
  const moments = timelineOf(incident, (time) => showMoment(time, zone));
  const lines = moments.flatMap(({ at, by, words, opens, outside, elsewhere }) => {
    const said = [
      ...(opens ? ["opened"] : []),
      ...(outside ? [`[${UNVERIFIED}]`] : []),
      ...words,
      ...(elsewhere === undefined ? [] : [elsewhere]),
    ];
    const short = by.length > NAME_COLUMNS ? `${by.slice(0, NAME_COLUMNS - 1)}…` : by;
    return labelled(`${clock.dateTime(at)}  ${short}`, said.join("; "), 18 + NAME_COLUMNS);
  });
  return [`History, in ${zone}:`, ...lines].join("\n");
}
