import type { AlertCard, RootCard } from "../adapters/shown.ts";
import { sharedPlace } from "../core/alert-place.ts";
import { openingId } from "../core/alert-thread.ts";
import type { AlertFields, Entry } from "../core/entry.ts";
import { labelsFor } from "../core/label-names.ts";
import { severityIn, standingIn, urgencyIn } from "../thread/alert-phrases.ts";
import { alertsName } from "../thread/entry-ids.ts";
import { hiddenBy, isSilenced, matchersFor } from "../thread/silences.ts";
import type { Thread } from "../thread/state.ts";
import type { ShownAlerts } from "../thread/shown-living.ts";
import { isMonitoringPage } from "./monitoring-pages.ts";
import { findIncident } from "./incidents.ts";
import type { Shown } from "./outgoing.ts";

/** What an alert is about, the widest first. */
const WHERE = [
  "cluster",
  "environment",
  "namespace",
  "service",
  "project",
  "deployment",
  "job",
  "pod",
  "node",
  "instance",
  "host",
  "device",
  "path",
  "queue",
  "url",
] as const;
/** More labels, and values of one, nobody takes in at a glance. */
const MAX_WHERE = 6;
const MAX_VALUES = 3;
const MAX_LINKS = 4;

/** The group that buttons name so. */
export function findAlerts(thread: Thread, id: string, shown: Shown): AlertCard | undefined {
  const found = [...thread.alerts.values()].find(({ openedAt }) => alertsName(openedAt) === id);
  return found && alertsOf(thread, found, shown);
}

/** A group of alerts as its message shows it. */
export function alertsOf(
  thread: Thread,
  { state, openedAt, heardAt, back }: ShownAlerts,
  { encode, mayLinkAlert, canSilence = false }: Shown,
): AlertCard {
  const { firing, acknowledged, resolved, told, startedAt, overAt, alerts, folded } = state;
  const standing = standingIn(state);
  const first = standing.find(({ name }) => name === state.name) ?? standing[0];
  const severity = severityIn(standing);
  // What others say stands under their own names.
  const by = first === undefined || first.name === state.name ? "" : `${first.name}: `;
  const text = (said: string | undefined) => (said === undefined ? undefined : encode(said));
  const shared = folded.length === 0 ? undefined : sharedPlace(alerts);
  return {
    id: alertsName(openedAt),
    name: encode(state.name),
    severity: text(severity),
    urgency: urgencyIn(standing),
    firing,
    acknowledged,
    resolved,
    told,
    toldAt: state.at,
    startedAt,
    overAt,
    back,
    summary: text(first?.summary && `${by}${first.summary}`),
    description: text(first?.description && `${by}${first.description}`),
    where: whereOf(standing).map(({ label, values, more }) => ({
      label,
      values: values.map(encode),
      more,
    })),
    folded: folded.map(encode),
    shared: text(shared),
    more: Math.max(0, firing + acknowledged + resolved - alerts.length),
    links: linksOf(standing, { encode, mayLinkAlert }),
    incident: findIncident(thread, undefined)?.incident,
    heardAt,
    services: servicesOf(standing).map(encode),
    silence: canSilence ? silenceOf(thread, state) : undefined,
    silenced: silencedOf(thread, standing, state.at, encode),
    flaps: state.flaps,
  };
}

/** What the message in the channel says, that the thread began with: of each group how it stands. */
export function rootOf(thread: Thread, words: Shown): RootCard {
  const groups = [...thread.alerts.values()].map((each) => ({
    begunBy: openingId(each.state.group),
    card: alertsOf(thread, each, words),
  }));
  return { groups };
}

function servicesOf(alerts: readonly AlertFields[]): string[] {
  const named = alerts.flatMap(({ labels }) => {
    const label = SERVICES.find((each) => labels[each] !== undefined);
    return label === undefined ? [] : [labels[label] ?? ""];
  });
  return [...new Set(named)].slice(0, MAX_SERVICES);
}

