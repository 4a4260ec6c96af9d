import type { MemoryEvent } from "./event.ts";
import type { MakeCounter, MakeHistogram } from "./process-counters.ts";

const RECALL_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 3];

/** What memory did, and how long looking took. */
export function memoryFigures(counter: MakeCounter, seconds: MakeHistogram) {
  const done = counter("memory_total", "What memory did", ["did"]);
  const failed = counter("memory_failures_total", "What memory could not do", ["doing"]);
  const found = counter("memory_found_total", "What was found in memory", []);
  const took = seconds("memory_recall_seconds", "Time that looking took", [], RECALL_SECONDS);
  return (event: MemoryEvent) => {
    if (event.did === "failed") return failed.inc({ doing: event.doing });
    done.inc({ did: event.did });
    if (event.did !== "recalled") return;
    found.inc(event.found);
    took.observe(event.ms / 1_000);
  };
}
