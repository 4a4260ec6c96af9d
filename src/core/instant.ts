import type { DateTime } from "luxon";
import { BotError } from "./errors.ts";
import { inQuotes } from "./text.ts";

/** What a time without a date or a zone is meant by. */
export interface Here {
  /** An IANA time zone. */
  zone: string;
  /** ms since 1970. */
  now: number;
}

/** The forms of a time, for whoever typed another. */
const MOMENT_FORMS = "now, 14:05, 2026-11-20 14:05, 2026-11-20T14:05:00+01:00 or 2026-11-20T13:05Z";

const MOMENT =
  /^(?:(\d{4}-\d{2}-\d{2})[T ])?([01]?\d|2[0-3]):([0-5]\d)(?::([0-5]\d)(?:\.\d{1,9})?)? ?(Z|UTC|[+-](?:0\d|1[0-4]):?[0-5]\d)?$/i;

/**
 * The time that a person or a model wrote, in ms since 1970. Without a zone it is one of `zone`; without a date it is
 * the last time that the clock showed it.
 * @throws BotError INPUT_INVALID for another form, a day or time that does not exist, or one that happened twice
 */
export async function readMoment(text: string, { zone, now }: Here): Promise<number> {
  const written = text.trim();
  if (written.toLowerCase() === "now") return now;
  const [found, date, hour, minute, second = "0", offset] = MOMENT.exec(written) ?? [];
  if (found === undefined || (date === undefined && offset !== undefined)) {
    throw invalid(`${inQuotes(written)} is not a time I can read. Write ${MOMENT_FORMS}.`);
  }
  const { DateTime } = await import("luxon");
  const time = { hour: Number(hour), minute: Number(minute), second: Number(second) };
  const day = date === undefined ? undefined : DateTime.fromISO(date, { zone: "utc" }).set(time);
  if (day !== undefined && !isDay(day)) throw invalid(`There is no day ${date}.`);
  if (day !== undefined && offset !== undefined) return day.toMillis() - offsetMs(offset);
  const here = DateTime.fromMillis(now, { zone });
  if (!here.isValid) throw unknownZone(zone);
  return day === undefined ? lastTime(here, time) : only(instantsOf(day, zone), day, zone);
}

/** Today's, or yesterday's when today's is still to come. */
function lastTime(now: DateTime, time: { hour: number; minute: number; second: number }): number {
  const zone = now.zoneName ?? "";
  const today = now.setZone("utc", { keepLocalTime: true }).startOf("day");
  for (const days of [0, 1]) {
    const wall = today.minus({ days }).set(time);
    const instants = instantsOf(wall, zone).filter((instant) => instant <= now.toMillis());
    if (instants.length > 0) return only(instants, wall, zone);
  }
  throw invalid(`The clock did not show that time within a day in ${zone}. Write ${MOMENT_FORMS}.`);
}

/** `wall`: what the clock shows, as if it were UTC. */
function only(instants: readonly number[], wall: DateTime, zone: string): number {
  const [first, second] = instants;
  const local = wall.toFormat(MINUTE);
  if (first === undefined) {
    throw invalid(`${local} did not exist in ${zone}: the clocks were put forward over it.`);
  }
  if (second === undefined) return first;
  const both = instants.map((instant) => isoUtc(instant, "minute")).join("Z or ");
  throw invalid(`${local} was twice in ${zone}, as the clocks were put back. Write ${both}Z.`);
}

/** When a zone's clocks show this: never where they skip it, twice where they were put back, earlier first; ms since 1970. */
function instantsOf(wall: DateTime, zone: string): number[] {
  const local = wall.setZone(zone, { keepLocalTime: true });
  if (local.toFormat(MINUTE) !== wall.toFormat(MINUTE)) return [];
  return local
    .getPossibleOffsets()
    .map(Number)
    .toSorted((a, b) => a - b);
}

const MINUTE = "yyyy-MM-dd HH:mm";

/** The first time that a zone's clocks show this, ms since 1970; where they skip it, as much later as they jump. */
export function firstInstant(local: DateTime): number {
  return Math.min(...local.getPossibleOffsets().map(Number));
}

