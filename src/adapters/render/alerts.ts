import { formatUtc, showDuration } from "../../core/instant.ts";
import { labelsFor } from "../../core/label-names.ts";
import { counted, oneLine } from "../../core/text.ts";
import type { AlertCard } from "../shown.ts";
import { alertButton, type Button } from "./buttons.ts";
import type { RenderedCard, Tone } from "./card.ts";
import { clip, summaryOf } from "./clip.ts";
import { addressInline, type Inline, inert, type RenderedMessage } from "./rich-text.ts";

/** Slack's header, in characters. */
const MAX_TITLE = 150;
/** What each part weighs at most (`weightOf`): together a card with them fits a message of any platform. */
const MAX = {
  title: 280,
  severity: 60,
  text: 700,
  value: 120,
  label: 40,
  where: 600,
  folded: 500,
} as const;

/** A group of alerts, for everybody in its thread. */
export function renderAlerts(card: AlertCard): RenderedCard {
  const standing = standingOf(card);
  return {
    tone: toneOf(card),
    title: titleOf(card),
    standing,
    command: undefined,
    notes: notesOf(card),
    facts: factsOf(card),
    timeline: linksOf(card),
    about: aboutOf(card),
    mentions: [],
    exact: undefined,
    buttons: buttonsOf(card),
    more: [],
    summary: summaryOf(alertsLine(card)),
  };
}

/** The same for a surface without cards. */
export function alertsMessage(card: AlertCard): RenderedMessage {
  const { title, standing, notes, facts, timeline = [], about, summary } = renderAlerts(card);
  return {
    blocks: [
      { kind: "heading", inlines: [{ text: standing }] },
      { kind: "text", inlines: inert(title) },
      { kind: "text", inlines: inert(notes.join("\n")) },
      { kind: "fields", rows: facts.map(({ label, text }) => ({ label, inlines: inert(text) })) },
      { kind: "text", inlines: [...timeline] },
      { kind: "small", inlines: [...about] },
    ],
    buttons: [],
    summary,
  };
}

/** `HighErrorRate · checkout` */
function titleOf({ name, where }: AlertCard): string {
  const telling = SUBJECTS.map((subject) => where.find(({ label }) => label === subject));
  const [value = "", ...others] = telling.find((each) => each !== undefined)?.values ?? [];
  const about = value === "" || others.length > 0 || name.includes(value) ? "" : ` · ${value}`;
  // A header that shows nothing is no header.
  const called = /[\p{L}\p{N}]/u.test(name) ? oneLine(name) : `An alert ${oneLine(name)}`.trim();
  return clip([called, oneLine(about)].filter(Boolean).join(" "), MAX.title).slice(0, MAX_TITLE);
}

/** Labels of which one says at a glance what an alert is about, the most telling first. */
const SUBJECTS = labelsFor(
  "service",
  "deployment",
  "queue",
  "instance",
  "host",
  "node",
  "namespace",
  "project",
);

/** `🔥 3 firing, 1 over · critical: HighErrorRate` */
export function alertsLine(card: AlertCard): string {
  return `${standingOf(card)}: ${card.name}`;
}

const isOver = ({ overAt, firing, acknowledged }: AlertCard) =>
  overAt !== undefined && firing + acknowledged === 0;

function standingOf(card: AlertCard): string {
  const { severity, startedAt, overAt, resolved } = card;
  if (isOver(card)) {
    const ms = Math.max(0, (overAt ?? startedAt) - startedAt);
    const many = resolved > 1 ? ` · ${counted(resolved, "alert")}` : "";
    return `✅ Resolved after ${showDuration(ms)}${many}`;
  }
  const how = severity === undefined ? "" : ` · ${clip(oneLine(severity), MAX.severity)}`;
  return `${markOf(card)} ${sentenceOf(card)}${how}`;
}

function markOf({ firing, urgency }: AlertCard): string {
  if (firing === 0) return "👀";
  return urgency >= 2 ? "🔥" : "⚠️";
}