const SERVICES = labelsFor("service", "deployment");
const MAX_SERVICES = 10;
/** Where Alertmanager's own alerts come from: its webhook, or what it wrote into a channel. */
const ITS_OWN: ReadonlySet<string> = new Set(["alertmanager", "slack", "discord"]);

function silenceOf(thread: Thread, state: Entry<"alert_state">): string[] | undefined {
  const { sources = [], overAt } = state;
  const isIts = sources.length > 0 && sources.every((source) => ITS_OWN.has(source));
  const standing = standingIn(state);
  const isHidden = standing.every((alert) => hiddenBy(thread, alert) !== undefined);
  return isIts && overAt === undefined && !isHidden ? matchersFor(standing) : undefined;
}

function silencedOf(
  thread: Thread,
  standing: readonly AlertFields[],
  toldAt: number,
  encode: Shown["encode"],
): AlertCard["silenced"] {
  const hidden = standing.flatMap((alert) => hiddenBy(thread, alert) ?? []);
  const ended = [...thread.silences.values()].findLast(
    (each) => each.endedAt !== undefined && standing.some((alert) => isSilenced(alert, each)),
  );
  const told = hidden.length > 0 ? [...new Set(hidden)] : ended === undefined ? [] : [ended];
  if (told.length === 0) return undefined;
  const endedAt = hidden.length > 0 ? undefined : ended?.endedAt;
  const named = (names: readonly string[]) => [...new Set(names)].map(encode);
  return {
    until: Math.min(...told.map(({ until }) => until)),
    endedAt,
    isAll: hidden.length === standing.length,
    by: named(told.flatMap(({ by }) => by ?? [])),
    approvedBy: named(told.flatMap(({ approvedBy }) => approvedBy)),
    isHeardSince: endedAt !== undefined && toldAt >= endedAt,
  };
}

function whereOf(alerts: readonly AlertFields[]): AlertCard["where"] {
  const told = WHERE.flatMap((thing) => {
    const known = new Set<string>();
    return labelsFor(thing).flatMap((label) => {
      const all = [...new Set(alerts.flatMap(({ labels }) => labels[label] ?? []))];
      // Some systems say one thing under several names.
      const isTold = known.has(all.join("\n"));
      known.add(all.join("\n"));
      if (all.length === 0 || isTold) return [];
      const values = all.slice(0, MAX_VALUES);
      return [{ label, values, more: all.length - values.length }];
    });
  });
  return told.slice(0, MAX_WHERE);
}

/** Each once: what may be clicked, and after that what can only be copied. What holds a secret is never clicked. */
function linksOf(
  alerts: readonly AlertFields[],
  { encode, mayLinkAlert }: Pick<Shown, "encode" | "mayLinkAlert">,
): AlertCard["links"] {
  const told = alerts.flatMap(({ links = [] }) => links);
  const links = told.map(({ label, url: written }) => {
    const { url, isOdd } = spelledOut(written);
    const shown = encode(url);
    const isAllowed = !isOdd && (isMonitoringPage(url) || mayLinkAlert?.(url) === true);
    return { label: encode(label), url: shown, isKnown: shown === url && isAllowed };
  });
  const once = [...new Map(links.map((link) => [link.url, link])).values()];
  return [
    ...once.filter(({ isKnown }) => isKnown),
    ...once.filter(({ isKnown }) => !isKnown),
  ].slice(0, MAX_LINKS);
}

/**
 * An address with its host as everybody spells it: small letters, no dot behind it, no usual port. One that had a name or a password
 * before the host is `isOdd`, and is shown without them.
 */
function spelledOut(address: string): { url: string; isOdd: boolean } {
  const url = URL.parse(address);
  if (url === null) return { url: address, isOdd: true };
  const isOdd = url.username !== "" || url.password !== "";
  url.username = "";
  url.password = "";
  url.hostname = url.hostname.replace(/\.$/, "");
  const isUsual = !isOdd && address.startsWith(url.origin);
  return { url: isUsual ? address : url.href, isOdd };
}
