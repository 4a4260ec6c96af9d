import * as z from "zod";
import type { Ledger, Stats } from "../../incidents/incident.ts";
import { showDuration } from "../../core/instant.ts";
import { binsOf } from "../../incidents/bins.ts";
import type { Bin, Spread } from "../../incidents/numbered.ts";
import { largest } from "../../incidents/numbers.ts";
import { PERIOD_FORMS, type Period, readPeriod, showPeriod } from "../../incidents/period.ts";
import { defineTool } from "../tool.ts";
import { type AskedBy, askedIn } from "./asked.ts";
import { counted } from "../../core/text.ts";
import { binsText } from "./charted.ts";
import { incidentTable, labelled } from "./table.ts";

/** Incidents that are listed; all are counted. */
const MAX_LISTED = 50;

const input = z.strictObject({
  period: z
    .string()
    .max(60)
    .default("last 7 days")
    .describe(`In the asker's time zone, or in zone: ${PERIOD_FORMS}`),
  zone: z.string().max(60).optional().describe("Another time zone, such as Europe/Madrid"),
  which: z
    .string()
    .max(200)
    .optional()
    .describe(
      "Lists the incidents of one number, by its name in brackets, such as mttr or service:web",
    ),
});

/** Counts the incidents of a period. */
export function createIncidentStats(ledger: () => Ledger) {
  return defineTool({
    name: "incident_stats",
    summary:
      "counts incidents in a period: how many, how long until what, causes, services, actions",
    description:
      "Counts the incidents of a period: opened, resolved, still open, false alarms, by severity and service, MTTD, MTTA, MTTM and MTTR with median and p90, time in each state, repeated causes, busiest hours and weekdays, what became of approved actions, open follow-ups, and each day, week or month of it, with a chart in the thread where there is more than one; lists them with their threads. Each number has its name in brackets: which=<name> lists the incidents that it counts. Use its numbers as they are, never counts of your own.",
    input,
    effect: "read",
    answeredBy: { kind: "text" },
    doing: ({ period }) => `Counting the incidents of ${period}`,
    open: true,
    // Drawing a chart may take long on a busy machine.
    timeoutMs: 60_000,
    async run({ period: written, zone, which }, ctx) {
      const { saying, here } = await askedIn(ctx);
      const period = await readPeriod(written, { ...here, zone: zone ?? here.zone });
      const bins = await binsOf(period, here.now);
      if (which !== undefined)
        return { text: await whichText(ledger(), period, saying, which.trim(), bins) };
      const [stats, numbers] = await Promise.all([
        ledger().stats(period, saying, MAX_LISTED),
        ledger().numbers(period, saying, { now: here.now, listed: 0, bins }),
      ]);
      const { label, lines, note, images } = await binsText(numbers, bins, period, ctx);
      const binned = labelled(label, lines.join("\n"));
      return { text: [...statsLines(stats, numbers, period, binned), ...note].join("\n"), images };
    },
  });
}

/** A severity or a duration of one day, such as `day:2026-11-10:mttr`. */
const IN_BIN = /^(?:day|week|month|year):[^:]+:/;

/** The incidents of one number. */
async function whichText(
  ledger: Ledger,
  period: Period,
  saying: AskedBy["saying"],
  name: string,
  bins: readonly Bin[],
): Promise<string> {
  const asked = { now: saying.at, which: name, listed: MAX_LISTED, bins };
  const { counts, which } = await ledger.numbers(period, saying, asked);
  if (which === undefined || which.count === 0) {
    const names = counts.flatMap((each) => (IN_BIN.test(each.name) ? [] : each.name)).join(", ");
    const known = names === "" ? "It has no incidents." : `It has ${names}.`;
    return `${showPeriod(period)}: no number ${JSON.stringify(name)}. ${known}`;
  }
  const head = `${showPeriod(period)}: ${name}, ${counted(which.count, "incident")}.`;
  return [head, ...incidentTable(which.found, period.zone, which.count)].join("\n");
}

