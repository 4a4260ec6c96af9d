import { type JournalKey, tryJournalKey } from "../core/journal-key.ts";
import type { Alert } from "./alert.ts";

/** Which alerts belong together: those of one cause get one thread. Pure: the same words in the same order always give the same. */

/** What a route says of grouping, written down with each word so that a changed configuration changes nothing that was decided. */
export interface GroupRule {
  /** Labels by which alerts of one name are told apart. */
  readonly groupBy: readonly string[];
  /** How long after its last word a group is joined again, ms. */
  readonly windowMs: number;
}

/** What was said at once of some alerts. `seq` and `at`: of the journal's entry. */
export interface Word {
  readonly seq: number;
  readonly at: number;
  readonly source: string;
  readonly alerts: readonly Alert[];
  readonly rule: GroupRule;
  /** They are looked into at once. */
  readonly triage?: boolean | undefined;
  readonly mention?: readonly string[] | undefined;
  /** The thread of the message that said it, where one did. */
  readonly own?: string | undefined;
}

/** One alert within its group. */
export interface Member {
  readonly source: string;
  readonly fingerprint: string;
  alert: Alert;
  /** How often it was told of, and how often it came back. */
  told: number;
  fired: number;
  firstAt: number;
  lastAt: number;
}

export interface Group {
  /** Unique in its journal. */
  readonly id: string;
  readonly key: string;
  readonly name: string;
  /** The label that others are known to share its cause by, such as `service=checkout`. */
  readonly place: string | undefined;
  readonly openedAt: number;
  lastAt: number;
  /** The last word that changed it. */
  last: number;
  readonly members: Map<string, Member>;
  /** Names of alerts that joined it as they share its place, or as too much came at once. */
  readonly folded: Set<string>;
  /** Words of members that are no longer remembered one by one. */
  forgotten: number;
  overAt: number | undefined;
  triage: boolean;
  mention: readonly string[] | undefined;
  /** The thread of the message that it began with. */
  readonly own: JournalKey | undefined;
}

/** More threads than that at once help nobody: what comes then joins the newest. */
const MAX_AT_ONCE = 20;
/** Members that are remembered one by one. */
const MAX_MEMBERS = 500;
/** An over group is forgotten after that, ms. */
const KEPT_MS = 24 * 3_600_000;
/** What shows that two alerts have one cause, the most telling first. */
const PLACES = [
  "service",
  "kube_service",
  "app",
  "deployment",
  "namespace",
  "kube_namespace",
  "node",
  "instance",
  "host",
  "cluster",
] as const;

export class Groups {
  readonly open = new Map<string, Group>();
  /** The group of each alert that is remembered. */
  readonly byAlert = new Map<string, Group>();

  /** The groups that the word changed. Alerts that are over before they were heard of are none. */
  add(word: Word): Set<Group> {
    this.#forget(word.at);
    const changed = new Set<Group>();
    for (const alert of word.alerts) {
      const group = this.#groupOf(alert, word);
      if (group === undefined) continue;
      this.#note(group, alert, word);
      changed.add(group);
    }
    return changed;
  }

  #groupOf(alert: Alert, word: Word): Group | undefined {
    const key = keyOf(alert, word.rule);
    const { at, rule } = word;
    const known = this.byAlert.get(alertKey(word.source, alert));
    const isOf = (group: Group) => group.overAt === undefined || at - group.lastAt <= rule.windowMs;
    if (known !== undefined && (alert.status === "resolved" || isOf(known))) return known;
    if (alert.status === "resolved") return undefined;
    const recent = [...this.open.values()].filter(isOf);
    const same = recent.findLast((group) => group.key === key);
    if (same !== undefined) return same;
    const lately = recent.filter(({ lastAt }) => at - lastAt <= rule.windowMs);
    const place = placeOf(alert);
    const near = lately.find((group) => place !== undefined && group.place === place);
    const beside = near ?? (lately.length >= MAX_AT_ONCE ? lately.at(-1) : undefined);
    beside?.folded.add(alert.name);
    return beside ?? this.#begin(key, alert, word);
  }

  #begin(key: string, alert: Alert, { seq, at, own, triage, mention }: Word): Group {
    let index = 0;
    while (this.open.has(`g${seq}.${index}`)) index += 1;
    const group: Group = {
      id: `g${seq}.${index}`,
      key,
      name: alert.name,
      place: placeOf(alert),
      openedAt: at,
      lastAt: at,
      last: seq,
      members: new Map(),
      folded: new Set(),
      forgotten: 0,
      overAt: undefined,
      triage: triage === true,
      mention,
      own: tryJournalKey(own ?? ""),
    };
    this.open.set(group.id, group);
    return group;
  }

  #note(group: Group, alert: Alert, { seq, at, source }: Word): void {
    group.last = seq;
    group.lastAt = at;
    const key = alertKey(source, alert);
    const before = group.members.get(key);
    if (before === undefined && group.members.size >= MAX_MEMBERS) {
      group.forgotten += 1;
      return;
    }
    const member = before ?? {
      source,
      fingerprint: alert.fingerprint,
      alert,
      told: 0,
      fired: 0,
      firstAt: at,
      lastAt: at,
    };
    const isBack = before === undefined || before.alert.status === "resolved";
    if (isBack && alert.status !== "resolved") member.fired += 1;
    member.told += 1;
    member.lastAt = at;
    member.alert = alert;
    group.members.set(key, member);
    this.byAlert.set(key, group);
    const isOver = [...group.members.values()].every((each) => each.alert.status === "resolved");
    group.overAt = isOver ? at : undefined;
  }

  #forget(now: number): void {
    for (const [id, group] of this.open) {
      if (group.overAt === undefined || now - group.overAt < KEPT_MS) continue;
      this.open.delete(id);
      for (const key of group.members.keys())
        if (this.byAlert.get(key) === group) this.byAlert.delete(key);
    }
  }
}

function alertKey(source: string, { fingerprint }: Alert): string {
  return `${source} ${fingerprint}`;
}

/** Its name and what the route tells alerts of one name apart by. */
function keyOf({ name, labels }: Alert, { groupBy }: GroupRule): string {
  return JSON.stringify([name, ...groupBy.map((label) => labels[label] ?? "")]);
}

function placeOf({ labels }: Alert): string | undefined {
  const label = PLACES.find((each) => labels[each] !== undefined);
  return label && `${label}=${labels[label]}`;
}
