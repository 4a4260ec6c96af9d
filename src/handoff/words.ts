import { addMoney, moneyText, NO_MONEY } from "../core/money.ts";
import type { Entry } from "../core/entry.ts";
import { showDuration } from "../core/instant.ts";
import { counted, oneLine, shortened } from "../core/text.ts";
import type { Incident } from "../incidents/incident.ts";
import type { Period } from "../incidents/period.ts";
import { titleOf } from "../incidents/unverified.ts";
import {
  allMissed,
  type Handoff,
  openAtEnd,
  openedIn,
  type PlacedShift,
  type QuietShift,
  recurring,
  resolvedIn,
} from "./handoff.ts";
import type { Deed, Missed } from "./thread-shift.ts";

/** Of each list; more are counted. */
const MAX_LINES = 12;
const MAX_TEXT = 240;

type Encode = (text: string) => string;
type Show = (instant: number) => string;

/** All of it in lines, the most urgent first. Lists that are empty are left out. The same threads in another order give the same text. */
export function handoffText(given: Handoff, encode: Encode): string {
  // A store lists threads that changed at once in any order.
  const threads = given.threads.toSorted((a, b) => (a.where < b.where ? 1 : -1));
  const handoff = { ...given, threads };
  const show = secondsIn(handoff.period.zone);
  const clean = (text: string) => shortened(oneLine(encode(text)), MAX_TEXT);
  const parts = [
    incidentLists(handoff, show, clean),
    openLists(handoff, show, clean),
    doneLists(handoff, show, clean),
    section(
      "Recurring",
      recurring(handoff).map(({ what, times }) => `${clean(what)} (${times})`),
    ),
    section(
      "What I could not see",
      allMissed(handoff).map((gap) => missedLine(gap, clean)),
    ),
    section("What I had no check and no tool for", unansweredLines(handoff, clean)),
  ].flat();
  const isAll = handoff.unasked.length === 0;
  const nothing = parts.length === 0 && isAll ? ["Nothing to hand over."] : [];
  const cut = handoff.isCut ? ["Only the threads that were written in last were looked at."] : [];
  return [
    `${periodText(handoff.period, show)}: ${countsOf(handoff)}.`,
    ...handoff.unasked.map(unaskedLine),
    ...nothing,
    ...parts,
    ...cut,
    costLine(handoff),
  ].join("\n\n");
}

/** Zeros would be wrong: it is not known. */
function unaskedLine({ platform, threads }: Handoff["unasked"][number]): string {
  const many = counted(threads, "thread");
  return `Not in these numbers: ${many} of ${platform}. Only the process that serves ${platform} can say who may read ${threads === 1 ? "it" : "them"}: ask for the hand-off there, in a channel or a direct message. Incidents that everyone there may read are in.`;
}

/** `Last week (Mon 2026-11-16 00:00:00 to Mon 2026-11-23 00:00:00 Europe/Madrid)` */
function periodText({ from, to, zone, name }: Period, show: Show): string {
  const title = `${name.slice(0, 1).toUpperCase()}${name.slice(1)}`;
  return `${title} (${show(from)} to ${show(to)} ${zone})`;
}

/** Days and times to the second, `Mon 2026-11-16 14:05:10`. */
function secondsIn(timeZone: string): Show {
  // Sweden writes dates as ISO 8601 does.
  const time = new Intl.DateTimeFormat("sv-SE", {
    timeZone,
    dateStyle: "short",
    timeStyle: "medium",
  });
  const weekday = new Intl.DateTimeFormat("en-US", { timeZone, weekday: "short" });
  return (instant) => `${weekday.format(instant)} ${time.format(instant)}`;
}

function countsOf(handoff: Handoff): string {
  const [opened, resolved] = [openedIn(handoff).length, resolvedIn(handoff).length];
  const waiting = sum(handoff.threads, ({ waiting: { length } }) => length);
  const changes = sum(handoff.threads, ({ deeds: { length } }) => length);
  return [
    `${counted(opened, "incident")} opened, ${resolved} resolved, ${openAtEnd(handoff).length} open at its end`,
    counted(changes, "change"),
    `${counted(waiting, "approval")} waiting`,
  ].join("; ");
}

function incidentLists(handoff: Handoff, show: Show, clean: Encode): string[] {
  const open = openAtEnd(handoff);
  const isOpen = new Set(open.map(({ id }) => id));
  const line = (incident: Incident) => incidentLine(incident, show, clean);
  const over = handoff.incidents.filter(({ id }) => !isOpen.has(id));
  return [
    section("Open incidents", open.map(line)),
    section("Resolved incidents", over.map(line)),
  ].flat();
}

