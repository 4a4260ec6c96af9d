import type { DateTime } from "luxon";
import { BotError } from "../core/errors.ts";
import { createClock, firstInstant, type Here, isDay, unknownZone } from "../core/instant.ts";
import { inQuotes, oneLine } from "../core/text.ts";

/** From `from` until just before `to`, in ms since 1970. */
export interface Period {
  from: number;
  to: number;
  /** The IANA zone of its days. */
  zone: string;
  /** The text that somebody asked with, such as `last week`. */
  name: string;
}

export const PERIOD_FORMS =
  "today, yesterday, this week, last week, this month, last month, last 7 days (or 7 days, 7d), last 24 hours, november, november 2025, 2026-11, 2026-11-01, or 2026-11-01..2026-11-15 (both days included)";

/** Ten years of hours. */
const MAX_HOURS = 87_600;

const MONTHS =
  "january february march april may june july august september october november december".split(
    " ",
  );

/** The days of a period, as midnights in UTC; `to` is the first that is not in it. */
interface Days {
  from: DateTime;
  to: DateTime;
}
/** What a form says, once it is known which day it is. A day that is in no calendar is invalid. */
type DaysOf = (today: DateTime, luxon: typeof DateTime) => Days;

/** Reads a text, or returns undefined if it has none of the forms. Hours are counted exactly, not as days. */
function readForm(text: string): DaysOf | { days: number } | { hours: number } | undefined {
  const rolling = /^(?:(?:last|past) )?(\d{1,5}) ?(h|hours?|d|days?|w|weeks?)$/.exec(text);
  if (rolling !== null) {
    const unit = rolling[2]?.slice(0, 1);
    const count = Number(rolling[1]) * (unit === "w" ? 7 : 1);
    const hours = unit === "h" ? count : count * 24;
    if (count === 0 || hours > MAX_HOURS) return undefined;
    return unit === "h" ? { hours } : { days: count };
  }
  const [, relation, unit] = /^(this|last) (week|month)$/.exec(text) ?? [];
  const ago = relation === "this" ? 0 : 1;
  if (unit === "week") return (today) => weekOf(today.minus({ weeks: ago }));
  if (unit === "month") return (today) => monthOf(today.minus({ months: ago }));
  if (text === "today") return (today) => daysOf(today);
  if (text === "yesterday") return (today) => daysOf(today.minus({ days: 1 }));
  return readCalendar(text);
}

function readCalendar(text: string): DaysOf | undefined {
  const [, first, last] =
    /^(\d{4}-\d{2}-\d{2})(?:\s?\.\.\s?(\d{4}-\d{2}-\d{2}))?$/.exec(text) ?? [];
  if (first !== undefined)
    return (_, { fromISO }) =>
      daysOf(fromISO(first, { zone: "utc" }), fromISO(last ?? first, { zone: "utc" }));
  if (/^\d{4}-\d{2}$/.test(text))
    return (_, { fromISO }) => monthOf(fromISO(text, { zone: "utc" }));
  const [, word = "", ofYear] = /^([a-z]{3,9})(?: (\d{4}))?$/.exec(text) ?? [];
  const month = MONTHS.findIndex((name) => name === word || name.slice(0, 3) === word) + 1;
  if (month === 0) return undefined;
  return (today) => {
    const year = ofYear === undefined ? today.year - (month > today.month ? 1 : 0) : Number(ofYear);
    return monthOf(today.set({ year, month, day: 1 }));
  };
}

function normal(text: string): string {
  return oneLine(text).toLowerCase();
}

/** True for a text with one of the forms, even if it names a day that does not exist. */
export function isPeriod(text: string): boolean {
  return readForm(normal(text)) !== undefined;
}

/**
 * Reads a period in the zone of whoever asks. Weeks begin on Monday (ISO 8601). A month without a year is the newest one
 * that has begun. Days are the zone's, so a day on which the clocks change has 23 or 25 hours. "Last 7 days" and "last 24
 * hours" end now; days are counted on the clock.
 * @throws BotError INPUT_INVALID for any other text, with the forms, and for an unknown zone
 */
export async function readPeriod(text: string, { zone, now }: Here): Promise<Period> {
  const name = normal(text);
  const reading = readForm(name);
  if (reading === undefined) throw unreadable(text);
  const { DateTime } = await import("luxon");
  const here = DateTime.fromMillis(now, { zone });
  if (!here.isValid) throw unknownZone(zone);
  if (typeof reading === "object") {
    const from =
      "hours" in reading
        ? now - reading.hours * 3_600_000
        : firstInstant(here.minus({ days: reading.days }));
    return { from, to: now, zone, name };
  }
  const today = here.setZone("utc", { keepLocalTime: true }).startOf("day");
  const days = reading(today, DateTime);
  if (!isDay(days.from) || !isDay(days.to)) throw unreadable(text);
  if (days.from >= days.to) {
    const problem = `${name} ends before it begins. Write the earlier day first.`;
    throw new BotError("INPUT_INVALID", problem);
  }
  const instantOf = (day: DateTime) => firstInstant(day.setZone(zone, { keepLocalTime: true }));
  return { from: instantOf(days.from), to: instantOf(days.to), zone, name };
}

function weekOf(day: DateTime): Days {
  const from = day.startOf("week");
  return { from, to: from.plus({ weeks: 1 }) };
}

function monthOf(day: DateTime): Days {
  const from = day.startOf("month");
  return { from, to: from.plus({ months: 1 }) };
}

/** Both days are included. */
function daysOf(from: DateTime, last = from): Days {
  return { from, to: last.plus({ days: 1 }) };
}

/** `Last week (Mon 2026-11-09 00:00 to Mon 2026-11-16 00:00 Europe/Madrid)` */
export function showPeriod({ from, to, zone, name }: Period): string {
  const clock = createClock(zone);
  const show = (instant: number) => `${clock.weekday(instant)} ${clock.dateTime(instant)}`;
  const title = `${name.slice(0, 1).toUpperCase()}${name.slice(1)}`;
  return `${title} (${show(from)} to ${show(to)} ${zone})`;
}

/** What to tell somebody who wrote this as a period. */
export function notAPeriod(text: string): string {
  return `I don't understand the period ${inQuotes(text)}. Write ${PERIOD_FORMS}.`;
}

function unreadable(text: string): BotError {
  return new BotError("INPUT_INVALID", notAPeriod(text));
}
