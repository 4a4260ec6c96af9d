import type { TopLevelSpec } from "vega-lite";
import type { LineChart } from "./chart.ts";
import { configOf, GROUND, linesOf, PADDING, WIDTH } from "./look.ts";

const DAY_MS = 86_400_000;

/** Told apart by people who see colours differently too (Okabe and Ito); without the yellow, which is too light. */
const COLORS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#444444"];

export function lineSpec({ title, start, end, lines }: LineChart, font: string): TopLevelSpec {
  const rows = lines.flatMap(({ name, times, values }, line) =>
    times.flatMap((time, at) => {
      // A point far outside is one that the renderer gives up at.
      if (time < start || time > end) return [];
      const value = values[at] ?? Number.NaN;
      // A row for each line: two may have the same name.
      return { time, value: Number.isFinite(value) ? value : null, line: String(line), name };
    }),
  );
  const names = lines.map(({ name }) => name);
  const isSparse = lines.every(({ times }) => times.length < 4);
  return {
    data: { values: rows },
    width: WIDTH,
    autosize: { type: "fit-x", contains: "padding" },
    height: 190,
    background: GROUND,
    padding: PADDING,
    title: { text: linesOf(title), anchor: "start", frame: "group" },
    mark: { type: "line", clip: true, strokeWidth: 2, point: isSparse, interpolate: "linear" },
    encoding: {
      x: {
        field: "time",
        type: "temporal",
        scale: { type: "utc", domain: [start, end] },
        axis: {
          title: "UTC",
          format: timeFormat(end - start),
          tickCount: 5,
          grid: false,
          labelOverlap: true,
        },
      },
      y: {
        field: "value",
        type: "quantitative",
        scale: { zero: false, nice: true },
        axis: { title: null, format: "~s", tickCount: 5 },
      },
      color: {
        field: "line",
        type: "nominal",
        scale: { domain: names.map((_, line) => String(line)), range: COLORS },
        legend:
          lines.length < 2
            ? null
            : {
                title: null,
                orient: "bottom",
                columns: 1,
                labelExpr: `${JSON.stringify(names)}[toNumber(datum.label)]`,
                labelLimit: 2 * WIDTH,
                symbolType: "stroke",
                symbolStrokeWidth: 3,
              },
      },
    },
    config: configOf(font),
  };
}

function timeFormat(rangeMs: number): string {
  if (rangeMs <= DAY_MS) return rangeMs < 600_000 ? "%H:%M:%S" : "%H:%M";
  return rangeMs < 7 * DAY_MS ? "%-d %b %H:%M" : "%-d %b";
}