/** `inc-…, sev2: Checkout fails; web; began …, over … after 48 min; cause: …` */
function incidentLine(incident: Incident, show: Show, clean: Encode): string {
  const { id, severity, services, startedAt, resolvedAt, cause, link } = incident;
  const over =
    resolvedAt === undefined
      ? ""
      : `, over ${show(resolvedAt)} after ${showDuration(resolvedAt - startedAt)}`;
  return [
    `${[id, ...(severity === undefined ? [] : [severity])].join(", ")}: ${clean(titleOf(incident))}`,
    ...(services.length === 0 ? [] : [services.map(clean).join(", ")]),
    `began ${show(startedAt)}${over}`,
    ...(cause === undefined ? [] : [`cause: ${clean(cause)}`]),
    ...(link === undefined ? [] : [link]),
  ].join("; ");
}

/** What somebody still has to do or to watch. */
function openLists(handoff: Handoff, show: Show, clean: Encode): string[] {
  const { threads, frozen, maintenance, period } = handoff;
  const ends = (until: number) => endText(until, period, show);
  const soonest = placed(threads, ({ waiting: all }) => all).toSorted(
    ([a], [b]) => a.expiresAt - b.expiresAt,
  );
  const waiting = soonest.map(
    ([{ ref, what, askedAt, expiresAt }, where]) =>
      `${ref} ${clean(what)}; asked ${show(askedAt)}, expires ${show(expiresAt)}; ${where}`,
  );
  const questions = placed(threads, (each) => each.questions).map(
    ([text, where]) => `${clean(text)}; ${where}`,
  );
  const unsettled = placed(threads, (each) => each.unsettled).map(
    ([{ ref, what, at }, where]) =>
      `${ref} ${clean(what)}; ended ${show(at)}, outcome unknown: did it happen?; ${where}`,
  );
  const unverified = placed(threads, ({ deeds }) => deeds.filter(isUnverified)).map(
    ([deed, where]) => `${deed.ref} ${clean(deed.what)}; ${checkText(deed, show)}; ${where}`,
  );
  const silences = placed(threads, (each) => each.silences).toSorted(
    ([a], [b]) => a.until - b.until,
  );
  const silenced = silences.map(
    ([{ ref, what, until }, where]) => `${ref} ${clean(what)}; ${ends(until)}; ${where}`,
  );
  const quiet = maintenance.map((each) => quietLine(each, ends(each.until), clean));
  const newest = placed(threads, ({ alerts }) => alerts.filter(fires)).toSorted(
    ([a], [b]) => b.startedAt - a.startedAt,
  );
  const firing = newest.map(([alert, where]) => {
    const { name, firing: count, acknowledged, startedAt, told } = alert;
    const known = acknowledged === 0 ? "" : `, ${acknowledged} acknowledged`;
    return `${clean(name)}: ${count} firing${known} since ${show(startedAt)}, told ${counted(told, "time")}${flapText(alert)}; ${where}`;
  });
  return [
    section("Waiting for approval", waiting),
    section("Questions that wait for an answer", questions),
    section("Alerts that fire", firing),
    section("Silenced", silenced),
    section("Kept quiet by maintenance", quiet),
    section("Nobody knows whether it happened", unsettled),
    section("Not verified yet", unverified),
    section("Frozen now", frozen.map(clean)),
  ].flat();
}

/** `ends …`, and whether that comes within as long as the period was: whoever takes over sees it. */
function endText(until: number, { from, to }: Period, show: Show): string {
  if (until <= to) return `ended ${show(until)}`;
  const soon = until - to <= to - from ? `, within the next ${showDuration(to - from)}` : "";
  return `ends ${show(until)}${soon}`;
}

/** `nightly backups: 14 alerts kept quiet (DiskFull), 2 still fire; ends …; #alerts` */
function quietLine(
  { window, count, names, firing, where }: QuietShift,
  end: string,
  clean: Encode,
): string {
  const told = names.length === 0 ? "" : ` (${names.map(clean).join(", ")})`;
  const still = firing === 0 ? "" : `, ${firing} still ${firing === 1 ? "fires" : "fire"}`;
  return `${clean(window)}: ${counted(count, "alert")} kept quiet${told}${still}; ${end}; ${clean(where)}`;
}

/** `, flapping: 6 changes in 10 min` */
function flapText({ flaps, at }: Entry<"alert_state">): string {
  if (flaps === undefined) return "";
  const span = showDuration(Math.max(60_000, at - flaps.since));
  return `, flapping: ${flaps.turns} changes in ${span}`;
}

