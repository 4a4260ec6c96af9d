import { BotError } from "../core/errors.ts";
import {
  addDays,
  createClock,
  dateText,
  type Here,
  instantsOf,
  isDate,
  startOfDay,
  type Wall,
} from "../core/instant.ts";

/** From `from` until just before `to`, in ms since 1970. */
export interface Period {
  from: number;
  to: number;
  /** The IANA zone of its days. */
  zone: string;
  /** The text that somebody asked with, such as `last week`. */
  name: string;
}

/** The forms that people may write. */
export const PERIOD_FORMS =
  "today, yesterday, this week, last week, this month, last month, last 7 days, last 24 hours, november, november 2025, 2026-11, 2026-11-01, or 2026-11-01..2026-11-15 (both days included)";

/** Ten years of hours. */
const MAX_HOURS = 87_600;

const MONTHS = [
  "january",
  "february",
  "march",
  "april",
  "may",
  "june",
  "july",
  "august",
  "september",
  "october",
  "november",
  "december",
];

type Day = Pick<Wall, "year" | "month" | "day">;
/** The days of a period; `to` is the first day after it. */
interface Days {
  from: Day;
  to: Day;
}
/** Turns a form into days, given today; undefined for a day that does not exist. */
type Reading = (today: Day) => Days | undefined;

/** Reads a text, or returns undefined if it has none of the forms. Hours are counted exactly, not as days. */
function readForm(text: string): Reading | { days: number } | { hours: number } | undefined {
  const rolling = /^last (\d{1,5}) (hour|day)s?$/.exec(text);
  if (rolling !== null) {
    const count = Number(rolling[1]);
    const hours = rolling[2] === "day" ? count * 24 : count;
    if (count === 0 || hours > MAX_HOURS) return undefined;
    return rolling[2] === "day" ? { days: count } : { hours };
  }
  const [, relation, unit] = /^(this|last) (week|month)$/.exec(text) ?? [];
  if (unit === "week") return (today) => weekOf(today, relation === "this" ? 0 : -7);
  if (unit === "month")
    return (today) => monthOf(today.year, today.month - (relation === "this" ? 0 : 1));
  if (text === "today") return (today) => daysOf(today, today);
  if (text === "yesterday") return (today) => daysOf(addDays(today, -1), addDays(today, -1));
  return readCalendar(text);
}

function readCalendar(text: string): Reading | undefined {
  const [, first, last] =
    /^(\d{4}-\d{2}-\d{2})(?:\s?\.\.\s?(\d{4}-\d{2}-\d{2}))?$/.exec(text) ?? [];
  if (first !== undefined) return () => daysOf(dayOf(first), dayOf(last ?? first));
  const [, year, number] = /^(\d{4})-(\d{2})$/.exec(text) ?? [];
  if (year !== undefined) {
    const month = Number(number);
    return () => (month >= 1 && month <= 12 ? monthOf(Number(year), month) : undefined);
  }
  const [, word = "", ofYear] = /^([a-z]{3,9})(?: (\d{4}))?$/.exec(text) ?? [];
  const named = MONTHS.findIndex((name) => name === word || name.slice(0, 3) === word) + 1;
  if (named === 0) return undefined;
  return (today) =>
    monthOf(
      ofYear === undefined ? today.year - (named > today.month ? 1 : 0) : Number(ofYear),
      named,
    );
}

function normal(text: string): string {
  return text.trim().toLowerCase().replaceAll(/\s+/g, " ");
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
  const clock = createClock(zone);
  if (reading === undefined) throw unreadable(text);
  if (typeof reading === "object") {
    const from =
      "hours" in reading
        ? now - reading.hours * 3_600_000
        : await daysAgo(reading.days, { zone, now });
    return { from, to: now, zone, name };
  }
  const days = reading(clock.wall(now));
  if (days === undefined || !isDate(days.from) || !isDate(addDays(days.to, -1)))
    throw unreadable(text);
  const [from, to] = [await startOfDay(days.from, zone), await startOfDay(days.to, zone)];
  if (dateText(days.from) >= dateText(days.to)) {
    throw new BotError(
      "INPUT_INVALID",
      `${name} ends before it begins. Write the earlier day first.`,
    );
  }
  return { from, to, zone, name };
}

/** The same clock time so many days ago; if the clocks skipped it, as much later as they jumped. */
async function daysAgo(days: number, { zone, now }: Here): Promise<number> {
  const wall = createClock(zone).wall(now);
  const then = { ...wall, ...addDays(wall, -days) };
  const [first] = await instantsOf(then, zone);
  if (first !== undefined) return first + (now % 1_000);
  return (
    (await startOfDay(then, zone)) + (wall.hour * 60 + wall.minute) * 60_000 + wall.second * 1_000
  );
}

function weekOf(today: Day, shift: number): Days | undefined {
  const weekday = new Date(Date.UTC(today.year, today.month - 1, today.day)).getUTCDay();
  const monday = addDays(today, shift - ((weekday + 6) % 7));
  return daysOf(monday, addDays(monday, 6));
}

/** `month` may be 0: December of the year before. */
function monthOf(year: number, month: number): Days {
  const first = addDays({ year, month, day: 1 }, 0);
  return { from: first, to: addDays({ ...first, month: first.month + 1 }, 0) };
}

/** Both days are included. `from` stays as written, so that the caller notices a day that does not exist. */
function daysOf(first: Day, last: Day): Days | undefined {
  return isDate(first) && isDate(last) ? { from: first, to: addDays(last, 1) } : undefined;
}

function dayOf(text: string): Day {
  const [year = 0, month = 0, day = 0] = text.split("-").map(Number);
  return { year, month, day };
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
  const shown = JSON.stringify(text.length > 40 ? `${text.slice(0, 40)}…` : text);
  return `I don't understand the period ${shown}. Write ${PERIOD_FORMS}.`;
}

function unreadable(text: string): BotError {
  return new BotError("INPUT_INVALID", notAPeriod(text));
}
