import * as z from "zod";
import type { Ledger } from "../../incidents/incident.ts";
import { defineTool } from "../tool.ts";
import { askedIn, idField } from "./asked.ts";
import { headline, historyText, recordText } from "./record-text.ts";

const input = z.strictObject({ id: idField });

/** Shows one incident with everything that was said of it. */
export function createIncidentGet(ledger: () => Ledger) {
  return defineTool({
    name: "incident_get",
    summary: "shows one incident: times, cause, actions, who said what and when",
    description:
      "Shows the record of one incident: its times, cause and actions, its thread, and its history with who said what and when.",
    input,
    effect: "read",
    answeredBy: { kind: "text" },
    open: true,
    timeoutMs: 15_000,
    doing: ({ id }) => `Reading the record of ${id}`,
    async run({ id }, ctx) {
      const { saying, here } = await askedIn(ctx);
      const incident = await ledger().get(id, saying);
      const parts = [recordText(incident, here.zone), historyText(incident, here.zone)];
      return { text: `${headline(incident)}.\n${parts.join("\n\n")}` };
    },
  });
}
