import { readFile } from "node:fs/promises";
import { parentPort, workerData } from "node:worker_threads";
import { initWasm, Resvg } from "@resvg/resvg-wasm";
import { logger, None, parse, View } from "vega";
import { compile } from "vega-lite";
import { keepCompiled } from "../core/kept-code.ts";
import { barSpec } from "./bar-spec.ts";
import type { ChartJob } from "./chart.ts";
import { lineSpec } from "./line-spec.ts";
import { GROUND } from "./look.ts";

/** Draws the chart that it is given, and ends. */

const PIXELS = 1_000;

async function draw({ chart, fonts, font, renderer }: ChartJob): Promise<Uint8Array> {
  const asked = chart.kind === "bars" ? barSpec(chart, font) : lineSpec(chart, font);
  const { spec } = compile(asked, { logger: logger(None) });
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

const picture = await draw(workerData);
keepCompiled();
parentPort?.postMessage(picture);
