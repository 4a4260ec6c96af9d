import { BotError } from "./errors.ts";

/** What a time without a date or a zone is meant by. */
export interface Here {
  /** An IANA time zone. */
  zone: string;
  /** ms since 1970. */
  now: number;
}

/** A date and time as a clock on the wall shows it; the month counts from 1. */
export interface Wall {
  year: number;
  month: number;
  day: number;
  hour: number;
  minute: number;
  second: number;
}

/** The forms of a time, for whoever typed another. */
const MOMENT_FORMS = "now, 14:05, 2026-11-20 14:05, 2026-11-20T14:05:00+01:00 or 2026-11-20T13:05Z";

const MOMENT =
  /^(?:(\d{4})-(\d{2})-(\d{2})[T ])?([01]?\d|2[0-3]):([0-5]\d)(?::([0-5]\d)(?:\.\d{1,9})?)? ?(Z|UTC|[+-](?:0\d|1[0-4]):?[0-5]\d)?$/i;

/**
 * The time that a person or a model wrote, in ms since 1970. Without a zone it is one of `zone`; without a date it is
 * the last time that the clock showed it.
 * @throws BotError INPUT_INVALID for another form, a day or time that does not exist, or one that happened twice
 */
export async function readMoment(text: string, { zone, now }: Here): Promise<number> {
  const written = text.trim();
  if (written.toLowerCase() === "now") return now;
  const [found, year, month, day, hour, minute, second = "0", offset] = MOMENT.exec(written) ?? [];
  if (found === undefined || (year === undefined && offset !== undefined)) {
    throw invalid(`${shown(written)} is not a time I can read. Write ${MOMENT_FORMS}.`);
  }
  const time = { hour: Number(hour), minute: Number(minute), second: Number(second) };
  if (year === undefined) return lastTime(time, { zone, now });
  const wall = { year: Number(year), month: Number(month), day: Number(day), ...time };
  if (!isDate(wall)) throw invalid(`There is no day ${year}-${month}-${day}.`);
  if (offset !== undefined) return asUtc(wall) - offsetMs(offset);
  return only(await instantsOf(wall, zone), wall, zone);
}

/** Today's, or yesterday's when today's is still to come. */
async function lastTime(
  time: Pick<Wall, "hour" | "minute" | "second">,
  { zone, now }: Here,
): Promise<number> {
  const today = createClock(zone).wall(now);
  for (const daysAgo of [0, 1]) {
    const wall = { ...today, ...time, ...addDays(today, -daysAgo) };
    const instants = (await instantsOf(wall, zone)).filter((instant) => instant <= now);
    if (instants.length > 0) return only(instants, wall, zone);
  }
  throw invalid(`The clock did not show that time within a day in ${zone}. Write ${MOMENT_FORMS}.`);
}

function only(instants: readonly number[], wall: Wall, zone: string): number {
  const [first, second] = instants;
  const local = dateTimeText(wall);
  if (first === undefined) {
    throw invalid(`${local} did not exist in ${zone}: the clocks were put forward over it.`);
  }
  if (second === undefined) return first;
  const both = instants
    .map((instant) => new Date(instant).toISOString().slice(0, 16))
    .join("Z or ");
  throw invalid(`${local} was twice in ${zone}, as the clocks were put back. Write ${both}Z.`);
}

/**
 * When a zone's clocks show this: never where they skip it, twice where they were put back, earlier first; ms since 1970.
 * @throws BotError INPUT_INVALID for an unknown zone
 */
export async function instantsOf(wall: Wall, zone: string): Promise<number[]> {
  const { DateTime } = await import("luxon");
  const local = DateTime.fromObject(wall, { zone });
  if (!local.isValid) throw unknownZone(zone);
  if (local.day !== wall.day || local.hour !== wall.hour || local.minute !== wall.minute) return [];
  return local
    .getPossibleOffsets()
    .map((one) => one.toMillis())
    .toSorted((a, b) => a - b);
}

/** The first moment at or after midnight of a day, ms since 1970. @throws as `instantsOf` */
export async function startOfDay(
  day: Pick<Wall, "year" | "month" | "day">,
  zone: string,
): Promise<number> {
  const midnight = { ...day, hour: 0, minute: 0, second: 0 };
  const [first] = await instantsOf(midnight, zone);
  if (first !== undefined) return first;
  const { DateTime } = await import("luxon");
  return DateTime.fromObject(midnight, { zone }).toMillis(); // over the gap, to where the clocks were put
}

/** True for a day that is in the calendar. */
export function isDate({ year, month, day }: Pick<Wall, "year" | "month" | "day">): boolean {
  const date = new Date(Date.UTC(year, month - 1, day));
  return year >= 1970 && date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
}

