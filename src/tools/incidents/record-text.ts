import type {
  Acted,
  AlertFact,
  FollowUp,
  Incident,
  KnownBy,
  Said,
  TimeName,
} from "../../incidents/incident.ts";
import { momentOf, standingHistory, wordsOf } from "../../incidents/words.ts";
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
    ...labelled("Cause", cause && `${cause}${certainty === undefined ? "" : ` (${certainty})`}`),
    ...labelled("Evidence", incident.evidence.join("\n")),
    ...labelled("Actions", incident.actions.map((action) => `- ${action}`).join("\n")),
    ...labelled("Done", incident.acted.map((acted) => `- ${actedLine(acted)}`).join("\n")),
    ...labelled("Alerts", incident.alerts.map((alert) => `- ${alertLine(alert, zone)}`).join("\n")),
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

/** How something is known, for people. */
const KNOWN: Readonly<Record<KnownBy, string>> = {
  said: "as said",
  person: "a person, then",
  alert: "by an alert",
  action: "by an approved action",
  verify: "seen after an action",
};

/** `Restart api: done, approved by Ana, fixed` */
function actedLine({ title, outcome, votes = [], undoneAt, verified }: Acted): string {
  const approved = votes.filter(({ approve }) => approve).map(({ name }) => name);
  const results = { ok: "done", error: "failed", unknown: "outcome unknown" };
  const seen = {
    fixed: "fixed",
    not_fixed: "not fixed",
    unclear: "cannot tell whether it is fixed",
  };
  const facts = [
    ...(outcome === undefined ? [] : [results[outcome]]),
    ...(approved.length === 0 ? [] : [`approved by ${approved.join(" and ")}`]),
    ...(verified === undefined ? [] : [seen[verified]]),
    ...(undoneAt === undefined ? [] : ["undone"]),
  ];
  return `${title}: ${facts.join(", ")}`;
}

function alertLine({ name, startedAt, overAt, link }: AlertFact, zone: string): string {
  const over = overAt === undefined ? "not over" : `over ${showMoment(overAt, zone)}`;
  return `${JSON.stringify(name)} since ${showMoment(startedAt, zone)}, ${over}${link === undefined ? "" : ` ${link}`}`;
}

/** `f1 add an alert (Ana, by 2026-12-01): open` */
function followUpLine({ name, text, owner, due, state }: FollowUp): string {
  const who = [owner, due && `by ${due}`].filter((part) => part !== undefined && part !== "");
  return `${name} ${text}${who.length === 0 ? "" : ` (${who.join(", ")})`}: ${state}`;
}

/** What was said of it, oldest first; what was pinned stands where it was said. */
export function historyText(incident: Incident, zone: string): string {
  const clock = createClock(zone);
  const statements = standingHistory(incident).map((said) => {
    const { actor, outside } = said;
    const words = [
      said === incident.history[0] ? "opened" : undefined,
      outside ? `[${UNVERIFIED}]` : undefined,
      ...wordsOf(said, (time) => showMoment(time, zone)),
      elsewhere(said, incident),
    ];
    const text = words.filter((word) => word !== undefined).join("; ");
    return { at: momentOf(said), name: actor.name, text };
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
