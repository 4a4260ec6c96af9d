import type { IncidentStatus } from "../core/incident-status.ts";
import { showDuration } from "../core/instant.ts";
import type { Acted, AlertFact, Incident, Pin, Said } from "./incident.ts";
import { pinnedIn } from "./pins.ts";

/** What one statement said, a phrase for each thing; `show` writes a time. */
export function wordsOf({ change }: Pick<Said, "change">, show: (at: number) => string): string[] {
  const { status, title, severity, services, impact, cause, actions = [], note } = change;
  const { alert, acted, certainty, evidence = [], roles = [], followUps = [] } = change;
  const { pin, updateEvery } = change;
  const time = (word: string, at: number | undefined) =>
    at === undefined ? [] : [`${word} ${show(at)}`];
  return [
    ...(alert === undefined ? [] : [alertWords(alert, show)]),
    ...(acted === undefined ? [] : actedWords(acted, show)),
    ...(status === undefined ? [] : [STATUS[status]]),
    ...(title === undefined ? [] : [`title: ${title}`]),
    ...(severity === undefined ? [] : [severity]),
    ...(services === undefined ? [] : [`services: ${services.join(", ") || "none"}`]),
    ...time("started", change.startedAt),
    ...time("detected", change.detectedAt),
    ...time("acknowledged", change.acknowledgedAt),
    ...time("mitigated", change.mitigatedAt),
    ...time("over", change.resolvedAt),
    ...(impact === undefined ? [] : [`impact: ${impact}`]),
    ...(updateEvery === undefined ? [] : [everyWords(updateEvery)]),
    ...(cause === undefined ? [] : [`cause: ${cause}`]),
    ...(certainty === undefined ? [] : [`the cause is ${certainty}`]),
    ...(evidence.length === 0 ? [] : [`evidence: ${evidence.join(", ")}`]),
    ...roles.map(({ role, name }) => `${role}: ${name ?? "nobody"}`),
    ...followUps.map(followUpWords),
    ...actions.map((action) => `action: ${action}`),
    ...(note === undefined ? [] : [note]),
    ...(pin === undefined ? [] : [`pinned ${quoteOf(pin)}`]),
    ...(pin?.link === undefined ? [] : [pin.link]),
  ];
}

/** `an update is due every 30 min` */
export function everyWords(minutes: number): string {
  return minutes === 0
    ? "nobody is reminded of updates"
    : `an update is due every ${showDuration(minutes * 60_000)}`;
}

const STATUS: Readonly<Record<IncidentStatus, string>> = {
  open: "opened again",
  mitigated: "mitigated",
  resolved: "resolved",
  false_alarm: "a false alarm",
};

function alertWords(
  { name, sources = [], startedAt, acknowledgedAt, overAt, link }: AlertFact,
  show: (at: number) => string,
): string {
  const over = overAt === undefined ? undefined : `over ${show(overAt)}`;
  const seen = acknowledgedAt === undefined ? undefined : `acknowledged ${show(acknowledgedAt)}`;
  const stands = [`firing since ${show(startedAt)}`, seen, over].filter(
    (part) => part !== undefined,
  );
  const from = sources.length === 0 ? "" : ` from ${sources.join(" and ")}`;
  return `alert ${JSON.stringify(name)}${from} ${stands.join(", ")}${link === undefined ? "" : ` ${link}`}`;
}

const OUTCOMES = { ok: "done", error: "failed", unknown: "nobody knows whether it was done" };
const VERIFIED = { fixed: "fixed", not_fixed: "not fixed", unclear: "cannot tell" };

function actedWords(acted: Acted, show: (at: number) => string): string[] {
  const { action, title, outcome, votes = [], endedAt, undoneAt, verified } = acted;
  const ended = endedAt === undefined ? "" : ` ${show(endedAt)}`;
  const facts = [
    ...(outcome === undefined ? [] : [`${OUTCOMES[outcome]}${ended}`]),
    ...votes.map(
      (vote) => `${vote.approve ? "approved" : "denied"} by ${vote.name} ${show(vote.at)}`,
    ),
    ...(undoneAt === undefined ? [] : [`undone ${show(undoneAt)}`]),
    ...(verified === undefined ? [] : [`looked at again: ${VERIFIED[verified]}`]),
  ];
  return [`action ${action} ${JSON.stringify(title)}: ${facts.join(", ")}`];
}

function followUpWords({
  name,
  text,
  owner,
  due,
  state,
}: NonNullable<Said["change"]["followUps"]>[number]): string {
  const parts = [
    ...(text === undefined ? [] : [text]),
    ...(owner === undefined ? [] : [`owner ${owner}`]),
    ...(due === undefined ? [] : [`due ${due}`]),
    ...(state === undefined ? [] : [state]),
  ];
  return `follow-up${name === undefined ? "" : ` ${name}`}: ${parts.join(", ")}`;
}

/** When what was said happened, as far as it says so. */
export function momentOf({ at, change: { pin, alert, acted } }: Said): number {
  const happened = acted && (acted.undoneAt ?? acted.verifiedAt ?? acted.endedAt);
  return (
    pin?.at ??
    happened ??
    (alert && (alert.overAt ?? alert.acknowledgedAt ?? alert.startedAt)) ??
    at
  );
}

/** Somebody else's words, which nobody verified. */
export function quoteOf({ name, text }: Pin): string {
  return `${name}: ${JSON.stringify(text)}`;
}

/** The statements without those about messages that were pinned and taken out again, or say something else by now. */
export function standingHistory(incident: Incident): Said[] {
  const { history, pins } = incident;
  const pinned = new Set(pins.map(({ message }) => pinnedIn(incident, message)?.said));
  return history.filter(
    (said) => (said.change.pin === undefined || pinned.has(said)) && !said.change.unpin,
  );
}
