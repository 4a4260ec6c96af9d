import type { AlertFields, Draft } from "../core/entry.ts";
import type { JournalKey } from "../core/journal-key.ts";
import { urgencyOf } from "../core/severity-words.ts";
import { counted, oneLine, shortened } from "../core/text.ts";
import type { Alert } from "./alert.ts";
import { type Group, isFlapping, type Member } from "./groups.ts";

/** What a group's thread is told, and how it is announced. */

/** Alerts that are told one by one. */
const MAX_ALERTS = 12;
const [MAX_LINE, MAX_NAME] = [300, 80];

/** How the group stands at that time, ms since 1970. */
export function stateOf(of: JournalKey, group: Group, now: number): Draft<"alert_state"> {
  const { id, last, openedAt, overAt, triage, mention, again, told, turns } = group;
  const flaps = isFlapping(group, now);
  const all = heaviestFirst(group);
  const count = (status: Alert["status"]) =>
    all.filter(({ alert }) => alert.status === status).length;
  return {
    id: `alert:${of}:${id}@${last}`,
    kind: "alert_state",
    of,
    group: id,
    last,
    name: titleOf(group),
    firing: count("firing"),
    acknowledged: count("acknowledged"),
    resolved: count("resolved"),
    told,
    folded: joinedIn(group, all),
    startedAt: Math.min(openedAt, ...all.map(({ alert }) => alert.startsAt ?? openedAt)),
    ...(overAt !== undefined && { overAt }),
    ...(triage && { triage: true as const }),
    ...(mention !== undefined && { mention: [...mention] }),
    sources: [...new Set(all.map(({ source }) => source))],
    alerts: all.slice(0, MAX_ALERTS).map(({ alert }) => alertFields(alert)),
    ...(again > 0 && { again }),
    ...(flaps && { flaps: { turns: turns.length, since: turns[0]?.at ?? openedAt } }),
  };
}

/** The message with which a group's thread begins, where no bot's own message is there. */
export function openingOf(group: Group): string {
  const { name, members, isStorm } = group;
  if (isStorm) return shortened(oneLine(`🔥 ${titleOf(group)}`), MAX_LINE);
  const all = heaviestFirst(group);
  // What others say stands under their own names.
  const first = all.find(({ alert }) => alert.name === name) ?? all[0];
  const about = first === undefined ? undefined : (first.alert.summary ?? first.alert.description);
  const others = members.size > 1 ? ` (${counted(members.size, "alert")})` : "";
  const words = about === undefined ? "" : `: ${about}`;
  return shortened(oneLine(`🔥 ${name}${others}${words}`), MAX_LINE);
}

/** Its alerts' name; of a storm, which has many, `Storm: 542 alerts, most NodeDown (310)`. */
function titleOf({ name, members, forgotten, isStorm }: Group): string {
  if (!isStorm) return name;
  const counts = new Map<string, number>();
  for (const { alert } of members.values())
    counts.set(alert.name, (counts.get(alert.name) ?? 0) + 1);
  const [most, times] = [...counts].reduce((a, b) => (b[1] > a[1] ? b : a), [name, 0]);
  const many = `${forgotten > 0 ? "over " : ""}${counted(members.size, "alert")}`;
  return times > 1
    ? `Storm: ${many}, most ${shortened(most, MAX_NAME)} (${times})`
    : `Storm: ${many}, all with different names`;
}

/** Names of what joined it, as its alerts stand; of a storm all names, since its title has hardly one. */
function joinedIn({ isStorm }: Group, all: readonly Member[]): string[] {
  const joined = all.filter(({ isFolded }) => isStorm || isFolded);
  return [...new Set(joined.map(({ alert }) => alert.name))].slice(0, MAX_ALERTS);
}

/** What fires first, then what somebody has acknowledged; of these the most urgent, then the newest. */
function heaviestFirst({ members }: Group): Member[] {
  const rank = { firing: 0, acknowledged: 1, resolved: 2 };
  return [...members.values()]
    .map((member) => {
      const { status, labels } = member.alert;
      return { member, rank: rank[status], urgency: urgencyOf(labels) };
    })
    .toSorted(
      (a, b) => a.rank - b.rank || b.urgency - a.urgency || b.member.lastAt - a.member.lastAt,
    )
    .map(({ member }) => member);
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
