import { createClock, showDuration, showMoment } from "../core/instant.ts";
import { oneLine } from "../core/text.ts";
import type { Incident, TimeName } from "./incident.ts";
import { actedLine, alertLine, followUpLine, KNOWN } from "./lines.ts";
import { timelineOf } from "./timeline.ts";
import { UNVERIFIED, unverifiedIn } from "./unverified.ts";
import { everyWords } from "./words.ts";

/** A record as Markdown, made of the record alone: words of people are quoted as they are and are no markup. */

/** A heading with its lines; without lines it is not shown. */
type Section = readonly [heading: string, lines: readonly string[]];

const IMPORTED = "The record was taken over from elsewhere.";

/** The whole record of one incident, for files and other programs; times in the zone. */
export function recordMarkdown(incident: Incident, zone: string): string {
  const { id } = incident;
  return document(
    `${id}: ${plain(incident.title)}`,
    [`Times are in ${zone}.`],
    [
      ["Summary", summaryOf(incident)],
      ["Times", timesOf(incident, zone)],
      ["Durations", durationsOf(incident)],
      ["Cause", causeOf(incident)],
      ["Timeline", timelineLines(incident, zone)],
      ["What was done", actedOf(incident)],
      ["Alerts", alertsOf(incident, zone)],
      ["People", peopleOf(incident, zone)],
      ["Follow-ups", followUpsOf(incident)],
      ["Not verified", unverifiedOf(incident)],
    ],
  );
}

/**
 * A draft of a post-mortem. Nothing is added to what the record says; what it lacks stands as an open question, "Not recorded: …".
 */
export function postmortemMarkdown(incident: Incident, zone: string): string {
  const { id, isImported } = incident;
  const source = `Draft, made from the record of ${id} alone. What the record lacks is an open question at the end. Times are in ${zone}.`;
  const imported = isImported ? [IMPORTED] : [];
  const nothing = (lines: readonly string[]) =>
    lines.length === 0 ? ["Not recorded; see the open questions."] : lines;
  return document(
    `Post-mortem: ${plain(incident.title)}`,
    [source, ...imported],
    [
      ["Summary", summaryOf(incident)],
      ["Times", timesOf(incident, zone)],
      ["Durations", nothing(durationsOf(incident))],
      ["Cause", nothing(causeOf(incident))],
      ["Timeline", timelineLines(incident, zone)],
      ["What was done", nothing(actedOf(incident))],
      ["Alerts", alertsOf(incident, zone)],
      ["People", peopleOf(incident, zone)],
      ["Follow-ups", nothing(followUpsOf(incident))],
      ["Open questions", openQuestions(incident)],
    ],
  );
}

function document(title: string, head: readonly string[], sections: readonly Section[]): string {
  const shown = sections.filter(([, lines]) => lines.length > 0);
  const parts = shown.map(([heading, lines]) => `## ${heading}\n\n${lines.join("\n")}`);
  return [`# ${title}`, head.join(" "), ...parts].join("\n\n");
}

