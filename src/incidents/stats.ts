import type { Duration, Incident, Stats } from "./incident.ts";
import type { Period } from "./period.ts";

const SEVERITIES = ["sev1", "sev2", "sev3", "sev4", undefined] as const;

/** Counts `incidents`, all of which the asker may see. Means and medians are exact. */
export function countIncidents(incidents: readonly Incident[], { from, to }: Period): Stats {
  const isIn = (at: number | undefined) => at !== undefined && from <= at && at < to;
  const opened = newestFirst(incidents.filter(({ startedAt }) => isIn(startedAt)));
  const resolved = incidents
    .filter(({ resolvedAt }) => isIn(resolvedAt))
    .toSorted((a, b) => (b.resolvedAt ?? 0) - (a.resolvedAt ?? 0) || byId(a, b));
  const open = newestFirst(
    incidents.filter(({ status, startedAt }) => status === "open" && startedAt < to),
  );
  const severities = SEVERITIES.map((severity) => ({
    severity,
    count: opened.filter((one) => one.severity === severity).length,
  }));
  return {
    opened,
    resolved,
    open,
    bySeverity: severities.filter(({ count }) => count > 0),
    byService: servicesOf(opened),
    toResolve: durationOf(resolved.flatMap((one) => lastedMs(one) ?? [])),
    toDetect: durationOf(
      opened.flatMap(({ startedAt, detectedAt }) =>
        detectedAt === undefined ? [] : detectedAt - startedAt,
      ),
    ),
    longest: resolved.toSorted((a, b) => (lastedMs(b) ?? 0) - (lastedMs(a) ?? 0))[0],
  };
}

/** From beginning to end, in ms; undefined while it is open. */
function lastedMs({ startedAt, resolvedAt }: Incident): number | undefined {
  return resolvedAt === undefined ? undefined : resolvedAt - startedAt;
}

/** By beginning, then by id. */
export function newestFirst(incidents: readonly Incident[]): Incident[] {
  return incidents.toSorted((a, b) => b.startedAt - a.startedAt || byId(a, b));
}

function byId(a: Incident, b: Incident): number {
  return a.id < b.id ? -1 : 1;
}

function servicesOf(incidents: readonly Incident[]): Stats["byService"] {
  const counts = new Map<string, number>();
  for (const service of incidents.flatMap(({ services }) => services)) {
    counts.set(service, (counts.get(service) ?? 0) + 1);
  }
  return [...counts]
    .map(([service, count]) => ({ service, count }))
    .toSorted((a, b) => b.count - a.count || (a.service < b.service ? -1 : 1));
}

function durationOf(durations: readonly number[]): Duration {
  const sorted = durations.toSorted((a, b) => a - b);
  const count = sorted.length;
  const [low, high] = [sorted[(count - 1) >> 1], sorted[count >> 1]];
  if (low === undefined || high === undefined) return { count, mean: undefined, median: undefined };
  const sum = sorted.reduce((total, one) => total + one, 0);
  return { count, mean: sum / count, median: (low + high) / 2 };
}
