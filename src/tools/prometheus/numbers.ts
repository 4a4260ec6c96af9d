import { isoUtc } from "../../core/instant.ts";
import { formatBytes } from "../../core/text.ts";
import type { Series } from "./api.ts";

/** Values as people read them, and what a line of them did. */

const POWERS = ["", "k", "M", "G", "T"];

/** `0.9231`, `42`, `12.3k`, `1.5G`; of a metric whose name says bytes or a time, as that. */
export function formatValue(value: number, metric = ""): string {
  if (!Number.isFinite(value)) return Number.isNaN(value) ? "NaN" : value > 0 ? "+Inf" : "-Inf";
  if (/_(?:timestamp|time)(?:_seconds)?$/.test(metric) && value > 1e9 && value < 4e9)
    return `${isoUtc(value * 1_000, "second")}Z`;
  if (metric.endsWith("_bytes") && value >= 1_024) return formatBytes(value);
  const size = Math.abs(value);
  if (size >= 1e15 || (size > 0 && size < 1e-4)) return value.toExponential(2);
  if (size < 10_000) return String(Number(value.toPrecision(4)));
  const power = Math.floor(Math.log10(size) / 3);
  return `${Number((value / 1_000 ** power).toPrecision(4))}${POWERS[power]}`;
}

export interface Summary {
  min: number;
  max: number;
  mean: number;
  last: number;
  /** Where the line moved most, and what it was on average before and after, if it did. */
  moved: Move | undefined;
}

export interface Move {
  /** ms since 1970. */
  at: number;
  before: number;
  after: number;
  /** How clear it is: the difference against the larger side and the noise; 40 at the most. */
  score: number;
}

/** From here a difference is told as a move, not as noise: it is then a fifth of the larger side at least. */
export const CLEAR = 4;

/** @returns undefined for a line without a finite value */
export function summaryOf({ times, values }: Series): Summary | undefined {
  const kept = values.flatMap((value, at) =>
    Number.isFinite(value) ? [{ value, time: times[at] ?? 0 }] : [],
  );
  const numbers = kept.map(({ value }) => value);
  const last = numbers.at(-1);
  if (last === undefined) return undefined;
  const extremes = numbers.reduce(
    ({ min, max }, value) => ({ min: Math.min(min, value), max: Math.max(max, value) }),
    { min: last, max: last },
  );
  return {
    ...extremes,
    mean: meanOf(numbers),
    last,
    moved: largestMove(
      numbers,
      kept.map(({ time }) => time),
    ),
  };
}

/** The best place to cut a line in two: where the means of both sides differ most for their lengths. */
function largestMove(values: readonly number[], times: readonly number[]): Move | undefined {
  const count = values.length;
  const total = values.reduce((sum, value) => sum + value, 0);
  let best = { cut: 0, gain: 0 };
  let sum = 0;
  for (let cut = 1; cut < count; cut += 1) {
    sum += values[cut - 1] ?? 0;
    const difference = sum / cut - (total - sum) / (count - cut);
    const gain = difference ** 2 * ((cut * (count - cut)) / count);
    if (gain > best.gain) best = { cut, gain };
  }
  if (best.cut === 0) return undefined;
  const move = moveBetween(values.slice(0, best.cut), values.slice(best.cut));
  return move.score < CLEAR ? undefined : { ...move, at: times[best.cut] ?? 0 };
}

/** How clearly the second line stands above or below the first. Both have a value at least. */
export function moveBetween(before: readonly number[], after: readonly number[]): Omit<Move, "at"> {
  const [earlier, later] = [meanOf(before), meanOf(after)];
  const noise = Math.sqrt(
    varianceOf(before, earlier) / before.length + varianceOf(after, later) / after.length,
  );
  // Without the share of the larger side, a line without noise would move by nothing at all.
  const floor = 0.05 * Math.max(Math.abs(earlier), Math.abs(later));
  const scale = noise + floor;
  const score = scale === 0 ? 0 : Math.abs(later - earlier) / scale;
  return { before: earlier, after: later, score };
}

function meanOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

function varianceOf(values: readonly number[], mean: number): number {
  return values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length;
}

const STEPS_S = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1_800, 3_600, 7_200, 21_600];

/** A step of the usual lengths that makes at most so many points, in ms. */
export function stepFor(rangeMs: number, maxPoints: number): number {
  const least = rangeMs / maxPoints / 1_000;
  const days = Math.ceil(least / 86_400) * 86_400;
  return (STEPS_S.find((seconds) => seconds >= least) ?? days) * 1_000;
}
