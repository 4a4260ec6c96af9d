import { DateTime } from "luxon";
import type { Change } from "../../src/incidents/incident.ts";

/** The numbers of a period computed from plain statements and the definitions of docs/incidents.md alone. */

export const STEP = 15 * 60_000;

/** All that was said of an incident and taken by the ledger, in order, with the store's time. */
export interface Told {
  id: string;
  place: string | undefined;
  said: { at: number; change: Change; isProgram: boolean }[];
}

type Standing = "open" | "mitigated" | "resolved" | "false_alarm";

/** What all of it comes to. */
function readBy({ id, said }: Told) {
  const first = said[0];
  if (first === undefined) throw new Error("nothing was said");
  const times: Record<string, number> = { startedAt: first.at };
  const how: Record<string, string> = { startedAt: "person" };
  const turns: { to: Standing; at: number; isCurrent: boolean }[] = [];
  let status: Standing = "open";
  const todo: string[] = [];
  const acted = new Map<string, NonNullable<Change["acted"]>>();
  let [cause, severity, services] = ["", "none", [] as readonly string[]];
  for (const { at, change } of said) {
    for (const name of ["startedAt", "detectedAt", "acknowledgedAt"] as const) {
      const time = change[name];
      if (time === undefined) continue;
      times[name] = time;
      how[name] = change.how ?? "said";
    }
    const implied: Standing | undefined =
      change.mitigatedAt !== undefined && status === "open" ? "mitigated" : undefined;
    const next: Standing | undefined = change.status ?? implied;
    const start = times["startedAt"] ?? 0;
    if (next !== undefined && next !== status) {
      const wasOver = status === "resolved" || status === "false_alarm";
      if (next === "open") {
        delete times["mitigatedAt"];
        delete times["resolvedAt"];
      }
      if (next === "mitigated") times["mitigatedAt"] = Math.max(at, start);
      const isOver = next === "resolved" || next === "false_alarm";
      if (isOver && !wasOver) times["resolvedAt"] = Math.max(at, start);
      status = next;
      turns.push({ to: next, at, isCurrent: true });
    }
    if (change.mitigatedAt !== undefined) times["mitigatedAt"] = change.mitigatedAt;
    if (change.resolvedAt !== undefined) times["resolvedAt"] = change.resolvedAt;
    // A mitigation that is told of when it is over comes before that end.
    const lastOpen = turns.findLastIndex((turn) => turn.to === "open");
    const since = turns.slice(lastOpen + 1);
    if (times["mitigatedAt"] !== undefined && !since.some((turn) => turn.to === "mitigated"))
      turns.splice(lastOpen + 1, 0, { to: "mitigated", at, isCurrent: true });
    for (const each of change.followUps ?? []) {
      if (each.name === undefined) todo.push(each.state ?? "open");
      else if (each.state !== undefined) todo[Number(each.name.slice(1)) - 1] = each.state;
    }
    if (change.acted !== undefined)
      acted.set(change.acted.action, { ...acted.get(change.acted.action), ...change.acted });
    cause = change.cause ?? cause;
    severity = change.severity ?? severity;
    services = change.services ?? services;
  }
  return { id, times, how, turns, status, todo, acted, cause, severity, services };
}

type Read = ReturnType<typeof readBy>;

/** How it stood at an instant; undefined: it had not begun. */
function standingAt({ times, turns, status }: Read, instant: number): Standing | undefined {
  const start = times["startedAt"] ?? 0;
  if (instant < start) return undefined;
  const isOver = status === "resolved" || status === "false_alarm";
  if (isOver && instant >= (times["resolvedAt"] ?? 0)) return status;
  let standing: Standing = "open";
  let reached = start;
  for (const [i, { to, at }] of turns.entries()) {
    const rest = turns.slice(i + 1).map((turn) => turn.to);
    const isLast = (kinds: readonly Standing[]) => !rest.some((kind) => kinds.includes(kind));
    let when = at;
    if (to === "mitigated" && isLast(["mitigated"])) when = times["mitigatedAt"] ?? at;
    if ((to === "resolved" || to === "false_alarm") && isLast(["resolved", "false_alarm"]))
      when = times["resolvedAt"] ?? at;
    reached = Math.max(reached, when);
    if (reached <= instant) standing = to;
  }
  return standing;
}