/** `Firing again`, `3 firing, 1 acknowledged, 2 over` */
function sentenceOf({ firing, acknowledged, resolved, back }: AlertCard): string {
  const again = back === undefined ? "" : " again";
  if (firing + acknowledged + resolved === 1)
    return firing === 1 ? `Firing${again}` : "Acknowledged";
  return [
    ...(firing > 0 ? [`${firing} firing${again}`] : []),
    ...(acknowledged > 0 ? [`${acknowledged} acknowledged`] : []),
    ...(resolved > 0 ? [`${resolved} over`] : []),
  ].join(", ");
}

function toneOf(card: AlertCard): Tone {
  if (isOver(card)) return "good";
  if (card.firing === 0 || card.urgency === 0) return "calm";
  return card.urgency >= 2 ? "danger" : "caution";
}

function notesOf({ summary, description }: AlertCard): string[] {
  const said = summary ?? description;
  return said === undefined || said.trim() === "" ? [] : [clip(said.trim(), MAX.text)];
}

function factsOf(card: AlertCard): RenderedCard["facts"] {
  const { where, folded, shared, more } = card;
  const places = where.map(({ label, values, more: others }) => {
    const some = values.map((value) => clip(oneLine(value), MAX.value)).join(", ");
    return `${label}=${some}${others > 0 ? `, +${others}` : ""}`;
  });
  const names = folded.map((name) => clip(oneLine(name), MAX.value)).join(", ");
  const why = shared === undefined ? "" : ` (they share ${clip(oneLine(shared), MAX.value)})`;
  const also = [
    ...(names === "" ? [] : [`${clip(names, MAX.folded)}${why}`]),
    ...(more > 0 ? [`${more} more`] : []),
  ];
  return [...fact("Where", clip(places.join(" · "), MAX.where)), ...fact("Also", also.join(" · "))];
}

function fact(label: string, text: string) {
  return text === "" ? [] : [{ label, text }];
}

function buttonsOf(card: AlertCard): Button[] {
  const { id, incident, silence } = card;
  if (isOver(card))
    return incident === undefined
      ? []
      : [alertButton("resolve", id, `Resolve ${incident}…`, "primary")];
  return [
    alertButton("look", id, "Look into it", "primary"),
    ...(silence === undefined ? [] : [alertButton("silence", id, "Silence 1 h")]),
    ...(incident === undefined ? [alertButton("open", id, "Open incident…")] : []),
  ];
}

/** Each with the host that it leads to. */
function linksOf({ links }: AlertCard): Inline[] {
  return links.flatMap(({ label, url }, at): Inline[] => {
    const address = addressInline(url, () => true);
    const host = URL.parse(url)?.host;
    if (address.url === undefined || host === undefined) return [];
    const between = at === 0 ? [] : [{ text: " · " }];
    return [...between, { ...address, label: `${lettersOf(label)} (${host})` }];
  });
}

/** What is shown in an address's place is never markup. */
function lettersOf(label: string): string {
  const said = label.replaceAll(/[^\p{L}\p{N} -]/gu, "").trim();
  return said === "" ? "Alert" : clip(said, MAX.label);
}

/** `since … · told 14 times, last …` */
function aboutOf(card: AlertCard): Inline[] {
  const { startedAt, overAt, told, toldAt, back, silenced } = card;
  const hidden: Inline[] = silenced === undefined ? [] : silenceInlines(silenced);
  const again: Inline[] =
    back === undefined ? [] : [{ text: ` · back ${timesOf(back.times)}, last ` }, timeOf(back.at)];
  const repeats: Inline[] =
    told > 1 ? [{ text: ` · told ${timesOf(told)}, last ` }, timeOf(toldAt)] : [];
  return overAt !== undefined && isOver(card)
    ? [timeOf(startedAt), { text: " to " }, timeOf(overAt), ...again, ...repeats, ...hidden]
    : [{ text: "since " }, timeOf(startedAt), ...again, ...repeats, ...hidden];
}

function silenceInlines({ until, endedAt, isAll }: NonNullable<AlertCard["silenced"]>): Inline[] {
  const what = isAll ? "silence" : "silence of some";
  return endedAt === undefined
    ? [{ text: ` · 🔕 ${what} until ` }, timeOf(until)]
    : [{ text: ` · 🔔 ${what} expired ` }, timeOf(endedAt)];
}

function timesOf(count: number): string {
  return count === 1 ? "once" : count === 2 ? "twice" : `${count} times`;
}

function timeOf(at: number): Inline {
  return { text: formatUtc(at), at };
}