/** Addresses stay as they are, so that they can be followed. */
const ADDRESS = /(https?:\/\/[^\s<>()[\]`*|\\]+)/;
const MARKUP = /[\\`*[\]<>|~#]|(?<![\p{L}\p{N}])_|_(?![\p{L}\p{N}])/gu;

/** Somebody's words on one line, in which nothing is markup. */
function plain(text: string): string {
  const parts = oneLine(text).split(ADDRESS);
  return parts.map((part, i) => (i % 2 === 1 ? part : part.replaceAll(MARKUP, "\\$&"))).join("");
}

function item(label: string, text: string | undefined): string[] {
  return text === undefined || text === "" ? [] : [`- **${label}:** ${plain(text)}`];
}

function summaryOf(incident: Incident): string[] {
  const { id, status, severity, services, impact, updateEvery, audience, link } = incident;
  return [
    ...item("Incident", id),
    ...item("State", status.replace("_", " ")),
    ...item("Severity", severity),
    ...item("Services", services.join(", ")),
    ...item("Impact", impact),
    ...item("Updates", updateEvery === undefined ? undefined : everyWords(updateEvery)),
    ...item("Readers", audience === undefined ? undefined : "only its private place"),
    ...item("Thread", link),
  ];
}

const TIME_WORDS: readonly (readonly [TimeName, label: string, missing: string])[] = [
  ["startedAt", "Started", "when it began"],
  ["detectedAt", "Detected", "when it was noticed"],
  ["acknowledgedAt", "Acknowledged", "when somebody took it up"],
  ["mitigatedAt", "Mitigated", "when it hurt nobody any more"],
  ["resolvedAt", "Resolved", "when it was over"],
];

function timesOf(incident: Incident, zone: string): string[] {
  return TIME_WORDS.flatMap(([name, label]) => {
    const at = incident[name];
    const how = KNOWN[incident.known[name] ?? "person"];
    return at === undefined ? [] : item(label, `${showMoment(at, zone)} (${how})`);
  });
}

/** Nobody says when it began: its alert tells nothing of how long nobody noticed. */
function isBeginAlert({ known }: Incident): boolean {
  return known.startedAt === "alert" && known.detectedAt === "alert";
}

/** Counted as the numbers of a period are. */
function durationsOf(incident: Incident): string[] {
  const { startedAt, detectedAt, acknowledgedAt, mitigatedAt, resolvedAt } = incident;
  const lasted = (label: string, from: number, to: number | undefined) =>
    to === undefined ? [] : item(label, showDuration(Math.max(0, to - from)));
  return [
    ...(isBeginAlert(incident) ? [] : lasted("Until it was noticed", startedAt, detectedAt)),
    ...lasted("From then until it was taken up", detectedAt ?? startedAt, acknowledgedAt),
    ...lasted("Until it was mitigated", startedAt, mitigatedAt),
    ...lasted("Until it was over", startedAt, resolvedAt),
  ];
}

function causeOf({ cause, certainty, evidence }: Incident): string[] {
  return [
    ...item("Cause", cause),
    ...item("How sure", certainty),
    ...evidence.flatMap((each) => item("Evidence", each)),
  ];
}

function timelineLines(incident: Incident, zone: string): string[] {
  const clock = createClock(zone);
  return timelineOf(incident, clock.dateTime).map(
    ({ at, by, words, opens, outside, elsewhere }) => {
      const said = [...(opens ? ["opened"] : []), ...words, elsewhere].filter(
        (word) => word !== undefined,
      );
      const mark = outside ? "(unverified) " : "";
      return `- ${clock.dateTime(at)} **${plain(by)}:** ${mark}${plain(said.join("; "))}`;
    },
  );
}

function actedOf({ acted }: Incident): string[] {
  return acted.map((each) => `- ${plain(actedLine(each))}`);
}

function alertsOf({ alerts }: Incident, zone: string): string[] {
  return alerts.map((alert) => `- ${plain(alertLine(alert, createClock(zone).dateTime))}`);
}

/** Who has a role, who decided, and who else has a word in the record. */
function peopleOf(incident: Incident, zone: string): string[] {
  const { roles, acted, history } = incident;
  const clock = createClock(zone);
  const approvers = acted.flatMap(({ votes = [] }) =>
    votes.filter(({ approve }) => approve).map(({ name }) => name),
  );
  const [opener] = history;
  const others = history.map(({ actor }) => actor.name);
  return [
    ...roles.flatMap(({ role, name, since }) =>
      item(role, `${name}, since ${clock.dateTime(since)}`),
    ),
    ...item("Opened by", opener?.actor.name),
    ...item("Approved", [...new Set(approvers)].join(", ")),
    ...item("Wrote to the record", [...new Set(others)].join(", ")),
  ];
}

function followUpsOf({ followUps, actions }: Incident): string[] {
  return [
    ...followUps.map((each) => `- ${plain(followUpLine(each))}`),
    ...actions.map((action) => `- ${plain(action)}`),
  ];
}

function unverifiedOf(incident: Incident): string[] {
  const fields = unverifiedIn(incident);
  return fields.length === 0 ? [] : [`- ${fields.join(", ")}: ${UNVERIFIED}`];
}

function openQuestions(incident: Incident): string[] {
  const { severity, services, impact, cause, certainty, evidence, known } = incident;
  const missing = [
    ...(severity === undefined ? ["how severe it was"] : []),
    ...(services.length === 0 ? ["which services it concerned"] : []),
    ...(impact === undefined ? ["whom it hurt, and how"] : []),
    ...(known.startedAt === "person" ? ["when it began; it counts from when it was opened"] : []),
    ...(known.startedAt === "alert" ? ["when it began; it counts from its first alert"] : []),
    ...TIME_WORDS.flatMap(([name, , words]) => (incident[name] === undefined ? [words] : [])),
    ...(cause === undefined ? ["the cause"] : []),
    ...(cause !== undefined && certainty === undefined ? ["how sure the cause is"] : []),
    ...(cause !== undefined && evidence.length === 0 ? ["where the cause is shown"] : []),
    ...missingOfActions(incident),
    ...missingOfFollowUps(incident),
    ...(incident.roles.length === 0 ? ["who had which role"] : []),
  ];
  return [
    ...missing.map((words) => `- Not recorded: ${plain(words)}.`),
    ...(certainty === "suspected" || certainty === "likely"
      ? [`- Not confirmed: the cause is ${certainty}.`]
      : []),
    ...unverifiedIn(incident).map((field) => `- Not verified: ${field}, ${UNVERIFIED}.`),
  ];
}

function missingOfActions({ acted, alerts }: Incident): string[] {
  const done = acted.flatMap(({ title, outcome, verified, undoneAt }) => {
    if (outcome === undefined || outcome === "unknown") return [`how "${title}" ended`];
    const isSeen = verified === "fixed" || verified === "not_fixed";
    return outcome === "ok" && !isSeen && undoneAt === undefined
      ? [`whether "${title}" helped`]
      : [];
  });
  const firing = alerts.filter(({ overAt }) => overAt === undefined);
  return [
    ...(acted.length === 0 ? ["what was done about it, but for what the timeline says"] : []),
    ...done,
    ...firing.map(({ name }) => `when the alert "${name}" was over`),
  ];
}

function missingOfFollowUps({ followUps, actions }: Incident): string[] {
  if (followUps.length === 0 && actions.length === 0) return ["what is to be done afterwards"];
  return [
    ...followUps
      .filter(({ state }) => state === "open")
      .flatMap(({ name, owner, due }) => [
        ...(owner === undefined ? [`who does ${name}`] : []),
        ...(due === undefined ? [`by when ${name} is to be done`] : []),
      ]),
    ...(actions.length === 0 ? [] : [`who does "${actions.join('", "')}", and by when`]),
  ];
}
