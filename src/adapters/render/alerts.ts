import { formatUtc, showDuration } from "../../core/instant.ts";
import { labelsFor } from "../../core/label-names.ts";
import { counted, oneLine } from "../../core/text.ts";
import type { AlertCard, AlertSilence } from "../shown.ts";
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
  said: 240,
  value: 120,
  label: 40,
  where: 600,
  folded: 500,
  address: 400,
} as const;

/** Addresses that can only be copied. */
const MAX_COPIED = 2;

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
    timeline: linesOf([...standsOf(card), ...linksOf(card)]),
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

/**
 * What the message in the channel says that a thread of alerts began with, for who sees only that:
 * `✅ HighErrorRate · checkout: 5xx at 12 %`, and beneath it how all of it stands.
 */
export function rootMessage(card: AlertCard): RenderedMessage {
  const [said = ""] = notesOf(card);
  const about = said === "" ? "" : `: ${clip(oneLine(said), MAX.said)}`;
  const text = `${isOver(card) ? "✅" : markOf(card)} ${titleOf(card)}${about}`;
  const lines = [standingInlines(card), ...standsOf(card)];
  return {
    blocks: [
      { kind: "text", inlines: inert(text) },
      { kind: "small", inlines: linesOf(lines) },
    ],
    buttons: [],
    summary: summaryOf(text),
  };
}

