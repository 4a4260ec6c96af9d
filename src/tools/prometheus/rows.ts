import { formatElapsed, isoUtc } from "../../core/instant.ts";
import type { Encoder } from "../../security/encoder.ts";
import { formatMoment } from "../moment.ts";
import type { Series } from "./api.ts";
import { type Labels, labelText, sharedLabels } from "../labels.ts";
import { formatValue, type Summary, summaryOf } from "./numbers.ts";

/** Results as the few lines that tell most of them. */

const MAX_ROWS = 10;
/** Series with so few different values are told by value, the rarest first: `up` of a thousand targets. */
const MAX_VALUES = 4;

/** `; all of them: job=api`, where there is something that all share. */
export function sharedText(shared: Labels, encoder: Encoder): string {
  return Object.keys(shared).length === 0 ? "" : `; all of them: ${labelText(shared, encoder)}`;
}

/** Of an instant query: the largest values first. `total`: how many series there are, of which these are the largest. */
export function valueRows(series: readonly Series[], total: number, encoder: Encoder): string[] {
  const said = sharedLabels(series.map(({ labels }) => labels));
  const points = series
    .map(({ labels, values: [value = Number.NaN] }) => ({ labels, value }))
    .toSorted((a, b) => order(b.value) - order(a.value));
  const row = ({ labels, value }: (typeof points)[number]) =>
    `- ${formatValue(value, labels["__name__"])}  ${labelText(labels, encoder, said)}`;
  if (total <= MAX_ROWS) return points.map(row);

  const byValue = Map.groupBy(points, ({ value }) => value);
  if (total === points.length && byValue.size <= MAX_VALUES) {
    const groups = [...byValue].toSorted((a, b) => a[1].length - b[1].length);
    let room = MAX_ROWS;
    return groups.flatMap(([value, same]) => {
      const shown = same.slice(0, room);
      room -= shown.length;
      const more = shown.length < same.length ? `, of which ${shown.length} are shown` : "";
      const head = `${formatValue(value)}: ${same.length} series${shown.length === 0 ? "" : more}`;
      return [head, ...shown.map(row)];
    });
  }
  const finite = points.map(({ value }) => value).filter((value) => Number.isFinite(value));
  const [least = Number.NaN, median = Number.NaN] = [
    finite.at(-1),
    finite[Math.floor(finite.length / 2)],
  ];
  const rest = `and ${total - MAX_ROWS} more`;
  const spread = `; median ${formatValue(median)}, least ${formatValue(least)}`;
  return [...points.slice(0, MAX_ROWS).map(row), total === points.length ? rest + spread : rest];
}

/** What is not a number comes last. */
function order(value: number): number {
  return Number.isNaN(value) ? Number.NEGATIVE_INFINITY : value;
}

/** A line with what became of it. */
export interface Told {
  series: Series;
  summary: Summary;
}

/** The lines with a value, those that moved most clearly first, then the highest. */
export function ranked(series: readonly Series[]): Told[] {
  return series
    .flatMap((each) => {
      const summary = summaryOf(each);
      return summary === undefined ? [] : [{ series: each, summary }];
    })
    .toSorted(
      ({ summary: a }, { summary: b }) =>
        (b.moved?.score ?? 0) - (a.moved?.score ?? 0) || b.max - a.max,
    );
}

/** What each of the first lines did. */
export function rangeRows(told: readonly Told[], now: number, encoder: Encoder): string[] {
  const said = sharedLabels(told.map(({ series }) => series.labels));
  const rows = told
    .slice(0, MAX_ROWS)
    .map(
      ({ series, summary }) =>
        `- ${labelText(series.labels, encoder, said)}: ${didText(summary, series, now)}`,
    );
  const rest = told.slice(MAX_ROWS);
  if (rest.length === 0) return rows;
  const moved = rest.filter(({ summary }) => summary.moved !== undefined).length;
  return [...rows, `and ${rest.length} more, of which ${moved} moved`];
}

function didText(
  { min, max, mean, last, moved }: Summary,
  { labels }: Series,
  now: number,
): string {
  const show = (value: number) => formatValue(value, labels["__name__"]);
  if (min === max) return `${show(last)} all the time`;
  const facts = `last ${show(last)}, min ${show(min)}, max ${show(max)}, mean ${show(mean)}`;
  if (moved === undefined) return `${facts}; no clear move`;
  return `${facts}; moved from ${show(moved.before)} to ${show(moved.after)} at ${formatMoment(moved.at, now)}`;
}

/** `over 1 h, 2026-11-23 00:30:05 to 2026-11-23 01:30:05 UTC` */
export function spanText(start: number, end: number): string {
  const stamp = (ms: number) => isoUtc(ms, "second").replace("T", " ");
  const [from, to] = [stamp(start), stamp(end)];
  const until = from.slice(0, 10) === to.slice(0, 10) ? to.slice(11) : to;
  return `over ${formatElapsed(end - start)}, ${from} to ${until} UTC`;
}