/** Every number by its name: the incidents' ids as often as they count, and what they lasted, ms. */
export function countByHand(
  all: readonly Told[],
  { from, to, zone, now }: { from: number; to: number; zone: string; now: number },
) {
  const counts = new Map<string, number>();
  const lasted = new Map<string, number[]>();
  const ids = new Map<string, Set<string>>();
  const local = (instant: number) => DateTime.fromMillis(instant, { zone }).setLocale("en");
  // "Last 31 days" are 31 days, and a day more has weeks.
  const days = local(to).diff(local(from), "days").days;
  const binOf = (instant: number) => {
    const at = local(instant);
    if (days <= 31) return `day:${at.toISODate()}`;
    return days <= 371
      ? `week:${at.startOf("week").toISODate()}`
      : `month:${at.toFormat("yyyy-MM")}`;
  };
  const add = (name: string, id: string, n = 1) => {
    if (n === 0) return;
    counts.set(name, (counts.get(name) ?? 0) + n);
    ids.set(name, (ids.get(name) ?? new Set()).add(id));
  };
  const last = (name: string, id: string, ms: number) => {
    lasted.set(name, [...(lasted.get(name) ?? []), ms]);
    ids.set(name, (ids.get(name) ?? new Set()).add(id));
  };
  for (const one of all.map(readBy)) {
    const { id, times, status } = one;
    const { startedAt = 0, detectedAt, acknowledgedAt, mitigatedAt, resolvedAt } = times;
    const spent = { open: 0, mitigated: 0 };
    for (let t = from; t < Math.min(to, now); t += STEP) {
      const standing = standingAt(one, t);
      if (standing === "open" || standing === "mitigated") spent[standing] += STEP;
    }
    for (const state of ["open", "mitigated"] as const)
      if (spent[state] > 0) last(`state:${state}`, id, spent[state]);
    const opened = startedAt >= from && startedAt < to;
    if (status === "false_alarm") {
      if (opened) add("false_alarms", id);
      continue;
    }
    if ((status === "open" || status === "mitigated") && startedAt < to) add("open", id);
    if (
      status === "resolved" &&
      resolvedAt !== undefined &&
      resolvedAt >= from &&
      resolvedAt < to
    ) {
      add("resolved", id);
      last("mttr", id, resolvedAt - startedAt);
      last(`${binOf(resolvedAt)}:mttr`, id, resolvedAt - startedAt);
    }
    if (!opened) continue;
    add("opened", id);
    add(`severity:${one.severity}`, id);
    for (const service of new Set(one.services)) add(`service:${service}`, id);
    const at = local(startedAt);
    add(`hour:${at.toFormat("HH")}`, id);
    add(`weekday:${at.toFormat("ccc").toLowerCase()}`, id);
    add(binOf(startedAt), id);
    add(`${binOf(startedAt)}:${one.severity}`, id);
    if (one.cause !== "") add(`cause:${one.cause}`, id);
    const onlyAlert = one.how["startedAt"] === "alert" && one.how["detectedAt"] === "alert";
    if (detectedAt !== undefined && !onlyAlert) last("mttd", id, detectedAt - startedAt);
    if (acknowledgedAt !== undefined)
      last("mtta", id, Math.max(0, acknowledgedAt - (detectedAt ?? startedAt)));
    if (mitigatedAt !== undefined) last("mttm", id, mitigatedAt - startedAt);
    for (const { votes = [], outcome, verified, undoneAt } of one.acted.values()) {
      if (!votes.some(({ approve }) => approve)) continue;
      add("actions:approved", id);
      if (outcome === "ok") add("actions:done", id);
      if (verified === "fixed") add("actions:fixed", id);
      if (undoneAt !== undefined) add("actions:undone", id);
    }
    add("follow_ups", id, one.todo.filter((state) => state === "open").length);
  }
  for (const [name, n] of counts) if (name.startsWith("cause:") && n < 2) counts.delete(name);
  return { counts, lasted, ids };
}

/** Nine in ten are no longer than it, and it is the shortest such. */
export function ninth(all: readonly number[]): number {
  const enough = (ms: number) => all.filter((each) => each <= ms).length * 10 >= all.length * 9;
  return Math.min(...all.filter(enough));
}

export function middle(all: readonly number[]): number {
  let left = all.toSorted((a, b) => a - b);
  while (left.length > 2) left = left.slice(1, -1);
  return left.reduce((a, b) => a + b, 0) / left.length;
}
