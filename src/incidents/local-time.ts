import { unknownZone } from "../core/instant.ts";

const DAY_MS = 86_400_000;
const WEEKDAYS = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"] as const;

/**
 * What the clocks of a zone show, hour and weekday. Many instants of one day cost little: a zone's offset is looked up for each of them
 * only on days on which it changes. @throws BotError INPUT_INVALID for an unknown zone
 */
export function createLocalTime(zone: string) {
  const format = formatFor(zone);
  const offsets = new Map<number, number>();
  const offsetAt = (instant: number): number => {
    const whole = Math.floor(instant / 1_000) * 1_000;
    return Date.parse(`${format.format(whole).replace(" ", "T")}Z`) - whole;
  };
  const offsetOfDay = (day: number): number => {
    const known = offsets.get(day) ?? offsetAt(day * DAY_MS);
    offsets.set(day, known);
    return known;
  };
  return (instant: number): { hour: number; weekday: (typeof WEEKDAYS)[number] } => {
    const day = Math.floor(instant / DAY_MS);
    const [first, next] = [offsetOfDay(day), offsetOfDay(day + 1)];
    const local = new Date(instant + (first === next ? first : offsetAt(instant)));
    return { hour: local.getUTCHours(), weekday: WEEKDAYS[local.getUTCDay()] ?? "sun" };
  };
}

function formatFor(timeZone: string): Intl.DateTimeFormat {
  try {
    return new Intl.DateTimeFormat("sv-SE", { timeZone, dateStyle: "short", timeStyle: "medium" });
  } catch {
    throw unknownZone(timeZone);
  }
}
