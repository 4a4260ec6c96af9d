import { readFile } from "node:fs/promises";
import { parentPort, workerData } from "node:worker_threads";
import { initWasm, Resvg } from "@resvg/resvg-wasm";
import { logger, None, parse, View } from "vega";
import { compile, type TopLevelSpec } from "vega-lite";
import type { ChartJob, LineChart } from "./chart.ts";

/** Draws the chart that it is given, and ends. */

/** Text of 12 in a picture of 400 is still 11 points on a phone. */
const WIDTH = 400;
const PIXELS = 1_000;
const TITLE_CHARACTERS = 48;
const DAY_MS = 86_400_000;

/** Told apart by people who see colours differently too (Okabe and Ito); without the yellow, which is too light. */
const COLORS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#444444"];
const GROUND = "#ffffff";
const INK = "#24292f";
const QUIET = "#d0d7de";

function specOf({ title, start, end, lines }: LineChart, font: string): TopLevelSpec {
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
    padding: 12,
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
    config: {
      font,
      title: { fontSize: 12.5, fontWeight: 500, color: INK, offset: 8 },
      axis: {
        labelFontSize: 12,
        titleFontSize: 11,
        titleFontWeight: 400,
        labelColor: INK,
        titleColor: INK,
        domainColor: QUIET,
        tickColor: QUIET,
        gridColor: QUIET,
      },
      legend: { labelFontSize: 12, labelColor: INK, rowPadding: 3 },
      view: { stroke: null },
    },
  };
}

function timeFormat(rangeMs: number): string {
  if (rangeMs <= DAY_MS) return rangeMs < 600_000 ? "%H:%M:%S" : "%H:%M";
  return rangeMs < 7 * DAY_MS ? "%-d %b %H:%M" : "%-d %b";
}

/** In lines that fit, parted between words where there are any. */
function linesOf(title: string): string[] {
  const lines = title.match(
    new RegExp(`.{1,${TITLE_CHARACTERS}}(?:\\s|$)|.{${TITLE_CHARACTERS}}`, "gu"),
  );
  return lines ?? [title];
}

async function draw({ chart, fonts, font, renderer }: ChartJob): Promise<Uint8Array> {
  const { spec } = compile(specOf(chart, font), { logger: logger(None) });
  const view = new View(parse(spec), { renderer: "none", logLevel: None });
  const svg = await view.toSVG();
  view.finalize();
  await initWasm(await readFile(renderer));
  const picture = new Resvg(svg, {
    fitTo: { mode: "width", value: PIXELS },
    background: GROUND,
    font: {
      fontBuffers: await Promise.all(fonts.map((file) => readFile(file))),
      defaultFontFamily: font,
    },
  });
  return picture.render().asPng();
}

parentPort?.postMessage(await draw(workerData));