/** The day that is `days` later. */
export function addDays(
  { year, month, day }: Pick<Wall, "year" | "month" | "day">,
  days: number,
): Pick<Wall, "year" | "month" | "day"> {
  const date = new Date(Date.UTC(year, month - 1, day + days));
  return { year: date.getUTCFullYear(), month: date.getUTCMonth() + 1, day: date.getUTCDate() };
}

function asUtc({ year, month, day, hour, minute, second }: Wall): number {
  return Date.UTC(year, month - 1, day, hour, minute, second);
}

function offsetMs(text: string): number {
  const [, sign, hours, minutes] = /^([+-])(\d{2}):?(\d{2})$/.exec(text) ?? [];
  const ms = (Number(hours ?? 0) * 60 + Number(minutes ?? 0)) * 60_000;
  return sign === "-" ? -ms : ms;
}

/** Tells what a zone's clocks show. */
export interface Clock {
  wall(instant: number): Wall;
  /** `2026-11-09 00:00` */
  dateTime(instant: number): string;
  /** `Mon` */
  weekday(instant: number): string;
}

/** @throws BotError INPUT_INVALID for an unknown zone */
export function createClock(zone: string): Clock {
  const format = formatOf(zone);
  const wall = (instant: number): Wall => {
    const parts = new Map(format.formatToParts(instant).map(({ type, value }) => [type, value]));
    const part = (type: Intl.DateTimeFormatPartTypes) => Number(parts.get(type));
    return {
      year: part("year"),
      month: part("month"),
      day: part("day"),
      hour: part("hour"),
      minute: part("minute"),
      second: part("second"),
    };
  };
  return {
    wall,
    dateTime: (instant) => dateTimeText(wall(instant)),
    weekday: (instant) => WEEKDAYS[new Date(asUtc(wall(instant))).getUTCDay()] ?? "",
  };
}

const WEEKDAYS = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"];

function formatOf(zone: string): Intl.DateTimeFormat {
  try {
    return new Intl.DateTimeFormat("en-US", {
      timeZone: zone,
      calendar: "gregory",
      numberingSystem: "latn",
      hourCycle: "h23",
      year: "numeric",
      month: "numeric",
      day: "numeric",
      hour: "numeric",
      minute: "numeric",
      second: "numeric",
    });
  } catch {
    throw unknownZone(zone);
  }
}

/** `2026-11-20` */
export function dateText({ year, month, day }: Pick<Wall, "year" | "month" | "day">): string {
  return `${String(year).padStart(4, "0")}-${two(month)}-${two(day)}`;
}

function dateTimeText(wall: Wall): string {
  return `${dateText(wall)} ${two(wall.hour)}:${two(wall.minute)}`;
}

function two(number: number): string {
  return String(number).padStart(2, "0");
}

/** `2026-11-20 13:05 UTC (14:05 Europe/Madrid)`: both, to the minute that has begun. */
export function showMoment(instant: number, zone: string): string {
  const utc = createClock("UTC").dateTime(instant);
  if (/^(?:Etc\/)?(?:UTC|UCT|GMT|Zulu|Universal|Greenwich)$/i.test(zone)) return `${utc} UTC`;
  const local = createClock(zone).dateTime(instant);
  const short = local.slice(0, 10) === utc.slice(0, 10) ? local.slice(11) : local;
  return `${utc} UTC (${short} ${zone})`;
}

/** `42 s`, `48 min`, `3 h 12 min`, `2 d 3 h`: rounded to the last unit that is shown. From 0. */
export function showDuration(ms: number): string {
  const seconds = Math.round(ms / 1_000);
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.round(ms / 60_000);
  if (minutes < 120) return `${minutes} min`;
  if (minutes < 48 * 60) return pair(Math.floor(minutes / 60), "h", minutes % 60, "min");
  const hours = Math.round(ms / 3_600_000);
  return pair(Math.floor(hours / 24), "d", hours % 24, "h");
}

function pair(large: number, largeUnit: string, small: number, smallUnit: string): string {
  return small === 0 ? `${large} ${largeUnit}` : `${large} ${largeUnit} ${small} ${smallUnit}`;
}

function invalid(text: string): BotError {
  return new BotError("INPUT_INVALID", text);
}

function unknownZone(zone: string): BotError {
  return invalid(`${shown(zone)} is not a time zone; expected a name such as Europe/Madrid.`);
}

function shown(text: string): string {
  return JSON.stringify(text.length > 40 ? `${text.slice(0, 40)}…` : text);
}
