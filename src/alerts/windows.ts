import type { Alert } from "./alert.ts";
import type { Quiet } from "./maintenance.ts";

/** Those of each maintenance window, and those of none. */
export function byWindow(
  alerts: readonly Alert[],
  quietOf: (alert: Alert) => Quiet | undefined,
): { quiet: Quiet | undefined; some: Alert[] }[] {
  const all = alerts.map((alert) => ({ alert, quiet: quietOf(alert) }));
  return [...Map.groupBy(all, ({ quiet }) => quiet?.window).values()].map((some) => ({
    quiet: some[0]?.quiet,
    some: some.map(({ alert }) => alert),
  }));
}
