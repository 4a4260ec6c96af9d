import * as z from "zod";
import type { Viewer } from "../../core/viewer.ts";
import type { Filter, Ledger } from "../../incidents/incident.ts";
import { PERIOD_FORMS, readPeriod, showPeriod } from "../../incidents/period.ts";
import { defineTool } from "../tool.ts";
import { askedIn, severityField } from "./asked.ts";
import { counted } from "../../core/text.ts";
import { incidentTable } from "./table.ts";

const input = z.strictObject({
  text: z
    .string()
    .max(200)
    .optional()
    .describe("Words that all occur in its title, services, cause, actions or notes"),
  status: z
    .enum(["open", "mitigated", "resolved", "false_alarm"])
    .optional()
    .describe("Only those that stand so; open has the mitigated ones too"),
  severity: severityField.describe("Only those of this severity"),
  service: z.string().max(100).optional().describe("Only those that concern this service"),
  period: z.string().max(60).optional().describe(`Only those that began in it: ${PERIOD_FORMS}`),
  limit: z.int().min(1).max(50).default(20).describe("How many to show at the most"),
});

/** Finds incidents of the past by words or by what they are. */
export function createIncidentSearch(ledger: () => Ledger) {
  return defineTool({
    name: "incident_search",
    summary: "finds incidents by words, status, severity, service or period",
    description:
      "Finds recorded incidents by words, status, severity, service or period; without any, the newest. Use it to see whether something happened before and what helped then. It does not count per period: incident_stats does.",
    input,
    effect: "read",
    answeredBy: { kind: "text" },
    open: true,
    timeoutMs: 20_000,
    doing: ({ text }) => `Searching incidents${text === undefined ? "" : ` for ${text}`}`,
    async run({ text = "", status, severity, service, period: written, limit }, ctx) {
      const { saying, here } = await askedIn(ctx);
      const period = written === undefined ? undefined : await readPeriod(written, here);
      const words = text.trim();
      const filter = { status, severity, service, period, limit };
      const { count, found } =
        words === ""
          ? await newest(ledger(), filter, saying)
          : await ledger().search(words, saying, filter);
      const limits = [
        words === "" ? undefined : `with ${JSON.stringify(words)}`,
        status,
        severity,
        service && `of ${service}`,
        period && `begun in: ${showPeriod(period)}`,
      ].filter((one) => one !== undefined);
      const which = limits.length === 0 ? "" : ` (${limits.join(", ")})`;
      const head = `${counted(count, "incident")} found${which}.`;
      return { text: [head, ...incidentTable(found, here.zone, count)].join("\n") };
    },
  });
}

async function newest(ledger: Ledger, filter: Filter, viewer: Viewer) {
  const [count, found] = [await ledger.count(filter, viewer), await ledger.list(filter, viewer)];
  return { count, found };
}
