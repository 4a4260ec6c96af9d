import * as z from "zod";
import { messageOf } from "../../core/errors.ts";
import { bySeverity, type Finding, type Gap } from "../../core/finding.ts";
import { tryIso } from "../../core/instant.ts";
import { oneLine } from "../../core/text.ts";
import type { Encoder } from "../../security/encoder.ts";
import type { Endpoint } from "../http.ts";
import { clip } from "../labels.ts";
import { defineTool, type ToolContext } from "../tool.ts";

/** What Atlassian's Statuspage and those that speak as it does answer at /api/v2/summary.json. */
const summary = z.object({
  page: z.object({ name: z.string() }),
  status: z.object({ description: z.string() }),
  components: z
    .array(
      z.object({
        id: z.string(),
        name: z.string(),
        status: z.string(),
        updated_at: z.string().nullish(),
        group: z.boolean().nullish(),
      }),
    )
    .default([]),
  incidents: z
    .array(
      z.object({
        name: z.string(),
        status: z.string(),
        started_at: z.string().nullish(),
        shortlink: z.string().nullish(),
        components: z.array(z.object({ id: z.string() })).nullish(),
        incident_updates: z.array(z.object({ body: z.string() })).nullish(),
      }),
    )
    .default([]),
});
type Summary = z.infer<typeof summary>;

const SEVERITIES: Readonly<Record<string, Finding["severity"]>> = {
  major_outage: "error",
  partial_outage: "error",
  degraded_performance: "warning",
  under_maintenance: "info",
};
const MAX_UPDATE = 300;

/** Says what the providers that one depends on say of themselves. */
export function createStatusPages(pages: readonly string[]) {
  const endpoints: Record<string, Endpoint> = Object.fromEntries(
    pages.map((url) => [url, { url }]),
  );
  return defineTool({
    name: "status_pages",
    summary: "shows what the providers you depend on say of themselves",
    description: `Reads the status pages of providers and lists what is not operational, with their newest words on it. Pages: ${pages.join(", ")}. Use it when a failure may be somebody else's.`,
    input: z.strictObject({}),
    effect: "read",
    endpoints,
    timeoutMs: 30_000,
    doing: () => "Reading providers' status pages",
    async run(_, ctx) {
      const read = await Promise.all(pages.map((page) => readPage(page, ctx)));
      const findings = read.flatMap((each) => ("gap" in each ? [] : findingsOf(each, ctx.encoder)));
      const gaps = read.flatMap((each) => ("gap" in each ? [each.gap] : []));
      const lines = read.flatMap((each) =>
        "gap" in each ? [] : [`${oneLine(each.page.name)}: ${oneLine(each.status.description)}`],
      );
      return {
        text: lines.join("\n"),
        findings: findings.toSorted(bySeverity),
        gaps,
        failed: lines.length === 0,
      };
    },
  });
}

async function readPage(page: string, ctx: ToolContext): Promise<Summary | { gap: Gap }> {
  const gap = (why: string) => ({
    gap: {
      what: `the status page ${page}`,
      why,
      help: "STATUS_PAGES needs the address of a page that answers at /api/v2/summary.json.",
    },
  });
  try {
    const { status, text } = await ctx.http({ endpoint: page, url: "api/v2/summary.json" });
    if (status !== 200) return gap(`it answered ${status}`);
    const read = summary.safeParse(JSON.parse(text));
    return read.success ? read.data : gap("its answer is not that of a Statuspage");
  } catch (error) {
    if (ctx.signal.aborted) throw error;
    return gap(
      error instanceof SyntaxError ? "it answered something other than JSON" : messageOf(error),
    );
  }
}

function findingsOf({ page, components, incidents }: Summary, encoder: Encoder): Finding[] {
  const ill = components.filter(({ status, group }) => group !== true && status !== "operational");
  const covered = new Set(ill.map(({ id }) => id));
  const object = (kind: string, name: string) => ({ kind, namespace: page.name, name });
  const about = (incident: Summary["incidents"][number]) => {
    const [newest] = incident.incident_updates ?? [];
    const words = newest === undefined ? "" : ` ${clip(newest.body, MAX_UPDATE, encoder)}`;
    return `${incident.name} (${incident.status}).${words} ${incident.shortlink ?? ""}`;
  };
  return [
    ...ill.map((component): Finding => {
      const incident = incidents.find((each) =>
        each.components?.some(({ id }) => id === component.id),
      );
      return {
        object: object("Component", component.name),
        cause: component.status.replaceAll("_", " "),
        severity: SEVERITIES[component.status] ?? "warning",
        evidence: incident === undefined ? "Their page says no more." : about(incident),
        since: isoOf(incident?.started_at ?? component.updated_at),
      };
    }),
    ...incidents
      .filter((each) => !(each.components ?? []).some(({ id }) => covered.has(id)))
      .map((incident): Finding => ({
        object: object("Incident", incident.name),
        cause: `their page says: ${incident.status}`,
        severity: "warning",
        evidence: about(incident),
        since: isoOf(incident.started_at),
      })),
  ];
}

function isoOf(time: string | null | undefined): string | null {
  return tryIso(Date.parse(time ?? "")) ?? null;
}
