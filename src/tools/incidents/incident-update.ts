import * as z from "zod";
import type { Ledger } from "../../incidents/incident.ts";
import { defineTool, type Tool } from "../tool.ts";
import {
  askedIn,
  changeFields,
  changeOf,
  idField,
  previewOf,
  readBack,
  resolvedAtField,
  titleField,
} from "./asked.ts";
import { headline, recordText } from "./record-text.ts";

const input = z.strictObject({
  id: idField,
  title: titleField.optional(),
  ...changeFields,
  resolvedAt: resolvedAtField.describe(
    "Corrects when a resolved incident was over; forms as of startedAt",
  ),
  status: z.enum(["open"]).optional().describe("Opens a resolved incident again"),
});
type Input = z.infer<typeof input>;

/** Adds to an incident's record, or corrects it. */
export function createIncidentUpdate(ledger: () => Ledger): Tool<Input> {
  return defineTool<Input>({
    name: "incident_update",
    description:
      "Adds to the record of an incident or corrects it: a note for the timeline, severity, services, times, cause, actions. What was recorded before stays in its history. To end an incident use incident_resolve.",
    input,
    effect: "write",
    own: true,
    timeoutMs: 15_000,
    resource: ({ id }) => `incident ${id}`,
    preview: async (fields) => previewOf(fields),
    verify: ({ id }, ctx, startedAt) => readBack(ledger(), ctx, startedAt, id),
    async run({ id, ...fields }, ctx) {
      const { saying, here } = await askedIn(ctx);
      const incident = await ledger().update(saying, id, await changeOf(fields, here));
      return { text: `Updated ${headline(incident)}.\n${recordText(incident, here.zone)}` };
    },
  });
}
