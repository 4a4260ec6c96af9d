import { ALERT_PLACES, sharedPlace } from "../core/alert-place.ts";
import { type JournalKey, tryJournalKey } from "../core/journal-key.ts";
import { SEVERITY_LABELS } from "../core/severity-words.ts";
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
  /** The maintenance window in which it was said. */
  readonly quiet?: { readonly window: string; readonly until: number } | undefined;
  /** A model looks into it, as into a message of this one. */
  readonly investigate?: { readonly account: string; readonly name: string } | undefined;
}

/** An alert that a maintenance window keeps from having a thread. */
export interface Held extends Pick<
  Word,
  "seq" | "source" | "rule" | "triage" | "mention" | "own" | "investigate"
> {
  readonly alert: Alert;
  readonly window: string;
  readonly until: number;
}

/** What a maintenance window kept quiet. */
export interface QuietWindow {
  readonly window: string;
  readonly until: number;
  readonly firstAt: number;
  /** Words of alerts, and names of some of them. */
  count: number;
  readonly names: Set<string>;
}

/** One alert within its group. */
export interface Member {
  readonly source: string;
  readonly fingerprint: string;
  alert: Alert;
  /** All of its words are remembered. */
  readonly isWhole: boolean;
  /** It joined a group of other alerts, as it shares their place, or as too much came at once. */
  readonly isFolded: boolean;
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
  /** Some joined it as too much came at once. */
  isStorm: boolean;
  /** How often it was told of, whatever number of its alerts each time. */
  told: number;
  /** Words of members that are no longer remembered one by one. */
  forgotten: number;
  overAt: number | undefined;
  /** How many of its members are not over. */
  live: number;
  /** The last word by which it began or ended, or an alert of it came, went or was acknowledged. */
  news: number;
  /** How often an alert came back that had been over. */
  again: number;
  /** When it was over or back within the last hour, and by which words, the newest last. */
  readonly turns: { readonly seq: number; readonly at: number }[];
  /** So many groups of the same alerts were there shortly before. */
  readonly streak: number;
  triage: boolean;
  mention: readonly string[] | undefined;
  /** The thread of the message that it began with. */
  readonly own: JournalKey | undefined;
  readonly investigate: Word["investigate"];
}

/** More threads than that at once help nobody: what comes then joins the newest. */
const MAX_AT_ONCE = 20;
/** Members that are remembered one by one, and those of them that are remembered with all their words. */
const [MAX_MEMBERS, MAX_WHOLE] = [2_000, 50];
/** Groups that are remembered: of more, those that were silent for longest are forgotten. */
const MAX_GROUPS = 1_000;
/** Alerts that wait for the end of a maintenance window. */
const MAX_HELD = 5_000;
/** An over group is forgotten after that, and one that nobody ended after that, ms. */
const [KEPT_MS, STALE_MS] = [24 * 3_600_000, 14 * 24 * 3_600_000];
/** Who comes back again and again is waited for ever longer, up to that, ms. */
const MAX_WINDOW_MS = 6 * 3_600_000;
/** So many turns within an hour are flapping, until it has stayed as it is for so long, ms. */
const [FLAPPING, TURNS_MS, CALM_MS] = [6, 3_600_000, 600_000];
/** Of more turns the oldest are forgotten. */
const MAX_TURNS = 100;
/** Maintenance windows that are remembered, those that ended longest ago forgotten first. */
const MAX_WINDOWS = 200;
/** Names of alerts that are told of each. */
const MAX_NAMES = 12;
/** Of members that are not remembered whole. */
const KEPT_LABELS: ReadonlySet<string> = new Set([...ALERT_PLACES, ...SEVERITY_LABELS, "job"]);

export class Groups {
  readonly open = new Map<string, Group>();
  /** The group of each alert that is remembered. */
  readonly byAlert = new Map<string, Group>();
  /** The newest group of each key. */
  readonly byKey = new Map<string, Group>();
  /** What maintenance windows keep from having a thread. */
  readonly held = new Map<string, Held>();
  /** What came of alerts in each maintenance window, by its name and end, and opened no thread. */
  readonly quiet = new Map<string, QuietWindow>();

