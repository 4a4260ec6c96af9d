import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { createBareThread } from "../core/bare-thread.ts";

/** Texts are shown as they are: they must be safe to show. */
type Chart = LineChart | BarChart;

/** One line for each series. */
export interface LineChart {
  kind: "lines";
  title: string;
  /** ms since 1970. */
  start: number;
  end: number;
  lines: readonly ChartLine[];
}

interface ChartLine {
  name: string;
  /** ms since 1970, ascending. */
  times: readonly number[];
  /** A value that is no finite number leaves a gap. */
  values: readonly number[];
}

/** Bars for parts of time, such as days: panels one above the other that share the parts. */
export interface BarChart {
  kind: "bars";
  title: string;
  /** What stands below each, in lines; where they do not all fit, some do. */
  parts: readonly string[];
  /** What the parts are. */
  axis: string;
  panels: readonly BarPanel[];
}

export interface BarPanel {
  /** What its bars say, with the unit. */
  title: string;
  /** Stacked, the first one lowest. */
  series: readonly BarSeries[];
}

interface BarSeries {
  name: string;
  /** Its colour's place from the worst, 0, to 4, of which nothing is known: then a legend names it. */
  rank?: number;
  /** One for each part; a value that is no number above 0 has no bar. */
  values: readonly number[];
}

/** What the thread is given. */
export interface ChartJob {
  chart: Chart;
  /** The font's files, and its name. */
  fonts: readonly string[];
  font: string;
  /** The file of resvg as WebAssembly: what it cannot draw ends a call there, and not the process as native code does. */
  renderer: string;
}

/** An idle machine needs a second, a very busy one many. */
const MAX_MS = 40_000;

/** A machine need not have any font, and what it has would make each chart another. */
const FONT = "Roboto";
const FONTS = [
  import.meta.resolve("@expo-google-fonts/roboto/400Regular/Roboto_400Regular.ttf"),
  import.meta.resolve("@expo-google-fonts/roboto/500Medium/Roboto_500Medium.ttf"),
];
const RENDERER = import.meta.resolve("@resvg/resvg-wasm/index_bg.wasm");

/**
 * The chart as a PNG, 1 000 pixels wide and on a ground of its own: it is read on a phone, in a light and in a dark chat alike.
 * Drawn in a thread that is started for it, so that the libraries take up time and memory only then.
 */
export async function drawChart(chart: Chart, signal: AbortSignal): Promise<Uint8Array> {
  const job: ChartJob = {
    chart,
    fonts: FONTS.map((url) => fileURLToPath(url)),
    font: FONT,
    renderer: fileURLToPath(RENDERER),
  };
  const worker = createBareThread(new URL("./chart-worker.ts", import.meta.url), {
    workerData: job,
    resourceLimits: { maxOldGenerationSizeMb: 256 },
  });
  try {
    const ended = AbortSignal.any([signal, AbortSignal.timeout(MAX_MS)]);
    const [png]: Uint8Array[] = await once(worker, "message", { signal: ended });
    return png ?? new Uint8Array();
  } finally {
    await worker.terminate();
  }
}
