import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";

/** One line for each series. Texts are shown as they are: they must be safe to show. */
export interface LineChart {
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

/** What the thread is given. */
export interface ChartJob {
  chart: LineChart;
  /** The font's files, and its name. */
  fonts: readonly string[];
  font: string;
  /** The file of resvg as WebAssembly: what it cannot draw ends a call there, and not the process as native code does. */
  renderer: string;
}

/** A busy machine needs a second; what takes longer is not worth the wait. */
const MAX_MS = 15_000;

/** A machine need not have any font, and what it has would make each chart another. */
const FONT = "Roboto";
const fileOf = (module: string) => fileURLToPath(import.meta.resolve(module));
const FONTS = "@expo-google-fonts/roboto";

/**
 * The chart as a PNG, 1 000 pixels wide and on a ground of its own: it is read on a phone, in a light and in a dark chat alike.
 * Drawn in a thread that is started for it, so that the libraries take up time and memory only then.
 */
export async function drawChart(chart: LineChart, signal: AbortSignal): Promise<Uint8Array> {
  const job: ChartJob = {
    chart,
    fonts: [
      fileOf(`${FONTS}/400Regular/Roboto_400Regular.ttf`),
      fileOf(`${FONTS}/500Medium/Roboto_500Medium.ttf`),
    ],
    font: FONT,
    renderer: fileOf("@resvg/resvg-wasm/index_bg.wasm"),
  };
  const worker = new Worker(new URL("./chart-worker.ts", import.meta.url), {
    workerData: job,
    env: {},
    execArgv: [],
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
