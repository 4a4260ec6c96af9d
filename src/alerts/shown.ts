import type { AlertFields, Draft } from "../core/entry.ts";
import type { JournalKey } from "../core/journal-key.ts";
import { counted, oneLine, shortened } from "../core/text.ts";
import type { Alert } from "./alert.ts";
import { type Group, isFlapping, type Member } from "./groups.ts";

/** What a group's thread is told, and how it is announced. */

/** Alerts that are told one by one. */
const MAX_ALERTS = 12;
const MAX_LINE = 300;

/** How the group stands at that time, ms since 1970. */
export function stateOf(of: JournalKey, group: Group, now: number): Draft<"alert_state"> {
  const { id, last, name, members, folded, openedAt, overAt, triage, mention, again } = group;
  const { told, turns } = group;
  const flaps = isFlapping(group, now);
  const all = [...members.values()].toSorted(byWeight);
  const count = (status: Alert["status"]) =>
    all.filter(({ alert }) => alert.status === status).length;
  return {
    id: `alert:${of}:${id}@${last}`,
    kind: "alert_state",
    of,
    group: id,
    last,
    name,
    firing: count("firing"),
    acknowledged: count("acknowledged"),
    resolved: count("resolved"),
    told,
    folded: [...folded].slice(0, MAX_ALERTS),
    startedAt: Math.min(openedAt, ...all.map(({ alert }) => alert.startsAt ?? openedAt)),
    ...(overAt !== undefined && { overAt }),
    ...(triage && { triage: true as const }),
    ...(mention !== undefined && { mention: [...mention] }),
    sources: [...new Set(all.map(({ source }) => source))],
    alerts: all.slice(0, MAX_ALERTS).map(({ alert }) => alertFields(alert)),
    ...(again > 0 && { again }),
    ...(flaps && { flaps: { turns: turns.length, since: turns[0] ?? openedAt } }),
  };
}

/** The message with which a group's thread begins, where no bot's own message is there. */
export function openingOf({ name, members }: Group): string {
  const all = [...members.values()].toSorted(byWeight);
  // What others say stands under their own names.
  const first = all.find(({ alert }) => alert.name === name) ?? all[0];
  const about = first === undefined ? undefined : (first.alert.summary ?? first.alert.description);
  const others = members.size > 1 ? ` (${counted(members.size, "alert")})` : "";
  const words = about === undefined ? "" : `: ${about}`;
  return shortened(oneLine(`🔥 ${name}${others}${words}`), MAX_LINE);
}

/** What fires first, then what somebody has acknowledged; of these the newest. */
function byWeight(a: Member, b: Member): number {
  const weight = { firing: 0, acknowledged: 1, resolved: 2 };
  return weight[a.alert.status] - weight[b.alert.status] || b.lastAt - a.lastAt;
}

/** An alert as entries have it. */
export function alertFields(alert: Alert): AlertFields {
  const { labels, links, summary, description, startsAt, endsAt, ...rest } = alert;
  return {
    ...rest,
    labels: { ...labels },
    ...(summary !== undefined && { summary }),
    ...(description !== undefined && { description }),
    ...(startsAt !== undefined && { startsAt }),
    ...(endsAt !== undefined && { endsAt }),
    ...(links !== undefined && { links: links.map((link) => ({ ...link })) }),
  };
}