  /** The groups that the word changed. Alerts that are over before they were heard of are none. */
  add(word: Word): Set<Group> {
    this.#forget(word.at);
    const changed = new Set<Group>();
    for (const alert of word.alerts) {
      const group = this.#isHeld(alert, word) ? undefined : this.#groupOf(alert, word);
      if (group === undefined) continue;
      this.#note(group, alert, word);
      changed.add(group);
    }
    for (const group of changed) group.told += 1;
    return changed;
  }

  /** In a maintenance window only what has a thread already is told of. */
  #isHeld(alert: Alert, { quiet, at, ...word }: Word): boolean {
    const key = alertKey(word.source, alert);
    this.held.delete(key);
    if (quiet === undefined) return false;
    const known = this.byAlert.get(key);
    if (known !== undefined && known.overAt === undefined) return false;
    this.#noteQuiet(alert, quiet, at);
    if (alert.status !== "resolved" && this.held.size < MAX_HELD) {
      const { seq, source, rule, triage, mention, own, investigate } = word;
      const held = { seq, source, rule, triage, mention, own, investigate };
      this.held.set(key, { ...held, alert, ...quiet });
    }
    return true;
  }

  #noteQuiet({ name }: Alert, { window, until }: NonNullable<Word["quiet"]>, at: number): void {
    const key = `${until} ${window}`;
    const found = this.quiet.get(key) ?? {
      window,
      until,
      firstAt: at,
      count: 0,
      names: new Set<string>(),
    };
    this.quiet.set(key, found);
    found.count += 1;
    if (found.names.size < MAX_NAMES) found.names.add(name);
    if (this.quiet.size <= MAX_WINDOWS) return;
    const [oldest] = [...this.quiet].toSorted(([, a], [, b]) => a.until - b.until);
    if (oldest !== undefined) this.quiet.delete(oldest[0]);
  }

  #groupOf(alert: Alert, word: Word): Group | undefined {
    const key = keyOf(alert, word.rule);
    const { at, rule } = word;
    const known = this.byAlert.get(alertKey(word.source, alert));
    const isOf = (group: Group) =>
      group.overAt === undefined || at - group.lastAt <= windowOf(group, rule);
    if (known !== undefined && (alert.status === "resolved" || isOf(known))) return known;
    if (alert.status === "resolved") return undefined;
    const same = this.byKey.get(key);
    if (same !== undefined && isOf(same)) return same;
    const lately = [...this.open.values()].filter(({ lastAt }) => at - lastAt <= rule.windowMs);
    const place = sharedPlace([alert]);
    const near = lately.find((group) => place !== undefined && group.place === place);
    // A message that stands in the channel anyway is a thread already.
    const isStorm = lately.length >= MAX_AT_ONCE && word.own === undefined;
    const beside = near ?? (isStorm ? lately.at(-1) : undefined);
    if (beside === undefined) return this.#begin(key, alert, word);
    beside.isStorm ||= near === undefined;
    return beside;
  }

  #begin(key: string, alert: Alert, { seq, at, own, triage, mention, investigate }: Word): Group {
    let index = 0;
    while (this.open.has(`g${seq}.${index}`)) index += 1;
    const before = this.byKey.get(key);
    const group: Group = {
      id: `g${seq}.${index}`,
      key,
      name: alert.name,
      place: sharedPlace([alert]),
      openedAt: at,
      lastAt: at,
      last: seq,
      members: new Map(),
      isStorm: false,
      told: 0,
      forgotten: 0,
      overAt: undefined,
      live: 0,
      news: seq,
      again: 0,
      turns: [],
      streak: before === undefined ? 0 : before.streak + 1,
      triage: triage === true,
      mention,
      own: tryJournalKey(own ?? ""),
      investigate,
    };
    this.open.set(group.id, group);
    this.byKey.set(key, group);
    return group;
  }

  #note(group: Group, alert: Alert, { seq, at, source, rule }: Word): void {
    group.last = seq;
    group.lastAt = at;
    const key = alertKey(source, alert);
    const before = group.members.get(key);
    if (before === undefined && group.members.size >= MAX_MEMBERS) {
      group.forgotten += 1;
      return;
    }
    const isWhole = before === undefined ? group.members.size < MAX_WHOLE : before.isWhole;
    const member = before ?? {
      source,
      fingerprint: alert.fingerprint,
      alert,
      isWhole,
      isFolded: keyOf(alert, rule) !== group.key,
      told: 0,
      fired: 0,
      firstAt: at,
      lastAt: at,
    };
    const was = before?.alert.status ?? "resolved";
    if (was !== alert.status || before === undefined) group.news = seq;
    if (was === "resolved" && alert.status !== "resolved") {
      member.fired += 1;
      group.live += 1;
      if (before !== undefined) group.again += 1;
    } else if (was !== "resolved" && alert.status === "resolved") group.live -= 1;
    member.told += 1;
    member.lastAt = at;
    member.alert = isWhole ? alert : slim(alert);
    group.members.set(key, member);
    this.byAlert.set(key, group);
    turn(group, seq, at);
  }

  #forget(now: number): void {
    for (const group of this.open.values()) {
      const { overAt, lastAt } = group;
      const isOld = overAt === undefined ? now - lastAt >= STALE_MS : now - overAt >= KEPT_MS;
      if (isOld) this.#drop(group);
    }
    if (this.open.size <= MAX_GROUPS) return;
    const silent = [...this.open.values()].toSorted((a, b) => a.lastAt - b.lastAt);
    for (const group of silent.slice(0, this.open.size - MAX_GROUPS)) this.#drop(group);
  }

  #drop(group: Group): void {
    this.open.delete(group.id);
    if (this.byKey.get(group.key) === group) this.byKey.delete(group.key);
    for (const key of group.members.keys())
      if (this.byAlert.get(key) === group) this.byAlert.delete(key);
  }
}

