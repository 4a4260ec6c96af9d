import * as z from "zod";
import type { Ledger } from "../../incidents/incident.ts";
import type { Tool } from "../tool.ts";
import { changeFields, idField, resolvedAtField, titleField } from "./asked.ts";
import { createSayingTool } from "./saying-tool.ts";

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
  return createSayingTool<Input>(ledger, {
    name: "incident_update",
    summary: "adds to a record or corrects it: note, severity, services, times, cause, actions",
    description:
      "Adds to the record of an incident or corrects it: a note for the timeline, severity, services, times, cause, actions. What was recorded before stays in its history. To end an incident use incident_resolve.",
    input,
    done: "Updated",
    say: (...words) => ledger().update(...words),
  });
}