/** `Resolved at … after 42 min · 3 alerts`, `2 firing, 1 over since …` */
function standingInlines(card: AlertCard): Inline[] {
  const { startedAt, overAt, resolved } = card;
  if (overAt === undefined || !isOver(card))
    return [{ text: `${sentenceOf(card)} since ` }, timeOf(startedAt)];
  const many = resolved > 1 ? ` · ${counted(resolved, "alert")}` : "";
  const took = ` after ${showDuration(Math.max(0, overAt - startedAt))}${many}`;
  return [{ text: "Resolved at " }, timeOf(overAt), { text: took }];
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

/** All of it is over, and stays so: what flaps is told late, so that it may fire again by now. */
export const isOver = ({ overAt, firing, acknowledged, flaps }: AlertCard) =>
  overAt !== undefined && flaps === undefined && firing + acknowledged === 0;

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

/** Nobody is told of what fires while a silence holds. */
export const isHidden = ({ silenced }: AlertCard) =>
  silenced !== undefined && silenced.endedAt === undefined && silenced.isAll;

function markOf(card: AlertCard): string {
  const { firing, urgency, flaps } = card;
  if (isHidden(card)) return "🔕";
  if (flaps !== undefined) return "🔁";
  if (firing === 0) return "👀";
  return urgency >= 2 ? "🔥" : "⚠️";
}

/** `Firing again`, `Silenced`, `3 firing, 1 acknowledged, 2 over` */
function sentenceOf(card: AlertCard): string {
  const { firing, acknowledged, resolved, back } = card;
  const again = back === undefined ? "" : " again";
  const fires = isHidden(card) ? "silenced" : `firing${again}`;
  if (firing + acknowledged + resolved === 1) {
    const still = acknowledged === 1 ? "acknowledged" : "on and off";
    const word = firing === 1 ? fires : still;
    return `${word.slice(0, 1).toUpperCase()}${word.slice(1)}`;
  }
  return [
    ...(firing > 0 ? [`${firing} ${fires}`] : []),
    ...(acknowledged > 0 ? [`${acknowledged} acknowledged`] : []),
    ...(resolved > 0 ? [`${resolved} over`] : []),
  ].join(", ");
}

function toneOf(card: AlertCard): Tone {
  if (isOver(card)) return "good";
  if (card.firing === 0 || card.urgency === 0 || isHidden(card)) return "calm";
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

/** One beneath the other. */
function linesOf(lines: readonly (readonly Inline[])[]): Inline[] {
  return lines.flatMap((line, at) => (at === 0 ? line : [{ text: "\n" }, ...line]));
}

/** What there is to know of how it stands, a line each. */
function standsOf(card: AlertCard): Inline[][] {
  const { flaps, silenced } = card;
  return [
    ...(flaps === undefined ? [] : [flapInlines(card, flaps)]),
    ...(silenced === undefined || isOver(card) ? [] : [silenceInlines(silenced)]),
  ];
}

/** `Flapping: 6 changes in 10 min. I tell it again when it stays as it is.` */
function flapInlines(
  { toldAt }: AlertCard,
  { turns, since }: NonNullable<AlertCard["flaps"]>,
): Inline[] {
  const span = showDuration(Math.max(60_000, toldAt - since));
  return [
    { text: `🔁 Flapping: ${turns} changes in ${span}. I tell it again when it stays as it is.` },
  ];
}

/** `Silenced until 11:20 by ana, approved by bob. It fires here again when the silence ends, unless it is over by then.` */
function silenceInlines({ until, endedAt, isAll, ...of }: AlertSilence): Inline[] {
  const by = [
    ...(of.by.length === 0 ? [] : [` by ${of.by.map(personOf).join(", ")}`]),
    ...(of.approvedBy.length === 0
      ? []
      : [`, approved by ${of.approvedBy.map(personOf).join(", ")}`]),
  ].join("");
  if (endedAt !== undefined) {
    const unheard = of.isHeardSince ? "" : " Nothing was heard of it since: it may be over.";
    return [{ text: "🔔 The silence ended " }, timeOf(endedAt), { text: `.${unheard}` }];
  }
  const what = isAll ? "🔕 Silenced until " : "🔕 Some are silenced until ";
  const then = `${by}. What still fires when the silence ends fires here again.`;
  return [{ text: what }, timeOf(until), { text: then }];
}

const personOf = (name: string) => clip(oneLine(name), MAX.label);

/** What may be clicked, each with the host that it leads to; beneath, whole and as code, what can only be copied. */
function linksOf({ links }: AlertCard): Inline[][] {
  const known = links.filter(({ isKnown }) => isKnown).flatMap(knownLink);
  const others = links
    // What cannot be a link can be copied.
    .filter((link) => !link.isKnown || knownLink(link).length === 0)
    .flatMap(copiedLink)
    .slice(0, MAX_COPIED);
  const inline = known.flatMap((each, at) => (at === 0 ? [each] : [{ text: " · " }, each]));
  return [...(inline.length === 0 ? [] : [inline]), ...others];
}

function knownLink({ label, url }: AlertCard["links"][number]): Inline[] {
  const address = addressInline(url, () => true);
  const host = URL.parse(url)?.host;
  if (address.url === undefined || host === undefined) return [];
  return [{ ...address, label: `${lettersOf(label)} (${host})` }];
}

/** One that is too long is not cut: half an address leads somewhere else. */
function copiedLink({ label, url }: AlertCard["links"][number]): Inline[][] {
  if (url.length > MAX.address || url.includes("`")) return [];
  return [[{ text: `${lettersOf(label)}: ` }, { text: url, code: true }]];
}

/** What is shown in an address's place is never markup. */
function lettersOf(label: string): string {
  const said = label.replaceAll(/[^\p{L}\p{N} -]/gu, "").trim();
  return said === "" ? "Alert" : clip(said, MAX.label);
}

/** `since … · told 14 times, last …` */
function aboutOf(card: AlertCard): Inline[] {
  const { startedAt, overAt, told, toldAt, back } = card;
  const again: Inline[] =
    back === undefined ? [] : [{ text: ` · back ${timesOf(back.times)}, last ` }, timeOf(back.at)];
  const repeats: Inline[] =
    told > 1 ? [{ text: ` · told ${timesOf(told)}, last ` }, timeOf(toldAt)] : [];
  return overAt !== undefined && isOver(card)
    ? [timeOf(startedAt), { text: " to " }, timeOf(overAt), ...again, ...repeats]
    : [{ text: "since " }, timeOf(startedAt), ...again, ...repeats];
}

function timesOf(count: number): string {
  return count === 1 ? "once" : count === 2 ? "twice" : `${count} times`;
}

function timeOf(at: number): Inline {
  return { text: formatUtc(at), at };
}
