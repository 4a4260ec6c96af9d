import type { DateTime } from "luxon";
import { firstInstant } from "../core/instant.ts";
import type { Bin, BinUnit } from "./numbered.ts";
import type { Period } from "./period.ts";

/** More bars than these cannot be read on a phone: days become weeks, weeks months, and months years. */
const MOST: readonly (readonly [BinUnit, number])[] = [
  ["day", 31],
  ["week", 53],
  ["month", 60],
];

/** What a bin is called by: its own first day, also where the period begins within it. */
const NAMES: Readonly<Record<BinUnit, string>> = {
  day: "yyyy-MM-dd",
  week: "yyyy-MM-dd",
  month: "yyyy-MM",
  year: "yyyy",
};

/**
 * The days of a period on the clocks of its zone, each from its first instant to the next one's; of more than 31 days its weeks, which
 * begin on Monday, of more than 53 weeks its months, of more than 60 months its years. The first begins with the period; none after `now`.
 */
export async function binsOf({ from, to, zone }: Period, now: number): Promise<Bin[]> {
  const { DateTime } = await import("luxon");
  const wall = (instant: number) =>
    DateTime.fromMillis(instant, { zone }).setZone("utc", { keepLocalTime: true });
  const unit = unitOf(wall(from), wall(to));
  const bins: Bin[] = [];
  let day = wall(from).startOf(unit);
  for (;;) {
    const begin = firstInstant(day.setZone(zone, { keepLocalTime: true }));
    if (bins.length > 0 && begin >= Math.min(to, now)) return bins;
    // A day that a zone's calendar skips has no time in it.
    if (bins.length > 1 && bins.at(-1)?.from === begin) bins.pop();
    bins.push({ name: `${unit}:${day.toFormat(NAMES[unit])}`, from: Math.max(begin, from) });
    day = day.plus({ [`${unit}s`]: 1 });
  }
}

function unitOf(from: DateTime, to: DateTime): BinUnit {
  const fitting = MOST.find(([unit, most]) => to.diff(from, `${unit}s`).as(`${unit}s`) <= most);
  return fitting?.[0] ?? "year";
}
