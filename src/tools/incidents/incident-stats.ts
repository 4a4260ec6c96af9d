import * as z from "zod";
import type { Duration, Ledger, Stats } from "../../incidents/incident.ts";
import { showDuration } from "../../core/instant.ts";
import { PERIOD_FORMS, type Period, readPeriod, showPeriod } from "../../incidents/period.ts";
import { defineTool } from "../tool.ts";
import { askedIn } from "./asked.ts";
import { counted } from "../../core/text.ts";
import { incidentTable, labelled } from "./table.ts";

/** Incidents that are listed; all are counted. */
const MAX_LISTED = 50;

const input = z.strictObject({
  period: z
    .string()
    .max(60)
    .default("last 7 days")
    .describe(`In the asker's time zone: ${PERIOD_FORMS}`),
});

/** Counts the incidents of a period. */
export function createIncidentStats(ledger: () => Ledger) {
  return defineTool({
    name: "incident_stats",
    summary: "counts incidents in a period: opened, resolved, open, time to resolve and to detect",
    description:
      "Counts the incidents of a period: opened, resolved, still open, by severity and service, time to resolve and to detect, the longest, and lists them with their threads. Use its numbers as they are, never counts of your own.",
    input,
    effect: "read",
    answeredBy: { kind: "text" },
    doing: ({ period }) => `Counting the incidents of ${period}`,
    open: true,
    timeoutMs: 20_000,
    async run({ period: written }, ctx) {
      const { saying, here } = await askedIn(ctx);
      const period = await readPeriod(written, here);
      const stats = await ledger().stats(period, saying, MAX_LISTED);
      return { text: statsText(stats, period) };
    },
  });
}

function statsText(stats: Stats, period: Period): string {
  const { opened, resolved, open, all, newest, toResolve, longest } = stats;
  const { mean, median } = toResolve;
  const time =
    mean === undefined || median === undefined
      ? ""
      : `; MTTR ${showDuration(mean)} (median ${showDuration(median)})`;
  const counts = `${counted(opened, "incident")} opened, ${resolved} resolved, ${open} open`;
  const ended =
    longest?.resolvedAt === undefined ? undefined : longest.resolvedAt - longest.startedAt;
  return [
    `${showPeriod(period)}: ${counts}${time}.`,
    ...labelled(
      "Severity",
      list(stats.bySeverity.map(({ severity, count }) => `${severity ?? "not said"} ${count}`)),
    ),
    ...labelled(
      "Services",
      list(stats.byService.map(({ service, count }) => `${service} ${count}`)),
    ),
    ...labelled("MTTR", durationText(toResolve, "resolved")),
    ...labelled("MTTD", durationText(stats.toDetect, "opened, with a known detection")),
    ...(longest !== undefined && ended !== undefined
      ? labelled("Longest", `${longest.id}, ${showDuration(ended)}: ${longest.title}`)
      : []),
    ...incidentTable(newest, period.zone, all),
  ].join("\n");
}

function list(items: readonly string[]): string | undefined {
  return items.length === 0 ? undefined : items.join(", ");
}

function durationText({ count, mean, median }: Duration, of: string): string | undefined {
  if (mean === undefined || median === undefined) return undefined;
  return `${showDuration(mean)}, median ${showDuration(median)}, of ${count} ${of}`;
}
