import { Cron } from "croner";
import { BotError, messageOf } from "../core/errors.ts";
import type { Alert } from "./alert.ts";
import { type AlertRoute, matches } from "./routes.ts";

/** Times in which alerts are foreseen: they are recorded, and open no thread. */
export interface MaintenanceWindow {
  readonly name: string;
  readonly match: AlertRoute["match"];
  /** Ms since 1970. */
  readonly from?: number | undefined;
  readonly to?: number | undefined;
  readonly cron?: string | undefined;
  readonly minutes?: number | undefined;
  readonly zone?: string | undefined;
}

/** In which window an alert came, and that window's end. */
export interface Quiet {
  readonly window: string;
  readonly until: number;
}

export type Maintenance = (source: string, alert: Alert, now: number) => Quiet | undefined;

/** A window that begins again before it ends goes on; so often it is looked for. */
const MAX_STARTS = 100;

/** @throws BotError CONFIG_INVALID for times that are none */
export function createMaintenance(
  windows: readonly MaintenanceWindow[],
  zone: string | undefined,
): Maintenance {
  const all = windows.map((each) => ({ ...each, untilAt: createTimes(each, zone) }));
  return (source, alert, now) => {
    let found: Quiet | undefined;
    for (const { name, match, untilAt } of all) {
      const until = matches(match, source, alert) ? untilAt(now) : undefined;
      if (until !== undefined && until > (found?.until ?? now)) found = { window: name, until };
    }
    return found;
  };
}

/** When the window that is open at a time ends; undefined: none is. */
function createTimes(
  { name, from = 0, to = 0, cron, minutes = 0, zone }: MaintenanceWindow,
  ours: string | undefined,
): (now: number) => number | undefined {
  if (cron === undefined) return (now) => (from <= now && now < to ? to : undefined);
  const [starts, ms] = [cronOf(name, cron, zone ?? ours ?? "UTC"), minutes * 60_000];
  const next = (after: number) => starts.nextRun(new Date(after))?.getTime() ?? Infinity;
  return (now) => {
    let start = next(now - ms);
    if (start > now) return undefined;
    for (let count = 0; count < MAX_STARTS; count++) {
      const later = next(start);
      if (later > start + ms) break;
      start = later;
    }
    return start + ms;
  };
}

function cronOf(name: string, pattern: string, timezone: string): Cron {
  try {
    // Paused: nothing is run by it.
    const cron = new Cron(pattern, { timezone, paused: true });
    cron.nextRun();
    return cron;
  } catch (error) {
    const text = `alerts.maintenance: ${name}: ${pattern} (${timezone}): ${messageOf(error)}`;
    throw new BotError("CONFIG_INVALID", text);
  }
}