/** Notes whether it is over now, and when it turned. */
function turn(group: Group, seq: number, at: number): void {
  const isOver = group.live === 0;
  if (isOver === (group.overAt !== undefined)) return;
  group.overAt = isOver ? at : undefined;
  group.turns.push({ seq, at });
  while (group.turns.length > MAX_TURNS || at - (group.turns[0]?.at ?? at) > TURNS_MS)
    group.turns.shift();
}

/** It was over and back again and again in the last hour, and has not stayed as it is for a while since. `now`: ms since 1970. */
export function isFlapping({ turns }: Pick<Group, "turns">, now: number): boolean {
  const calmAt = calmFrom({ turns });
  return turns.length >= FLAPPING && now < calmAt;
}

/** When it has stayed as it is for so long that it is no longer flapping. */
export function calmFrom({ turns }: Pick<Group, "turns">): number {
  return (turns.at(-1)?.at ?? -Infinity) + CALM_MS;
}

/** It fires, and was over as of that word. */
export function isBackSince(
  { overAt, turns }: Pick<Group, "overAt" | "turns">,
  seq: number,
): boolean {
  return overAt === undefined && turns.filter((turned) => turned.seq > seq).length % 2 === 1;
}

function windowOf({ streak }: Group, { windowMs }: GroupRule): number {
  return Math.max(windowMs, Math.min(MAX_WINDOW_MS, windowMs * 2 ** Math.min(streak, 20)));
}

/** What is still said of the many. */
function slim({ fingerprint, status, name, labels, startsAt }: Alert): Alert {
  const kept = Object.entries(labels).filter(([label]) => KEPT_LABELS.has(label));
  return { fingerprint, status, name, labels: Object.fromEntries(kept), startsAt };
}

function alertKey(source: string, { fingerprint }: Alert): string {
  return `${source} ${fingerprint}`;
}

/** Its name and what the route tells alerts of one name apart by. */
function keyOf({ name, labels }: Alert, { groupBy }: GroupRule): string {
  return JSON.stringify([name, ...groupBy.map((label) => labels[label] ?? "")]);
}
