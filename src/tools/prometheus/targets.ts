import * as z from "zod";
import type { Finding } from "../../core/finding.ts";
import { counted } from "../../core/text.ts";
import { formatMoment } from "../moment.ts";
import { isRecord, recordsOf, textOf } from "../decode.ts";
import { orRefused } from "../refusal.ts";
import { hereOf } from "../since.ts";
import { defineTool } from "../tool.ts";
import { createPrometheus, TOOL_TIMEOUT_MS } from "./api.ts";
import { type Instances } from "./fields.ts";
import { instanceArgument, instanceOf } from "../instances.ts";
import { labelsOf, clip, encodeEach } from "../labels.ts";

const MAX_ROWS = 10;
/** Of targets with the same error. */
const MAX_NAMES = 5;

export function createTargets(instances: Instances) {
  return defineTool({
    name: "prometheus_targets",
    summary: "lists what Prometheus scrapes, those that are down first",
    description:
      "The targets that Prometheus scrapes: those that are down with their error, then how many are up for each job. Use it when metrics are missing.",
    input: z.strictObject({
      match: z
        .string()
        .min(1)
        .max(200)
        .optional()
        .describe("Only targets with this in their job, address or labels"),
      ...instanceArgument(instances),
    }),
    effect: "read",
    doing: ({ match }) =>
      `Looking at what Prometheus scrapes${match === undefined ? "" : `: ${match}`}`,
    endpoints: instances,
    timeoutMs: TOOL_TIMEOUT_MS,
    run: ({ match, instance }, ctx) =>
      orRefused(async () => {
        const { now } = await hereOf(ctx);
        const server = createPrometheus(ctx, instanceOf({ instance }, instances));
        const all = targetsOf(await server.get("targets", [["state", "active"]]));
        const lines = await encodeEach(
          all.map(({ about }) => about),
          ctx.encoder,
        );
        const wanted = match?.toLowerCase();
        const found = all.filter(
          (_, at) => wanted === undefined || lines[at]?.toLowerCase().includes(wanted),
        );
        const down = found.filter(({ health }) => health === "down");
        const jobs = [...Map.groupBy(found, ({ job }) => job)].map(([job, same]) => {
          const up = same.filter(({ health }) => health === "up").length;
          return { job, up, count: same.length };
        });
        const [lacking, whole] = [
          jobs.filter(({ up, count }) => up < count),
          jobs.filter(({ up, count }) => up === count),
        ];
        const rows = lacking
          .toSorted((a, b) => b.count - b.up - (a.count - a.up) || b.count - a.count)
          .slice(0, MAX_ROWS)
          .map(({ job, up, count }) => `- ${clip(job, 100, ctx.encoder)}: ${up} of ${count} up`);
        const well = whole
          .toSorted((a, b) => b.count - a.count)
          .map(({ job, count }) => `${job} ${count}`);
        const rest = lacking.length - rows.length;
        const of = match === undefined ? "" : `, of ${all.length} in all`;
        return {
          text: [
            `${counted(found.length, "target")}${of}: ${down.length} down.`,
            ...rows,
            ...(rest > 0 ? [`and ${rest} more jobs`] : []),
            ...(well.length > 0 ? [clip(`- all up: ${well.join(", ")}`, 500, ctx.encoder)] : []),
          ].join("\n"),
          findings: findingsOf(down, now),
        };
      }),
  });
}

interface Target {
  job: string;
  instance: string;
  /** `up`, `down` or, before the first scrape, `unknown`. */
  health: string;
  error: string;
  /** ms since 1970; NaN: never. */
  scrapedAt: number;
  /** Its address and labels, for matching. */
  about: string;
}

function targetsOf(data: unknown): Target[] {
  return recordsOf(isRecord(data) ? data["activeTargets"] : undefined).map((target) => {
    const labels = labelsOf(target["labels"]);
    const text = (name: string) => textOf(target[name]);
    const { job = text("scrapePool"), instance = text("scrapeUrl") } = labels;
    return {
      job,
      instance,
      health: text("health"),
      error: text("lastError"),
      scrapedAt: Date.parse(text("lastScrape")),
      about: [text("scrapeUrl"), ...Object.entries(labels).map((pair) => pair.join("="))].join(" "),
    };
  });
}

/** One for each error: all that have it may stand behind one firewall. */
function findingsOf(down: readonly Target[], now: number): Finding[] {
  // What differs in the same error is mostly the address.
  const byError = Map.groupBy(down, ({ error, instance }) => error.replaceAll(instance, "…"));
  return [...byError.values()]
    .toSorted((a, b) => b.length - a.length)
    .slice(0, MAX_ROWS)
    .flatMap((same) => {
      const [first] = same;
      return first === undefined ? [] : [findingOf(first, same, now)];
    });
}

function findingOf(first: Target, same: readonly Target[], now: number): Finding {
  const names = same.slice(0, MAX_NAMES).map(({ job, instance }) => `${job} ${instance}`);
  const more = same.length > MAX_NAMES ? ` and ${same.length - MAX_NAMES} more` : "";
  const { scrapedAt, error, instance } = first;
  const tried = Number.isNaN(scrapedAt) ? "" : `, last tried ${formatMoment(scrapedAt, now)}`;
  return {
    object: { kind: "Target", namespace: "", name: instance },
    cause: error === "" ? "The last scrape failed." : error,
    severity: "error",
    evidence: `${counted(same.length, "target")} down: ${names.join(", ")}${more}${tried}`,
    since: null,
  };
}
