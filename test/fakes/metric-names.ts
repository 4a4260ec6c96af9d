import type { Figures } from "../../src/events/gauges.ts";
import { createMetrics } from "../../src/events/metrics.ts";

const FIGURES: Figures = {
  isReady: true,
  platforms: new Map(),
  slots: { slots: 64, busy: 0, held: 0, waiting: {} },
  store: undefined,
};

/** What Prometheus reads of a process that has done nothing yet. */
export function metricsText(): Promise<string> {
  const figures = async () => FIGURES;
  const { text } = createMetrics({
    isTool: () => true,
    dropped: () => new Map(),
    figures,
    version: "0",
  });
  return text();
}

/** The names of all figures, sorted. */
export async function metricNames(): Promise<string[]> {
  const types = (await metricsText()).matchAll(/^# TYPE (\S+) /gm);
  return [...types].map(([, name = ""]) => name).toSorted();
}
