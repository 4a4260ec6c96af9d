import { type BarPanel, drawChart } from "../../charts/chart.ts";
import { messageOf } from "../../core/errors.ts";
import { showDuration } from "../../core/instant.ts";
import type { Bin, BinUnit, Numbers } from "../../incidents/numbered.ts";
import type { Period } from "../../incidents/period.ts";
import type { ToolContext, ToolImage } from "../tool.ts";

/** As charts and tables name them, worst first. */
const SEVERITIES = [
  ["sev1", "sev1"],
  ["sev2", "sev2"],
  ["sev3", "sev3"],
  ["sev4", "sev4"],
  ["none", "not said"],
] as const;

/** What a bin's label holds; more than these have no space for the weekday. */
const MOST_WEEKDAYS = 10;

const UNITS = [
  [172_800_000, 86_400_000, "days"],
  [7_200_000, 3_600_000, "hours"],
  [120_000, 60_000, "minutes"],
  [0, 1_000, "seconds"],
] as const;

type Counted = Pick<Numbers<unknown>, "counts" | "spreads">;

interface Told {
  name: string;
  opened: number;
  severities: number[];
  /** ms, and of how many. */
  resolve: { median: number; count: number } | undefined;
}

/** What each of the bins holds. */
function toldOf({ counts, spreads }: Counted, bins: readonly Bin[]): Told[] {
  const values = new Map(counts.map(({ name, value }) => [name, value]));
  return bins.map(({ name }) => ({
    name,
    opened: values.get(name) ?? 0,
    severities: SEVERITIES.map(([severity]) => values.get(`${name}:${severity}`) ?? 0),
    resolve: spreads[`${name}:mttr`],
  }));
}

/**
 * The period's bins in words, a line for each that holds something, and a chart of them all; nothing of either where no more than one
 * does. A chart that fails is no reason to lose the numbers.
 */
export async function binsText(
  counted: Counted,
  bins: readonly Bin[],
  period: Period,
  { signal }: ToolContext,
): Promise<{ label: string; lines: string[]; note: string[]; images: ToolImage[] }> {
  const all = toldOf(counted, bins);
  const held = all.filter(({ opened, resolve }) => opened > 0 || resolve !== undefined);
  const unit = unitOf(bins);
  const label = `Per ${unit}`;
  if (held.length < 2) return { label, lines: [], note: [], images: [] };
  const lines = held.map((bin) => `${lineOf(bin)} [${bin.name}]`);
  try {
    const title = `Incidents, ${period.name}`;
    const bytes = await drawChart(
      {
        kind: "bars",
        title,
        parts: bins.map(({ name }) => labelOf(name, bins.length)),
        axis: `${unit}${unit === "week" ? " from Monday" : ""}, ${period.zone}`,
        panels: [...openedPanel(all, unit), ...resolvePanel(all)],
      },
      signal,
    );
    const alt = `Bar chart of incidents per ${unit}, ${period.name}, ${period.zone}. ${held.map(lineOf).join(". ")}`;
    const image: ToolImage = {
      name: "incidents.png",
      mediaType: "image/png",
      bytes,
      alt,
      unseen: true,
    };
    return {
      label,
      lines,
      note: ["", "A chart shows it; a terminal tells in words what is on it."],
      images: [image],
    };
  } catch (error) {
    signal.throwIfAborted();
    return { label, lines, note: ["", `No chart could be drawn: ${messageOf(error)}`], images: [] };
  }
}

/** `2026-11-10: 3 opened (sev2 1, sev3 2), MTTR median 48 min of 2` */
function lineOf({ name, opened, severities, resolve }: Told): string {
  const kinds = SEVERITIES.flatMap(([, said], at) => {
    const count = severities[at] ?? 0;
    return count === 0 ? [] : `${said} ${count}`;
  });
  const said = [
    ...(opened === 0 ? [] : [`${opened} opened (${kinds.join(", ")})`]),
    ...(resolve === undefined
      ? []
      : [`MTTR median ${showDuration(resolve.median)} of ${resolve.count}`]),
  ];
  return `${dayOf(name)}: ${said.join(", ")}`;
}

function openedPanel(all: readonly Told[], unit: BinUnit): BarPanel[] {
  const series = SEVERITIES.flatMap(([, name], rank) => {
    const values = all.map(({ severities }) => severities[rank] ?? 0);
    return values.every((value) => value === 0) ? [] : [{ name, rank, values }];
  });
  return series.length === 0 ? [] : [{ title: `Opened per ${unit}`, series }];
}

function resolvePanel(all: readonly Told[]): BarPanel[] {
  const medians = all.map(({ resolve }) => resolve?.median ?? 0);
  const longest = Math.max(...medians);
  if (longest === 0) return [];
  const [, ms, unit] = UNITS.find(([from]) => longest >= from) ?? UNITS[3];
  const values = medians.map((median) => median / ms);
  return [{ title: `Median time to resolve, ${unit}`, series: [{ name: unit, values }] }];
}

/** All bins of a period have the same unit. */
function unitOf(bins: readonly Bin[]): BinUnit {
  const name = bins[0]?.name ?? "";
  return (["week", "month", "year"] as const).find((unit) => name.startsWith(unit)) ?? "day";
}

/** Of a bin's name: `2026-11-10`. */
function dayOf(name: string): string {
  return name.slice(name.indexOf(":") + 1);
}

/** What stands below a bar: `Tue`, `10 Nov` in two lines, `10 Nov`, `Nov 2026` or `2026`. */
function labelOf(name: string, count: number): string {
  const text = dayOf(name);
  if (text.length === 4) return text;
  const show = (options: Intl.DateTimeFormatOptions) =>
    new Intl.DateTimeFormat("en-GB", { ...options, timeZone: "UTC" }).format(new Date(text));
  if (text.length === 7) return show({ month: "short", year: "numeric" });
  const day = show({ day: "numeric", month: "short" });
  const hasWeekday = name.startsWith("day:") && count <= MOST_WEEKDAYS;
  return hasWeekday ? `${show({ weekday: "short" })}\n${day}` : day;
}