function fires({ firing, acknowledged }: Entry<"alert_state">): boolean {
  return firing + acknowledged > 0;
}

function doneLists({ threads }: Handoff, show: Show, clean: Encode): string[] {
  const deeds = placed(threads, (each) => each.deeds).toSorted(([a], [b]) => a.at - b.at);
  const over = placed(threads, ({ alerts }) => alerts.filter((each) => !fires(each))).map(
    ([alert, where]) =>
      `${clean(alert.name)}; told ${counted(alert.told, "time")}, over ${show(alert.overAt ?? alert.at)}${flapText(alert)}; ${where}`,
  );
  const failed = threads.filter((each) => each.failed > 0);
  return [
    section(
      "What was changed from here",
      deeds.map(([deed, where]) => `${show(deed.at)} ${deedText(deed, clean, show)}; ${where}`),
    ),
    section("Alerts that are over", over),
    section(
      "I failed to answer in",
      failed.map((each) => `${each.where} (${counted(each.failed, "time")})`),
    ),
  ].flat();
}

const OUTCOMES: Readonly<Record<Deed["outcome"], string>> = {
  ok: "done",
  error: "failed",
  unknown: "outcome unknown",
  denied: "denied",
  expired: "expired",
  cancelled: "not done",
  blocked: "not run",
};

function deedText(deed: Deed, clean: Encode, show: Show): string {
  const { ref, what, outcome, by, isUndo, undone } = deed;
  const approved = by.length === 0 ? "" : `, approved by ${by.map(clean).join(" and ")}`;
  const kind = isUndo ? " (undo)" : "";
  const back = undone ? ", undone" : "";
  const check = checkText(deed, show);
  return `${ref} ${clean(what)}${kind}: ${OUTCOMES[outcome]}${approved}${back}${check === "" ? "" : `; ${check}`}`;
}

/** It was done to mend something, and nobody saw yet that it did. */
function isUnverified({ outcome, seen, undone, lookAt }: Deed): boolean {
  if (outcome !== "ok" || undone) return false;
  return seen === undefined ? lookAt !== undefined : seen !== "done";
}

function checkText({ seen, lookAt }: Deed, show: Show): string {
  if (seen === "done") return "seen to hold when looked at again";
  if (seen === "not done") return "NOT so when looked at again";
  if (seen === "unknown") return "could not be seen when looked at again";
  return lookAt === undefined ? "" : `to be looked at again ${show(lookAt)}`;
}

function missedLine({ what, why, help, calls }: Missed, clean: Encode): string {
  return `${clean(what)}: ${clean(why)} (${counted(calls, "call")}). ${clean(help)}`;
}

/** The same question once, with how often it was asked. */
function unansweredLines({ threads }: Handoff, clean: Encode): string[] {
  const asked = placed(threads, (each) => each.unanswered);
  return [...Map.groupBy(asked, ([text]) => oneLine(text).toLowerCase())].map(([, same]) => {
    const [[text, where] = ["", ""]] = same;
    const often = same.length === 1 ? "" : ` (${counted(same.length, "time")})`;
    return `${JSON.stringify(clean(text))}${often}; ${where}`;
  });
}

function costLine({ threads }: Handoff): string {
  const tokens = sum(threads, (each) => each.tokens);
  const runs = sum(threads, (each) => each.runs);
  const among = threads.filter((each) => each.runs > 0).length;
  const money = threads.reduce((total, each) => addMoney(total, each.money), NO_MONEY);
  const cost = tokens === 0 ? "" : `, ${moneyText(money)}`;
  return `Cost: ${counted(runs, "run")} in ${counted(among, "thread")}, ${tokens.toLocaleString("en")} ${tokens === 1 ? "token" : "tokens"}${cost}.`;
}

function placed<T>(
  threads: readonly PlacedShift[],
  of: (thread: PlacedShift) => readonly T[],
): [T, string][] {
  return threads.flatMap((each) => of(each).map((one): [T, string] => [one, each.where]));
}

function sum<T>(all: readonly T[], of: (one: T) => number): number {
  return all.reduce((total, one) => total + of(one), 0);
}

/** A heading with a line for each; nothing where there are none. */
function section(title: string, lines: readonly string[]): string[] {
  if (lines.length === 0) return [];
  const more = lines.length > MAX_LINES ? [`- and ${lines.length - MAX_LINES} more`] : [];
  const shown = lines.slice(0, MAX_LINES).map((line) => `- ${line}`);
  return [[`${title}:`, ...shown, ...more].join("\n")];
}
