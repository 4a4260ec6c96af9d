import { formatUtc, isoUtc, showDuration } from "../../core/instant.ts";
import { isOverStatus } from "../../core/incident-status.ts";
import type { IncidentCard } from "../shown.ts";
import { type Button, incidentButton } from "./buttons.ts";
import type { RenderedCard, Tone } from "./card.ts";
import { clip, summaryOf } from "./clip.ts";
import { inert, type Inline, type RenderedMessage } from "./rich-text.ts";

/** Slack's header, in characters. */
const MAX_TITLE = 150;
/** What each part weighs at most (`weightOf`): together a card with them fits a message of any platform. */
const MAX = {
  title: 280,
  name: 64,
  services: 200,
  impact: 400,
  cause: 300,
  roles: 200,
  tasks: 300,
  line: 200,
} as const;
/** More of what was said is read in the thread. */
const MAX_LINES = 5;

/** An incident, for everybody in its thread; one that is resolved has no buttons. */
export function renderIncident(card: IncidentCard): RenderedCard {
  const title = clip(card.title, MAX.title).slice(0, MAX_TITLE);
  return {
    tone: toneOf(card),
    title,
    standing: standingOf(card),
    command: undefined,
    notes: [],
    facts: factsOf(card),
    timeline: timelineOf(card),
    about: aboutOf(card),
    mentions: [],
    exact: undefined,
    buttons: buttonsOf(card),
    more: [],
    summary: summaryOf(incidentLine(card)),
  };
}

/** The same for a surface without cards. */
export function incidentMessage(card: IncidentCard): RenderedMessage {
  const { title, standing, facts, timeline = [], about, summary } = renderIncident(card);
  return {
    blocks: [
      { kind: "heading", inlines: [{ text: `${card.id} · ${standing}` }] },
      { kind: "text", inlines: inert(title) },
      { kind: "fields", rows: facts.map(({ label, text }) => ({ label, inlines: inert(text) })) },
      { kind: "text", inlines: [...timeline] },
      { kind: "small", inlines: [...about] },
    ],
    buttons: [],
    summary,
  };
}

/** `inc-20261120-k3qa · sev2 · open: Checkout fails` */
export function incidentLine(card: IncidentCard): string {
  return `${card.id} · ${standingOf(card)}: ${card.title}`;
}

function standingOf({ severity, status, startedAt, resolvedAt }: IncidentCard): string {
  const ended = resolvedAt === undefined ? undefined : showDuration(resolvedAt - startedAt);
  const states = {
    open: "open",
    mitigated: "mitigated",
    resolved: `resolved after ${ended}`,
    false_alarm: "false alarm",
  };
  const state = states[status];
  return severity === undefined ? state : `${severity} · ${state}`;
}

function toneOf({ status, severity }: IncidentCard): Tone {
  if (isOverStatus(status)) return "good";
  if (severity === "sev1") return "danger";
  return severity === "sev2" ? "caution" : "calm";
}

function factsOf(card: IncidentCard): RenderedCard["facts"] {
  const { services, impact, cause, certainty, roles = [], followUps = [], by } = card;
  const sure = cause !== undefined && certainty !== undefined ? ` (${certainty})` : "";
  const tasks = followUps.map(({ name, text, owner, due }) => {
    const who = [owner, due && `by ${due}`].filter((part) => part !== undefined && part !== "");
    return `${name} ${text}${who.length === 0 ? "" : ` (${who.join(", ")})`}`;
  });
  return [
    ...fact("Affected", services.join(", "), MAX.services),
    ...fact("Impact", impact, MAX.impact),
    ...fact("Cause", cause && `${clip(cause, MAX.cause)}${sure}`, MAX.cause + sure.length),
    ...fact("People", roles.map(({ role, name }) => `${role}: ${name}`).join(", "), MAX.roles),
    ...fact("To do", tasks.join("; "), MAX.tasks),
    ...fact("Opened by", by, MAX.name),
  ];
}

function fact(label: string, text: string | undefined, most: number) {
  return text === undefined || text === "" ? [] : [{ label, text: clip(text, most) }];
}

/** `13:48 Ana: rolled back`, with its day where that is another than the incident's. */
function timelineOf({ timeline, startedAt }: IncidentCard): Inline[] {
  const day = isoUtc(startedAt, "day");
  const lines = timeline.slice(-MAX_LINES).flatMap(({ at, by, text, link }): Inline[] => {
    const minute = isoUtc(at, "minute").replace("T", " ");
    const time = minute.startsWith(day) ? minute.slice(day.length + 1) : minute;
    const who = clip(by, MAX.name);
    const seen: Inline[] =
      link === undefined ? [] : [{ text: " " }, { text: link, url: link, label: "message" }];
    return [{ text: `\n${time} ${who}: ` }, ...inert(clip(text, MAX.line)), ...seen];
  });
  return lines.length === 0 ? [] : [{ text: "Timeline (UTC)", strong: true }, ...lines];
}

function aboutOf({ id, startedAt, resolvedAt }: IncidentCard): Inline[] {
  const since = [{ text: `${id} · since ` }, timeOf(startedAt)];
  return resolvedAt === undefined
    ? since
    : [{ text: `${id} · ` }, timeOf(startedAt), { text: " to " }, timeOf(resolvedAt)];
}

function timeOf(at: number): Inline {
  return { text: formatUtc(at), at };
}

function buttonsOf({ id, status }: IncidentCard): Button[] {
  if (isOverStatus(status)) return [];
  return [
    incidentButton("update", id, "Update…", "primary"),
    incidentButton("resolve", id, "Resolve…"),
    incidentButton("severity", id, "Severity…"),
  ];
}