/** True for a day that is in the calendar, from 1970 on. */
export function isDay(day: DateTime): boolean {
  return day.isValid && day.year >= 1970;
}

function offsetMs(text: string): number {
  const [, sign, hours, minutes] = /^([+-])(\d{2}):?(\d{2})$/.exec(text) ?? [];
  const ms = (Number(hours ?? 0) * 60 + Number(minutes ?? 0)) * 60_000;
  return sign === "-" ? -ms : ms;
}

export interface Clock {
  /** `2026-11-09 00:00` */
  dateTime(instant: number): string;
  /** `Mon` */
  weekday(instant: number): string;
}

/** Not luxon's: a start shows times and need not load it. @throws BotError INPUT_INVALID for an unknown zone */
export function createClock(timeZone: string): Clock {
  try {
    // Sweden writes dates as ISO 8601 does.
    const dateTime = new Intl.DateTimeFormat("sv-SE", {
      timeZone,
      year: "numeric",
      month: "2-digit",
      day: "2-digit",
      hour: "2-digit",
      minute: "2-digit",
    });
    const weekday = new Intl.DateTimeFormat("en-US", { timeZone, weekday: "short" });
    return {
      dateTime: (instant) => dateTime.format(instant),
      weekday: (instant) => weekday.format(instant),
    };
  } catch {
    throw unknownZone(timeZone);
  }
}

/** How much of an instant's ISO 8601 form says so much. */
const LENGTHS = { day: 10, hour: 13, minute: 16, second: 19 };

/** The years 0 to 9999, whose form has 24 characters. */
const [FIRST_MS, LAST_MS] = [-62_167_219_200_000, 253_402_300_799_999];

/** `2026-11-20T13:05:30Z`; undefined for what is no time, as servers may send it. */
export function tryIso(instant: number): string | undefined {
  if (!(instant >= FIRST_MS && instant <= LAST_MS)) return undefined;
  return `${new Date(instant).toISOString().slice(0, LENGTHS.second)}Z`;
}

/**
 * An instant in UTC, as far as it matters: `2026-11-20`, `2026-11-20T13`, `2026-11-20T13:05`, `2026-11-20T13:05:30`;
 * `unknown` for what is no time.
 */
export function isoUtc(instant: number, unit: keyof typeof LENGTHS): string {
  return tryIso(instant)?.slice(0, LENGTHS[unit]) ?? "unknown";
}

/** `2026-11-20 13:05 UTC` */
export function formatUtc(instant: number, unit: "minute" | "second" = "minute"): string {
  return `${isoUtc(instant, unit).replace("T", " ")} UTC`;
}

/** `2026-11-20 13:05 UTC (14:05 Europe/Madrid)`: both, to the minute that has begun. */
export function showMoment(instant: number, zone: string): string {
  const utc = createClock("UTC").dateTime(instant);
  if (/^(?:Etc\/)?(?:UTC|UCT|GMT|Zulu|Universal|Greenwich)$/i.test(zone)) return `${utc} UTC`;
  const local = createClock(zone).dateTime(instant);
  const short = local.slice(0, 10) === utc.slice(0, 10) ? local.slice(11) : local;
  return `${utc} UTC (${short} ${zone})`;
}

/** How long work took, and how old something is: `0.4 ms`, `34 ms`, `1.5 s`, `3 min 20 s`, `2 h 5 min`, `2 d 3 h`. Nothing is rounded up. */
export function formatElapsed(ms: number): string {
  if (ms < 10) return `${floorTenths(ms)} ms`;
  if (ms < 1_000) return `${Math.floor(ms)} ms`;
  const seconds = ms / 1_000;
  if (seconds < 60) return `${floorTenths(seconds)} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return pair(minutes, "min", Math.floor(seconds % 60), "s");
  const hours = Math.floor(minutes / 60);
  if (hours < 48) return pair(hours, "h", minutes % 60, "min");
  return pair(Math.floor(hours / 24), "d", hours % 24, "h");
}

function floorTenths(value: number): number {
  return Math.floor(value * 10) / 10;
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

/** What to say of a name that is no time zone. */
export function unknownZone(zone: string): BotError {
  return invalid(`${inQuotes(zone)} is not a time zone; expected a name such as Europe/Madrid.`);
}