type More = Awaited<ReturnType<Ledger["numbers"]>>;

/** `binned`: a line for each day or the like. */
function statsLines(
  stats: Stats,
  { counts, spreads }: More,
  period: Period,
  binned: readonly string[],
): string[] {
  const { opened, resolved, open, all, newest, longest } = stats;
  const { mttr } = spreads;
  const time =
    mttr === undefined
      ? ""
      : `; MTTR ${showDuration(mttr.mean)} (median ${showDuration(mttr.median)})`;
  const head = `${counted(opened, "incident")} opened, ${resolved} resolved, ${open} open`;
  const ended =
    longest?.resolvedAt === undefined ? undefined : longest.resolvedAt - longest.startedAt;
  const value = (name: string) => counts.find((each) => each.name === name)?.value ?? 0;
  const spread = (name: string, of: string) => {
    const found = spreads[name];
    return (
      found && `${spreadText(found)}, of ${found.count} ${of} [${name}]${newestOf(counts, name)}`
    );
  };
  const state = (name: "open" | "mitigated") => {
    const found = spreads[`state:${name}`];
    return found === undefined
      ? []
      : [`${name} ${showDuration(value(`state:${name}`))} of ${found.count} [state:${name}]`];
  };
  const kinds = (kind: string) =>
    list(
      largest(counts, kind).map(
        ({ name, value: n }) => `${name.slice(kind.length)} ${n} [${name}]`,
      ),
    );
  const approved = value("actions:approved");
  const acted = (["done", "fixed", "undone"] as const).map(
    (what) =>
      `${what === "fixed" ? "verified fixed" : what} ${value(`actions:${what}`)} [actions:${what}]`,
  );
  return [
    `${showPeriod(period)}: ${head}${time}.`,
    ...labelled(
      "False",
      value("false_alarms") === 0
        ? undefined
        : `${counted(value("false_alarms"), "false alarm")} besides [false_alarms]${newestOf(counts, "false_alarms")}`,
    ),
    ...labelled(
      "Severity",
      list(stats.bySeverity.map(({ severity, count }) => `${severity ?? "not said"} ${count}`)),
    ),
    ...labelled(
      "Services",
      list(stats.byService.map(({ service, count }) => `${service} ${count}`)),
    ),
    ...labelled("MTTD", spread("mttd", "opened, with a known detection")),
    ...labelled("MTTA", spread("mtta", "opened that were taken up")),
    ...labelled("MTTM", spread("mttm", "opened that were mitigated")),
    ...labelled("MTTR", spread("mttr", "resolved")),
    ...labelled("States", list([...state("open"), ...state("mitigated")])),
    ...(longest !== undefined && ended !== undefined
      ? labelled("Longest", `${longest.id}, ${showDuration(ended)}: ${longest.title}`)
      : []),
    ...labelled("Repeated", kinds("cause:")),
    ...labelled("Weekdays", kinds("weekday:")),
    ...labelled("Hours", kinds("hour:")),
    ...binned,
    ...labelled(
      "Actions",
      approved === 0 ? undefined : `approved ${approved} [actions:approved], ${acted.join(", ")}`,
    ),
    ...labelled(
      "To do",
      value("follow_ups") === 0
        ? undefined
        : `${counted(value("follow_ups"), "open follow-up")} [follow_ups]${newestOf(counts, "follow_ups")}`,
    ),
    ...incidentTable(newest, period.zone, all),
  ];
}

/** Where the number comes from: the newest of its incidents. */
function newestOf(counts: More["counts"], name: string): string {
  const { newest = [] } = counts.find((each) => each.name === name) ?? {};
  return newest.length === 0 ? "" : `: ${newest.join(", ")}`;
}

function spreadText({ mean, median, p90 }: Spread): string {
  return `${showDuration(mean)}, median ${showDuration(median)}, p90 ${showDuration(p90)}`;
}

function list(items: readonly string[]): string | undefined {
  return items.length === 0 ? undefined : items.join(", ");
}
